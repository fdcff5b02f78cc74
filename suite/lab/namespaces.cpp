// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/namespaces.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/address_block.hpp"
#include "suite/lab/command.hpp"

namespace suite::lab {
namespace {

using Done = std::expected<void, std::string>;

constexpr const char* tester_interface = "tester0";
constexpr const char* iut_interface = "iut0";
constexpr const char* bridge_interface = "hub0";

std::unexpected<std::string> failed(std::string_view what) {
  return std::unexpected(fmt::format("{}: {}", what, std::strerror(errno)));
}

Done write_file(const std::string& path, std::string_view text) {
  const base::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return failed(path);
  return {};
}

std::expected<base::FileDescriptor, std::string> current_network_namespace() {
  base::FileDescriptor own(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!own) return failed("/proc/thread-self/ns/net");
  return own;
}

Done map_to_root(uid_t user, gid_t group) {
  if (auto done = write_file("/proc/self/setgroups", "deny"); !done) return done;
  if (auto done = write_file("/proc/self/uid_map", fmt::format("0 {} 1", user)); !done) return done;
  return write_file("/proc/self/gid_map", fmt::format("0 {} 1", group));
}

Done run_in(int network_namespace, const std::vector<std::string>& argv) {
  CommandOptions options;
  options.network_namespace = network_namespace;
  if (auto done = run_command(argv, options); !done) return std::unexpected(done.error());
  return {};
}

/// Before an interface is up: no packets that no case has asked for, and no cached metrics of
/// earlier connections with the same peer.
Done quieten(int network_namespace, const std::string& interface) {
  return in_network_namespace(network_namespace, [&]() -> Done {
    const std::string ipv6 = "/proc/sys/net/ipv6/conf/" + interface;
    for (const char* key : {"/accept_dad", "/accept_ra", "/router_solicitations"})
      if (auto done = write_file(ipv6 + key, "0"); !done) return done;
    return write_file("/proc/sys/net/ipv4/tcp_no_metrics_save", "1");
  });
}

/// Sets the MTU and offloads of an interface, and sets it up.
Done bring_up_link(int network_namespace, const std::string& name, unsigned mtu) {
  const std::vector<std::vector<std::string>> steps = {
      {"ip", "link", "set", "lo", "up"},
      {"ip", "link", "set", name, "mtu", std::to_string(mtu)},
      {"ethtool", "-K", name, "tso", "off", "gso", "off", "gro", "off", "tx", "off", "sg", "off"},
      {"ip", "link", "set", name, "up"}};
  if (auto done = quieten(network_namespace, name); !done) return done;
  for (const auto& step : steps)
    if (auto done = run_in(network_namespace, step); !done) return done;
  return {};
}

/// The same, and sets its addresses.
Done bring_up(const LabHost& host) {
  const std::string& name = host.interface;
  if (auto done = bring_up_link(host.network_namespace, name, host.mtu); !done) return done;
  std::vector<std::vector<std::string>> steps;
  for (const std::string& ipv4 : {host.ipv4, host.further_ipv4})
    if (!ipv4.empty())
      steps.push_back(
          {"ip", "addr", "add", fmt::format("{}/{}", ipv4, host.ipv4_prefix), "dev", name});
  // The kernel connects from the IPv6 address that was added last, and from the first IPv4 address.
  for (const std::string& ipv6 : {host.further_ipv6, host.ipv6})
    if (!ipv6.empty())
      steps.push_back({"ip", "addr", "add", fmt::format("{}/{}", ipv6, host.ipv6_prefix), "dev",
                       name, "nodad"});
  for (const auto& step : steps)
    if (auto done = run_in(host.network_namespace, step); !done) return done;
  return {};
}

/// All addresses of a network are the host's own; the first and the last one stay unused.
Done add_spares(LabHost& host, const std::string& network) {
  const auto block = base::AddressBlock::parse(network);
  if (!block) return std::unexpected(block.error());
  if (auto done =
          run_in(host.network_namespace, {"ip", "route", "add", "local", network, "dev", "lo"});
      !done)
    return done;
  host.spare_ipv4 = block->first.host();
  host.spare_count = block->count;
  return {};
}

std::expected<base::FileDescriptor, std::string> open_tap(const std::string& interface) {
  base::FileDescriptor tap(::open("/dev/net/tun", O_RDWR | O_CLOEXEC));
  if (!tap)
    return std::unexpected(
        fmt::format("/dev/net/tun: {}; a guest needs the kernel's tun module (modprobe tun)",
                    std::strerror(errno)));
  ifreq request{};
  // No IFF_VNET_HDR: without it the kernel delivers plain frames, segmented and with checksums.
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  interface.copy(request.ifr_name, sizeof request.ifr_name - 1);
  if (::ioctl(tap.get(), TUNSETIFF, &request) != 0) return failed("tap device " + interface);
  return tap;
}

std::expected<base::FileDescriptor, std::string> open_tap_in(int network_namespace,
                                                             const std::string& interface) {
  base::FileDescriptor opened;
  const auto made = in_network_namespace(network_namespace, [&]() -> Done {
    auto tap = open_tap(interface);
    if (!tap) return std::unexpected(tap.error());
    opened = std::move(*tap);
    return {};
  });
  if (!made) return std::unexpected(made.error());
  return opened;
}

LabHost host_of(const char* interface, const std::string& ipv4, const std::string& ipv6,
                unsigned mtu) {
  LabHost host;
  host.interface = interface;
  host.ipv4 = ipv4;
  host.ipv6 = ipv6;
  host.mtu = mtu;
  return host;
}

}  // namespace

std::expected<Privilege, std::string> enter_private_namespaces() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  const bool root = user == 0;
  const int wanted = CLONE_NEWNET | CLONE_NEWNS | (root ? 0 : CLONE_NEWUSER);
  if (::unshare(wanted) != 0) {
    const std::string why = std::strerror(errno);
    return std::unexpected(
        root
            ? fmt::format("no private network namespace ({}): this root lacks CAP_SYS_ADMIN, as in "
                          "many containers; allow it or run on the host",
                          why)
            : fmt::format("no private namespaces without root ({}): the system forbids "
                          "unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone, "
                          "kernel.apparmor_restrict_unprivileged_userns, "
                          "user.max_user_namespaces); run as root or allow them",
                          why));
  }
  if (!root)
    if (auto done = map_to_root(user, group); !done) return std::unexpected(done.error());
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return failed("making mounts private");
  return root ? Privilege::root : Privilege::user_namespace;
}

