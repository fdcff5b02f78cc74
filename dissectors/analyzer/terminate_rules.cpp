// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/terminate_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "dissectors/analyzer/terminate_reading.hpp"
#include "reference_rnic/wire/notation.hpp"
#include "reference_rnic/wire/zeros.hpp"

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

namespace check {
#define ANALYZER_CHECK(name, ...) ANALYZER_STATEMENT(terminate, name, __VA_ARGS__)
#include "dissectors/analyzer/terminate_rules.def"
#undef ANALYZER_CHECK
}  // namespace check

bool is_rdmap(wire::TerminateCause cause, std::uint8_t type) {
  return cause.layer == wire::layer::rdmap && cause.type == type;
}

bool is_read_request(const std::optional<wire::Segment>& blamed) {
  return blamed && blamed->rdmap().opcode() == wire::Opcode::read_request;
}

bool carries_invalidate(const std::optional<wire::Segment>& blamed) {
  return blamed && wire::carries_invalidate(blamed->rdmap().opcode());
}

}  // namespace

void TerminateRules::sent(const Incoming& incoming) {
  Log& own = log(incoming.direction());
  if (own.segments.size() < kept_) own.segments.emplace_back();
  SentSegment& slot = own.segments[own.count++ & (kept_ - 1)];
  const wire::Bytes octets = incoming.fpdu.ulpdu;
  if (octets.size() >= slot.header.size())  // what follows a shorter header is never compared
    std::memcpy(slot.header.data(), octets.data(), slot.header.size());
  else
    std::ranges::copy(octets, slot.header.begin());
  slot.ulpdu_length = incoming.fpdu.ulpdu_length;
  slot.frame = incoming.fpdu.place.last_frame;
}

std::uint32_t TerminateRules::terminate(const Incoming& incoming, const MessageStep& step) {
  if (!step.known || step.content.size() != step.octets) {
    findings_.note(NoteKind::not_judged, incoming.fpdu.place,
                   "a Terminate of which octets are missing");
    return 0;
  }
  findings_.judged(incoming.direction(), check::layout, check::reserved_bits, check::unregistered,
                   check::payload);
  const auto parsed = layout(incoming, step.content);
  if (!parsed) return 0;
  Parts parts{incoming, *parsed, std::nullopt};
  if (const auto blamed = wire::parse_segment(parts.terminate.ddp_header)) parts.blamed = *blamed;
  if (parts.terminate.reserved != 0)
    findings_.raise(check::reserved_bits, incoming, "13 reserved bits zero");
  check_cause(parts);
  check_included(parts);
  return parts.terminate.d ? check_blamed(parts) : 0;
}

// ------------------------------------------------------------------- layout (RFC 5040 4.8)

/// The control octets as the sender means them.
wire::Terminate TerminateRules::control(const Incoming& incoming, wire::Bytes content) const {
  using Layout = TerminateReading::Layout;
  const TerminateReading reading = *read_terminate_control(content);
  if (content.size() > sizeof(wire::TerminateControl))
    findings_.judged(incoming.direction(), check::control_of_host, check::layer_behind_type);
  if (reading.layout == Layout::as_specified) return reading.terminate;
  findings_.raise(reading.layout == Layout::layer_after_type ? check::layer_behind_type
                                                             : check::control_of_host,
                  incoming.fpdu.place, incoming.fpdu.certainty,
                  fmt::format("{} with {}; read so: {}",
                              describe_ulpdu(incoming.fpdu.ulpdu, incoming.fpdu.ulpdu_length),
                              describe(reading.layout), wire::describe(reading.terminate.cause)),
                  "Terminate Control as in Figure 8: Layer, EType, Error Code, M, D, R");
  return reading.terminate;
}

/// The Terminate's parts, as far as its bits and its length agree. What section 7.1 calls "set to
/// zero" may be there as zeros or be left out.
std::optional<wire::Terminate> TerminateRules::layout(const Incoming& incoming,
                                                      wire::Bytes content) const {
  if (content.size() < sizeof(wire::TerminateControl)) {
    findings_.raise(check::layout, incoming, "four octets of control at least");
    return std::nullopt;
  }
  wire::Terminate terminate = control(incoming, content);
  wire::Bytes rest = content.subspan(sizeof(wire::TerminateControl));
  if (!check_headers(incoming, terminate, rest)) return std::nullopt;
  if (terminate.m || terminate.d) {
    terminate.segment_length = wire::Reader(rest).read<wire::be16>().value();
    rest = rest.subspan(sizeof(wire::be16));
  }
  if (terminate.d) {
    terminate.ddp_header = rest.first(ddp_header_size(rest));
    rest = rest.subspan(terminate.ddp_header.size());
  }
  if (terminate.r) {
    terminate.rdmap_header = rest.first(sizeof(wire::ReadRequestHeader));
    rest = rest.subspan(terminate.rdmap_header.size());
  }
  check_tail(incoming, terminate, rest);
  return terminate;
}

