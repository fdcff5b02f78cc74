// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The ends of the connection, and what the consumer is told (RFC 5041 section 6.2, RFC 5040
// sections 5.5 and 6).
#include "suite/model/observed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/model/commands.hpp"

namespace suite::model {

namespace {

/// docs/disputes.md D7: torn down without a Terminate.
void advise_of_silence(Stream& stream, const Watch& watch) {
  if (stream.phase != Phase::refusing || stream.terminate_seen || !stream.may_send) return;
  watch.coverage.took(Transition::closed_without_report);
  watch.coverage.reacted(stream.fault.what, Reaction::closed);
  std::vector<RuleId> rules{"rdmap.terminate.sent-on-rdmap-error",
                            "rdmap.error.incoming-message-terminate",
                            "rdmap.error.read-request-terminate", "ddp.close.waits-for-ulp"};
  if (stream.fault.may_be_dropped) rules.push_back("rdmap.terminate.sent-on-llp-error");
  watch.advisories.push_back(
      {std::move(rules), text_of(stream.fault), "the end of the connection", true});
}

/// Whether the IUT may end the connection.
bool may_close(const Stream& stream) { return !stream.goes_on(); }

Explained explain_close(Stream& stream, bool reset, const Watch& watch) {
  if (!may_close(stream)) {
    std::vector<RuleId> rules = stream.taken_by;
    rules.insert(rules.end(), {"ddp.close.not-by-ddp-alone"});
    // A timer of startup may still have run.
    if (reset) rules.push_back("mpa.startup.frames-time-out");
    // Before the first FPDU no Terminate can report an error to the peer (RFC 5044 section 7.1.2).
    if (!stream.may_send)
      rules.insert(rules.end(),
                   {"mpa.startup.frames-time-out", "mpa.dual-stack.recovers-during-switch",
                    "mpa.crc.recomputed-on-receive", "ddp.llp.boundaries-preserved",
                    "mpa.receive.works-without-alignment"});
    return contradiction(std::move(rules), "the connection stays");
  }
  const bool orderly = stream.phase == Phase::running;
  if (reset && orderly)
    watch.advisories.push_back({{"ddp.close.half-closed-close-graceful"}, "FIN", "a reset", true});
  if (!reset && orderly && stream.closing && !stream.peer_closed) {
    const Work* left = next_to_leave(stream);
    if (left != nullptr && !left->is_local() && has_to_leave(stream, *left))
      watch.advisories.push_back({{"ddp.close.graceful-sends-pending-data"},
                                  fmt::format("work {} sent first", left->command.work),
                                  "FIN",
                                  true});
  }
  advise_of_silence(stream, watch);
  (reset ? stream.iut_reset : stream.iut_closed) = true;
  watch.coverage.took(reset ? Transition::closed_by_reset : Transition::closed_by_fin);
  return {};
}

/// RFC 5041 section 5.4: one delivery for each message, in order, when it is complete.
Explained explain_receive(Stream& stream, const iut::CompletionEvent& event, const Watch& watch) {
  const auto found = std::ranges::find(stream.receives, event.work, &Receive::work);
  if (found == stream.receives.end())
    return contradiction({"ddp.delivery.at-most-once", "rdmap.send.consumes-one-buffer"},
                         "one completion for each receive");
  if (found != stream.receives.begin())
    return contradiction({"rdmap.send.delivered-in-order", "ddp.delivery.in-sent-order",
                          "ddp.delivery.last-after-prior-deliveries"},
                         fmt::format("receive {} first", stream.receives.front().work));
  const bool success = event.status == "success";
  if (!found->filled) {
    if (success)
      return contradiction(
          {"ddp.delivery.only-with-last-flag", "ddp.header.l-zero-is-intermediate",
           "rdmap.order.sends-delivered-after-ddp", "ddp.header.t-one-means-tagged",
           "rdmap.write.not-delivered-to-ulp", "ddp.untagged.qn-selects-queue",
           "rdmap.read.request-not-delivered", "mpa.enhanced.startup-gives-no-completion",
           "rdmap.atomic.request-not-delivered", "rdmap.atomic.response-consumes-untagged-buffer",
           "rdmap.terminate.consumes-one-buffer", "ddp.close.outstanding-requests-fail",
           "ddp.delivery.at-most-once"},
          "no success: no message has filled it");
    if (stream.goes_on())
      return contradiction({"rdmap.send.result-passed-to-ulp"}, "no failure: the stream continues");
    watch.coverage.took(Transition::receive_flushed);
    stream.receives.erase(stream.receives.begin());
    return {};
  }
  if (!success)
    return contradiction(
        {"rdmap.send.result-passed-to-ulp", "ddp.delivery.complete-message-delivered"}, "success");
  if (found->immediate && event.immediate != found->immediate)
    return contradiction(
        {"rdmap.immediate.data-passed-to-ulp", "rdmap.immediate.delivered-in-order"},
        "the Immediate Data that was sent");
  if (!found->immediate && event.immediate)
    return contradiction({"rdmap.immediate.delivered-in-order", "rdmap.send.delivered-in-order"},
                         "a message without Immediate Data");
  if (!found->immediate && event.length != found->length)
    return contradiction({"rdmap.send.size-reported", "ddp.delivery.message-length-given",
                          "mpa.crc.invisible-to-ulp", "ddp.llp.segment-length-given"},
                         fmt::format("{} octets", found->length));
  if (found->invalidated && event.invalidated_stag != found->invalidated)
    return contradiction({"rdmap.invalidate.stag-reported-to-ulp"},
                         fmt::format("STag {:#010x} invalidated", *found->invalidated));
  if (!found->invalidated && event.invalidated_stag && *event.invalidated_stag != 0)
    return contradiction({"rdmap.header.invalidate-stag-ignored"}, "no STag invalidated");
  if (event.solicited && *event.solicited != found->solicited)
    return contradiction({"ddp.delivery.rsvdulp-given", "rdmap.send.solicited-event"},
                         found->solicited ? "solicited" : "not solicited");
  watch.coverage.took(Transition::receive_completed);
  stream.receives.erase(stream.receives.begin());
  return {};
}

/// Unsignaled work that succeeded has no completion; if it was cut off, it has one.
void pass_over_unsignaled(Stream& stream, iut::WorkId reported) {
  while (!stream.work.empty()) {
    const Work& first = stream.work.front();
    if (first.command.signaled || first.command.work == reported || !may_be_done(stream, first))
      return;
    stream.work.erase(stream.work.begin());
  }
}

Explained explain_success(Stream& stream, const Work& work) {
  if (work.done) return {};
  if (work.is_atomic())
    return contradiction(
        {"rdmap.atomic.completes-after-response", "rdmap.terminate.outstanding-completed-in-error"},
        "no success: its Response has not come");
  if (work.is_read())
    return contradiction({"rdmap.order.read-completes-after-response",
                          "rdmap.order.read-responses-delivered-after-ddp",
                          "rdmap.terminate.outstanding-completed-in-error"},
                         "no success: its Response is not complete");
  // Work that was given to a connection that has been lost since may have been done.
  if (!stream.goes_on() && may_leave(stream, work) && stream.phase != Phase::terminated) return {};
  return contradiction({"rdmap.order.completion-after-ddp", "ddp.llp.reliable-or-error",
                        "rdmap.terminate.outstanding-completed-in-error",
                        "ddp.close.requests-refused-after-graceful"},
                       "no success: it has not been sent");
}

/// RFC 5040 section 5.5 rule 12, sections 6.2.1 and 7.
Explained explain_work_done(State& state, std::size_t index, const iut::CompletionEvent& event,
                            const Watch& watch) {
  Stream& stream = state.streams[index];
  pass_over_unsignaled(stream, event.work);
  const auto found = std::ranges::find_if(
      stream.work, [&](const Work& each) { return each.command.work == event.work; });
  if (found == stream.work.end())
    return contradiction(
        {"rdmap.order.completion-after-ddp", "mpa.enhanced.startup-gives-no-completion"},
        "one completion for each work");
  if (found != stream.work.begin())
    return contradiction(
        {"rdmap.order.completed-in-submission-order", "rdmap.order.completion-after-ddp",
         "rdmap.send.in-submission-order", "rdmap.read.requests-in-submission-order"},
        fmt::format("work {} first", stream.work.front().command.work));
  if (event.operation != found->command.operation)
    return contradiction(
        {"rdmap.read.response-delivered-to-ulp", "rdmap.atomic.response-delivered-to-ulp"},
        found->command.operation);
  if (event.status == "success") {
    if (const auto explained = explain_success(stream, *found); !explained) return explained;
    if (found->is_local() && !found->done) do_local_work(state, index, *found);
    if (found->is(iut::operation::bind_window))
      watch.coverage.took(found->length() > 0 ? Transition::window_bound
                                              : Transition::window_unbound);
    watch.coverage.took(Transition::work_completed);
  } else if (stream.goes_on()) {
    return contradiction({"rdmap.order.completion-after-ddp"}, "success");
  } else {
    watch.coverage.took(Transition::work_failed);
  }
  stream.work.erase(stream.work.begin());
  return {};
}

}  // namespace

Explained explain(State& state, std::size_t index, const SeenOnWire& seen, const Watch& watch) {
  Stream& stream = state.streams[index];
  if (stream.phase == Phase::open_ended) {
    if (std::holds_alternative<SeenClose>(seen)) stream.iut_closed = true;
    if (std::holds_alternative<SeenReset>(seen)) stream.iut_reset = true;
    return {};
  }
  if (const auto* message = std::get_if<SeenMessage>(&seen))
    return explain_message(state, index, *message, watch);
  // What it has not answered by now it may never have carried out.
  state.doubt_atomics_of(index);
  return explain_close(stream, std::holds_alternative<SeenReset>(seen), watch);
}

Explained explain(State& state, std::size_t index, const iut::CompletionEvent& completion,
                  const Watch& watch) {
  Stream& stream = state.streams[index];
  if (stream.phase == Phase::open_ended) return {};
  if (completion.operation == iut::operation::receive)
    return explain_receive(stream, completion, watch);
  return explain_work_done(state, index, completion, watch);
}

Explained explain(State& state, std::size_t index, const iut::DisconnectedEvent&,
                  const Watch& watch) {
  Stream& stream = state.streams[index];
  if (stream.phase == Phase::open_ended) return {};
  if (stream.goes_on())
    return contradiction({"ddp.close.not-by-ddp-alone"}, "no end: the stream continues");
  stream.disconnected = true;
  watch.coverage.took(Transition::end_reported);
  return {};
}

Explained explain(State& state, std::size_t index, const iut::AsynchronousEvent& event,
                  const Watch& watch) {
  Stream& stream = state.streams[index];
  if (stream.phase == Phase::open_ended || !event.kind.starts_with("qp_")) return {};
  if (stream.phase == Phase::running && (stream.peer_closed || stream.closing) && !stream.iut_reset)
    return contradiction({"ddp.llp.stream-graceful-indication"}, "no error: the end is graceful");
  if (stream.goes_on())
    return contradiction({"rdmap.error.local-ulp-informed"}, "no error: the stream continues");
  stream.error_reported = true;
  watch.coverage.took(Transition::fault_reported);
  return {};
}

Explained explain_low(State& state, const Watch& watch) {
  const auto low = std::ranges::find(state.shared_queues, true, &SharedQueue::is_low);
  if (low == state.shared_queues.end())
    return contradiction({"sec.resources.shared-receive-overuse-detected"},
                         "no event: as many receives wait as the limit says");
  low->is_low = false;
  watch.coverage.took(Transition::limit_reported);
  return {};
}

Explained explain(const State& state, iut::Handle handle, const Octets& octets) {
  const Region* region = state.memory.find(handle);
  if (region == nullptr || !state.is_known(*region) || region->contents.are(octets)) return {};
  const Octets contents = region->contents.all();
  const auto [seen, known] = std::ranges::mismatch(octets, contents);
  std::vector<RuleId> rules{"ddp.tagged.placed-at-to", "ddp.untagged.placed-at-mo"};
  const auto has_part = [](const Stream& each) { return each.part_waits && each.terms.crc; };
  if (std::ranges::any_of(state.streams, has_part))
    rules.insert(rules.begin(), "mpa.receive.entire-fpdu-before-ddp");
  if (state.memory.byte_order != ByteOrder::unknown)
    rules.insert(
        rules.end(),
        {"rdmap.atomic.fetchadd-masked-result", "rdmap.atomic.fetchadd-zero-mask",
         "rdmap.atomic.fetchadd-target-endian", "rdmap.atomic.fetchadd-implemented",
         "rdmap.atomic.fetchadd-fields-big-endian", "rdmap.atomic.cmpswap-masked-swap",
         "rdmap.atomic.cmpswap-masked-compare", "rdmap.atomic.cmpswap-target-endian",
         "rdmap.atomic.cmpswap-fields-big-endian", "rdmap.atomic.cmpswap-mismatch-unchanged",
         "rdmap.atomic.cmpswap-match-swapped", "rdmap.atomic.no-overlapping-execution",
         "rdmap.atomic.sees-earlier-write", "rdmap.atomic.response-delivered-to-ulp"});
  for (const Stream& stream : state.streams) {
    if (stream.phase != Phase::refusing) continue;
    rules.insert(rules.end(), stream.fault.rules.begin(), stream.fault.rules.end());
    rules.insert(rules.end(),
                 {"ddp.terminate.later-segments-dropped", "ddp.llp.erroneous-stream-silent"});
  }
  return contradiction(std::move(rules),
                       fmt::format("region {} as it was written, including the octet at {}", handle,
                                   seen - octets.begin()));
}

}  // namespace suite::model
