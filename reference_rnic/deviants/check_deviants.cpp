// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of the checks of what is received: wrong input is accepted, right input is refused.
#include <algorithm>
#include <optional>
#include <ranges>

#include "reference_rnic/deviants/incoming.hpp"
#include "reference_rnic/deviants/stream_tables.hpp"

namespace rnic::deviants {
namespace {

using rules::RuleId;
using stream::Decisions;
using stream::Fault;
using stream::Incoming;
using stream::PostedWork;
using stream::WorkKind;
using wire::Opcode;

bool checks_ddp_version(RuleId rule) {
  return same(rule, "ddp.terminate.tagged-invalid-version") ||
         same(rule, "ddp.terminate.untagged-invalid-version");
}

bool checks_rdmap_version(RuleId rule) { return same(rule, "rdmap.error.version-validated"); }

bool checks_opcode(RuleId rule) { return same(rule, "rdmap.error.opcode-validated"); }

/// Whether it waits for its Response.
bool answered_by(const PostedWork& entry, WorkKind kind) {
  return entry.work.kind == kind && (entry.progress == PostedWork::Progress::issued ||
                                     entry.progress == PostedWork::Progress::awaiting_response);
}

// ---- wrong input is accepted ----

using Overlooks = bool(RuleId, const Incoming&);

/// Accepts what a check finds wrong, where `overlooks` says so.
template <Overlooks overlooks>
struct Taking : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>& found) override {
    if (overlooks(rule, incoming)) found.reset();
  }
};

bool any_ddp_version(RuleId rule, const Incoming&) { return checks_ddp_version(rule); }
bool read_response_ddp_version(RuleId rule, const Incoming& incoming) {
  return checks_ddp_version(rule) && opcode_of(incoming) == Opcode::read_response;
}
bool atomic_ddp_version(RuleId rule, const Incoming& incoming) {
  return checks_ddp_version(rule) && is_atomic(opcode_of(incoming));
}
bool immediate_ddp_version(RuleId rule, const Incoming& incoming) {
  return checks_ddp_version(rule) && wire::is_immediate(opcode_of(incoming));
}

bool any_rdmap_version(RuleId rule, const Incoming&) { return checks_rdmap_version(rule); }
bool read_request_version(RuleId rule, const Incoming& incoming) {
  return checks_rdmap_version(rule) && opcode_of(incoming) == Opcode::read_request;
}
bool atomic_rdmap_version(RuleId rule, const Incoming& incoming) {
  return checks_rdmap_version(rule) && is_atomic(opcode_of(incoming));
}
bool immediate_rdmap_version(RuleId rule, const Incoming& incoming) {
  return checks_rdmap_version(rule) && wire::is_immediate(opcode_of(incoming));
}

bool any_queue(RuleId rule, const Incoming&) { return same(rule, "ddp.untagged.check-qn-valid"); }
bool unknown_opcode(RuleId rule, const Incoming& incoming) {
  return checks_opcode(rule) && !wire::is_defined(opcode_of(incoming));
}
bool tagged_opcode(RuleId rule, const Incoming& incoming) {
  return checks_opcode(rule) && incoming.segment.tagged;
}
/// The opcode is one of untagged messages, and is in one.
bool untagged_opcode(RuleId rule, const Incoming& incoming) {
  return checks_opcode(rule) && !incoming.segment.tagged && wire::is_defined(opcode_of(incoming)) &&
         !wire::is_tagged(opcode_of(incoming));
}
bool atomic_queue(RuleId rule, const Incoming& incoming) {
  return untagged_opcode(rule, incoming) && is_atomic(opcode_of(incoming));
}
bool immediate_queue(RuleId rule, const Incoming& incoming) {
  return checks_opcode(rule) && wire::is_immediate(opcode_of(incoming));
}
bool first_message(RuleId rule, const Incoming&) {
  return same(rule, "mpa.enhanced.rtr-of-negotiated-kind");
}

bool any_msn(RuleId rule, const Incoming&) { return same(rule, "ddp.untagged.check-msn-in-range"); }
bool read_request_msn(RuleId rule, const Incoming& incoming) {
  return any_msn(rule, incoming) && is_on(incoming, wire::Queue::read_request);
}
bool message_offset(RuleId rule, const Incoming&) {
  return same(rule, "ddp.untagged.check-mo-in-range");
}
bool message_end(RuleId rule, const Incoming&) {
  return same(rule, "ddp.untagged.check-end-in-range");
}
bool offset_that_wraps(RuleId rule, const Incoming& incoming) {
  const std::size_t end =
      incoming.segment.untagged_header.message_offset.value() + incoming.payload_length;
  return (message_offset(rule, incoming) || message_end(rule, incoming)) &&
         static_cast<std::uint32_t>(end) <= incoming.capacity;
}

