// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/doctor/host_path.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "suite/doctor/ip_answers.hpp"
#include "suite/doctor/port_mapper.hpp"

namespace suite::doctor {

namespace {

constexpr std::chrono::milliseconds mapper_patience{1500};

bool is_ipv6(const std::string& address) { return address.find(':') != std::string::npos; }

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Finding examine_size(const System& from, const PeerHost& to, const std::string& interface) {
  const int mtu = first_link(from.ask({"ip", "-j", "link", "show", "dev", interface})).mtu;
  constexpr int smallest = 576;
  const auto own = link_with(to.links, without_zone(to.address));
  if (passes(from, to.address, mtu)) {
    if (own && own->mtu != mtu)
      return warn("mtu",
                  fmt::format("{} has MTU {}, {} of {} has MTU {}: segments are as long as the "
                              "smaller one allows",
                              interface, mtu, own->name, to.name, own->mtu),
                  "give both hosts and every switch between them one MTU");
    return ok("path mtu", fmt::format("{} octets pass to {}", mtu, to.name));
  }
  if (passes(from, to.address, smallest))
    return fail("path mtu",
                fmt::format("packets of {}'s MTU of {} do not pass to {}, small ones do", interface,
                            mtu, to.name),
                "give both hosts and every switch between them one MTU");
  return fail("path", fmt::format("{} ({}) does not answer a ping", to.name, to.address),
              "check cable, VLAN, address and firewall; an address of a device's own stack must be "
              "up on its interface");
}

Finding examine_next_hop(const System& from, const PeerHost& to, const std::string& interface,
                         const std::string& gateway) {
  const std::string next_hop = gateway.empty() ? to.address : gateway;
  std::vector<std::string> question{"ip", "-j", "neigh", "show", "to", without_zone(next_hop)};
  if (next_hop.contains('%')) question.insert(question.end(), {"dev", interface});
  const std::string seen = first_neighbour(from.ask(question));
  if (seen.empty())
    return warn("next hop", fmt::format("{} has no MAC address on {}", next_hop, interface),
                "ip neigh show; see that both are in one VLAN");
  const auto own = link_with(to.links, without_zone(to.address));
  if (gateway.empty() && own && !own->mac.empty() && own->mac != seen)
    return fail("mac",
                fmt::format("{} answers for {} as {}, its own interface is {}", to.address, to.name,
                            seen, own->mac),
                "two hosts have this address, or a proxy answers for it: give each its own, and "
                "flush: ip neigh flush dev DEV");
  return ok("next hop", fmt::format("{} is at {} on {}", next_hop, seen, interface));
}

}  // namespace

bool passes(const System& from, const std::string& address, int packet) {
  const int headers = is_ipv6(address) ? 48 : 28;
  return from
      .ask({"ping", "-n", "-q", "-c", "1", "-W", "2", "-M", "do", "-s",
            std::to_string(packet - headers), address})
      .has_value();
}

std::vector<Finding> examine_path(const System& from, const PeerHost& to) {
  const IpRoute route = first_route(from.ask(route_question(to.address))).value_or(IpRoute());
  if (route.interface.empty())
    return {fail("path", fmt::format("no route to {} ({})", to.name, to.address),
                 "give this host an address in that network: ip addr add ADDRESS/LEN dev DEV")};
  if (route.type == "local") return {};
  // The ping resolves the neighbour.
  Finding size = examine_size(from, to, route.interface);
  return {std::move(size), examine_next_hop(from, to, route.interface, route.gateway)};
}

Finding examine_clock(const System& host) {
  constexpr double tolerable = 1.0;
  const double before = seconds_since_1970();
  const auto said = host.ask({"date", "+%s.%N"});
  const double after = seconds_since_1970();
  double there = 0;
  if (said) std::from_chars(said->data(), said->data() + said->size(), there);
  if (there <= 0) return warn("clock", "its clock cannot be read", "make `date +%s.%N` work there");
  const double skew = std::max({0.0, before - there, there - after});
  if (skew <= tolerable) return ok("clock", "it agrees with this host's");
  return warn("clock",
              fmt::format("it is {:.1f} s {} this host's: logs and captures do not line up", skew,
                          there > after ? "ahead of" : "behind"),
              "synchronise it: chronyc makestep, or systemctl start chrony");
}

Finding examine_port_mapper(const std::string& address) {
  const auto answer = ask_port_mapper(address, 1, mapper_patience);
  if (answer) return ok("port mapper", "iwpmd answers");
  return warn("port mapper",
              fmt::format("no iwpmd at {} port {}: {}", address, port_mapper_port, answer.error()),
              "where its RNIC has a TCP of its own: systemctl start iwpmd (package rdma-core), and "
              "let UDP 3935 through; soft-iWARP and a stack in software need none");
}

}  // namespace suite::doctor
