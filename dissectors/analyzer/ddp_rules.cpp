// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/ddp_rules.hpp"

#include <fmt/format.h>

#include <utility>

#include "reference_rnic/wire/notation.hpp"

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

namespace check {
#define ANALYZER_CHECK(name, ...) ANALYZER_STATEMENT(ddp, name, __VA_ARGS__)
#include "dissectors/analyzer/ddp_rules.def"
#undef ANALYZER_CHECK
}  // namespace check

std::uint64_t offset_of(const wire::Segment& segment) {
  return segment.tagged ? segment.tagged_header.tagged_offset.value()
                        : segment.untagged_header.message_offset.value();
}

}  // namespace

// -------------------------------------------------------------------------- header fields

void DdpRules::header_short(const FpduSeen& fpdu) {
  const bool tagged = !fpdu.ulpdu.empty() &&
                      wire::DdpControl{std::to_integer<std::uint8_t>(fpdu.ulpdu.front())}.tagged();
  findings_.raise(tagged ? check::tagged_header_short : check::untagged_header_short, fpdu.place,
                  fpdu.certainty, describe_ulpdu(fpdu.ulpdu, fpdu.ulpdu_length),
                  fmt::format("a ULPDU of at least {} octets",
                              tagged ? wire::tagged_header_size : wire::untagged_header_size));
}

/// RFC 5041 section 4.1
void DdpRules::check_control(const Incoming& incoming, bool version_zero_possible) {
  findings_.judged(
      incoming.direction(), check::reserved_bits, check::version,
      incoming.segment.tagged ? check::tagged_header_short : check::untagged_header_short);
  if ((incoming.segment.ddp().octet & wire::DdpControl::reserved_mask) != 0)
    findings_.raise(check::reserved_bits, incoming, "reserved DDP bits zero");
  check_version(incoming, version_zero_possible);
}

/// Version 0 is the RDMA Consortium's: right if startup was of its kind, then in both directions
/// (RFC 5044 appendix C.1).
void DdpRules::check_version(const Incoming& incoming, bool version_zero_possible) {
  DirectionState& own = state_of(incoming.direction());
  const DirectionState& other = state_of(opposite(incoming.direction()));
  const std::uint8_t version = incoming.segment.ddp().version();
  const bool lawful = version == wire::ddp_version || (version == 0 && version_zero_possible);
  if (!lawful) {
    findings_.raise(check::version, incoming, "DV 1");
    return;
  }
  constexpr std::uint8_t none = 0xFF;
  if (own.version != none)
    findings_.judged(incoming.direction(), check::version_changes);
  else if (other.version != none)
    findings_.judged(incoming.direction(), check::version_differs);
  if (own.version != none && own.version != version)
    findings_.raise(check::version_changes, incoming, fmt::format("DV {} as before", own.version));
  else if (own.version == none && other.version != none && other.version != version)
    // Without a startup frame it is not known which of the two is right.
    findings_.raise(check::version_differs, incoming.fpdu.place,
                    version_zero_possible ? Certainty::likely : incoming.fpdu.certainty,
                    describe_ulpdu(incoming.fpdu.ulpdu, incoming.fpdu.ulpdu_length),
                    fmt::format("DV {} as in the other direction", other.version));
  own.version = version;
}

// ------------------------------------------------------------------- segments to messages

MessageStep DdpRules::take(const Incoming& incoming, bool version_zero_possible) {
  DirectionState& own = state_of(incoming.direction());
  if (is_next_whole_message(own, incoming)) return take_whole_message(own, incoming);
  if (is_next_tagged_segment(own, incoming)) return take_tagged_segment(own, incoming);
  if (incoming.fpdu.certainty == Certainty::likely && !own.picked_up) {
    if (own.messages == 0) lose(incoming.direction());
    own.picked_up = true;
  }
  check_control(incoming, version_zero_possible);
  Message& message = find_message(own, incoming);
  account(message, incoming);
  const bool from_front = message.known && offset_of(incoming.segment) == 0;
  const MessageStep step{
      .first = message.segments == 1,
      .last = incoming.segment.ddp().last(),
      .known = message.known,
      .number = message.number,
      .octets = message.octets,
      .msn = message.msn,
      .content = message.segments == 1
                     ? (from_front ? incoming.segment.payload : wire::Bytes{})
                     : wire::Bytes(message.content).first(message.content_length)};
  own.longest_payload = std::max(own.longest_payload, incoming.payload_length);
  own.at_boundary = step.last;
  if (step.last) close(own, message);
  return step;
}

