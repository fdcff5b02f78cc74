// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Messages of the IUT: RFC 5040 sections 4 and 5, in the order of section 5.5.
#include <fmt/format.h>

#include <algorithm>

#include "suite/model/commands.hpp"
#include "suite/model/observed.hpp"

namespace suite::model {

namespace {

using wire::Opcode;

std::unexpected<Contradiction> contradiction(std::vector<RuleId> rules, std::string admissible) {
  return std::unexpected(Contradiction{std::move(rules), std::move(admissible)});
}

/// RFC 5040 Figure 4.
Opcode opcode_of(const Work& work) {
  if (work.is(iut::operation::send)) return Opcode::send;
  if (work.is(iut::operation::send_solicited)) return Opcode::send_solicited;
  if (work.is(iut::operation::send_invalidate)) return Opcode::send_invalidate;
  if (work.is(iut::operation::send_solicited_invalidate)) return Opcode::send_solicited_invalidate;
  return work.is_read() ? Opcode::read_request : Opcode::rdma_write;
}

std::string text_of(const Work& work) {
  return fmt::format("{} of {} octets (work {})", wire::name(opcode_of(work)), work.length(),
                     work.command.work);
}

bool is_payload_of(const SeenMessage& seen, const Work& work) {
  if (work.indeterminate) return seen.payload.size() == work.payload.size();
  return seen.payload == work.payload;
}

/// RFC 5040 Figures 4 and 5: the faults of a message whose turn it is.
Explained compare_send(const SeenMessage& seen, const Work& work) {
  const Opcode wanted = opcode_of(work);
  if (seen.opcode != wanted) {
    const bool invalidate_differs =
        wire::carries_invalidate(seen.opcode) != wire::carries_invalidate(wanted);
    if (invalidate_differs)
      return contradiction({"rdmap.invalidate.references-stag"}, text_of(work));
    return contradiction({"rdmap.header.opcode-values"}, text_of(work));
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

/// The octets that a message concerns: for a Read Request those that it requests.
std::uint64_t length_of(const SeenMessage& seen) {
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
  if (!stream.peer_closed || seen.opcode != Opcode::read_request) return next;
  const auto read = std::ranges::find_if(
      stream.work, [](const Work& each) { return each.is_read() && !each.sent; });
  return read == stream.work.end() ? next : &*read;
}

std::vector<RuleId> rules_of_order(Opcode opcode) {
  if (opcode == Opcode::rdma_write)
    return {"rdmap.write.in-submission-order", "rdmap.order.messages-in-submission-order"};
  if (opcode == Opcode::read_request)
    return {"rdmap.read.requests-in-submission-order", "rdmap.order.messages-in-submission-order"};
  return {"rdmap.order.messages-in-submission-order", "rdmap.send.in-submission-order"};
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
  return {{"rdmap.resources.outbound-limit-kept"},
          fmt::format("at most {} Reads at a time", stream.terms.ord)};
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
  else if (next->is(iut::operation::write))
    compared = compare_write(seen, *next);
  else
    compared = compare_send(seen, *next);
  if (!compared) return compared;
  if (!next->is_read() && !seen.cut_off && !is_payload_of(seen, *next))
    return contradiction({"ddp.segmentation.all-data-sent"}, "the octets of " + text_of(*next));
  if (seen.cut_off) return {};
  next->sent = true;
  next->done = !next->is_read();
  watch.coverage.took(next->is_read() ? Transition::request_sent : Transition::message_sent);
  run_local_work(state, index);
  return {};
}

std::string text_of(const Response& response) {
  return fmt::format("a Read Response of {} octets to {:#010x}+{:#x}", response.octets.size(),
                     response.sink_stag, response.sink_offset);
}

/// RFC 5040 section 5.2: Responses in the order of their Requests.
Explained explain_response(Stream& stream, const SeenMessage& seen, const Watch& watch) {
  if (stream.responses.empty())
    return contradiction({"rdmap.read.one-request-one-response"}, "no Read Response: none is due");
  const Response& due = stream.responses.front();
  const auto is_for = [&](const Response& each) {
    return each.sink_stag == seen.stag && each.sink_offset == seen.offset;
  };
  if (!is_for(due) && std::ranges::any_of(stream.responses, is_for))
    return contradiction(
        {"rdmap.read.responses-in-request-order", "rdmap.read.requests-processed-in-order",
         "rdmap.order.responses-in-delivery-order"},
        text_of(due));
  if (seen.stag != due.sink_stag && !(due.octets.empty() && seen.payload.empty()))
    return contradiction({"rdmap.read.sink-stag-copied"}, text_of(due));
  if (seen.offset != due.sink_offset && !(due.octets.empty() && seen.payload.empty()))
    return contradiction({"rdmap.read.sink-to-copied", "rdmap.read.sink-to-arbitrary",
                          "rdmap.read.response-nonzero-offset"},
                         text_of(due));
  if (!seen.cut_off && seen.payload.size() != due.octets.size())
    return contradiction({"rdmap.read.response-length-matches-request",
                          "rdmap.read.message-size-range", "rdmap.read.partial-buffer"},
                         text_of(due));
  if (!seen.cut_off && !due.indeterminate && seen.payload != due.octets)
    return contradiction({"rdmap.read.response-data-from-source", "rdmap.read.src-to-arbitrary"},
                         "the octets of the source");
  if (seen.cut_off) return {};
  stream.responses.pop_front();
  watch.coverage.took(Transition::response_sent);
  return {};
}

/// RFC 5040 section 5.4 and 7.1.
Explained explain_terminate(Stream& stream, const SeenMessage& seen, const Watch& watch) {
  if (stream.phase == Phase::broken || stream.phase == Phase::terminated || stream.closing) {
    // An error of the consumer, or caused by its work, may be reported.
    stream.terminate_seen = true;
    return {};
  }
  if (stream.phase != Phase::refusing) {
    std::vector<RuleId> rules = stream.taken_by;
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
    return contradiction(std::move(rules), text_of(stream.fault));
  }
  stream.terminate_seen = true;
  watch.coverage.took(Transition::error_reported);
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
  if (seen.opcode == Opcode::terminate) return explain_terminate(stream, seen, watch);
  if (seen.opcode == Opcode::read_response) return explain_response(stream, seen, watch);
  return explain_work(state, index, seen, watch);
}

}  // namespace suite::model
