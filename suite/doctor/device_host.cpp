// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/doctor/device_host.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "suite/doctor/device_ports.hpp"
#include "suite/doctor/ip_answers.hpp"

namespace suite::doctor {

namespace {

namespace fs = std::filesystem;
using results::PortRecord;

constexpr std::uint64_t wanted_lockable = 64 << 20;

Finding examine_type(const std::string& device, const System& host) {
  const std::string type =
      host.read(fs::path("/sys/class/infiniband") / device / "node_type").value_or("");
  if (type.find("RNIC") != std::string::npos)
    return ok("driver", fmt::format("{} is an iWARP device", device));
  return fail("driver", fmt::format("{} is no iWARP device (node type '{}')", device, type),
              "choose a device for which /sys/class/infiniband/*/node_type says RNIC");
}

constexpr const char* remedy_for_link =
    "connect the cable and bring its interface up: ip link set DEV up";

std::string words_for(const PortRecord& port) {
  return fmt::format("port {}{} is '{}'", port.number,
                     port.interface.empty() ? "" : " (" + port.interface + ")", port.state);
}

// Whether any port works; whether it is the one with the address is examined with the address.
Finding examine_ports(const std::string& device, const std::vector<PortRecord>& ports) {
  std::vector<std::string> words;
  for (const PortRecord& port : ports) words.push_back(words_for(port));
  if (words.empty()) words.emplace_back("no port is to be seen");
  const std::string all = fmt::format("{}: {}", device, fmt::join(words, ", "));
  if (std::ranges::any_of(ports, is_active)) return ok("link", all);
  return fail("link", all, remedy_for_link);
}

Finding examine_nodes(const System& host) {
  const auto names = host.names_in("/dev/infiniband");
  if (std::ranges::find(names, "rdma_cm") == names.end())
    return fail("device nodes", "/dev/infiniband/rdma_cm is missing", "modprobe rdma_ucm");
  std::vector<std::string> closed;
  for (const std::string& name : names)
    if ((name.starts_with("uverbs") || name == "rdma_cm") &&
        !host.may_read_and_write(fs::path("/dev/infiniband") / name))
      closed.push_back(name);
  if (closed.empty()) return ok("device nodes", "/dev/infiniband may be used");
  return fail("device nodes", fmt::format("no right to use {}", fmt::join(closed, ", ")),
              "run as root, or give your group the right by a udev rule");
}

Finding examine_memory(const System& host) {
  const std::uint64_t limit = host.lockable_memory();
  if (limit >= wanted_lockable) return ok("locked memory", "enough memory may be locked");
  return warn("locked memory",
              fmt::format("only {} KiB may be locked: registrations may fail", limit / 1024),
              "ulimit -l unlimited, or 'memlock unlimited' in /etc/security/limits.d");
}

// Where an address of the host is, if it is one.
Finding examine_place(const std::string& address, const IpLink& link,
                      const std::vector<PortRecord>& ports, const std::string& device,
                      const std::string& links) {
  const auto port = std::ranges::find_if(
      ports, [&](const PortRecord& one) { return is_over(link, one.interface, links); });
  std::vector<std::string> wanted;
  for (const PortRecord& one : ports)
    if (!one.interface.empty()) wanted.push_back(one.interface);
  if (!wanted.empty() && port == ports.end())
    return fail("address",
                fmt::format("{} is on {}, but {} is on {}", address, link.name, device,
                            fmt::join(wanted, ", ")),
                fmt::format("give an address of {}: the RNIC does not see what comes to another "
                            "interface",
                            fmt::join(wanted, " or ")));
  if (!link.up)
    return fail("address", fmt::format("{} of {} is down", link.name, address),
                fmt::format("ip link set {} up", link.name));
  // If none is active, that has been said of the device.
  if (port != ports.end() && !is_active(*port) && std::ranges::any_of(ports, is_active))
    return fail("link", fmt::format("{} is on {}: {}", address, link.name, words_for(*port)),
                remedy_for_link);
  const std::string over = link.lower.empty() ? "" : " over " + link.lower;
  return ok("address", fmt::format("{} is on {}{}, MTU {}", address, link.name, over, link.mtu));
}

}  // namespace

std::vector<Finding> examine_device(const std::string& device, const System& host) {
  const auto devices = host.names_in("/sys/class/infiniband");
  if (std::ranges::find(devices, device) == devices.end()) {
    const std::string there =
        devices.empty() ? "there is none" : fmt::format("there are {}", fmt::join(devices, ", "));
    return {fail("driver", fmt::format("no RDMA device '{}': {}", device, there),
                 "name one that `rdma link` shows, or load its driver and the userspace modules: "
                 "modprobe ib_uverbs rdma_ucm")};
  }
  return {examine_type(device, host), examine_ports(device, ports_of(device, host)),
          examine_nodes(host), examine_memory(host)};
}

std::vector<Finding> examine_addresses(const std::vector<std::string>& addresses,
                                       const std::string& device, const System& host) {
  const auto links = host.ask({"ip", "-d", "-j", "addr", "show"});
  if (!links)
    return {fail("address",
                 fmt::format("the addresses of that host cannot be read: {}", links.error()),
                 "make `ip -j addr show` work on that host: install iproute2 there")};
  const std::vector<PortRecord> ports =
      device.empty() ? std::vector<PortRecord>() : ports_of(device, host);
  std::vector<Finding> findings;
  for (const std::string& address : addresses) {
    const auto link = link_with(*links, without_zone(address));
    if (link)
      findings.push_back(examine_place(address, *link, ports, device, *links));
    else
      findings.push_back(fail("address", fmt::format("{} is no address of that host", address),
                              "give the RNIC's interface this address: ip addr add ADDRESS/LEN "
                              "dev DEV; or give its own address with --address"));
  }
  return findings;
}

}  // namespace suite::doctor
