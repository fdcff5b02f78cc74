// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/model/obligations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/model/commands.hpp"

namespace suite::model {

namespace {

/// The rules by which the stream must accept its last input come first.
std::vector<RuleId> with_oddities(const Stream& stream, std::initializer_list<RuleId> rules) {
  std::vector<RuleId> all = stream.taken_by;
  all.insert(all.end(), rules);
  return all;
}

/// RFC 5040 sections 5.2, 5.3 and 5.5.
Explained owes_no_answer(const Stream& stream) {
  if (!stream.responses.empty() && stream.may_send)
    return contradiction(
        with_oddities(
            stream,
            {stream.responses.front().atomic ? RuleId("rdmap.atomic.valid-request-answered")
                                             : RuleId("rdmap.read.valid-request-answered"),
             "rdmap.atomic.request-queue-depth", "rdmap.read.valid-request-answered",
             "rdmap.read.request-processed-by-rdmap", "rdmap.resources.read-queue-holds-ird"}),
        fmt::format("a Read Response of {} octets", stream.responses.front().contents.size()));
  if (!stream.receives.empty() && stream.receives.front().filled)
    return contradiction(
        with_oddities(stream,
                      {"ddp.delivery.complete-message-delivered", "rdmap.send.delivered-in-order",
                       "rdmap.immediate.causes-completion", "rdmap.immediate.consumes-one-buffer",
                       "mpa.receive.gap-closing-indicated", "rdmap.order.sends-delivered-in-order",
                       "ddp.delivery.last-after-prior-deliveries",
                       "mpa.startup.ddp-bound-before-full-operation",
                       "mpa.receive.boundaries-by-length-field"}),
        fmt::format("the completion of receive {} with {} octets", stream.receives.front().work,
                    stream.receives.front().length));
  return {};
}

Explained owes_no_work(const Stream& stream) {
  const Work* next = next_to_leave(stream);
  if (next != nullptr && has_to_leave(stream, *next)) {
    if (next->asks() && stream.open_reads() > 0)
      return contradiction(
          {"rdmap.resources.outbound-reads-provided", "mpa.enhanced.initiator-ord-is-request"},
          fmt::format("{} Reads at a time", stream.terms.depths.ord));
    return contradiction({"rdmap.order.messages-in-submission-order",
                          "rdmap.write.in-submission-order", "rdmap.send.in-submission-order"},
                         fmt::format("work {} ({})", next->command.work, next->command.operation));
  }
  const auto due = std::ranges::find_if(
      stream.work, [](const Work& work) { return !work.done || work.command.signaled; });
  if (due != stream.work.end() && due->done)
    return contradiction(
        {due->is_read()     ? RuleId("rdmap.read.response-delivered-to-ulp")
         : due->is_atomic() ? RuleId("rdmap.atomic.response-delivered-to-ulp")
                            : RuleId("rdmap.order.completion-after-ddp"),
         "rdmap.order.response-suffices-to-complete"},
        fmt::format("the completion of work {} ({})", due->command.work, due->command.operation));
  return {};
}

/// RFC 5040 sections 6.2.1 and 7.1: an error is reported, and ends the stream.
Explained owes_no_end(const Stream& stream) {
  const bool ended = stream.iut_closed || stream.iut_reset;
  // Where no Terminate can be sent, before the first valid FPDU, the same wait is silent.
  if (stream.phase == Phase::refusing && !ended && !stream.may_send && !stream.peer_closed)
    return {};
  if (stream.phase == Phase::refusing && !ended && !stream.terminate_seen) {
    std::vector<RuleId> rules = stream.fault.rules;
    rules.push_back("rdmap.stream.connection-torn-down");
    return contradiction(std::move(rules),
                         text_of(stream.fault) + ", or the end of the connection");
  }
  // An IUT that has sent a Terminate may wait for the peer's FIN (RFC 5040 section 6.2.1).
  if (stream.phase == Phase::refusing && !ended && stream.peer_closed)
    return contradiction({"rdmap.error.streams-terminated", "rdmap.stream.connection-torn-down"},
                         "the end of the connection");
  if (stream.terminate_seen && !stream.peer_closed) return {};
  if (stream.phase == Phase::terminated && !ended)
    return contradiction(
        with_oddities(stream,
                      {"rdmap.terminate.delivered-to-rdmap", "rdmap.terminate.stop-after-receiving",
                       "rdmap.terminate.teardown-at-once", "rdmap.terminate.placement-guaranteed"}),
        "the end of the connection");
  if (stream.gives_up && !stream.iut_reset)
    return contradiction({"ddp.close.local-half-close-still-receives"}, "a reset");
  if (stream.phase == Phase::broken && !ended)
    return contradiction({"rdmap.stream.connection-torn-down"}, "the end of the connection");
  if (stream.phase == Phase::running && stream.peer_closed && !ended)
    return contradiction({"ddp.llp.connection-torn-down", "ddp.close.half-closed-close-requested",
                          "mpa.close.graceful-close-indicated"},
                         "the other half closed");
  if (stream.phase == Phase::running && stream.closing && !ended && stream.open_reads() == 0)
    return contradiction(
        {"ddp.close.graceful-sends-pending-data", "ddp.close.half-closed-close-graceful"}, "FIN");
  return {};
}

/// RFC 5041 section 6.2, RFC 5040 sections 5.4 and 7.1: what must be reported to the consumer.
Explained owes_no_word(const Stream& stream) {
  const bool told = stream.disconnected || stream.error_reported;
  if (stream.phase == Phase::refusing && stream.terminate_seen && !told)
    return contradiction(
        {"rdmap.error.local-ulp-informed", "ddp.close.invalid-header-indicated",
         "ddp.close.llp-fatal-error-indicated", "rdmap.read.error-passed-up-and-terminated"},
        "an asynchronous error, or the end of the connection reported");
  if (stream.phase == Phase::terminated && !stream.error_reported)
    return contradiction({"rdmap.terminate.delivered-to-ulp"}, "an asynchronous error");
  if (!stream.is_over()) return {};
  if (!stream.disconnected)
    return contradiction({stream.iut_reset ? RuleId("mpa.terminate.tcp-loss-detected")
                                           : RuleId("mpa.close.graceful-close-indicated"),
                          "ddp.close.half-close-indicated", "ddp.close.llp-lost-indicated",
                          "mpa.terminate.tcp-loss-detected", "rdmap.terminate.teardown-at-once"},
                         "the end of the connection reported");
  // Unsignaled work that succeeds is not reported.
  const auto unreported = std::ranges::find_if(stream.work, [&](const Work& work) {
    return work.command.signaled || !may_be_done(stream, work);
  });
  // No text says what becomes of a shared receive that a message had taken.
  const auto receive = std::ranges::find_if(stream.receives, [&](const Receive& each) {
    return each.filled || stream.terms.shared_queue == 0;
  });
  if (unreported != stream.work.end() || receive != stream.receives.end())
    return contradiction(
        {"ddp.close.outstanding-requests-fail", "rdmap.terminate.pending-completed-in-error",
         "rdmap.terminate.outstanding-completed-in-error"},
        unreported != stream.work.end()
            ? fmt::format("the end of work {}", unreported->command.work)
            : fmt::format("the end of receive {}", receive->work));
  return {};
}

}  // namespace

Explained owes_nothing(const State& state, std::size_t index, bool acknowledged) {
  const Stream& stream = state.streams[index];
  if (stream.phase == Phase::open_ended) return {};
  if (stream.phase == Phase::holding) {
    // docs/disputes.md D8: what TCP has acknowledged was not dropped.
    if (!acknowledged) return {};
    const auto& rules = stream.fault.rules;
    return contradiction(rules, "what was dropped stays unacknowledged");
  }
  if (stream.goes_on()) {
    if (auto answered = owes_no_answer(stream); !answered) return answered;
    if (auto done = owes_no_work(stream); !done) return done;
    return {};
  }
  // What arrived in full before the peer closed its half is delivered (RFC 5041 section 6.2).
  if (stream.phase == Phase::running && !stream.iut_reset)
    if (auto answered = owes_no_answer(stream); !answered && !stream.is_over()) {
      if (stream.closing || stream.iut_closed)
        answered.error().rules.push_back("ddp.close.local-half-close-still-receives");
      return answered;
    }
  if (auto ended = owes_no_end(stream); !ended) return ended;
  return owes_no_word(stream);
}

}  // namespace suite::model