/// Most messages are one untagged segment that has in each field the one value it may have here.
bool DdpRules::is_next_whole_message(const DirectionState& own, const Incoming& incoming) {
  const wire::UntaggedHeader& header = incoming.segment.untagged_header;
  if (incoming.segment.tagged || header.ddp != wire::DdpControl::make(false, true) ||
      own.version != wire::ddp_version || own.open.active || own.suspended.active ||
      !own.at_boundary || (incoming.fpdu.certainty == Certainty::likely && !own.picked_up))
    return false;
  const std::uint32_t number = header.queue_number.value();
  if (number >= queues) return false;
  const QueueState& queue = own.queue[number];
  return queue.known && queue.used && queue.ended && header.message_offset.value() == 0 &&
         header.message_sequence_number.value() == queue.next_msn;
}

/// What take() does with such a segment, without the checks that the comparisons above have made.
MessageStep DdpRules::take_whole_message(DirectionState& own, const Incoming& incoming) {
  static constexpr CheckSet evaluated = [] {
    CheckSet set;
    set.add(check::reserved_bits, check::version, check::untagged_header_short,
            check::version_changes, check::msn_not_next, check::last_early, check::first_offset,
            check::last_missing);
    return set;
  }();
  findings_.judged(incoming.direction(), evaluated);
  if (incoming.payload_length == 0)
    findings_.judged(incoming.direction(), check::empty_message_cut);
  const wire::UntaggedHeader& header = incoming.segment.untagged_header;
  QueueState& queue = own.queue[header.queue_number.value()];
  queue.ended_msn = queue.next_msn++;
  queue.ended_at = incoming.payload_length;
  queue.ended_number = ++own.messages;
  own.longest_payload = std::max(own.longest_payload, incoming.payload_length);
  return {.first = true,
          .last = true,
          .known = true,
          .number = queue.ended_number,
          .octets = incoming.payload_length,
          .msn = queue.ended_msn,
          .content = incoming.segment.payload};
}

/// Most others are in the middle of a long tagged message, and continue it with the same header.
bool DdpRules::is_next_tagged_segment(const DirectionState& own, const Incoming& incoming) {
  const wire::TaggedHeader& header = incoming.segment.tagged_header;
  const Message& open = own.open;
  return incoming.segment.tagged && header.ddp == wire::DdpControl::make(true, false) &&
         own.version == wire::ddp_version && open.active && open.tagged && open.known &&
         header.rdmap == open.rdmap && header.stag.value() == open.stag && open.octets > 0 &&
         header.tagged_offset.value() == open.next && open.gap_count == 0 && !open.gaps_lost &&
         incoming.payload_length > 0 && !own.suspended.active &&
         (incoming.fpdu.certainty == Certainty::certain || own.picked_up);
}

/// What take() does with such a segment.
MessageStep DdpRules::take_tagged_segment(DirectionState& own, const Incoming& incoming) {
  static constexpr auto evaluated = [](const Statement& stag) {
    CheckSet set;
    set.add(check::reserved_bits, check::version, check::tagged_header_short,
            check::version_changes, check::tagged_rsvdulp, stag, check::tagged_offset,
            check::tagged_offset_falls);
    return set;
  };
  static constexpr CheckSet of_write = evaluated(check::write_stag),
                            of_response = evaluated(check::response_stag);
  Message& open = own.open;
  findings_.judged(incoming.direction(),
                   open.rdmap.opcode() == wire::Opcode::read_response ? of_response : of_write);
  ++open.segments;
  open.octets += incoming.payload_length;
  open.next += incoming.payload_length;
  open.last_length = incoming.payload_length;
  open.place = incoming.fpdu.place;
  own.longest_payload = std::max(own.longest_payload, incoming.payload_length);
  own.at_boundary = false;
  return {
      .known = true, .number = open.number, .octets = open.octets, .msn = open.msn, .content = {}};
}

