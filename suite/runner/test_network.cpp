// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Makes the networks that need no lab: the in-memory link, loopback, and a host of the IUT's own.
#include "suite/runner/test_network.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/address_block.hpp"
#include "base/zoned_address.hpp"
#include "reference_rnic/llp/tcp_socket.hpp"
#include "suite/runner/dut_network.hpp"
#include "suite/runner/lab_networks.hpp"

namespace suite::runner {

namespace {

using base::Address;
using base::Family;
using base::ZonedAddress;
template <typename Value>
using Result = std::expected<Value, std::string>;

// A network that only consists of data.
class HostNetwork final : public TestNetwork {
 public:
  HostNetwork(WorkerSetup setup, results::LabRecord record, unsigned jobs)
      : setup_(std::move(setup)), record_(std::move(record)), jobs_(jobs) {}
  WorkerSetup setup(std::uint32_t) const override { return setup_; }
  const results::LabRecord& record() const override { return record_; }
  unsigned usual_jobs() const override { return jobs_; }

 private:
  WorkerSetup setup_;
  results::LabRecord record_;
  unsigned jobs_;
};

std::unique_ptr<TestNetwork> memory_network(const Options& options) {
  WorkerSetup setup = common_setup(options);
  setup.memory_link = true;
  setup.tester = {.network_namespace = "", .ipv4 = "10.77.0.1", .ipv6 = "fd77::1"};
  setup.iut = {.network_namespace = "",
               .ipv4 = "10.77.0.2",
               .ipv6 = "fd77::2",
               .further_ipv4 = "10.77.0.3",
               .further_ipv6 = "fd77::3"};
  results::LabRecord record{.kind = results::LabKind::memory,
                            .interface = "",
                            .mtu = 1500,
                            .tester_addresses = {setup.tester.ipv4, setup.tester.ipv6},
                            .note = "simulated time"};
  return std::make_unique<HostNetwork>(std::move(setup), std::move(record), processors());
}

// If no namespace can be made: loopback, with segments of the size of Ethernet's.
TestNetworkOr loopback_network(const Options& options, const std::string& why) {
  WorkerSetup setup = common_setup(options);
  constexpr std::uint32_t segment = 1448;
  setup.tester = {
      .network_namespace = "", .ipv4 = "127.0.0.1", .ipv6 = "::1", .max_segment = segment};
  setup.iut = {.network_namespace = "",
               .ipv4 = "127.0.0.2",
               .ipv6 = "::1",
               .further_ipv4 = "127.0.0.3",
               .max_segment = segment};
  if (auto added = add_reference_agent(setup, options, -1); !added)
    return std::unexpected(added.error());
  results::LabRecord record{.kind = results::LabKind::loopback,
                            .interface = "lo",
                            .mtu = 65536,
                            .tester_addresses = {setup.tester.ipv4, setup.tester.ipv6},
                            .note = "no namespaces: " + why};
  return std::make_unique<HostNetwork>(std::move(setup), std::move(record), reference_jobs());
}

// ---------------------------------------------------------------- a host of the IUT's own

// Our address from which the IUT is reached, according to the routing table; nothing is sent.
Result<Address> own_address_towards(const Address& iut, std::uint32_t zone) {
  const rnic::llp::SocketAddress to(iut.with_port(9), zone);
  const base::FileDescriptor fd(
      ::socket(iut.family == Family::ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  rnic::llp::SocketAddress own;
  if (!fd || ::connect(fd.get(), to.data(), to.size) != 0 ||
      ::getsockname(fd.get(), own.data(), &own.size) != 0) {
    return std::unexpected(fmt::format("no route to the IUT at {}: {}", iut.host(),
                                       std::generic_category().message(errno)));
  }
  return own.address().with_port(0);
}

struct Interface {
  std::string name;
  std::uint64_t mtu = 0;
};

/// `zone`: of a link-local address, which several interfaces may have.
Result<Interface> interface_of(const Address& own, const std::string& zone) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return std::unexpected("cannot list the interfaces of this host");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> holder(list, ::freeifaddrs);
  const int wanted = own.family == Family::ipv4 ? AF_INET : AF_INET6;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != wanted) continue;
    rnic::llp::SocketAddress address;
    std::memcpy(address.data(), one->ifa_addr,
                wanted == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    if (address.address().with_port(0) != own) continue;
    if (!zone.empty() && zone != one->ifa_name) continue;
    const base::FileDescriptor fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    std::strncpy(request.ifr_name, one->ifa_name, IFNAMSIZ - 1);
    const bool known = ::ioctl(fd.get(), SIOCGIFMTU, &request) == 0;
    return Interface{one->ifa_name, known ? static_cast<std::uint64_t>(request.ifr_mtu) : 0};
  }
  return std::unexpected(fmt::format("no interface of this host has the address {}", own.host()));
}

Address loopback_of(Family family) {
  return Address::parse(family == Family::ipv4 ? "127.0.0.1" : "::1").value();
}

std::string& of_family(HostSetup& host, Family family) {
  return family == Family::ipv4 ? host.ipv4 : host.ipv6;
}

// The agent runs on the provider's host: a dat.conf that our own environment names is a file of
// that host.
void add_dat_access(WorkerSetup& setup, const Options& options) {
  std::vector<std::string> program = options.choice.dat_cases;
  if (program.front() == "rnic-dat-cases") program.front() = dat_cases_program();
  const char* conf = std::getenv("DAT_OVERRIDE");
  if (conf != nullptr && !options.host.empty()) {
    const std::vector<std::string> words{"env", std::string("DAT_OVERRIDE=") + conf};
    for (const auto& [argv, name] :
         {std::pair{&setup.agent, "rnic-agent"}, std::pair{&program, "rnic-dat-cases"}})
      argv->insert(std::ranges::find(*argv, name), words.begin(), words.end());
  }
  setup.dat =
      cases::DatAccess{.program = std::move(program),
                       .ia = options.choice.device,
                       .address = ZonedAddress::parse(options.addresses.front())->address.host()};
}

// The block of the PIXIT, if its addresses are this host's own.
Result<void> add_spare_addresses(HostSetup& tester, const Options& options) {
  const std::string& text = options.access.tester_spare;
  if (text.empty()) return {};
  const auto block = base::AddressBlock::parse(text);
  if (!block) return std::unexpected("tester_spare: " + block.error());
  const base::FileDescriptor fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const rnic::llp::SocketAddress first(block->first);
  if (!fd || ::bind(fd.get(), first.data(), first.size) != 0)
    return std::unexpected(
        fmt::format("tester_spare: {} is no address of this host: ip route add local {} dev lo",
                    block->first.host(), text));
  tester.spare_ipv4 = block->first.host();
  tester.spare_count = block->count;
  return {};
}

TestNetworkOr external_network(const Options& options, const Tell& tell) {
  WorkerSetup setup = common_setup(options);
  setup.reach = WorkerSetup::Reach::process;
  setup.agent = options.choice.agent;
  if (setup.agent.front() == "rnic-agent") setup.agent.front() = agent_program();
  if (options.choice.is_dat()) add_dat_access(setup, options);
  for (const std::string& literal : options.tester_addresses) {
    const auto own = ZonedAddress::parse(literal);
    if (!own) return std::unexpected("--tester-address: " + own.error());
    of_family(setup.tester, own->address.family) = own->address.host();
  }
  if (auto added = add_spare_addresses(setup.tester, options); !added)
    return std::unexpected(added.error());
  if (const std::string& wanted = options.capture_interface;
      !wanted.empty() && ::if_nametoindex(wanted.c_str()) == 0)
    return std::unexpected(fmt::format(
        "--capture-interface: there is no interface '{}'; `ip link` shows them", wanted));
  setup.iut.further_ipv4 = options.access.further_ipv4;
  setup.iut.further_ipv6 = options.access.further_ipv6;
  Interface captured;
  for (const std::string& literal : options.addresses) {
    const auto zoned = ZonedAddress::parse(literal);
    if (!zoned) return std::unexpected("--address: " + zoned.error());
    const Address& iut = zoned->address;
    of_family(setup.iut, iut.family) = iut.host();
    if (options.choice.kind != IutChoice::Kind::agent && !options.choice.over_tls())
      setup.agent.insert(setup.agent.end(), {"--address", iut.host()});
    const unsigned zone = base::zone_index(zoned->zone);
    if (!zoned->zone.empty() && zone == 0)
      return std::unexpected(
          fmt::format("--address {}: this host has no interface '{}'; `ip link` shows them",
                      literal, zoned->zone));
    if (zone != 0) setup.tester.zone = zoned->zone;
    std::string& own = of_family(setup.tester, iut.family);
    if (own.empty()) {
      const auto found = own_address_towards(iut, zone);
      if (!found) return std::unexpected(found.error());
      own = found->host();
    }
    // What a host sends to itself goes over loopback, whichever interface has the address.
    const Address own_address = Address::parse(own).value();
    const auto interface = own_address == iut ? interface_of(loopback_of(iut.family), "")
                                              : interface_of(own_address, zoned->zone);
    if (!interface) return std::unexpected(interface.error());
    captured = *interface;
  }
  results::LabRecord record{
      .kind = results::LabKind::external,
      .interface = options.capture_interface.empty() ? captured.name : options.capture_interface,
      .mtu = captured.mtu,
      .tester_addresses = {},
      .note = ""};
  for (const std::string* address : {&setup.tester.ipv4, &setup.tester.ipv6}) {
    if (!address->empty()) record.tester_addresses.push_back(*address);
  }
  DutNetwork::Access access{.kernel_log = kernel_log_of(options),
                            .log_file = {},
                            .reset_command = options.access.reset_command};
  if (options.command == Command::run)
    access.log_file = std::filesystem::absolute(options.out) / "kernel.log";
  return std::make_unique<DutNetwork>(std::move(setup), std::move(record), std::move(access), tell);
}

}  // namespace

std::vector<std::string> TestNetwork::iut_addresses() const {
  const WorkerSetup words = setup(0);
  std::vector<std::string> list;
  for (const std::string* address : {&words.iut.ipv4, &words.iut.ipv6}) {
    if (!address->empty()) list.push_back(*address);
  }
  return list;
}

unsigned processors() { return std::max(1U, std::thread::hardware_concurrency()); }
unsigned reference_jobs() { return std::clamp(8 * processors(), 8U, 64U); }

namespace {

bool makes_guests(const Options& options) {
  return options.choice.in_guest() && options.link != "memory";
}

TestNetworkOr make_other_network(const Options& options, const Tell& tell) {
  if (options.link == "memory") return memory_network(options);
  if (!options.choice.in_lab()) return external_network(options, tell);
  auto lab = namespace_network(options);
  if (lab) return lab;
  tell(lab.error() + "; the run uses loopback");
  return loopback_network(options, lab.error());
}

}  // namespace

std::size_t most_networks(const Options& options) {
  constexpr std::size_t most_guests = 2;
  const bool one_at_a_time = options.jobs == 1;
  return makes_guests(options) && !one_at_a_time ? most_guests : 1;
}

TestNetworksOr make_networks(const Options& options, std::size_t count, const Tell& tell) {
  if (makes_guests(options)) return guest_networks(options, count, tell);
  assert(count == 1);
  auto network = make_other_network(options, tell);
  if (!network) return std::unexpected(network.error());
  std::vector<std::unique_ptr<TestNetwork>> networks;
  networks.push_back(std::move(*network));
  return networks;
}

TestNetworkOr make_network(const Options& options, const Tell& tell) {
  auto networks = make_networks(options, 1, tell);
  if (!networks) return std::unexpected(networks.error());
  base::EpollLoop loop;
  std::optional<Result<void>> up;
  networks->front()->bring_up(loop, [&up](Result<void> result) { up = std::move(result); });
  loop.run_until(base::TimePoint::max(), [&up] { return up.has_value(); });
  if (!*up) return std::unexpected(up->error());
  return std::move(networks->front());
}

}  // namespace suite::runner
