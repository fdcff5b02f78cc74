// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/test_bed.hpp"

#include "base/epoll_loop.hpp"
#include "base/simulated_loop.hpp"
#include "reference_rnic/llp/memory_network.hpp"
#include "reference_rnic/llp/tcp_network.hpp"
#include "suite/runner/agent_test_bed.hpp"
#include "suite/runner/iut_guard.hpp"
#include "suite/runner/test_host.hpp"

namespace suite::runner {

namespace {

template <typename Value>
using Result = std::expected<Value, std::string>;

upper_tester::reference::Behaviour behaviour_of(const WorkerSetup& setup) {
  upper_tester::reference::Behaviour behaviour;
  for (const std::string& name : setup.deviations)
    behaviour.deviations.push_back(rnic::deviants::find_deviation(name).value());
  for (const std::string& name : setup.lawful)
    behaviour.lawful.push_back(rnic::lawful::find_lawful(name).value());
  return behaviour;
}

// The reference in this process; `loop` is real or simulated.
class InProcessTestBed : public TestBed {
 public:
  Result<void> revive() override { return {}; }
  cases::Environment& environment() override { return *environment_; }

 protected:
  void set_up(base::EventLoop& loop, rnic::llp::Network& tester, rnic::llp::Network& iut_network,
              const WorkerSetup& setup, const SuiteParts& parts) {
    iut_ = guarded_iut(loop, iut_network, [&](base::EventLoop& w, rnic::llp::Network& n) {
      return parts.make_reference(w, n, behaviour_of(setup));
    });
    environment_.emplace(cases::Environment{.loop = loop,
                                            .tester = tester,
                                            .iut = *iut_,
                                            .iut_ipv4 = iut_network.address(base::Family::ipv4),
                                            .iut_ipv6 = iut_network.address(base::Family::ipv6),
                                            .pics = {},
                                            .current_configuration = {}});
    apply(setup, *environment_);
  }

 private:
  std::unique_ptr<iut::Iut> iut_;
  std::optional<cases::Environment> environment_;
};

// Members of a test bed that the base class's IUT uses must outlive it, so they come from a base that
// is destroyed after it.
struct TcpSetup {
  TcpSetup(TestHost one, TestHost other)
      : tester_host(std::move(one)), iut_host(std::move(other)) {}
  static rnic::llp::TcpHost guarded(rnic::llp::TcpHost host) {
    host.observer_caller = rnic::llp::ObserverCaller(call_iut);
    return host;
  }
  TestHost tester_host, iut_host;
  base::EpollLoop loop;
  rnic::llp::TcpNetwork tester{loop, tester_host.tcp}, iut{loop, guarded(iut_host.tcp)};
};
class TcpTestBed final : TcpSetup, public InProcessTestBed {
 public:
  TcpTestBed(TestHost tester_side, TestHost iut_side, const WorkerSetup& setup,
             const SuiteParts& parts)
      : TcpSetup(std::move(tester_side), std::move(iut_side)) {
    set_up(loop, tester, iut, setup, parts);
  }
};

struct MemorySetup {
  base::SimulatedLoop loop;
  rnic::llp::MemoryFabric fabric{loop};
  std::unique_ptr<rnic::llp::Network> tester, iut;
};
class MemoryTestBed final : MemorySetup, public InProcessTestBed {
 public:
  MemoryTestBed(const TestHost& tester_side, const TestHost& iut_side, const WorkerSetup& setup,
                const SuiteParts& parts) {
    tester = fabric.add_host(tester_side.tcp.ipv4, tester_side.tcp.ipv6);
    iut = fabric.add_host(iut_side.tcp.ipv4, iut_side.tcp.ipv6, rnic::llp::ObserverCaller(call_iut),
                          further_addresses(setup.iut).value_or(std::vector<base::Address>{}));
    set_up(loop, *tester, *iut, setup, parts);
  }
};

}  // namespace

void apply(const WorkerSetup& setup, cases::Environment& environment) {
  environment.deadline_scale = setup.deadline_scale;
  environment.reply_deadline = std::chrono::milliseconds(setup.reply_deadline);
  environment.quiet_window = std::chrono::nanoseconds(setup.quiet_window);
  environment.pics = setup.pics;
  environment.strict = setup.strict;
  environment.dat = setup.dat;
  environment.iut_further = further_addresses(setup.iut).value_or(std::vector<base::Address>{});
}

Result<std::unique_ptr<TestBed>> make_test_bed(const WorkerSetup& setup, const SuiteParts& parts) {
  auto tester = make_test_host(setup.tester);
  if (!tester) return std::unexpected(tester.error());
  auto iut = make_test_host(setup.iut);
  if (!iut) return std::unexpected(iut.error());
  if (auto further = further_addresses(setup.iut); !further)
    return std::unexpected(further.error());
  if (setup.reach != WorkerSetup::Reach::in_process) {
    return make_agent_test_bed(std::move(*tester), iut->tcp.ipv4, iut->tcp.ipv6, setup);
  }
  if (setup.memory_link) return std::make_unique<MemoryTestBed>(*tester, *iut, setup, parts);
  return std::make_unique<TcpTestBed>(std::move(*tester), std::move(*iut), setup, parts);
}

}  // namespace suite::runner