std::expected<base::FileDescriptor, std::string> make_network_namespace() {
  const auto own = current_network_namespace();
  if (!own) return std::unexpected(own.error());
  if (::unshare(CLONE_NEWNET) != 0) return failed("a new network namespace");
  auto made = current_network_namespace();
  if (::setns(own->get(), CLONE_NEWNET) != 0) return failed("back to the own network namespace");
  return made;
}

std::expected<void, std::string> in_network_namespace(
    int network_namespace, const std::function<std::expected<void, std::string>()>& work) {
  const auto own = current_network_namespace();
  if (!own) return std::unexpected(own.error());
  if (::setns(network_namespace, CLONE_NEWNET) != 0) return failed("entering a network namespace");
  auto done = work();
  if (::setns(own->get(), CLONE_NEWNET) != 0) return failed("back to the own network namespace");
  return done;
}

std::expected<void, std::string> Lab::make_hosts(const LabOptions& options) {
  auto made = make_network_namespace();
  if (!made) return std::unexpected(made.error());
  tester_namespace_ = std::move(*made);
  tester_ = host_of(tester_interface, options.tester_ipv4, options.tester_ipv6, options.mtu);
  tester_.network_namespace = tester_namespace_.get();
  iut_ = host_of(iut_interface, options.iut_ipv4, options.iut_ipv6, options.mtu);
  iut_.further_ipv4 = options.further_ipv4;
  iut_.further_ipv6 = options.further_ipv6;
  return {};
}