/// Whether the octets after the bits M, D and R have what these announce.
bool TerminateRules::check_headers(const Incoming& incoming, const wire::Terminate& terminate,
                                   wire::Bytes rest) const {
  constexpr std::size_t length_size = sizeof(wire::be16);
  const auto raise = [&](const Statement& statement, const char* admissible) {
    findings_.raise(statement, incoming, admissible);
    return false;
  };
  if (terminate.m) findings_.judged(incoming.direction(), check::length_missing);
  if (terminate.r)
    findings_.judged(incoming.direction(), check::rdma_header_missing, check::rdma_header_size);
  if (terminate.d) {
    findings_.judged(incoming.direction(), check::ddp_header_missing, check::ddp_header_size);
    const std::size_t rdma = terminate.r ? sizeof(wire::ReadRequestHeader) : 0;
    const bool right_size = rest.size() >= length_size &&
                            rest.size() >= length_size + ddp_header_size(rest.subspan(length_size));
    if (rest.size() == ddp_header_size(rest) + rdma &&
        (!right_size ||
         rest.size() != length_size + ddp_header_size(rest.subspan(length_size)) + rdma))
      return raise(check::length_missing, "the DDP segment length in front of the DDP header");
    if (rest.size() <= length_size) return raise(check::ddp_header_missing, "a DDP header with D");
    if (!right_size) return raise(check::ddp_header_size, "a DDP header of 14 or 18 octets");
    rest = rest.subspan(length_size + ddp_header_size(rest.subspan(length_size)));
  } else if (terminate.m) {
    if (rest.size() < length_size) return raise(check::layout, "the DDP segment length with M");
    rest = rest.subspan(length_size);
  }
  if (!terminate.r || rest.size() >= sizeof(wire::ReadRequestHeader)) return true;
  return rest.empty() ? raise(check::rdma_header_missing, "an RDMA header with R")
                      : raise(check::rdma_header_size, "an RDMA header of 28 octets");
}

/// Octets that no bit announces.
void TerminateRules::check_tail(const Incoming& incoming, const wire::Terminate& terminate,
                                wire::Bytes rest) const {
  if (rest.empty() || wire::all_zero(rest)) return;
  // RFC 7306 neither asks for the whole Atomic header nor forbids it.
  const bool atomic_header = terminate.r && rest.size() == sizeof(wire::AtomicRequestHeader) -
                                                               sizeof(wire::ReadRequestHeader);
  if (atomic_header) return;
  const auto raise = [&](const Statement& statement, const char* admissible) {
    findings_.raise(statement, incoming, admissible);
  };
  const bool headers = rest.size() >= wire::tagged_header_size;
  if (!terminate.d && !terminate.m && rest.size() == sizeof(wire::be16))
    raise(check::m_bit, "M set where the segment length is included");
  else if (!terminate.d && headers)
    raise(check::d_bit, "D set where the DDP header is included");
  else if (terminate.d && !terminate.r && rest.size() == sizeof(wire::ReadRequestHeader))
    raise(check::r_bit, "R set where the RDMA header is included");
  else
    raise(check::payload, "nothing after the headers");
}

// ------------------------------------------------------------------------------- the cause

void TerminateRules::check_cause(const Parts& parts) const {
  const wire::TerminateCause cause = parts.terminate.cause;
  const auto raise = [&](const Statement& statement, const char* admissible) {
    findings_.raise(statement, parts.incoming, admissible);
  };
  if (cause.layer == wire::layer::ddp)
    findings_.judged(parts.incoming.direction(), cause.type == wire::error_type::ddp_local
                                                     ? check::ddp_local
                                                     : check::ddp_unregistered);
  if (wire::is_registered(cause)) {
    if (parts.blamed) {
      check_buffer_model(parts);
      check_code(parts);
    }
    return;
  }
  if (cause.layer != wire::layer::ddp)
    raise(check::unregistered, "a registered layer, type and code");
  else if (cause.type == wire::error_type::ddp_local)
    raise(check::ddp_local, "code 0 with layer 1, type 0");
  else
    raise(check::ddp_unregistered, "a type and code of RFC 5041 section 7.2");
}

