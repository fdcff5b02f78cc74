// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/bench.hpp"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "reference_rnic/llp/file_descriptor.hpp"
#include "reference_rnic/llp/memory_network.hpp"
#include "reference_rnic/llp/real_world.hpp"
#include "reference_rnic/llp/simulated_world.hpp"
#include "reference_rnic/llp/tcp_network.hpp"
#include "suite/iut/agent_client.hpp"
#include "suite/runner/crash_attribution.hpp"

namespace suite::runner {

namespace {

using rnic::llp::Address;
using rnic::llp::FileDescriptor;
using rnic::llp::TcpHost;

template <typename Value>
using Result = std::expected<Value, std::string>;

// An address of a side, or the unspecified one where the side has none.
Result<Address> address(const std::string& literal, rnic::llp::Family family) {
  if (!literal.empty()) return Address::parse(literal);
  Address none;
  none.family = family;
  return none;
}

struct Host {
  FileDescriptor network_namespace;
  TcpHost tcp;
};

Result<Host> make_host(const HostWords& words) {
  Host host;
  const auto ipv4 = address(words.ipv4, rnic::llp::Family::ipv4),
             ipv6 = address(words.ipv6, rnic::llp::Family::ipv6);
  if (!ipv4) return std::unexpected(ipv4.error());
  if (!ipv6) return std::unexpected(ipv6.error());
  host.tcp.ipv4 = *ipv4;
  host.tcp.ipv6 = *ipv6;
  if (words.max_segment > 0) host.tcp.max_segment = words.max_segment;
  if (words.network_namespace.empty()) return host;
  host.network_namespace =
      FileDescriptor(::open(words.network_namespace.c_str(), O_RDONLY | O_CLOEXEC));
  if (!host.network_namespace) {
    return std::unexpected(fmt::format("cannot open the network namespace {}: {}",
                                       words.network_namespace,
                                       std::generic_category().message(errno)));
  }
  host.tcp.namespace_fd = host.network_namespace.get();
  return host;
}

std::vector<rnic::stream::Deviation> deviations(const std::vector<std::string>& names) {
  std::vector<rnic::stream::Deviation> list;
  for (const std::string& name : names) list.push_back(rnic::stream::find_deviation(name).value());
  return list;
}

void set_common(cases::Environment& environment, const WorkerSetup& setup) {
  environment.deadline_scale = setup.deadline_scale;
  environment.quiet_window = std::chrono::nanoseconds(setup.quiet_window);
  environment.pics = setup.pics;
  environment.strict = setup.strict;
}

// The reference in this process; `World` is real or simulated.
class InProcessBench : public Bench {
 public:
  Result<void> revive() override { return {}; }
  cases::Environment& environment() override { return *environment_; }

 protected:
  void set_up(rnic::llp::World& world, rnic::llp::Network& tester, rnic::llp::Network& iut_network,
              const WorkerSetup& setup, const SuiteParts& parts) {
    iut_ = guarded_iut(world, iut_network, [&](rnic::llp::World& w, rnic::llp::Network& n) {
      return parts.make_reference(w, n, deviations(setup.deviations));
    });
    environment_.emplace(
        cases::Environment{.world = world,
                           .tester = tester,
                           .iut = *iut_,
                           .iut_ipv4 = iut_network.address(rnic::llp::Family::ipv4),
                           .iut_ipv6 = iut_network.address(rnic::llp::Family::ipv6),
                           .pics = {},
                           .standing = {}});
    set_common(*environment_, setup);
  }