bool invalid_stag(RuleId rule, const Incoming&) {
  return same(rule, "ddp.tagged.check-stag-valid");
}
bool foreign_stag(RuleId rule, const Incoming&) {
  return same(rule, "ddp.terminate.tagged-stag-not-associated");
}
bool tagged_bounds(RuleId rule, const Incoming&) {
  return same(rule, "ddp.tagged.check-end-in-range");
}
bool to_wrap(RuleId rule, const Incoming&) { return same(rule, "ddp.tagged.check-to-no-wrap"); }
bool missing_write_access(RuleId rule, const Incoming&) {
  return same(rule, "ddp.tagged.check-stag-allows-placement");
}

bool unasked_read_response(RuleId rule, const Incoming&) {
  return same(rule, "rdmap.read.invalid-response-surfaced");
}
bool other_read_response(RuleId rule, const Incoming&) {
  return same(rule, "rdmap.read.response-validated-by-sink");
}
bool later_read_response_segment(RuleId rule, const Incoming& incoming) {
  if (!other_read_response(rule, incoming)) return false;
  const auto& entries = incoming.work.entries();
  const auto read = std::ranges::find_if(
      entries, [](const PostedWork& entry) { return answered_by(entry, WorkKind::read); });
  return read != entries.end() &&
         incoming.segment.tagged_header.tagged_offset.value() != read->work.sink_offset;
}
bool other_atomic_response(RuleId rule, const Incoming&) {
  return same(rule, "rdmap.atomic.request-identifier-reflected");
}
bool immediate_length(RuleId rule, const Incoming&) {
  return same(rule, "rdmap.immediate.length-checked");
}
bool failed_invalidation(RuleId rule, const Incoming&) {
  return same(rule, "rdmap.invalidate.terminate-if-not-associated");
}

template <Overlooks overlooks>
constexpr StreamRow taking(Deviation deviation) {
  return stream_row<Taking<overlooks>>(deviation);
}

struct UnknownStagInvalidated : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>& found) override {
    if (failed_invalidation(rule, incoming) && found &&
        found->cause == wire::cause::rdmap_invalid_stag)
      found.reset();
  }
};

// ---- right input is refused ----

/// Reads and Atomics that wait for their Responses.
auto outstanding(const Incoming& incoming, std::initializer_list<WorkKind> kinds) {
  return std::ranges::count_if(incoming.work.entries(), [=](const PostedWork& entry) {
    return std::ranges::any_of(kinds, [&](WorkKind kind) { return answered_by(entry, kind); });
  });
}

/// Whether work posted after the oldest of `kind` that waits for its Response is done already.
bool comes_late(const Incoming& incoming, WorkKind kind) {
  const auto& entries = incoming.work.entries();
  const auto oldest = std::ranges::find_if(
      entries, [=](const PostedWork& entry) { return answered_by(entry, kind); });
  return std::ranges::any_of(oldest, entries.end(), [&](const PostedWork& entry) {
    return entry.number > oldest->number && entry.progress == PostedWork::Progress::done;
  });
}

struct RefusesDdpReservedBits : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>& found) override {
    if (same(rule, "ddp.header.rsvd-ignored-on-receive") &&
        (incoming.segment.ddp().octet & wire::DdpControl::reserved_mask) != 0)
      found =
          incoming.fault(wire::cause::rdmap_operation_unspecified, "reserved bits of DDP are set");
  }
};

struct RefusesRdmapReservedBits : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>& found) override {
    if (same(rule, "rdmap.header.reserved-bits-ignored") &&
        (incoming.segment.rdmap().octet & wire::RdmapControl::reserved_mask) != 0)
      found = incoming.fault(wire::cause::rdmap_operation_unspecified,
                             "reserved bits of RDMAP are set");
  }
};

struct TerminateTakenAsWrongRtr : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>& found) override {
    if (!found && checks_opcode(rule) && opcode_of(incoming) == Opcode::terminate &&
        incoming.state == stream::State::awaiting_first_fpdu &&
        incoming.context.negotiated.peer_to_peer)
      found = incoming.fault(wire::cause::mpa_no_rtr, "not an RTR indication");
  }
};

struct OnlyResponseTakenAfterRequest : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>& found) override {
    const Opcode opcode = opcode_of(incoming);
    if (found || !checks_opcode(rule) || opcode == Opcode::read_response ||
        opcode == Opcode::terminate || outstanding(incoming, {WorkKind::read}) == 0)
      return;
    found = incoming.fault(wire::cause::rdmap_unexpected_opcode, "not the Read Response");
  }
};

struct LateReadResponseRefused : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>& found) override {
    if (!found && same(rule, "rdmap.read.invalid-response-surfaced") &&
        comes_late(incoming, WorkKind::read))
      found = incoming.fault(wire::cause::rdmap_unexpected_opcode, "Read Response comes late");
  }
};

struct LateAtomicResponseRefused : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>& found) override {
    if (!found && checks_opcode(rule) && opcode_of(incoming) == Opcode::atomic_response &&
        comes_late(incoming, WorkKind::atomic))
      found =
          incoming.fault(wire::cause::rdmap_operation_unspecified, "Atomic Response comes late");
  }
};

struct SecondAtomicResponseRefused : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>& found) override {
    if (!found && same(rule, "rdmap.atomic.invalid-response-surfaced") &&
        outstanding(incoming, {WorkKind::read, WorkKind::atomic}) > 1)
      found =
          incoming.fault(wire::cause::ddp_untagged_no_buffer, "one buffer for Atomic Responses");
  }
};