std::expected<Lab, std::string> Lab::with_veth(const LabOptions& options) {
  Lab lab;
  if (auto done = lab.make_hosts(options); !done) return std::unexpected(done.error());
  auto made = make_network_namespace();
  if (!made) return std::unexpected(made.error());
  lab.iut_namespace_ = std::move(*made);
  lab.iut_.network_namespace = lab.iut_namespace_.get();
  // A copy without close-on-exec, so that `ip` has the other namespace open under the same number.
  const base::FileDescriptor inherited(::fcntl(lab.iut_namespace_.get(), F_DUPFD, 3));
  const auto pair =
      run_in(lab.tester_namespace_.get(),
             {"ip", "link", "add", tester_interface, "type", "veth", "peer", "name", iut_interface,
              "netns", fmt::format("/proc/self/fd/{}", inherited.get())});
  if (!pair) return std::unexpected(pair.error());
  for (const LabHost* host : {&lab.tester_, &lab.iut_})
    if (auto done = bring_up(*host); !done) return std::unexpected(done.error());
  if (auto done = add_spares(lab.tester_, options.tester_spare); !done)
    return std::unexpected(done.error());
  return lab;
}

std::expected<Lab, std::string> Lab::with_tap(const LabOptions& options) {
  Lab lab;
  if (auto done = lab.make_hosts(options); !done) return std::unexpected(done.error());
  lab.iut_.interface = "eth0";
  auto tap = open_tap_in(lab.tester_namespace_.get(), tester_interface);
  if (!tap) return std::unexpected(tap.error());
  lab.tap_ = std::move(*tap);
  if (auto done = bring_up(lab.tester_); !done) return std::unexpected(done.error());
  if (auto done = add_spares(lab.tester_, options.tester_spare); !done)
    return std::unexpected(done.error());
  return lab;
}

std::expected<base::FileDescriptor, std::string> Lab::add_tap(const std::string& interface,
                                                              const std::string& ipv4) const {
  auto tap = open_tap_in(tester_namespace_.get(), interface);
  if (!tap) return tap;
  const int there = tester_namespace_.get();
  auto up = bring_up_link(there, interface, tester_.mtu);
  if (up) up = run_in(there, {"ip", "addr", "add", ipv4, "dev", interface});
  if (!up) return std::unexpected(up.error());
  return tap;
}

std::string Bridge::tap_interface(std::size_t guest) { return fmt::format("guest{}", guest); }

std::expected<void, std::string> Bridge::add_tap(std::size_t guest) {
  const std::string name = tap_interface(guest);
  auto tap = open_tap_in(namespace_.get(), name);
  if (!tap) return std::unexpected(tap.error());
  taps_.push_back(std::move(*tap));
  if (auto done = run_in(namespace_.get(), {"ip", "link", "set", name, "master", bridge_interface});
      !done)
    return done;
  return bring_up_link(namespace_.get(), name, host_.mtu);
}

std::expected<Bridge, std::string> Bridge::with_taps(std::size_t guests,
                                                     const LabOptions& options) {
  Bridge bridge;
  auto made = make_network_namespace();
  if (!made) return std::unexpected(made.error());
  bridge.namespace_ = std::move(*made);
  bridge.host_ = host_of(bridge_interface, options.tester_ipv4, options.tester_ipv6, options.mtu);
  bridge.host_.network_namespace = bridge.namespace_.get();
  // No spanning tree and no forwarding delay: the first frame passes.
  if (auto done = run_in(bridge.namespace_.get(),
                         {"ip", "link", "add", bridge_interface, "type", "bridge", "stp_state", "0",
                          "forward_delay", "0", "mcast_snooping", "0"});
      !done)
    return std::unexpected(done.error());
  for (std::size_t guest = 0; guest < guests; ++guest)
    if (auto done = bridge.add_tap(guest); !done) return std::unexpected(done.error());
  if (auto done = bring_up(bridge.host_); !done) return std::unexpected(done.error());
  return bridge;
}

std::string namespace_path(int network_namespace) {
  return network_namespace < 0 ? "" : fmt::format("/proc/{}/fd/{}", ::getpid(), network_namespace);
}

Done in_network_namespace(const std::string& path, const std::function<Done()>& work) {
  if (path.empty()) return work();
  const base::FileDescriptor there(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (there) return in_network_namespace(there.get(), work);
  return failed("the network namespace " + path);
}

}  // namespace suite::lab
