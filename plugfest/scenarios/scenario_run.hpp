// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a scenario is played with: two agents, what they must show, and what the wire must show.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.hpp"
#include "plugfest/verdict.hpp"
#include "suite/cases/framework/consumer.hpp"

namespace plugfest {

namespace access = suite::cases::access;
namespace iut = suite::iut;
using base::Octets;
using iut::Handle;
using suite::cases::Region;
using suite::cases::Work;

/// What is recorded of a scenario while it is played.
struct Record {
  base::EventLoop& loop;
  base::TimePoint begun, deadline;  ///< of the whole scenario
  base::Duration step_timeout;      ///< of one step
  std::vector<Check> checks{};
  std::vector<Step> steps{};
  std::vector<std::uint16_t> listened{};  ///< ports of both sides

  void note(std::optional<Side> side, std::string text);
  /// Records a check that must hold; the scenario continues if it does not.
  void expect(Side side, std::string what, std::string expected, std::string actual);
  /// The same as expect(), but the scenario ends here if it does not hold.
  void require(Side side, std::string what, std::string expected, std::string actual);
};

/// One side: the consumer of its agent, whose expectations are recorded as those of this side.
class AgentSide final : public suite::cases::Consumer {
 public:
  AgentSide(Side side, iut::Iut& iut, std::string address, Record& record)
      : Consumer(iut, record.loop), side_(side), address_(std::move(address)), record_(record) {}

  [[nodiscard]] Side side() const { return side_; }
  [[nodiscard]] const std::string& address() const { return address_; }

  using Consumer::connect;
  /// Its port; one listener for the whole scenario.
  [[nodiscard]] std::uint16_t listen();
  void connect(Handle endpoint, const AgentSide& to, std::uint16_t port,
               const iut::ConnectParameters& parameters = {}) {
    Consumer::connect(endpoint, to.address(), port, parameters);
  }
  [[nodiscard]] iut::ConnectRequestEvent request();
  /// The same as request(), if only that endpoint of the asker asks: the wait ends once the asker
  /// has reported the end of its attempt.
  [[nodiscard]] iut::ConnectRequestEvent request_from(AgentSide& asker, Handle endpoint);
  /// The endpoint's established, rejected or connect_failed; ends the scenario if none comes.
  [[nodiscard]] iut::Event startup_of(Handle endpoint);
  /// Whether it was reported. If the other side has waited for the same in vain, this side has had
  /// its time too.
  bool expect_disconnected(Handle endpoint, bool had_its_time = false);

  /// The completion; ends the scenario if none comes.
  [[nodiscard]] iut::CompletionEvent completion(const Work& work, const std::string& of);
  /// The same as completion(), which must have this status.
  iut::CompletionEvent expect_completion(const Work& work, const std::string& of,
                                         const std::string& status = "success");
  /// The next completed receive of that endpoint, whichever receive it is.
  [[nodiscard]] iut::CompletionEvent next_received(Handle endpoint);

 private:
  [[nodiscard]] base::TimePoint end_of_step() const {
    return std::min(record_.deadline, now() + record_.step_timeout);
  }
  /// The event that ended the endpoint's attempt to connect without success.
  [[nodiscard]] std::string failed_attempt(Handle endpoint);

  void giving(const suite::iut::Command& /*command*/) override {}
  void note(std::string text) override { record_.note(side_, std::move(text)); }
  [[nodiscard]] base::TimePoint reply_due() const override { return end_of_step(); }
  [[nodiscard]] base::TimePoint completion_due() const override { return end_of_step(); }
  [[nodiscard]] std::string_view who() const override {
    return side_ == Side::initiator ? "the initiator" : "the responder";
  }
  [[noreturn]] void stop_as_gone(const iut::GoneEvent& gone) const override;

  Side side_;
  std::string address_;
  Record& record_;
};

/// Runs it; returns how it was stopped, if it was.
[[nodiscard]] std::optional<ScenarioStop> stop_of(const std::function<void()>& work);

/// What the capture must show, apart from no broken rules.
struct WireExpectation {
  std::optional<int> revision;
  std::optional<bool> crc, markers, peer_to_peer;
  /// A Terminate is due; a connection that ends without one is an advisory (docs/disputes.md).
  std::optional<Side> terminate_from{};
  /// What the scenario makes a side do on purpose is not a finding against it.
  std::vector<std::pair<Side, std::string_view>> provoked{};
};

class ScenarioRun {
 public:
  ScenarioRun(iut::Iut& one, const std::string& address, iut::Iut& other,
              const std::string& its_address, Record& kept)
      : record(kept),
        initiator(Side::initiator, one, address, kept),
        responder(Side::responder, other, its_address, kept) {}

  [[nodiscard]] AgentSide& of(Side side) { return side == Side::initiator ? initiator : responder; }

  Record& record;
  AgentSide initiator, responder;
  WireExpectation expectation;
};

/// Octets that differ for each seed.
[[nodiscard]] Octets content(std::size_t length, std::uint64_t seed);
[[nodiscard]] std::string hash(const Octets& octets);

}  // namespace plugfest
