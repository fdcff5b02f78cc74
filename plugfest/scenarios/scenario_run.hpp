// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where a scenario is played: two agents, what they have to show, and what the wire has to.
#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "plugfest/verdict.hpp"
#include "suite/iut/iut.hpp"

namespace plugfest {

namespace iut = suite::iut;
using iut::Handle;
using iut::Octets;

/// What is kept of a scenario while it is played.
struct Record {
  base::EventLoop& loop;
  base::TimePoint begun, deadline;  ///< of the whole scenario
  base::Duration step_timeout;      ///< of one step
  std::vector<Check> checks{};
  std::vector<Step> steps{};

  void note(std::optional<Side> side, std::string text);
  /// Notes a check that must hold; another one later is looked at too.
  void expect(Side side, std::string what, std::string expected, std::string actual);
  /// As expect(), and the scenario ends here if it does not hold.
  void require(Side side, std::string what, std::string expected, std::string actual);
};

/// Registered memory of one side.
struct Region {
  Handle handle = 0;
  std::uint32_t stag = 0;
  std::uint64_t base = 0, length = 0;
};

/// Access rights by what they are for. Remote writing implies local writing, as verbs want it.
namespace rights {
inline constexpr iut::Access local{.local_write = true};
inline constexpr iut::Access read{.local_write = true, .remote_read = true};
inline constexpr iut::Access write{.local_write = true, .remote_write = true};
inline constexpr iut::Access atomic{
    .local_write = true, .remote_read = true, .remote_write = true, .remote_atomic = true};
}  // namespace rights

/// One side: its agent, one call per step. A command that is refused ends the scenario: *not
/// applicable* where the agent cannot, *error* otherwise.
class AgentSide {
 public:
  AgentSide(Side side, iut::Iut& iut, std::string address, Record& record)
      : side_(side), iut_(iut), address_(std::move(address)), record_(record) {}

  [[nodiscard]] Side side() const { return side_; }
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] bool can(std::string_view capability) const;
  iut::Reply call(iut::Command command, const std::string& what);

  // -- memory --
  [[nodiscard]] Region memory(std::uint64_t length, const iut::Access& access = rights::local);
  [[nodiscard]] Region memory_of(const Octets& contents, const iut::Access& access = rights::local);
  [[nodiscard]] Octets contents(const Region& region);

  // -- connections --
  [[nodiscard]] Handle endpoint(Handle shared_queue = 0);
  /// Its port; one listener for the whole scenario.
  [[nodiscard]] std::uint16_t listen();
  void connect(Handle endpoint, const AgentSide& to, std::uint16_t port,
               const iut::ConnectParameters& parameters = {});
  [[nodiscard]] iut::ConnectRequestEvent request();
  /// As request(), where only that endpoint of the asker's asks: nothing is waited for any more once
  /// the asker has reported that its attempt has ended.
  [[nodiscard]] iut::ConnectRequestEvent request_from(AgentSide& asker, Handle endpoint);
  void accept(Handle request, Handle endpoint, const iut::ConnectParameters& parameters = {});
  /// The endpoint's established, rejected or connect_failed; ends the scenario if none comes.
  [[nodiscard]] iut::Event startup_of(Handle endpoint);
  void disconnect(Handle endpoint, bool abortive);
  /// Whether it was so. Where the other side has waited for the same in vain, this side has had its
  /// time too.
  bool expect_disconnected(Handle endpoint, bool had_its_time = false);

  // -- work --
  [[nodiscard]] iut::WorkId receive(Handle endpoint, const Region* into);
  [[nodiscard]] Handle shared_queue(std::uint32_t depth);
  [[nodiscard]] iut::WorkId receive_from_queue(Handle queue, const Region& into);
  /// Number and, for a send or write, source are filled in.
  [[nodiscard]] iut::WorkId post(iut::PostWork work);
  /// The completion; ends the scenario if none comes.
  [[nodiscard]] iut::CompletionEvent completion(iut::WorkId work, const std::string& of);
  /// As completion(), which must have this status.
  iut::CompletionEvent expect_completion(iut::WorkId work, const std::string& of,
                                         const std::string& status = "success");

  using Wanted = std::function<bool(const iut::Event&)>;
  /// The first event that fits, of those that came and those that come within the step's timeout.
  [[nodiscard]] std::optional<iut::Event> take(const Wanted& wanted) {
    return take(wanted, end_of_step());
  }

 private:
  [[nodiscard]] std::optional<iut::Event> take(const Wanted& wanted, base::TimePoint deadline);
  [[nodiscard]] base::TimePoint end_of_step() const {
    return std::min(record_.deadline, record_.loop.now() + record_.step_timeout);
  }
  /// What ended the endpoint's attempt to connect without success, of the events that have come.
  [[nodiscard]] std::string failed_attempt(Handle endpoint);
  [[nodiscard]] bool fetch(base::TimePoint deadline);

  Side side_;
  iut::Iut& iut_;
  std::string address_;
  Record& record_;
  std::list<iut::Event> events_;
  std::uint16_t port_ = 0;
  Handle next_handle_ = 1;
  iut::WorkId next_work_ = 1;
};

/// What the capture has to show besides being free of broken rules.
struct WireExpectation {
  std::optional<int> revision;
  std::optional<bool> crc, markers, peer_to_peer;
  std::optional<Side> terminate_from{};  ///< a Terminate is due; a connection ended without one is
                                         ///< an advisory (docs/disputes.md)
  /// What the scenario has a side do on purpose is no finding against it.
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

/// Octets that no other call with another seed gives.
[[nodiscard]] Octets content(std::size_t length, std::uint64_t seed);
[[nodiscard]] std::string hash(const Octets& octets);

}  // namespace plugfest