/// Whether DDP's error type is that of the blamed segment, tagged or untagged. A header of another version
/// need not have its T bit in the same place, and one of zeros stands for none.
void TerminateRules::check_buffer_model(const Parts& parts) const {
  const wire::TerminateCause cause = parts.terminate.cause;
  const bool of_a_model =
      cause.layer == wire::layer::ddp &&
      (cause.type == wire::error_type::ddp_tagged || cause.type == wire::error_type::ddp_untagged);
  if (!of_a_model || parts.blamed->ddp().version() != wire::ddp_version) return;
  findings_.judged(parts.incoming.direction(), check::other_buffer_model);
  if (parts.blamed->tagged != (cause.type == wire::error_type::ddp_tagged))
    findings_.raise(
        check::other_buffer_model, parts.incoming,
        parts.blamed->tagged ? "type 1 for a tagged segment" : "type 2 for an untagged segment");
}

/// Whether the blamed message can have the fault that the code means.
void TerminateRules::check_code(const Parts& parts) const {
  const wire::TerminateCause cause = parts.terminate.cause;
  const wire::RdmapControl control = parts.blamed->rdmap();
  const wire::Opcode opcode = control.opcode();
  const auto raise = [&](const Statement& statement, const char* admissible) {
    findings_.raise(statement, parts.incoming, admissible);
  };
  const bool version_right = control.version() == wire::rdmap_version;
  const bool opcode_right =
      wire::is_defined(opcode) && wire::is_tagged(opcode) == parts.blamed->tagged &&
      (parts.blamed->tagged || parts.blamed->untagged_header.queue_number.value() ==
                                   static_cast<std::uint32_t>(wire::queue_of(opcode)));
  const bool invalidates = wire::carries_invalidate(opcode);
  const Direction direction = parts.incoming.direction();
  if (cause == wire::cause::rdmap_invalid_version || !version_right)
    findings_.judged(direction, check::version_not_wrong);
  if (cause == wire::cause::rdmap_unexpected_opcode)
    findings_.judged(direction, check::opcode_called_version);
  if (cause == wire::cause::rdmap_protection_cannot_invalidate)
    findings_.judged(direction, check::nothing_to_invalidate_protection);
  if (cause == wire::cause::rdmap_operation_cannot_invalidate)
    findings_.judged(direction, check::nothing_to_invalidate_operation);
  if (is_rdmap(cause, wire::error_type::rdmap_protection))
    findings_.judged(direction, check::protection_cause);
  if (cause == wire::cause::rdmap_invalid_version && version_right)
    raise(opcode_right ? check::version_not_wrong : check::opcode_called_version,
          "code 5 for a message with another RDMAP version than 1");
  else if (cause == wire::cause::rdmap_unexpected_opcode && !version_right && opcode_right)
    raise(check::version_not_wrong, "code 5 for a message with another RDMAP version than 1");
  else if (cause == wire::cause::rdmap_protection_cannot_invalidate && !invalidates)
    raise(check::nothing_to_invalidate_protection, "code 9 for a Send with Invalidate");
  else if (cause == wire::cause::rdmap_operation_cannot_invalidate && !invalidates)
    raise(check::nothing_to_invalidate_operation, "code 9 for a Send with Invalidate");
  else if (is_rdmap(cause, wire::error_type::rdmap_protection) && !invalidates &&
           opcode != wire::Opcode::read_request && opcode != wire::Opcode::atomic_request &&
           // docs/disputes.md D3
           !(cause == wire::cause::rdmap_access_rights && opcode == wire::Opcode::rdma_write))
    raise(check::protection_cause, "layer 0, type 1 for a Read Request or a Send with Invalidate");
}

// ------------------------------------------------------------------- what Figure 10 includes