 private:
  std::unique_ptr<iut::Iut> iut_;
  std::optional<cases::Environment> environment_;
};

// Members of a bench that the base class's IUT uses must outlive it, so they come from a base that
// is destroyed after it.
struct TcpGround {
  TcpGround(Host one, Host other) : tester_host(std::move(one)), iut_host(std::move(other)) {}
  Host tester_host, iut_host;
  rnic::llp::RealWorld world;
  rnic::llp::TcpNetwork tester{world, tester_host.tcp}, iut{world, iut_host.tcp};
};
class TcpBench final : TcpGround, public InProcessBench {
 public:
  TcpBench(Host tester_side, Host iut_side, const WorkerSetup& setup, const SuiteParts& parts)
      : TcpGround(std::move(tester_side), std::move(iut_side)) {
    set_up(world, tester, iut, setup, parts);
  }
};

struct MemoryGround {
  rnic::llp::SimulatedWorld world;
  rnic::llp::MemoryFabric fabric{world};
  std::unique_ptr<rnic::llp::Network> tester, iut;
};
class MemoryBench final : MemoryGround, public InProcessBench {
 public:
  MemoryBench(const Host& tester_side, const Host& iut_side, const WorkerSetup& setup,
              const SuiteParts& parts) {
    tester = fabric.add_host(tester_side.tcp.ipv4, tester_side.tcp.ipv6);
    iut = fabric.add_host(iut_side.tcp.ipv4, iut_side.tcp.ipv6);
    set_up(world, *tester, *iut, setup, parts);
  }
};

// An agent, as a process or behind a socket.
class AgentBench final : public Bench {
 public:
  AgentBench(Host tester_host, Address iut_ipv4, Address iut_ipv6, const WorkerSetup& setup)
      : tester_host_(std::move(tester_host)),
        iut_ipv4_(iut_ipv4),
        iut_ipv6_(iut_ipv6),
        setup_(setup) {}

  Result<void> revive() override {
    world_.run_until(world_.now(), [] {
      return false;
    });  // an agent that died while nobody looked is noticed here
    if (client_ && !client_->gone()) return {};
    if (client_) {
      environment_->standing.reset();
      if (auto again = client_->restart(); !again) return std::unexpected(text(again.error()));
      return {};
    }
    auto opener = setup_.reach == WorkerSetup::Reach::process ? iut::agent_process(setup_.agent)
                                                              : iut::agent_socket(setup_.socket);
    auto started =
        iut::AgentClient::start(world_, std::move(opener),
                                {.hello = std::chrono::milliseconds(setup_.hello_deadline),
                                 .reply = std::chrono::milliseconds(setup_.reply_deadline)});
    if (!started) return std::unexpected(text(started.error()));
    client_ = std::move(*started);
    environment_.emplace(cases::Environment{.world = world_,
                                            .tester = tester_,
                                            .iut = *client_,
                                            .iut_ipv4 = iut_ipv4_,
                                            .iut_ipv6 = iut_ipv6_,
                                            .pics = {},
                                            .standing = {}});
    set_common(*environment_, setup_);
    return {};
  }
  cases::Environment& environment() override { return *environment_; }
  std::string take_diagnostics() override {
    return client_ ? client_->take_diagnostics() : std::string();
  }

 private:
  static std::string text(const iut::GoneEvent& gone) {
    return gone.detail.empty() ? std::string(iut::word(gone.why)) : gone.detail;
  }

  Host tester_host_;
  Address iut_ipv4_, iut_ipv6_;
  WorkerSetup setup_;
  rnic::llp::RealWorld world_;
  rnic::llp::TcpNetwork tester_{world_, tester_host_.tcp};
  std::unique_ptr<iut::AgentClient> client_;
  std::optional<cases::Environment> environment_;
};

}  // namespace

Result<std::unique_ptr<Bench>> make_bench(const WorkerSetup& setup, const SuiteParts& parts) {
  auto tester = make_host(setup.tester);
  if (!tester) return std::unexpected(tester.error());
  auto iut = make_host(setup.iut);
  if (!iut) return std::unexpected(iut.error());
  if (setup.reach != WorkerSetup::Reach::in_process) {
    return std::make_unique<AgentBench>(std::move(*tester), iut->tcp.ipv4, iut->tcp.ipv6, setup);
  }
  if (setup.memory_link) return std::make_unique<MemoryBench>(*tester, *iut, setup, parts);
  return std::make_unique<TcpBench>(std::move(*tester), std::move(*iut), setup, parts);
}

}  // namespace suite::runner