/// Whether the segment belongs to the message, possibly with one field wrong.
bool DdpRules::continues(const DirectionState& state, const Message& message,
                         const Incoming& incoming) {
  const wire::Segment& segment = incoming.segment;
  if (!message.active || segment.tagged != message.tagged) return false;
  const std::uint64_t offset = offset_of(segment);
  const bool contiguous = message.octets > 0 && offset == message.next;
  if (!segment.tagged) {
    const wire::UntaggedHeader& header = segment.untagged_header;
    const bool queue = header.queue_number.value() == message.queue;
    const bool msn = header.message_sequence_number.value() == message.msn;
    const bool control = header.rdmap == message.rdmap;
    if (queue && msn) return true;
    return contiguous && control && (queue || msn);
  }
  const bool opcode = segment.rdmap() == message.rdmap;
  const bool stag = segment.tagged_header.stag.value() == message.stag;
  if (contiguous) return opcode || stag;
  // At another offset: a segment of this message, unless the one before looks like the last.
  return opcode && stag && message.last_length == state.longest_payload && message.last_length > 0;
}

DdpRules::Message& DdpRules::find_message(DirectionState& state, const Incoming& incoming) {
  if (continues(state, state.open, incoming)) {
    check_sameness(state.open, incoming);
    return state.open;
  }
  if (continues(state, state.suspended, incoming)) {
    if (state.suspended.ended)
      findings_.raise(check::segment_after_last, incoming,
                      "no segment of a message after the one with L");
    else
      findings_.raise(check::interleaved, incoming, "one message after the other");
    std::swap(state.open, state.suspended);
    return state.open;
  }
  settle_suspended(state);
  if (state.open.active) {
    if (state.open.known) state.suspended = state.open;
    state.open.active = false;
  }
  begin(state, incoming);
  return state.open;
}

/// The open message is not continued: L was missing on a segment, or segments up to L are missing.
void DdpRules::settle_suspended(DirectionState& state) {
  Message& message = state.suspended;
  if (!message.active) return;
  message.active = false;
  // A Terminate may cut any message short (RFC 5040 sections 4.8 and 7.1).
  const bool cut_short = state.open.rdmap.opcode() == wire::Opcode::terminate;
  if (message.ended)
    report_gaps(message);
  else if (!cut_short)
    report_missing_last(message);
}

void DdpRules::report_missing_last(const Message& message) {
  findings_.raise(
      check::last_missing, message.place, message.certainty,
      fmt::format("message {} ends at {} octets without L", message.number, message.octets),
      "L on the last segment of a message");
}

void DdpRules::nothing_follows(Direction direction) {
  Message& message = state_of(direction).open;
  if (!message.active || !message.known) return;
  message.active = false;
  report_missing_last(message);
}

void DdpRules::begin(DirectionState& state, const Incoming& incoming) {
  const wire::Segment& segment = incoming.segment;
  Message& message = state.open;
  const Place& place = incoming.fpdu.place;
  message.active = true;
  message.tagged = segment.tagged;
  message.known = state.at_boundary || state.suspended.active;
  message.ended = false;
  message.rdmap = segment.rdmap();
  message.base = message.next = offset_of(segment);
  message.octets = 0;
  message.segments = message.last_length = 0;
  message.reported = {};
  message.gaps_lost = false;
  message.gap_count = 0;
  message.content_length = 0;
  message.content_whole = true;
  message.place = place;
  message.certainty = incoming.fpdu.certainty;
  bool another = true;
  if (segment.tagged) {
    message.stag = segment.tagged_header.stag.value();
  } else {
    another = begin_untagged(state, message, incoming);
  }
  if (another) message.number = ++state.messages;
}

/// MSN and MO of a message's first segment (RFC 5041 section 4.3). False if the segment belongs to
/// the message that has ended already.
bool DdpRules::begin_untagged(DirectionState& state, Message& message, const Incoming& incoming) {
  const wire::UntaggedHeader& header = incoming.segment.untagged_header;
  message.ulp_word = header.ulp_word.value();
  message.queue = header.queue_number.value();
  message.msn = header.message_sequence_number.value();
  const std::uint64_t offset = header.message_offset.value();
  message.known = message.known || offset == 0;
  if (message.known) message.base = message.next = 0;
  if (message.queue >= queues) return true;
  QueueState& queue = state.queue[message.queue];
  if (queue.ended && offset > 0 && message.msn == queue.ended_msn && offset == queue.ended_at) {
    findings_.raise(check::last_early, incoming, "L clear on all segments but the last");
    message.known = false;
    message.base = message.next = offset;
    message.number = queue.ended_number;
    return false;
  }
  const Direction direction = incoming.direction();
  if (queue.known)
    findings_.judged(direction, queue.used ? check::msn_not_next : check::msn_not_one);
  if (queue.ended) findings_.judged(direction, check::last_early);
  if (queue.known && message.msn != queue.next_msn)
    findings_.raise(queue.used ? check::msn_not_next : check::msn_not_one, incoming,
                    fmt::format("MSN {} on queue {}", queue.next_msn, message.queue));
  queue.known = queue.used = true;
  queue.next_msn = message.msn + 1;
  return true;
}

