// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Messages of the IUT: RFC 5040 sections 4 and 5, in the order of section 5.5.
#include <fmt/format.h>

#include <algorithm>

#include "suite/model/commands.hpp"
#include "suite/model/observed.hpp"

namespace suite::model {

namespace {

using wire::Opcode;

/// RFC 5040 Figure 4.
Opcode opcode_of(const Work& work) {
  if (work.is(iut::operation::send)) return Opcode::send;
  if (work.is(iut::operation::send_solicited)) return Opcode::send_solicited;
  if (work.is(iut::operation::send_invalidate)) return Opcode::send_invalidate;
  if (work.is(iut::operation::send_solicited_invalidate)) return Opcode::send_solicited_invalidate;
  if (work.is(iut::operation::immediate)) return Opcode::immediate;
  if (work.is(iut::operation::immediate_solicited)) return Opcode::immediate_solicited;
  if (work.is_atomic()) return Opcode::atomic_request;
  return work.is_read() ? Opcode::read_request : Opcode::rdma_write;
}

std::string text_of(const Work& work) {
  return fmt::format("{} of {} octets (work {})", wire::name(opcode_of(work)), work.length(),
                     work.command.work);
}

bool is_payload_of(const SeenMessage& seen, const Work& work) {
  if (work.indeterminate) return seen.payload.size() == work.payload.size();
  return work.payload.are(seen.payload);
}

/// RFC 5040 Figures 4 and 5: the faults of a message whose turn it is.
Explained compare_send(const SeenMessage& seen, const Work& work) {
  const Opcode wanted = opcode_of(work);
  if (seen.opcode != wanted) {
    const bool invalidate_differs =
        wire::carries_invalidate(seen.opcode) != wire::carries_invalidate(wanted);
    if (invalidate_differs)
      return contradiction({"rdmap.invalidate.references-stag"}, text_of(work));
    return contradiction({"rdmap.header.opcode-values", "rdmap.immediate.opcode-values",
                          "rdmap.immediate.in-submission-order"},
                         text_of(work));
  }
  if (wire::carries_invalidate(wanted) && seen.ulp_word != work.command.invalidate_stag)
    return contradiction(
        {"rdmap.invalidate.references-stag", "rdmap.header.invalidate-stag-octets"},
        fmt::format("Invalidate STag {:#010x}", work.command.invalidate_stag));
  return {};
}

Explained compare_write(const SeenMessage& seen, const Work& work) {
  if (seen.stag != work.command.remote_stag)
    return contradiction({"ddp.tagged.stag-from-ulp", "ddp.tagged.stag-valid-for-stream"},
                         fmt::format("STag {:#010x}", work.command.remote_stag));
  if (seen.offset != work.command.remote_offset)
    return contradiction({"ddp.segmentation.to-is-initial-plus-offset"},
                         fmt::format("TO {:#x}", work.command.remote_offset));
  return {};
}

Explained compare_request(const SeenMessage& seen, Work& work) {
  if (seen.payload.size() != sizeof(wire::ReadRequestHeader))
    return contradiction(
        {"rdmap.read.request-header-format", "rdmap.read.request-carries-no-payload"},
        "an RDMA header of 28 octets");
  const auto header = wire::Reader(seen.payload).read<wire::ReadRequestHeader>();
  const std::string wanted =
      fmt::format("source {:#010x}+{:#x} length={}", work.command.remote_stag,
                  work.command.remote_offset, work.length());
  if (header.length.value() != work.length())
    return contradiction({work.length() == 0 ? RuleId("rdmap.read.zero-length-request")
                                             : RuleId("rdmap.read.request-header-format")},
                         wanted);
  if (header.source_stag.value() != work.command.remote_stag ||
      header.source_offset.value() != work.command.remote_offset)
    return contradiction(
        {"rdmap.read.request-header-format", "rdmap.read.multiple-buffers-multiple-requests"},
        wanted);
  work.sink_stag = header.sink_stag.value();
  work.sink_offset = header.sink_offset.value();
  return {};
}

/// RFC 7306 section 5.2.1 for the fields that a kind does not use.
Explained compare_atomic(const SeenMessage& seen, Work& work) {
  if (seen.payload.size() != sizeof(wire::AtomicRequestHeader))
    return contradiction(
        {"rdmap.atomic.request-header-format", "rdmap.atomic.request-header-52-octets"},
        "an RDMA header of 52 octets");
  const auto header = wire::Reader(seen.payload).read<wire::AtomicRequestHeader>();
  constexpr std::uint64_t all = ~std::uint64_t{0};
  const iut::PostWork& command = work.command;
  const bool adds = work.is(iut::operation::fetch_add);
  if (header.remote_stag.value() != command.remote_stag ||
      header.remote_offset.value() != command.remote_offset)
    return contradiction({"rdmap.atomic.requests-in-submission-order",
                          "rdmap.atomic.remote-to-arbitrary", "rdmap.atomic.request-header-format"},
                         fmt::format("{:#010x}+{:#x}", command.remote_stag, command.remote_offset));
  const auto operation =
      adds ? wire::AtomicOperation::fetch_add : wire::AtomicOperation::compare_swap;
  if (header.operation.value() != static_cast<std::uint32_t>(operation))
    return contradiction({"rdmap.atomic.request-reserved-zero", "rdmap.atomic.aopcode-values",
                          "rdmap.atomic.requests-in-submission-order"},
                         text_of(work));
  const bool same_masks =
      header.add_or_swap_mask.value() == command.add_or_swap_mask.value_or(adds ? 0 : all) &&
      header.compare_mask.value() == (adds ? all : command.compare_mask.value_or(all));
  if (!same_masks || header.add_or_swap_data.value() != command.add_or_swap ||
      header.compare_data.value() != (adds ? 0 : command.compare))
    return contradiction(
        {"rdmap.atomic.request-header-format", "rdmap.atomic.fetchadd-compare-data-zero",
         "rdmap.atomic.fetchadd-compare-mask-ones", "rdmap.atomic.fetchadd-fields-big-endian",
         "rdmap.atomic.cmpswap-fields-big-endian", "rdmap.atomic.swap-mask-all-ones",
         "rdmap.atomic.requests-in-submission-order"},
        "the operands of " + text_of(work));
  work.request_id = header.request_id.value();
  return {};
}

/// The octets that a message is about: of a Read Request those that it asks for.
std::uint64_t length_of(const SeenMessage& seen) {
  if (seen.opcode == Opcode::atomic_request) return sizeof(std::uint64_t);
  if (seen.opcode == Opcode::immediate || seen.opcode == Opcode::immediate_solicited) return 0;
  if (seen.opcode != Opcode::read_request) return seen.payload.size();
  return wire::Reader(seen.payload).read<wire::ReadRequestHeader>().length.value();
}

/// A later message that matches exactly: then the two were exchanged.
bool is_later_work(const Stream& stream, const SeenMessage& seen, const Work& next) {
  if (length_of(seen) == next.length()) return false;
  return std::ranges::any_of(stream.work, [&](const Work& each) {
    return !each.sent && &each != &next && opcode_of(each) == seen.opcode &&
           length_of(seen) == each.length();
  });
}

/// The work to which the message belongs. A Read that the peer can no longer answer may have been
/// sent before that was known, or not at all.
Work* work_of(Stream& stream, const SeenMessage& seen) {
  Work* next = next_to_leave(stream);
  const bool asks = seen.opcode == Opcode::read_request || seen.opcode == Opcode::atomic_request;
  if (!stream.peer_closed || !asks) return next;
  const auto read =
      std::ranges::find_if(stream.work, [](const Work& each) { return each.asks() && !each.sent; });
  return read == stream.work.end() ? next : &*read;
}

std::vector<RuleId> rules_of_order(Opcode opcode) {
  if (opcode == Opcode::rdma_write)
    return {"rdmap.write.in-submission-order", "rdmap.order.messages-in-submission-order"};
  if (opcode == Opcode::read_request)
    return {"rdmap.read.requests-in-submission-order", "rdmap.order.messages-in-submission-order"};
  if (opcode == Opcode::atomic_request)
    return {"rdmap.atomic.requests-in-submission-order",
            "rdmap.order.messages-in-submission-order"};
  return {"rdmap.order.messages-in-submission-order", "rdmap.send.in-submission-order",
          "rdmap.immediate.in-submission-order"};
}

bool is_of_kind(Opcode seen, Opcode wanted) {
  const auto is_send = [](Opcode opcode) {
    return wire::queue_of(opcode) == wire::Queue::send && !wire::is_tagged(opcode);
  };
  return seen == wanted || (is_send(seen) && is_send(wanted));
}

/// Why the next work may not be sent yet.
Contradiction too_early(const Stream& stream, const Work& work) {
  if (!stream.may_send)
    return {{"mpa.startup.responder-silent-before-first-fpdu"}, "nothing before the first FPDU"};
  if (work.command.fence)
    return {{"rdmap.order.read-completes-after-response"},
            "no fenced work before the Reads ahead of it are answered"};
  std::vector<RuleId> rules{"rdmap.resources.outbound-limit-kept"};
  rules.insert(rules.end(), stream.terms.depths.rules.begin(), stream.terms.depths.rules.end());
  return {std::move(rules), fmt::format("at most {} Reads at a time", stream.terms.depths.ord)};
}

Explained explain_work(State& state, std::size_t index, const SeenMessage& seen,
                       const Watch& watch) {
  Stream& stream = state.streams[index];
  Work* next = work_of(stream, seen);
  if (next == nullptr)
    return contradiction(
        {stream.phase == Phase::terminated ? RuleId("rdmap.terminate.stop-after-receiving")
                                           : RuleId("rdmap.stream.only-rdma-messages")},
        "no message: all posted work has been sent");
  if (!is_of_kind(seen.opcode, opcode_of(*next)) || is_later_work(stream, seen, *next))
    return contradiction(rules_of_order(seen.opcode), text_of(*next));
  if (!may_leave(stream, *next) && !stream.peer_closed)
    return std::unexpected(too_early(stream, *next));
  Explained compared;
  if (next->is_read())
    compared = compare_request(seen, *next);
  else if (next->is_atomic())
    compared = compare_atomic(seen, *next);
  else if (next->is(iut::operation::write))
    compared = compare_write(seen, *next);
  else
    compared = compare_send(seen, *next);
  if (!compared) return compared;
  if (!next->asks() && !seen.cut_off && !is_payload_of(seen, *next))
    return contradiction(next->is_immediate()
                             ? std::vector<RuleId>{"rdmap.immediate.header-format",
                                                   "rdmap.immediate.eight-octets-sent",
                                                   "rdmap.immediate.in-submission-order"}
                             : std::vector<RuleId>{"ddp.segmentation.all-data-sent",
                                                   "mpa.framing.length-counts-ulpdu-only"},
                         "the octets of " + text_of(*next));
  if (seen.cut_off) return {};
  next->sent = true;
  next->done = !next->asks();
  watch.coverage.took(next->is_read()     ? Transition::request_sent
                      : next->is_atomic() ? Transition::atomic_request_sent
                                          : Transition::message_sent);
  run_local_work(state, index);
  return {};
}

std::string text_of(const Response& response) {
  if (response.atomic)
    return fmt::format("an Atomic Response to Request {:#x} with {:#018x}",
                       response.atomic->request_id, response.atomic->original);
  return fmt::format("a Read Response of {} octets to {:#010x}+{:#x}", response.contents.size(),
                     response.sink_stag, response.sink_offset);
}

/// RFC 7306 section 5.2.2.
Explained explain_atomic_response(Stream& stream, const SeenMessage& seen, const Watch& watch) {
  if (stream.responses.empty())
    return contradiction({"rdmap.atomic.response-opposite-direction"},
                         "no Response, since none is due");
  const Response& due = stream.responses.front();
  if (!due.atomic)
    return contradiction(
        {"rdmap.atomic.response-after-read-response", "rdmap.atomic.responses-in-request-order"},
        text_of(due));
  if (seen.payload.size() != sizeof(wire::AtomicResponseHeader))
    return contradiction(
        {"rdmap.atomic.response-header-format", "rdmap.atomic.response-header-12-octets"},
        text_of(due));
  const auto header = wire::Reader(seen.payload).read<wire::AtomicResponseHeader>();
  const auto is_for = [&](const Response& each) {
    return each.atomic && each.atomic->request_id == header.original_request_id.value();
  };
  if (!is_for(due) && std::ranges::any_of(stream.responses, is_for))
    return contradiction(
        {"rdmap.atomic.responses-in-request-order", "rdmap.atomic.responses-in-delivery-order",
         "rdmap.atomic.requests-processed-in-order"},
        text_of(due));
  if (!is_for(due))
    return contradiction(
        {"rdmap.atomic.response-identifier-original", "rdmap.atomic.request-identifier-reflected"},
        text_of(due));
  if (!due.indeterminate && header.original_data.value() != due.atomic->original)
    return contradiction(
        {"rdmap.atomic.response-original-value", "rdmap.atomic.fetchadd-returns-original",
         "rdmap.atomic.cmpswap-returns-original", "rdmap.atomic.cmpswap-fields-big-endian",
         "rdmap.atomic.fetchadd-fields-big-endian", "rdmap.atomic.no-overlapping-execution",
         "rdmap.atomic.sees-earlier-write", "rdmap.atomic.second-waits-for-first",
         "rdmap.atomic.responses-in-request-order", "rdmap.atomic.fetchadd-masked-result",
         "rdmap.atomic.fetchadd-zero-mask", "rdmap.atomic.fetchadd-implemented",
         "rdmap.atomic.fetchadd-target-endian", "rdmap.atomic.cmpswap-target-endian",
         "rdmap.atomic.cmpswap-masked-swap", "rdmap.atomic.cmpswap-masked-compare",
         "rdmap.atomic.cmpswap-mismatch-unchanged", "rdmap.atomic.cmpswap-match-swapped"},
        text_of(due));
  stream.responses.erase(stream.responses.begin());
  watch.coverage.took(Transition::atomic_response_sent);
  return {};
}

/// RFC 5040 section 5.2: Responses in the order of their Requests.
Explained explain_response(Stream& stream, const SeenMessage& seen, const Watch& watch) {
  if (stream.responses.empty())
    return contradiction({"rdmap.read.one-request-one-response"}, "no Read Response: none is due");
  const Response& due = stream.responses.front();
  if (due.atomic)
    return contradiction({"rdmap.atomic.read-response-after-atomic-response",
                          "rdmap.read.responses-in-request-order"},
                         text_of(due));
  const auto is_for = [&](const Response& each) {
    return each.sink_stag == seen.stag && each.sink_offset == seen.offset;
  };
  if (!is_for(due) && std::ranges::any_of(stream.responses, is_for))
    return contradiction(
        {"rdmap.read.responses-in-request-order", "rdmap.read.requests-processed-in-order",
         "rdmap.order.responses-in-delivery-order"},
        text_of(due));
  if (seen.stag != due.sink_stag && !(due.contents.size() == 0 && seen.payload.empty()))
    return contradiction({"rdmap.read.sink-stag-copied"}, text_of(due));
  if (seen.offset != due.sink_offset && !(due.contents.size() == 0 && seen.payload.empty()))
    return contradiction({"rdmap.read.sink-to-copied", "rdmap.read.sink-to-arbitrary",
                          "rdmap.read.response-nonzero-offset"},
                         text_of(due));
  if (!seen.cut_off && seen.payload.size() != due.contents.size())
    return contradiction({"rdmap.read.response-length-matches-request",
                          "rdmap.read.message-size-range", "rdmap.read.partial-buffer"},
                         text_of(due));
  if (!seen.cut_off && !due.indeterminate && !due.contents.are(seen.payload))
    return contradiction({"rdmap.read.response-data-from-source", "rdmap.read.src-to-arbitrary",
                          "rdmap.order.read-sees-earlier-write"},
                         "the octets of the source");
  if (seen.cut_off) return {};
  stream.responses.erase(stream.responses.begin());
  watch.coverage.took(Transition::response_sent);
  return {};
}

/// The rules on what must be accepted, by the error that the IUT reports where there is none.
std::vector<RuleId> rules_of_refusal(const Stream& stream, const wire::TerminateCause& reported) {
  namespace cause = wire::cause;
  if (reported == cause::mpa_crc && !stream.terms.crc)
    return {"mpa.crc.field-unchecked-when-disabled", "mpa.crc.checking-off-when-both-decline"};
  if (reported == cause::mpa_crc)
    return {"mpa.crc.recomputed-on-receive", "ddp.llp.boundaries-preserved",
            "mpa.receive.works-without-alignment", "mpa.dual-stack.recovers-during-switch"};
  if (reported == cause::ddp_untagged_no_buffer)
    return {"rdmap.resources.read-queue-holds-ird",
            "sec.reads.queue-not-shared",
            "mpa.enhanced.initiator-ird-at-least-responder-ord",
            "mpa.enhanced.responder-ird-is-actual",
            "mpa.enhanced.initiator-ird-is-capacity",
            "rdmap.atomic.request-queue-depth",
            "rdmap.atomic.response-queue-depth",
            "rdmap.atomic.request-not-delivered",
            "rdmap.atomic.response-consumes-untagged-buffer",
            "rdmap.read.request-processed-by-rdmap",
            "ddp.untagged.qn-selects-queue",
            "ddp.header.t-one-means-tagged",
            "mpa.enhanced.initiator-adjusts-before-rtr"};
  if (reported == cause::ddp_untagged_msn_out_of_range)
    return {"ddp.untagged.msn-increments-per-message", "ddp.llp.no-duplicate-segments",
            "mpa.receive.reordered-segments-delivered-in-order"};
  if (reported == cause::rdmap_unexpected_opcode)
    return {"rdmap.order.read-response-after-later-messages",
            "rdmap.immediate.may-pass-read-response", "rdmap.order.read-completes-after-response"};
  if (reported == cause::rdmap_operation_unspecified)
    return {"ddp.llp.boundaries-preserved",
            "rdmap.atomic.request-not-early",
            "ddp.delivery.only-with-last-flag",
            "rdmap.atomic.response-after-later-messages",
            "mpa.receive.start-located-unambiguously",
            "mpa.receive.boundaries-by-length-field"};
  if (reported == cause::ddp_tagged_invalid_stag || reported == cause::rdmap_access_rights ||
      reported == cause::ddp_tagged_stag_not_associated)
    return {"rdmap.security.access-rights-mechanism", "ddp.security.pd-association-supported",
            "sec.buffer.read-write-stag-optional", "rdmap.invalidate.stag-invalidated"};
  if (reported == cause::mpa_marker) return {"mpa.markers.zero-pointer-means-header-next"};
  if (reported == cause::ddp_tagged_base_or_bounds)
    return {"rdmap.security.buffer-association-mechanism", "rdmap.read.request-header-format"};
  return {};
}

bool is_about_stag(const wire::TerminateCause& cause) {
  return cause == wire::cause::ddp_tagged_invalid_stag || cause == wire::cause::rdmap_invalid_stag;
}

/// RFC 5040 section 5.4 and 7.1.
Explained explain_terminate(const Memory& memory, Stream& stream, const SeenMessage& seen,
                            const Watch& watch) {
  if (stream.phase == Phase::broken || stream.phase == Phase::terminated || stream.closing) {
    // An error of the consumer, or caused by its work, may be reported.
    stream.terminate_seen = true;
    return {};
  }
  if (stream.phase != Phase::refusing) {
    std::vector<RuleId> rules = stream.taken_by;
    if (seen.cause) {
      const auto refusal = rules_of_refusal(stream, *seen.cause);
      rules.insert(rules.end(), refusal.begin(), refusal.end());
      if (is_about_stag(*seen.cause))
        for (const Region& region : memory.regions)
          rules.insert(rules.end(), region.named_by.begin(), region.named_by.end());
    }
    rules.insert(rules.end(), {"rdmap.terminate.sent-on-rdmap-error"});
    return contradiction(std::move(rules), "no Terminate: there is no error");
  }
  if (!stream.may_send)
    return contradiction({"mpa.startup.responder-validates-first-fpdu"},
                         "no Terminate before a valid FPDU has arrived");
  if (!seen.cause || !admits(stream.fault, *seen.cause)) {
    std::vector<RuleId> rules = stream.fault.rules;
    rules.insert(rules.end(),
                 {"rdmap.terminate.control-values-defined", "rdmap.terminate.layer-names-detector",
                  "rdmap.terminate.protection-error-causes", "rdmap.terminate.llp-error-passed-up",
                  "rdmap.error.first-error-captured", "rdmap.terminate.control-field-format"});
    return std::unexpected(Contradiction{std::move(rules), text_of(stream.fault),
                                         seen.cause && has_code(stream.fault, seen.cause->code)});
  }
  stream.terminate_seen = true;
  watch.coverage.took(Transition::error_reported);
  watch.coverage.reacted(stream.fault.what, Reaction::reported);
  return {};
}

}  // namespace

Explained explain_message(State& state, std::size_t index, const SeenMessage& seen,
                          const Watch& watch) {
  Stream& stream = state.streams[index];
  if (stream.terminate_seen)
    return contradiction({"rdmap.terminate.nothing-sent-after"}, "nothing after its Terminate");
  if (seen.cut_off && stream.goes_on())
    return contradiction({"ddp.segmentation.all-data-sent"}, "all segments of the message");
  if (seen.opcode == Opcode::terminate) return explain_terminate(state.memory, stream, seen, watch);
  if (seen.opcode == Opcode::read_response) return explain_response(stream, seen, watch);
  if (seen.opcode == Opcode::atomic_response) return explain_atomic_response(stream, seen, watch);
  return explain_work(state, index, seen, watch);
}

}  // namespace suite::model