void TerminateRules::check_included(const Parts& parts) const {
  const wire::Terminate& terminate = parts.terminate;
  const wire::TerminateCause cause = terminate.cause;
  const auto raise = [&](const Statement& statement, const char* admissible) {
    findings_.raise(statement, parts.incoming, admissible);
  };
  const bool any = terminate.m || terminate.d || terminate.r;
  const Direction direction = parts.incoming.direction();
  if (is_rdmap(cause, wire::error_type::rdmap_local)) {
    findings_.judged(direction, check::local_with_ddp_header, check::local_with_bits);
    // A header of zeros is none (docs/disputes.md D101).
    const bool has_header = terminate.d && !wire::all_zero(terminate.ddp_header);
    if (any)
      raise(has_header ? check::local_with_ddp_header : check::local_with_bits, "M, D and R clear");
    return;
  }
  if (cause.layer == wire::layer::mpa) {
    findings_.judged(direction, check::llp_with_header);
    if (any) raise(check::llp_with_header, "M, D and R clear");
    return;
  }
  if (!wire::is_registered(cause)) return;
  // DDP's local catastrophic error is not one of an incoming message (RFC 5040 section 7.1).
  const bool local = cause == wire::cause::ddp_local_catastrophic ||
                     (is_rdmap(cause, wire::error_type::rdmap_operation) &&
                      (cause == wire::cause::rdmap_catastrophic_stream ||
                       cause == wire::cause::rdmap_catastrophic_global ||
                       cause == wire::cause::rdmap_operation_unspecified));
  if (!local)
    findings_.judged(direction, check::m_bit, check::d_bit,
                     cause.layer == wire::layer::ddp ? check::ddp_without_header
                     : cause.type == wire::error_type::rdmap_protection
                         ? check::protection_without_header
                         : check::operation_without_header);
  if (!terminate.m && !terminate.d && !local)
    raise(cause.layer == wire::layer::ddp                    ? check::ddp_without_header
          : cause.type == wire::error_type::rdmap_protection ? check::protection_without_header
                                                             : check::operation_without_header,
          "segment length and DDP header, with M and D set");
  else if (terminate.d && !terminate.m)
    raise(check::m_bit, "M set where the segment length is included");
  else if (terminate.m && !terminate.d)
    raise(check::d_bit, "D set: the DDP header is included");
  check_rdma_included(parts);
}

void TerminateRules::check_rdma_included(const Parts& parts) const {
  const wire::Terminate& terminate = parts.terminate;
  const auto raise = [&](const Statement& statement, const char* admissible) {
    findings_.raise(statement, parts.incoming, admissible);
  };
  // Both readings hold for Send with Invalidate (docs/disputes.md D2). Figure 10 has no
  // Atomic Request; the header is zero if it is there (RFC 7306 section 8.1).
  if (carries_invalidate(parts.blamed)) return;
  const Direction direction = parts.incoming.direction();
  findings_.judged(direction, check::r_bit);
  if (parts.blamed && !is_read_request(parts.blamed))
    findings_.judged(direction, check::rdma_for_others);
  if (terminate.cause.layer == wire::layer::ddp) findings_.judged(direction, check::ddp_with_rdma);
  if (is_rdmap(terminate.cause, wire::error_type::rdmap_operation) &&
      !is_read_request(parts.blamed))
    findings_.judged(direction, check::operation_with_rdma);
  if (is_rdmap(terminate.cause, wire::error_type::rdmap_protection) &&
      is_read_request(parts.blamed))
    findings_.judged(direction, check::protection_without_rdma);
  if (parts.blamed && parts.blamed->rdmap().opcode() == wire::Opcode::atomic_request) {
    if (terminate.r && !wire::all_zero(terminate.rdmap_header))
      raise(check::rdma_for_others, "R clear, or zeros for the header of an Atomic Request");
    return;
  }
  if (!terminate.r) {
    if (is_rdmap(terminate.cause, wire::error_type::rdmap_protection) &&
        is_read_request(parts.blamed))
      raise(check::protection_without_rdma, "the header of the Read Request, with R set");
    return;
  }
  // A header of zeros is none (docs/disputes.md D101).
  if (parts.blamed && !is_read_request(parts.blamed))
    raise(wire::all_zero(terminate.rdmap_header) ? check::r_bit : check::rdma_for_others,
          "R for a Read Request only");
  else if (terminate.cause.layer == wire::layer::ddp)
    raise(check::ddp_with_rdma, "R clear");
  // For a Read Request section 7.1 includes the header whatever the type.
  else if (is_rdmap(terminate.cause, wire::error_type::rdmap_operation) && !parts.blamed)
    raise(check::operation_with_rdma, "R clear");
}

// ------------------------------------------------------------------------- what it blames

bool TerminateRules::blames(const Parts& parts, const SentSegment& it) {
  const wire::Bytes copied = parts.terminate.ddp_header;
  return std::ranges::equal(copied, wire::Bytes(it.header).first(copied.size()));
}

/// Whether the DDP Segment Length is that of the segment, or, if RDMAP found the error of an
/// untagged message, that of the message which the segment ends (docs/disputes.md D100).
bool TerminateRules::tells_length_of(const Parts& parts, const SentSegment& it) {
  if (blames(parts, it) && it.ulpdu_length == *parts.terminate.segment_length) return true;
  if (!parts.blamed || parts.blamed->tagged ||
      !wire::tells_message_length(parts.terminate, it.header, it.ulpdu_length))
    return false;
  const wire::UntaggedHeader& header = parts.blamed->untagged_header;
  const auto last = wire::Reader(it.header).read<wire::UntaggedHeader>();
  return last.queue_number.value() == header.queue_number.value() &&
         last.message_sequence_number.value() == header.message_sequence_number.value();
}

