// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Expectations of what the IUT sends.
#include "suite/cases/framework/body.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/broken_rule.hpp"
#include "suite/cases/framework/excuses.hpp"
#include "suite/cases/framework/revision.hpp"

namespace suite::cases {

namespace {

/// What came would have been admissible with the right CRC.
bool is_expected_but_for_crc(const Arrival& arrival, const Expected& expected) {
  const auto* malformed = arrival.as<Malformed>();
  return malformed != nullptr && malformed->but_for_crc &&
         expected.judge({arrival.at, *malformed->but_for_crc}) != Judgement::fail;
}

}  // namespace

Arrival Body::expect(WireEnd& from, const Expected& expected, RuleRef rule) {
  const bool quiet = expected.accepts_silence();
  return expect_until(quiet ? context_.loop.now() + environment_.quiet_window : deadline(), from,
                      expected, rule);
}

Arrival Body::expect_by_deadline(WireEnd& from, const Expected& expected, RuleRef rule) {
  return expect_until(deadline(), from, expected, rule);
}

Arrival Body::expect_until(base::TimePoint until, WireEnd& from, const Expected& expected,
                           const RuleRef& rule) {
  Arrival arrival = from.next(until);
  need_wanted_revision(arrival, case_, environment_);
  const Judgement judgement = expected.judge(arrival);
  if (arrival.message(Opcode::terminate) != nullptr) terminate_seen_ = true;
  // That the IUT crashed explains more than its silence.
  const bool failed = judgement == Judgement::fail;
  if (failed || environment_.iut.is_gone()) iut.poll();
  const bool unreadable =
      failed && arrival.as<Malformed>() != nullptr && framing_is_unreadable(row_so_far());
  RuleRef broken = failed ? rule_broken_by(arrival, rule) : rule;
  const std::string crc = failed && !unreadable && is_expected_but_for_crc(arrival, expected)
                              ? wrong_crc_below(rule_of(rule), row_so_far())
                              : std::string{};
  if (!crc.empty()) broken.id = crc;
  record(broken, expected.admissible(), arrival.text(), arrival.hex(),
         unreadable ? Judgement::inconclusive : judgement, Direction::from_iut);
  return arrival;
}

Arrival Body::expect(CasePeer& from, const Expected& expected, ThenClose, RuleRef rule) {
  Arrival arrival = expect(from, expected, rule);
  if (!arrival.is_end()) expect_teardown(from.raw());
  return arrival;
}

void Body::expect_rejection(WireEnd& from, std::initializer_list<rnic::wire::TerminateCause> causes,
                            RuleRef check, RuleRef code,
                            std::initializer_list<rnic::wire::TerminateCause> tolerated) {
  const std::vector<rnic::wire::TerminateCause> all = [&] {
    std::vector<rnic::wire::TerminateCause> list(causes);
    list.insert(list.end(), tolerated);
    return list;
  }();
  const Expected of_the_layer("a Terminate of the right layer", [&](const Arrival& arrival) {
    const auto terminate = arrival.terminate();
    return terminate && std::ranges::any_of(all, [&](const auto& cause) {
             return cause.layer == terminate->cause.layer;
           });
  });
  const Arrival arrival = expect(from, of_the_layer | torn_down(), check);
  if (arrival.is_end()) {
    record("rdmap.terminate.sent-on-rdmap-error", {"a Terminate"}, arrival.text(), {},
           Judgement::advisory, Direction::from_iut);
    return;
  }
  const Expected right = only_terminate(causes) | advisory(only_terminate(tolerated));
  record(code, right.admissible(), rnic::wire::describe(*arrival.terminate()), arrival.hex(),
         right.judge(arrival), Direction::from_iut);
  expect_teardown(from);
}

void Body::expect_no_buffer(const Octets& data, RuleRef check, RuleRef code) {
  Arrival arrival = peer.ready().next(context_.loop.now() + environment_.quiet_window);
  if (arrival.as<Nothing>() != nullptr) {
    const Work receive = iut.post_receive(static_cast<std::uint32_t>(data.size()));
    const auto event = iut.take(completion_of(receive).matches, deadline());
    if (event && success_of(receive).matches(*event))
      return expect(receive.buffer, holds(data), check);
  } else {
    peer.raw().put_back(std::move(arrival));
  }
  expect_rejection({cause::ddp_untagged_no_buffer}, check, code);
}

Arrival Body::expect_unless_dropped(const Expected& expected, RuleRef rule) {
  Peer& from = peer.ready();
  Arrival arrival = from.next(context_.loop.now() + environment_.quiet_window);
  const bool silent = arrival.as<Nothing>() != nullptr;
  if (silent && from.is_open() && from.connection().unacknowledged() > 0) {
    unanswering_ = true;
    record(rule, expected.admissible(), "nothing, and no acknowledgement", {}, Judgement::pass,
           Direction::from_iut);
    return arrival;
  }
  if (!silent) from.put_back(std::move(arrival));
  return expect_by_deadline(from, expected, rule);
}

void Body::watch(WireEnd& which) {
  const auto until = context_.loop.now() + environment_.quiet_window;
  while (true) {
    Arrival arrival = which.next(until);
    if (arrival.message(Opcode::terminate) != nullptr) terminate_seen_ = true;
    if (arrival.as<Nothing>() != nullptr) return;
    if (arrival.is_end()) return which.put_back(std::move(arrival));
  }
}

bool Body::expect_much(Opcode opcode, RuleRef rule) {
  const Expected part("its beginning", [opcode](const Arrival& arrival) {
    const Message* message = arrival.as<Message>();
    return message != nullptr && message->cut_off && message->opcode() == opcode;
  });
  const Arrival arrival = expect(
      peer, message(opcode, much_data()) | advisory(part | any_terminate() | torn_down()), rule);
  return arrival.message(opcode) != nullptr;
}

void Body::expect_teardown(WireEnd& from) {
  // An IUT may wait for our FIN before it sends its own.
  Arrival arrival = from.next(context_.loop.now() + environment_.quiet_window);
  if (arrival.as<Nothing>() != nullptr) {
    from.half_close();
    arrival = from.next(deadline());
  }
  if (!arrival.is_end()) iut.poll();
  record("rdmap.stream.connection-torn-down", torn_down().admissible(), arrival.text(),
         arrival.hex(), torn_down().judge(arrival), Direction::from_iut);
  const Expected graceful = fin() | advisory(torn_down());
  record("rdmap.terminate.graceful-llp-teardown", graceful.admissible(), arrival.text(), {},
         graceful.judge(arrival), Direction::from_iut);
}

void Body::expect_end_by_terminate(RuleRef rule) {
  Peer& from = peer.ready();
  const Arrival arrival = from.next(context_.loop.now() + environment_.quiet_window);
  if (arrival.as<Nothing>() == nullptr) {
    record(rule, torn_down().admissible(), arrival.text(), arrival.hex(),
           torn_down().judge(arrival), Direction::from_iut);
    return;
  }
  // Before the connection is established its end is that of an attempt.
  const auto told =
      iut.take((asynchronous_error() | disconnected() | connect_failed()).matches, deadline());
  record(rule, {"the connection torn down, or a report to the consumer"},
         told ? describe(*told) : "neither; " + iut.untaken(), {},
         told ? Judgement::pass : Judgement::fail, Direction::none);
  expect_teardown(from);
}

bool Body::expect_around(const std::vector<Expected>& messages, const std::function<void()>& answer,
                         RuleRef rule) {
  Peer& from = peer.ready();
  bool answered = false;
  for (const Expected& expected : messages) {
    if (!answered) {
      Arrival arrival = from.next(context_.loop.now() + environment_.quiet_window);
      if (arrival.as<Nothing>() != nullptr) {
        answered = true;
        answer();
      } else {
        from.put_back(std::move(arrival));
      }
    }
    expect_by_deadline(from, expected, rule);
  }
  if (!answered) answer();
  return answered;
}

Message Body::expect_message(Opcode opcode, RuleRef rule) {
  const Arrival arrival = expect(peer, message(opcode), rule);
  return *arrival.message(opcode);
}

}  // namespace suite::cases
