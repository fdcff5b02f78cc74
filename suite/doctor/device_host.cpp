// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/doctor/device_host.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "suite/doctor/ip_answers.hpp"

namespace suite::doctor {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t wanted_lockable = 64 << 20;

Finding examine_type(const std::string& device, const System& host) {
  const std::string type =
      host.read(fs::path("/sys/class/infiniband") / device / "node_type").value_or("");
  if (type.find("RNIC") != std::string::npos)
    return ok("driver", fmt::format("{} is an iWARP device", device));
  return fail("driver", fmt::format("{} is no iWARP device (node type '{}')", device, type),
              "choose a device for which /sys/class/infiniband/*/node_type says RNIC");
}

Finding examine_link(const std::string& device, const System& host) {
  const std::string state =
      host.read(fs::path("/sys/class/infiniband") / device / "ports/1/state").value_or("unknown");
  if (state.find("ACTIVE") != std::string::npos)
    return ok("link", fmt::format("port 1 of {} is active", device));
  return fail("link", fmt::format("port 1 of {} is '{}'", device, state),
              "connect the cable and bring its interface up: ip link set DEV up");
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

// The network interface of port 1; empty if neither iproute2 nor sysfs shows it.
std::string interface_of(const std::string& device, const System& host) {
  if (device.empty()) return {};
  const auto link = first_of(host.ask({"rdma", "-j", "link", "show", device + "/1"}));
  if (link.is_object() && link.contains("netdev") && link["netdev"].is_string())
    return link["netdev"];
  const auto names = host.names_in(fs::path("/sys/class/infiniband") / device / "device/net");
  return names.size() == 1 ? names.front() : std::string();
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
  return {examine_type(device, host), examine_link(device, host), examine_nodes(host),
          examine_memory(host)};
}

std::vector<Finding> examine_addresses(const std::vector<std::string>& addresses,
                                       const std::string& device, const System& host) {
  const std::string links = host.ask({"ip", "-j", "addr", "show"}).value_or("");
  const std::string wanted = interface_of(device, host);
  std::vector<Finding> findings;
  for (const std::string& address : addresses) {
    const auto link = link_with(links, address);
    if (!link)
      findings.push_back(fail("address", fmt::format("{} is no address of that host", address),
                              "give the RNIC's interface this address: ip addr add ADDRESS/LEN "
                              "dev DEV; or give its own address with --address"));
    else if (!wanted.empty() && link->name != wanted)
      findings.push_back(
          fail("address",
               fmt::format("{} is on {}, but {} is on {}", address, link->name, device, wanted),
               fmt::format(
                   "give an address of {}: the RNIC does not see what comes to another interface",
                   wanted)));
    else if (!link->up)
      findings.push_back(fail("address", fmt::format("{} of {} is down", link->name, address),
                              fmt::format("ip link set {} up", link->name)));
    else
      findings.push_back(
          ok("address", fmt::format("{} is on {}, MTU {}", address, link->name, link->mtu)));
  }
  return findings;
}

}  // namespace suite::doctor