/// RFC 5041 sections 4.2 and 4.3: what all segments of a message have in common.
void DdpRules::check_sameness(Message& message, const Incoming& incoming) {
  const auto once = [&](bool same, bool& reported, const Statement& statement, const char* text) {
    if (same || std::exchange(reported, true)) return;
    findings_.raise(statement, incoming,
                    fmt::format("the {} of the message's other segments", text));
  };
  const wire::Segment& segment = incoming.segment;
  const Direction direction = incoming.direction();
  Reported& reported = message.reported;
  if (segment.tagged) {
    findings_.judged(direction, check::tagged_rsvdulp,
                     message.rdmap.opcode() == wire::Opcode::read_response ? check::response_stag
                                                                           : check::write_stag);
    once(segment.rdmap() == message.rdmap, reported.rsvdulp, check::tagged_rsvdulp, "RsvdULP");
    once(segment.tagged_header.stag.value() == message.stag, reported.stag,
         message.rdmap.opcode() == wire::Opcode::read_response ? check::response_stag
                                                               : check::write_stag,
         "STag");
    return;
  }
  findings_.judged(direction, check::queue_changes, check::msn_changes,
                   wire::carries_invalidate(message.rdmap.opcode()) ? check::invalidate_rsvdulp
                                                                    : check::untagged_rsvdulp);
  const wire::UntaggedHeader& header = segment.untagged_header;
  once(header.rdmap == message.rdmap && header.ulp_word.value() == message.ulp_word,
       reported.rsvdulp,
       wire::carries_invalidate(message.rdmap.opcode()) ? check::invalidate_rsvdulp
                                                        : check::untagged_rsvdulp,
       "RsvdULP");
  once(header.queue_number.value() == message.queue, reported.queue, check::queue_changes, "QN");
  once(header.message_sequence_number.value() == message.msn, reported.msn, check::msn_changes,
       "MSN");
}

// ------------------------------------------------------------- offsets (RFC 5041 section 5)

void DdpRules::account(Message& message, const Incoming& incoming) {
  const std::uint64_t begin = offset_of(incoming.segment);
  const std::uint64_t end = begin + incoming.payload_length;
  ++message.segments;
  message.octets += incoming.payload_length;
  message.last_length = incoming.payload_length;
  message.place = incoming.fpdu.place;
  if (!message.known) {
    message.next = end;
    return;
  }
  judge_offsets(message, incoming);
  if (message.segments > 1 && message.octets == 0 && incoming.segment.ddp().last())
    findings_.raise(check::empty_message_cut, incoming, "one segment for an empty message");
  // STag and TO of a tagged segment without payload may hold anything (section 5.2).
  if (message.tagged && incoming.payload_length == 0) return;
  keep_content(message, incoming);
  if (begin < message.next) return fill(message, incoming, begin, end);
  if (begin > message.next) {
    if (message.gap_count < gaps_kept)
      message.gaps[message.gap_count++] = {message.next, begin};
    else
      message.gaps_lost = true;
  }
  message.next = end;
}

/// Notes which of the checks of offsets this segment of a known message could fail.
void DdpRules::judge_offsets(const Message& message, const Incoming& incoming) const {
  const Direction direction = incoming.direction();
  if (message.octets == 0 && incoming.segment.ddp().last())
    findings_.judged(direction, check::empty_message_cut);
  if (message.segments == 1 && !message.tagged) findings_.judged(direction, check::first_offset);
  if (message.segments == 1 || incoming.payload_length == 0) return;
  if (message.tagged)
    findings_.judged(direction, check::tagged_offset, check::tagged_offset_falls);
  else
    findings_.judged(direction, check::message_offset, check::message_offset_falls);
  if (!incoming.segment.ddp().last()) return;
  findings_.judged(direction, check::interleaved, check::segment_after_last);
  if (!message.tagged) findings_.judged(direction, check::last_not_highest);
}

