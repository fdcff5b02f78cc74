// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lower_tester/sender_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/notation.hpp"

namespace suite::lower_tester {

namespace {

constexpr std::size_t sent_kept =
    256;  ///< ULPDUs remembered for comparison with a Terminate's copied header

}  // namespace

void SenderRules::require(bool holds, RuleId rule, std::string expected, std::string actual,
                          wire::Bytes octets) {
  if (!holds) report_({rule.id, std::move(expected), std::move(actual), wire::hex(octets)});
}

void SenderRules::check(const Malformed& malformed, RuleId rule) {
  require(false, rule, "well-formed octets", malformed.what, malformed.octets);
}

// ------------------------------------------- startup (RFC 5044 7.1.1, RFC 6581 6 and 9)

void SenderRules::check(const ReceivedFrame& received) {
  const wire::MpaFrame frame = received.frame();
  const std::string text = wire::describe(frame);
  const bool extended = frame.revision >= 2;
  const std::uint8_t reserved =
      extended ? wire::MpaFlags::reserved_mask : wire::MpaFlags::reserved_mask | wire::MpaFlags::s;
  require((frame.flags.octet & reserved) == 0,
          extended ? RuleId("mpa.enhanced.reserved-bits-sent-as-zero")
                   : RuleId("mpa.startup.reserved-bits-sent-as-zero"),
          "reserved flags zero", text, received.octets);
  require(!(received.kind == wire::MpaFrameKind::request && frame.flags.reject()),
          "mpa.startup.request-r-sent-as-zero", "R clear in a Request", text, received.octets);
  require(!frame.flags.enhanced() || extended, "mpa.enhanced.revision-two-or-higher",
          "revision 2 or more with S", text, received.octets);
  if (!frame.flags.enhanced() || !extended) return;
  const auto words = frame.enhanced();
  require(words.has_value(), "mpa.enhanced.private-data-starts-with-enhanced-data",
          "PD_Length of 4 or more with S", text, received.octets);
  if (words)
    require(words->peer_to_peer || !(words->rtr_send || words->rtr_write || words->rtr_read),
            "mpa.enhanced.rtr-flags-zero-without-a", "B, C and D clear with A clear", text,
            received.octets);
}

void SenderRules::check_silence_before_reply(bool octets_came) {
  require(!octets_came, "mpa.startup.no-fpdu-before-both-frames",
          "nothing behind the Request before the Reply", "octets behind the Request", {});
}

// ---------------------------------------------------------------- FPDU and segment

void SenderRules::check_turn(const ReceivedFpdu& fpdu, bool may_send) {
  require(may_send, "mpa.startup.responder-silent-before-first-fpdu",
          "no FPDU before the initiator's first one", wire::describe_ulpdu(fpdu.ulpdu),
          fpdu.octets);
}

void SenderRules::check(const ReceivedFpdu& fpdu, const wire::Segment& segment,
                        std::size_t max_ulpdu) {
  require(fpdu.pad_is_zero, "mpa.framing.pad-sent-as-zero", "pad octets zero",
          "pad octets not zero", fpdu.octets);
  require(!fpdu.markers.reserved_set, "mpa.markers.reserved-sent-as-zero",
          "reserved bits of Markers zero", "reserved bits of a Marker set", fpdu.octets);
  require(!fpdu.markers.low_bits_set, "mpa.markers.pointer-low-bits-sent-as-zero",
          "low bits of FPDUPTR zero", "a low bit of FPDUPTR set", fpdu.octets);
  const std::size_t length = fpdu.ulpdu.size();
  require(length <= wire::max_mulpdu, "mpa.segmentation.ulpdu-never-over-64768",
          "ULPDU_Length of at most 64768", fmt::format("ULPDU_Length {}", length), fpdu.octets);
  // What was cut before the EMSS shrank may still come, and with a tiny EMSS the segmentation rules
  // need not be followed (RFC 5044 section 4.5).
  longest_mulpdu_ = std::max(longest_mulpdu_, max_ulpdu);
  require(length <= longest_mulpdu_ || max_ulpdu <= wire::min_mulpdu,
          "mpa.segmentation.records-within-mulpdu",
          fmt::format("ULPDUs of at most the MULPDU, {} octets", longest_mulpdu_),
          fmt::format("a ULPDU of {} octets", length), fpdu.octets);
  require(!terminated_, "rdmap.terminate.nothing-sent-after", "nothing after a Terminate",
          wire::describe_ulpdu(fpdu.ulpdu), fpdu.ulpdu);
  check_controls(segment, fpdu.ulpdu);
}

void SenderRules::check_controls(const wire::Segment& segment, wire::Bytes ulpdu) {
  const std::string text = wire::describe_ulpdu(ulpdu);
  const wire::DdpControl ddp = segment.ddp();
  const wire::RdmapControl rdmap = segment.rdmap();
  require((ddp.octet & wire::DdpControl::reserved_mask) == 0, "ddp.header.rsvd-zero-on-send",
          "reserved DDP bits zero", text, ulpdu);
  require(ddp.version() == wire::ddp_version, "ddp.header.dv-is-one", "DV 1", text, ulpdu);
  require((rdmap.octet & wire::RdmapControl::reserved_mask) == 0, "rdmap.header.reserved-bits-zero",
          "reserved RDMAP bits zero", text, ulpdu);
  require(rdmap.version() == wire::rdmap_version, "rdmap.header.version-one", "RV 1", text, ulpdu);
  const wire::Opcode opcode = rdmap.opcode();
  require(wire::is_defined(opcode), "rdmap.header.opcode-from-table", "a defined opcode", text,
          ulpdu);
  if (!wire::is_defined(opcode)) return;
  require(segment.tagged == wire::is_tagged(opcode), "rdmap.header.tagged-flag-per-opcode",
          "the T bit of the opcode", text, ulpdu);
  if (!segment.tagged && !wire::is_tagged(opcode)) check_untagged(segment.untagged_header, ulpdu);
}

namespace {

RuleId queue_rule(wire::Opcode opcode) {
  switch (opcode) {
    case wire::Opcode::terminate:
      return "rdmap.terminate.queue-two";
    case wire::Opcode::read_request:
      return "rdmap.read.request-qn-field-one";
    case wire::Opcode::atomic_request:
      return "rdmap.atomic.request-qn-field-one";
    case wire::Opcode::atomic_response:
      return "rdmap.atomic.response-qn-field-three";
    case wire::Opcode::immediate:
    case wire::Opcode::immediate_solicited:
      return "rdmap.immediate.queue-zero";
    default:
      return "rdmap.send.queue-zero";
  }
}

}  // namespace

void SenderRules::check_untagged(const wire::UntaggedHeader& header, wire::Bytes ulpdu) {
  const std::string text = wire::describe_ulpdu(ulpdu);
  const wire::Opcode opcode = header.rdmap.opcode();
  const bool right_queue =
      header.queue_number.value() == static_cast<std::uint32_t>(wire::queue_of(opcode));
  require(right_queue, queue_rule(opcode), "the queue of the opcode", text, ulpdu);
  require(wire::carries_invalidate(opcode) || header.ulp_word.value() == 0,
          "rdmap.header.invalidate-stag-zero", "zero in place of the Invalidate STag", text, ulpdu);
}

// ---------------------------------------------------------------- message

void SenderRules::check(const Message& message, bool broken_off) {
  const Octets& first = message.segments.front();
  const std::string text = wire::describe_ulpdu(first);
  require(!broken_off, "ddp.header.l-set-on-last",
          "L on the last segment before another message begins", text, first);
  if (!message.tagged) check_sequence(message);
  check_segments(message);
  // Of the rest nothing is known; only that the Request has had its answer.
  if (message.cut_off) {
    if (message.opcode() == wire::Opcode::read_response && !reads_.empty()) reads_.pop_front();
    return;
  }
  check_operation(message);
}

void SenderRules::check_operation(const Message& message) {
  switch (message.opcode()) {
    case wire::Opcode::read_request:
      check_read_request(message);
      break;
    case wire::Opcode::read_response:
      check_read_response(message);
      break;
    case wire::Opcode::atomic_response:
      check_atomic_response(message);
      break;
    case wire::Opcode::terminate:
      check_terminate(message);
      break;
    case wire::Opcode::immediate:
    case wire::Opcode::immediate_solicited:
      require(message.payload.size() == wire::immediate_size, "rdmap.immediate.eight-octets-sent",
              "eight octets of Immediate Data", wire::describe_ulpdu(message.segments.front()),
              message.segments.front());
      break;
    default:
      break;
  }
}

void SenderRules::check_sequence(const Message& message) {
  const Octets& first = message.segments.front();
  const std::string text = wire::describe_ulpdu(first);
  const auto known = next_msn_.find(message.queue());
  const std::uint32_t expected = known == next_msn_.end() ? 1 : known->second;
  const auto head = wire::parse_segment(first);
  const std::uint64_t offset = head ? head->untagged_header.message_offset.value() : 0;
  // The end of a message that has ended already: its L came too early.
  const bool too_early = known != next_msn_.end() && offset > 0 && message.msn() + 1 == expected &&
                         offset == last_end_[message.queue()];
  if (too_early)
    require(false, "ddp.header.l-clear-on-others", "L clear on all segments but the last", text,
            first);
  else
    require(message.msn() == expected,
            known == next_msn_.end() ? RuleId("ddp.untagged.msn-starts-at-one")
                                     : RuleId("ddp.untagged.msn-increments-per-message"),
            fmt::format("MSN {} on queue {}", expected, message.queue()), text, first);
  last_end_[message.queue()] = offset + message.payload.size();
  next_msn_[message.queue()] = message.msn() + 1;
}

void SenderRules::check_segments(const Message& message) {
  const Octets& first = message.segments.front();
  const auto head = wire::parse_segment(first);
  if (!head) return;
  require(message.segments.size() == 1 || !message.payload.empty(),
          "ddp.segmentation.zero-length-one-segment", "one segment for a message without payload",
          fmt::format("{} segments", message.segments.size()), first);
  std::uint64_t next = message.tagged ? head->tagged_header.tagged_offset.value() : 0;
  std::uint64_t latest = next;
  if (!message.tagged)
    require(head->untagged_header.message_offset.value() == 0, "ddp.untagged.first-mo-zero",
            "MO 0 in the first segment", wire::describe(*head), first);
  for (const Octets& ulpdu : message.segments) {
    const auto segment = wire::parse_segment(ulpdu);
    const std::string text = wire::describe(*segment);
    const std::uint64_t offset = message.tagged ? segment->tagged_header.tagged_offset.value()
                                                : segment->untagged_header.message_offset.value();
    require(offset >= latest,
            message.tagged ? RuleId("ddp.segmentation.increasing-to")
                           : RuleId("ddp.segmentation.increasing-mo"),
            "segments in the order of their offsets", text, ulpdu);
    require(offset == next || offset < latest || segment->payload.empty(),
            message.tagged ? RuleId("ddp.segmentation.to-is-initial-plus-offset")
                           : RuleId("ddp.segmentation.mo-is-message-offset"),
            fmt::format("offset {:#x}", next), text, ulpdu);
    const bool same = message.tagged
                          ? segment->tagged_header.rdmap == head->tagged_header.rdmap
                          : segment->untagged_header.rdmap == head->untagged_header.rdmap &&
                                segment->untagged_header.ulp_word == head->untagged_header.ulp_word;
    require(same,
            message.tagged ? RuleId("ddp.tagged.rsvdulp-same-in-segments")
                           : RuleId("ddp.untagged.rsvdulp-same-in-segments"),
            "the same RsvdULP in all segments of a message", text, ulpdu);
    if (!message.tagged) {
      const std::uint32_t msn = segment->untagged_header.message_sequence_number.value();
      require(msn == message.msn(), "ddp.untagged.msn-same-in-segments",
              fmt::format("MSN {} in all segments of the message", message.msn()), text, ulpdu);
    }
    latest = std::max(latest, offset);
    next = offset + segment->payload.size();
  }
}

// ---------------------------------------------------------------- requests, responses, Terminate

void SenderRules::note_sent(wire::Bytes ulpdu) {
  sent_.emplace_back(ulpdu.begin(), ulpdu.end());
  if (sent_.size() > sent_kept) sent_.pop_front();
  const auto segment = wire::parse_segment(ulpdu);
  if (!segment || segment->tagged || !segment->ddp().last() ||
      segment->untagged_header.queue_number.value() !=
          static_cast<std::uint32_t>(wire::Queue::read_request))
    return;
  Message message;
  message.untagged_header = segment->untagged_header;
  // All its segments went out one after the other.
  const bool several = segment->untagged_header.message_offset.value() != 0;
  for (auto earlier = sent_.begin(); several && earlier + 1 != sent_.end(); ++earlier) {
    const auto part = wire::parse_segment(*earlier);
    if (part && !part->tagged &&
        part->untagged_header.queue_number == segment->untagged_header.queue_number &&
        part->untagged_header.message_sequence_number ==
            segment->untagged_header.message_sequence_number)
      message.payload.insert(message.payload.end(), part->payload.begin(), part->payload.end());
  }
  message.payload.insert(message.payload.end(), segment->payload.begin(), segment->payload.end());
  if (const auto read = message.read_request()) reads_.push_back(*read);
  if (const auto atomic = message.atomic_request()) atomics_.push_back(atomic->request_id);
}

void SenderRules::check_read_request(const Message& message) {
  require(message.read_request().has_value(), "rdmap.read.request-header-format",
          "28 octets behind the DDP header", fmt::format("{} octets", message.payload.size()),
          message.segments.front());
}

void SenderRules::check_read_response(const Message& message) {
  const Octets& first = message.segments.front();
  const std::string text = wire::describe_ulpdu(first);
  require(!reads_.empty(), "rdmap.read.response-opposite-direction",
          "no Read Response without a Read Request", text, first);
  if (reads_.empty()) return;
  const ReadRequestFields request = reads_.front();
  reads_.pop_front();
  require(message.payload.size() == request.length, "rdmap.read.response-length-matches-request",
          fmt::format("{} octets, as the Request asked", request.length),
          fmt::format("{} octets", message.payload.size()), first);
  if (message.payload.empty() && request.length == 0)
    return;  // STag and TO mean nothing then (RFC 5041 section 5.2)
  require(message.stag() == request.sink_stag, "rdmap.read.sink-stag-copied",
          fmt::format("STag {:#010x}", request.sink_stag), text, first);
  require(message.tagged_offset() == request.sink_offset, "rdmap.read.sink-to-copied",
          fmt::format("TO {:#x}", request.sink_offset), text, first);
}

void SenderRules::check_atomic_response(const Message& message) {
  const Octets& first = message.segments.front();
  const std::string text = wire::describe_ulpdu(first);
  wire::Reader in(message.payload);
  const auto header = in.read<wire::AtomicResponseHeader>();
  require(in.at_end(), "rdmap.atomic.response-header-format", "12 octets behind the DDP header",
          fmt::format("{} octets", message.payload.size()), first);
  require(!atomics_.empty(), "rdmap.atomic.response-opposite-direction",
          "no Atomic Response without a Request", text, first);
  if (atomics_.empty() || !in.at_end()) return;
  require(header.original_request_id.value() == atomics_.front(),
          "rdmap.atomic.response-identifier-original",
          fmt::format("request identifier {:#x}", atomics_.front()), text, first);
  atomics_.pop_front();
}

void SenderRules::check_terminate(const Message& message) {
  terminated_ = true;
  const Octets& first = message.segments.front();
  const auto terminate = message.terminate();
  require(terminate.has_value(), "rdmap.terminate.header-format",
          "a Terminate as long as its control bits say", wire::describe_ulpdu(first), first);
  if (!terminate) return;
  const std::string text = wire::describe(*terminate);
  // With layer 0 and type 0 the code means nothing (RFC 5040 section 4.8).
  require(wire::is_registered(terminate->cause) ||
              (terminate->cause.layer == wire::layer::rdmap &&
               terminate->cause.type == wire::error_type::rdmap_local),
          "rdmap.terminate.control-values-defined", "a registered layer, type and code", text,
          first);
  require(terminate->reserved == 0, "rdmap.terminate.reserved-zero", "13 reserved bits zero", text,
          first);
  check_header_bits(message, *terminate);
  if (terminate->d) check_copied_header(message, *terminate);
}

namespace {

/// What Figure 10 of RFC 5040 section 4.8 wants of one layer and type. It stands behind a SHOULD.
struct Figure10 {
  RuleId headers_rule;
  bool headers;  ///< M and D
  RuleId rdma_rule;
  bool rdma;  ///< R
};

Figure10 figure_10(wire::TerminateCause cause, bool about_read_request) {
  if (cause.layer == wire::layer::ddp)
    return {"rdmap.terminate.ddp-error-ddp-header", true,
            "rdmap.terminate.ddp-error-no-rdma-header", false};
  if (cause.layer == wire::layer::mpa)
    return {"rdmap.terminate.llp-error-no-headers", false, "rdmap.terminate.llp-error-no-headers",
            false};
  if (cause.type == wire::error_type::rdmap_local)
    return {"rdmap.terminate.local-catastrophic-no-headers", false,
            "rdmap.terminate.local-catastrophic-no-headers", false};
  if (cause.type == wire::error_type::rdmap_protection)
    return {"rdmap.terminate.protection-error-ddp-header", true,
            "rdmap.terminate.protection-error-rdma-header", about_read_request};
  return {"rdmap.terminate.operation-error-ddp-header", true,
          "rdmap.terminate.operation-error-no-rdma-header", false};
}

/// The RDMAP control octet is the second of either header form.
std::optional<wire::Opcode> copied_opcode(const wire::Terminate& terminate) {
  if (terminate.ddp_header.size() < 2) return std::nullopt;
  return wire::RdmapControl{std::to_integer<std::uint8_t>(terminate.ddp_header[1])}.opcode();
}

}  // namespace

void SenderRules::check_header_bits(const Message& message, const wire::Terminate& terminate) {
  const Octets& first = message.segments.front();
  const std::string text = wire::describe(terminate);
  const auto opcode = copied_opcode(terminate);
  const bool read = opcode == wire::Opcode::read_request;
  const Figure10 figure = figure_10(terminate.cause, read);
  // Of octets that are no segment there is no header to be copied.
  const bool nothing_to_copy = terminate.cause == wire::cause::rdmap_operation_unspecified &&
                               !terminate.m && !terminate.d && !terminate.r;
  require((terminate.m == figure.headers && terminate.d == figure.headers) || nothing_to_copy,
          figure.headers_rule, figure.headers ? "M and D set" : "M and D clear", text, first);
  // Both readings stand for Send with Invalidate (docs/disputes.md D2), and for a Read Request
  // under type 0/2 (7.1 case 3).
  const bool disputed = (opcode && wire::carries_invalidate(*opcode)) ||
                        (read && terminate.cause.layer == wire::layer::rdmap &&
                         terminate.cause.type == wire::error_type::rdmap_operation);
  if (!disputed)
    require(terminate.r == figure.rdma, figure.rdma_rule, figure.rdma ? "R set" : "R clear", text,
            first);
  require(!terminate.r || !opcode || read || wire::carries_invalidate(*opcode),
          "rdmap.terminate.rdma-header-only-for-reads", "R only for a Read Request", text, first);
}

void SenderRules::check_copied_header(const Message& message, const wire::Terminate& terminate) {
  const auto starts_with_header = [&](const Octets& ulpdu) {
    return ulpdu.size() >= terminate.ddp_header.size() &&
           std::ranges::equal(terminate.ddp_header,
                              wire::Bytes(ulpdu).first(terminate.ddp_header.size()));
  };
  const Octets& first = message.segments.front();
  const auto found = std::ranges::find_if(sent_, starts_with_header);
  require(found != sent_.end(), "rdmap.terminate.ddp-header-copied",
          "the DDP header of a segment that we sent", wire::hex(terminate.ddp_header), first);
  if (found == sent_.end() || !terminate.m || !terminate.segment_length) return;
  const bool right = std::ranges::any_of(sent_, [&](const Octets& ulpdu) {
    return starts_with_header(ulpdu) && ulpdu.size() == *terminate.segment_length;
  });
  require(right, "rdmap.terminate.segment-length-value",
          fmt::format("the segment's length, {}", found->size()),
          fmt::format("{}", *terminate.segment_length), first);
  if (terminate.r && copied_opcode(terminate) == wire::Opcode::read_request)
    check_copied_read_request(message, terminate, *found);
}

/// The Request as it came, or with what was already served taken off (RFC 5040 section 4.8).
void SenderRules::check_copied_read_request(const Message& message,
                                            const wire::Terminate& terminate, wire::Bytes sent) {
  Message original, copied;
  const wire::Bytes body = sent.subspan(std::min(sent.size(), wire::untagged_header_size));
  original.untagged_header.rdmap = copied.untagged_header.rdmap =
      wire::RdmapControl::make(wire::Opcode::read_request);
  original.payload.assign(body.begin(), body.end());
  copied.payload.assign(terminate.rdmap_header.begin(), terminate.rdmap_header.end());
  const auto was = original.read_request(), is = copied.read_request();
  bool right = was && is && was->sink_stag == is->sink_stag &&
               was->source_stag == is->source_stag && is->length <= was->length;
  if (right) {
    const std::uint64_t served = was->length - is->length;
    right = is->sink_offset == was->sink_offset + served &&
            is->source_offset == was->source_offset + served;
  }
  require(right, "rdmap.terminate.read-header-original", "the header of the Read Request",
          wire::hex(terminate.rdmap_header), message.segments.front());
}

}  // namespace suite::lower_tester