void TerminateRules::check_length(const Parts& parts, std::span<const SentSegment> sent,
                                  bool remembers_all) const {
  const bool right =
      std::ranges::any_of(sent, [&](const SentSegment& it) { return tells_length_of(parts, it); });
  // Writes to one place may differ in length, and it may blame an earlier one.
  if (!right && !remembers_all && parts.blamed && parts.blamed->tagged) return;
  findings_.judged(parts.incoming.direction(), check::segment_length);
  if (right) return;
  const auto it = std::ranges::find_if(sent, [&](const auto& each) { return blames(parts, each); });
  findings_.raise(check::segment_length, parts.incoming,
                  fmt::format("a segment length of {}", it->ulpdu_length));
}

std::uint32_t TerminateRules::check_blamed(const Parts& parts) {
  const wire::Terminate& terminate = parts.terminate;
  if (wire::all_zero(terminate.ddp_header)) return 0;
  const Log& sent = log(opposite(parts.incoming.direction()));
  const std::span all(sent.segments);
  const auto found =
      std::ranges::find_if(all, [&](const SentSegment& it) { return blames(parts, it); });
  const bool remembers_all = sent.complete && sent.count <= kept_;
  if (found == all.end()) {
    // Of a capture that has the two ends in another order, only the beginning of the other end tells
    // what this one had received.
    const bool known = order_ == Order::as_it_happened || parts.incoming.fpdu.received;
    if (remembers_all && known)
      findings_.raise(check::ddp_header, parts.incoming,
                      "the DDP header of a segment that the other end sent");
    else
      findings_.note(
          NoteKind::not_judged, parts.incoming.fpdu.place,
          "the Terminate blames a segment that was not seen before it, or is not remembered");
    return 0;
  }
  findings_.judged(parts.incoming.direction(), check::ddp_header);
  if (terminate.m) check_length(parts, all, remembers_all);
  // For an error of DDP no header is asked for, and one of zeros is none (docs/disputes.md D101).
  const bool has_header =
      terminate.cause.layer != wire::layer::ddp || !wire::all_zero(terminate.rdmap_header);
  if (terminate.r && has_header && is_read_request(parts.blamed)) check_read(parts);
  return found->frame;
}

/// The header of the Read Request as it came, or less what was served.
void TerminateRules::check_read(const Parts& parts) {
  const Direction requester = opposite(parts.incoming.direction());
  const auto progress =
      rdmap_->progress(requester, parts.blamed->untagged_header.message_sequence_number.value());
  if (!progress) return;
  const OutstandingRequest& was = progress->request;
  findings_.judged(parts.incoming.direction(), check::read_header);
  if (progress->served > 0)
    findings_.judged(parts.incoming.direction(), check::read_stags, check::read_offsets,
                     check::read_size);
  const auto is = wire::Reader(parts.terminate.rdmap_header).read<wire::ReadRequestHeader>();
  const std::uint64_t sink = is.sink_offset.value() - was.sink_offset;
  const std::uint64_t source = is.source_offset.value() - was.source_offset;
  const std::uint64_t left = was.length - std::uint64_t{is.length.value()};
  const bool stags =
      is.sink_stag.value() == was.sink_stag && is.source_stag.value() == was.source_stag;
  const auto raise = [&](const Statement& statement) {
    findings_.raise(statement, parts.incoming,
                    fmt::format("{:#x}+{:#x} of {:#x}+{:#x}, {} octets, less the {} served",
                                was.sink_stag, was.sink_offset, was.source_stag, was.source_offset,
                                was.length, progress->served));
  };
  if (progress->served == 0 && (!stags || sink != source || sink != left))
    return raise(check::read_header);
  if (!stags) return raise(check::read_stags);
  if (sink != source || sink < progress->served || sink > was.length)
    return raise(check::read_offsets);
  if (left != sink) raise(check::read_size);
}

void TerminateRules::ended(Direction direction, Ending ending, const Place& place) {
  Log& own = log(direction);
  if (rdmap_->terminated(direction)) findings_.judged(direction, check::reset);
  if (ending == Ending::reset && !own.fin && rdmap_->terminated(direction))
    findings_.raise(check::reset, place, Certainty::certain, "a reset after the Terminate",
                    "the connection closed gracefully, so that the Terminate arrives");
  own.fin = own.fin || ending == Ending::fin;
}

}  // namespace dissectors::analyzer
