// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/agent_test_bed.hpp"

#include <optional>

#include "base/epoll_loop.hpp"
#include "reference_rnic/llp/tcp_network.hpp"
#include "suite/iut/agent_client.hpp"

namespace suite::runner {

namespace {

using base::Address;

// An agent, as a process or at the other end of a socket.
class AgentTestBed final : public TestBed {
 public:
  AgentTestBed(TestHost tester_host, Address iut_ipv4, Address iut_ipv6, const WorkerSetup& setup)
      : tester_host_(std::move(tester_host)),
        iut_ipv4_(iut_ipv4),
        iut_ipv6_(iut_ipv6),
        setup_(setup) {}

  std::expected<void, std::string> revive() override {
    loop_.run_until(loop_.now(),
                    [] { return false; });  // an agent that ended in the meantime is noticed here
    if (client_ && !client_->gone()) return {};
    if (client_) {
      environment_->current_configuration.reset();
      if (auto again = client_->restart(); !again) return std::unexpected(text(again.error()));
      return {};
    }
    auto opener = setup_.reach == WorkerSetup::Reach::process ? iut::agent_process(setup_.agent)
                                                              : iut::agent_socket(setup_.socket);
    auto started =
        iut::AgentClient::start(loop_, std::move(opener),
                                {.hello = std::chrono::milliseconds(setup_.hello_deadline),
                                 .reply = std::chrono::milliseconds(setup_.reply_deadline)});
    if (!started) return std::unexpected(text(started.error()));
    client_ = std::move(*started);
    environment_.emplace(cases::Environment{.loop = loop_,
                                            .tester = tester_,
                                            .iut = *client_,
                                            .iut_ipv4 = iut_ipv4_,
                                            .iut_ipv6 = iut_ipv6_,
                                            .pics = {},
                                            .current_configuration = {}});
    apply(setup_, *environment_);
    return {};
  }
  cases::Environment& environment() override { return *environment_; }
  std::string take_diagnostics() override {
    return client_ ? client_->take_diagnostics() : std::string();
  }

 private:
  static std::string text(const iut::GoneEvent& gone) {
    return gone.detail.empty() ? std::string(name(gone.why)) : gone.detail;
  }

  TestHost tester_host_;
  Address iut_ipv4_, iut_ipv6_;
  WorkerSetup setup_;
  base::EpollLoop loop_;
  rnic::llp::TcpNetwork tester_{loop_, tester_host_.tcp};
  std::unique_ptr<iut::AgentClient> client_;
  std::optional<cases::Environment> environment_;
};

}  // namespace

std::unique_ptr<TestBed> make_agent_test_bed(TestHost tester, Address iut_ipv4, Address iut_ipv6,
                                             const WorkerSetup& setup) {
  return std::make_unique<AgentTestBed>(std::move(tester), iut_ipv4, iut_ipv6, setup);
}

}  // namespace suite::runner