struct ZeroLengthTaggedChecked : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>& found) override {
    if (!same(rule, "ddp.tagged.zero-length-unchecked")) return;
    const wire::TaggedHeader& header = incoming.segment.tagged_header;
    if (!incoming.context.memory.resolve(header.stag.value(), header.tagged_offset.value(), 1,
                                         stream::MemoryAccess::remote_write))
      found = incoming.fault(wire::cause::ddp_tagged_invalid_stag, "no such STag");
  }
};

struct ZeroLengthSendRefused : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>& found) override {
    const wire::UntaggedHeader& header = incoming.segment.untagged_header;
    if (!found && same(rule, "ddp.untagged.check-msn-in-range") && !incoming.rtr &&
        is_on(incoming, wire::Queue::send) && header.message_offset.value() == 0 &&
        header.ddp.last() && incoming.payload_length == 0)
      found = incoming.fault(wire::cause::ddp_untagged_message_too_long, "zero-length Send");
  }
};

struct ReadRequestNeedsReceive : Decisions {
  void checked(RuleId rule, const Incoming& incoming, std::optional<Fault>& found) override {
    if (same(rule, "rdmap.resources.inbound-limit-kept") && !incoming.context.memory.take_receive())
      found = incoming.fault(wire::cause::ddp_untagged_no_buffer, "no receive is posted");
  }
};

constexpr StreamRow rows[] = {
    taking<any_ddp_version>(Deviation::accepts_any_ddp_version),
    taking<read_response_ddp_version>(Deviation::read_response_ddp_version_unchecked),
    taking<atomic_ddp_version>(Deviation::atomic_ddp_version_unchecked),
    taking<immediate_ddp_version>(Deviation::immediate_ddp_version_unchecked),
    taking<any_rdmap_version>(Deviation::accepts_any_rdmap_version),
    taking<read_request_version>(Deviation::read_request_version_unchecked),
    taking<atomic_rdmap_version>(Deviation::atomic_rdmap_version_unchecked),
    taking<immediate_rdmap_version>(Deviation::immediate_rdmap_version_unchecked),
    taking<any_queue>(Deviation::accepts_any_queue),
    taking<unknown_opcode>(Deviation::takes_unknown_opcode_for_send),
    taking<tagged_opcode>(Deviation::tagged_opcode_unread),
    taking<untagged_opcode>(Deviation::opcode_not_matched_to_queue),
    taking<atomic_queue>(Deviation::atomic_opcode_on_any_queue),
    taking<immediate_queue>(Deviation::immediate_on_any_queue),
    taking<first_message>(Deviation::takes_any_first_message_for_rtr),
    taking<any_msn>(Deviation::accepts_any_msn),
    taking<read_request_msn>(Deviation::read_request_msn_unchecked),
    taking<message_end>(Deviation::too_long_message_truncated),
    taking<offset_that_wraps>(Deviation::message_offset_wraps),
    taking<invalid_stag>(Deviation::ignores_invalid_stag),
    taking<foreign_stag>(Deviation::ignores_foreign_stag),
    taking<tagged_bounds>(Deviation::ignores_tagged_bounds),
    taking<to_wrap>(Deviation::ignores_to_wrap),
    taking<missing_write_access>(Deviation::ignores_missing_write_access),
    taking<unasked_read_response>(Deviation::accepts_unasked_read_response),
    taking<other_read_response>(Deviation::read_response_not_matched),
    taking<later_read_response_segment>(Deviation::first_response_segment_matched_only),
    taking<other_atomic_response>(Deviation::atomic_response_not_matched),
    taking<immediate_length>(Deviation::immediate_length_unchecked),
    taking<failed_invalidation>(Deviation::failed_invalidation_ignored),
    stream_row<UnknownStagInvalidated>(Deviation::unknown_stag_invalidated),
    stream_row<RefusesDdpReservedBits>(Deviation::refuses_ddp_reserved_bits),
    stream_row<RefusesRdmapReservedBits>(Deviation::refuses_rdmap_reserved_bits),
    stream_row<TerminateTakenAsWrongRtr>(Deviation::terminate_taken_as_wrong_rtr),
    stream_row<OnlyResponseTakenAfterRequest>(Deviation::only_response_taken_after_request),
    stream_row<LateReadResponseRefused>(Deviation::late_read_response_refused),
    stream_row<LateAtomicResponseRefused>(Deviation::late_atomic_response_refused),
    stream_row<SecondAtomicResponseRefused>(Deviation::second_atomic_response_refused),
    stream_row<ZeroLengthTaggedChecked>(Deviation::zero_length_tagged_checked),
    stream_row<ZeroLengthSendRefused>(Deviation::zero_length_send_refused),
    stream_row<ReadRequestNeedsReceive>(Deviation::read_request_needs_receive),
};

}  // namespace

std::span<const StreamRow> check_deviants() { return rows; }

}  // namespace rnic::deviants