/// A segment that is not after all others: in a gap that they left (discouraged), or wrong.
void DdpRules::fill(Message& message, const Incoming& incoming, std::uint64_t begin,
                    std::uint64_t end) {
  if (message.gaps_lost) return;
  if (first_was_shifted(message, begin, end)) {
    message.next = end;
    findings_.raise(check::first_offset, incoming,
                    "offsets that count from 0, in the first segment too");
    return;
  }
  const bool before_all = message.tagged && end <= message.base;
  if (before_all) {
    if (end < message.base && message.gap_count < gaps_kept)
      message.gaps[message.gap_count++] = {end, message.base};
    message.base = begin;
  }
  const auto gaps = std::span(message.gaps).first(message.gap_count);
  const auto gap =
      std::ranges::find_if(gaps, [&](const Gap& it) { return it.begin <= begin && end <= it.end; });
  if (!before_all && gap == gaps.end()) {
    if (!std::exchange(message.reported.offset, true))
      findings_.raise(message.tagged ? check::tagged_offset : check::message_offset, incoming,
                      fmt::format("offset {:#x}", message.next));
    return;
  }
  if (!before_all) {
    const Gap old = *gap;
    *gap = gaps.back();
    --message.gap_count;
    if (old.begin < begin) message.gaps[message.gap_count++] = {old.begin, begin};
    if (end < old.end && message.gap_count < gaps_kept)
      message.gaps[message.gap_count++] = {end, old.end};
  }
  if (!message.tagged && incoming.segment.ddp().last())
    findings_.raise(check::last_not_highest, incoming, "L on the segment with the highest MO");
  else if (!message.ended && !std::exchange(message.reported.order, true))
    findings_.raise(message.tagged ? check::tagged_offset_falls : check::message_offset_falls,
                    incoming, "segments in the order of their offsets");
}

/// Whether the second segment of an untagged message continues as if the first one, which began
/// elsewhere, had begun at 0 (RFC 5041 section 4.3).
bool DdpRules::first_was_shifted(Message& message, std::uint64_t begin, std::uint64_t end) {
  if (message.tagged || message.segments != 2 || message.gap_count != 1) return false;
  const Gap front = message.gaps.front();
  // One in the gap before the first is out of order, and may be right.
  if (front.begin != 0 || end <= front.end || begin != message.next - front.end) return false;
  message.gap_count = 0;
  return true;
}

void DdpRules::keep_content(Message& message, const Incoming& incoming) {
  const std::uint64_t offset = offset_of(incoming.segment);
  if (message.tagged || !message.content_whole || offset != message.content_length) return;
  // A message of one segment is read where it is.
  if (message.segments == 1 && incoming.segment.ddp().last()) return;
  const std::size_t room = content_kept - message.content_length;
  const wire::Bytes taken =
      incoming.segment.payload.first(std::min(room, incoming.segment.payload.size()));
  if (!taken.empty())
    std::memcpy(message.content.data() + message.content_length, taken.data(), taken.size());
  message.content_length += taken.size();
  message.content_whole = incoming.whole();
}

void DdpRules::close(DirectionState& state, Message& message) {
  if (!message.tagged && message.queue < queues) {
    QueueState& queue = state.queue[message.queue];
    queue.ended = true;
    queue.ended_msn = message.msn;
    queue.ended_at = message.next;
    queue.ended_number = message.number;
  }
  message.active = false;
  if (message.known) findings_.judged(message.place.direction, check::last_missing);
  if (!message.known || message.gaps_lost || message.gap_count == 0) return;
  // Missing segments may still come, after the one with L.
  settle_suspended(state);
  message.ended = true;
  state.suspended = message;
  state.suspended.active = true;
}

void DdpRules::report_gaps(const Message& message) {
  if (message.reported.offset || message.gap_count == 0) return;
  const auto gaps = std::span(message.gaps).first(message.gap_count);
  const bool at_front =
      std::ranges::any_of(gaps, [](const Gap& gap) { return gap.begin == 0; }) && !message.tagged;
  const Gap& gap = gaps.front();
  findings_.raise(message.tagged ? check::tagged_offset
                  : at_front     ? check::first_offset
                                 : check::message_offset,
                  message.place, message.certainty,
                  fmt::format("offsets {:#x} to {:#x} are in no segment of message {}", gap.begin,
                              gap.end - 1, message.number),
                  "offsets without a gap from the message's beginning");
}

// ------------------------------------------------------------------------ what is not seen

void DdpRules::lose(Direction direction) {
  DirectionState& own = state_of(direction);
  own.open.active = own.suspended.active = false;
  own.at_boundary = false;
  for (QueueState& queue : own.queue) queue.known = queue.ended = false;
}

void DdpRules::finish() {
  for (DirectionState& own : directions_) settle_suspended(own);
}

}  // namespace dissectors::analyzer
