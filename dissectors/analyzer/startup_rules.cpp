// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/startup_rules.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "dissectors/analyzer/terminate_reading.hpp"
#include "reference_rnic/wire/flag_list.hpp"
#include "reference_rnic/wire/notation.hpp"
#include "reference_rnic/wire/rdmap.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

namespace check {
#define ANALYZER_CHECK(name, ...) ANALYZER_STATEMENT(startup, name, __VA_ARGS__)
#include "dissectors/analyzer/startup_rules.def"
#undef ANALYZER_CHECK
}  // namespace check

using Values = wire::EnhancedWords::Values;

constexpr bool any_rtr(const Values& values) {
  return values.rtr_send || values.rtr_write || values.rtr_read;
}

std::string kinds(const Values& values) {
  return wire::flag_list(
      {{values.rtr_send, "Send"}, {values.rtr_write, "Write"}, {values.rtr_read, "Read"}}, ", ");
}

/// The kinds of RTR that both frames have.
Values common(const Values& request, const Values& reply) {
  Values both;
  both.rtr_send = request.rtr_send && reply.rtr_send;
  both.rtr_write = request.rtr_write && reply.rtr_write;
  both.rtr_read = request.rtr_read && reply.rtr_read;
  return both;
}

/// The Initiator's resources are not enough for the Reply (RFC 6581 section 9.1).
bool ird_insufficient(const Values& request, const Values& reply) {
  return reply.ord > request.ird || request.ird == wire::read_depth_unnegotiated;
}

}  // namespace

// ------------------------------------------------------------------------------ the frames

const Negotiated& StartupRules::frame(const MpaFrameSeen& seen) {
  const bool request = seen.frame.kind == wire::MpaFrameKind::request;
  auto& slot = request ? request_ : reply_;
  if (slot) {
    findings_.note(NoteKind::not_judged, seen.place,
                   request ? "a second MPA Request" : "a second MPA Reply");
    return negotiated_;
  }
  check_frame(seen);
  slot = Frame{.place = seen.place,
               .flags = seen.frame.flags,
               .revision = seen.frame.revision,
               .values = seen.frame.enhanced(),
               .text = wire::describe(seen.frame)};
  if (!request) check_reply();
  settle();
  return negotiated_;
}

/// RFC 5044 section 7.1.1, RFC 6581 section 6
void StartupRules::check_frame(const MpaFrameSeen& seen) {
  const wire::MpaFrame& frame = seen.frame;
  const bool request = frame.kind == wire::MpaFrameKind::request;
  const std::string text = wire::describe(frame);
  const auto raise = [&](const Statement& statement, std::string admissible,
                         Certainty certainty = Certainty::certain) {
    findings_.raise(statement, seen.place, certainty, text, std::move(admissible));
  };
  const Direction direction = seen.place.direction;
  findings_.judged(direction, check::reserved_flags, check::revision, check::private_data_length);
  if (request) findings_.judged(direction, check::request_r_bit);
  if (frame.flags.enhanced()) findings_.judged(direction, check::enhanced_revision);
  if (request && frame.flags.reject()) raise(check::request_r_bit, "R clear in a Request");
  const bool reserved = (frame.flags.octet & wire::MpaFlags::reserved_mask) != 0;
  if (reserved) raise(check::reserved_flags, "reserved flags zero");
  if (frame.flags.enhanced() && frame.revision < 2 && !reserved)
    raise(check::enhanced_revision, "revision 2 or higher with S");
  // Revision 0 is the RDMA Consortium's: lawful as an answer in kind (RFC 5044 appendix C).
  const bool in_kind = !request && (!request_ || request_->revision == 0);
  if ((frame.revision == 0 && !in_kind) || (frame.revision > 2 && !frame.flags.enhanced()))
    raise(check::revision, "revision 1, or 2 and higher with the enhanced set-up");
  const bool extended = frame.flags.enhanced() && frame.revision >= 2;
  const std::uint16_t pd_length =
      wire::Reader(seen.octets).read<wire::MpaFrameHeader>().pd_length.value();
  // Little-endian: the framing reports this, from the octets that came.
  const bool swapped = std::byteswap(pd_length) == frame.private_data.size();
  // If not all of the private data came, it may be little-endian as well.
  const bool perhaps_swapped = std::byteswap(pd_length) <= wire::mpa_max_private_data &&
                               std::byteswap(pd_length) > frame.private_data.size();
  if (frame.private_data.size() > wire::mpa_max_private_data ||
      (pd_length > wire::mpa_max_private_data && !swapped))
    findings_.raise(
        extended ? check::ulp_data_length : check::private_data_length, seen.place,
        perhaps_swapped && order_ != Order::as_it_happened ? Certainty::likely : Certainty::certain,
        fmt::format("{}, PD_Length {}", text, pd_length),
        "at most 512 octets of Private Data, enhanced data included");
  if (extended) check_enhanced(seen, text);
}

/// RFC 6581 sections 9 and 10
void StartupRules::check_enhanced(const MpaFrameSeen& seen, const std::string& text) {
  const bool request = seen.frame.kind == wire::MpaFrameKind::request;
  const auto raise = [&](const Statement& statement, std::string admissible,
                         Certainty certainty = Certainty::certain) {
    findings_.raise(statement, seen.place, certainty, text, std::move(admissible));
  };
  const auto values = seen.frame.enhanced();
  findings_.judged(seen.place.direction, check::enhanced_data_missing, check::ulp_data_length);
  if (values && !values->peer_to_peer)
    findings_.judged(seen.place.direction, check::rtr_flags_without_a);
  if (values && request) findings_.judged(seen.place.direction, check::enhanced_without_need);
  if (values && request && values->peer_to_peer)
    findings_.judged(seen.place.direction, check::no_rtr_offered);
  if (!values) return raise(check::enhanced_data_missing, "4 octets of enhanced data with S");
  if (!values->peer_to_peer && any_rtr(*values))
    raise(check::rtr_flags_without_a, "B, C and D clear with A clear");
  if (!request) return;
  if (values->peer_to_peer && !any_rtr(*values))
    raise(check::no_rtr_offered, "with A each of B, C and D that the Initiator supports",
          Certainty::likely);
  if (!values->peer_to_peer && !any_rtr(*values) && values->ird == wire::read_depth_unnegotiated &&
      values->ord == wire::read_depth_unnegotiated)
    raise(check::enhanced_without_need, "a plain Request where nothing enhanced is asked for",
          Certainty::likely);
}

/// The Reply against the Request (RFC 6581 sections 9 and 10).
void StartupRules::check_reply() {
  if (!request_) return;
  const auto raise = [&](const Statement& statement, std::string admissible) {
    findings_.raise(statement, reply_->place, Certainty::certain, reply_->text,
                    std::move(admissible));
  };
  if (early_initiator_) {
    findings_.judged(early_initiator_->place.direction, check::fpdu_before_reply);
    if (const auto certainty = sent_before(*early_initiator_, reply_->place))
      raise_before_reply(*early_initiator_, *certainty);
  }
  early_initiator_.reset();
  const bool asked = request_->flags.enhanced() && request_->revision >= 2;
  const bool answered = reply_->flags.enhanced() && reply_->revision >= 2;
  findings_.judged(reply_->place.direction, asked ? check::plain_reply : check::enhanced_reply);
  if (asked && !answered && !reply_->flags.enhanced())
    raise(check::plain_reply, "an enhanced Reply to an enhanced Request");
  if (!request_->flags.enhanced() && answered)
    raise(check::enhanced_reply, "a plain Reply to a plain Request");
  if (request_->values && reply_->values && !reply_->flags.reject())
    check_reply_values(*request_->values, *reply_->values);
}

void StartupRules::check_reply_values(const Values& request, const Values& reply) {
  const auto raise = [&](const Statement& statement, std::string admissible) {
    findings_.raise(statement, reply_->place, Certainty::certain, reply_->text,
                    std::move(admissible));
  };
  constexpr std::uint16_t open = wire::read_depth_unnegotiated;
  const Direction direction = reply_->place.direction;
  findings_.judged(direction, request.peer_to_peer ? check::flag_a_dropped : check::flag_a_added);
  if (request.peer_to_peer && reply.peer_to_peer) findings_.judged(direction, check::no_rtr_flag);
  if (request.ord == open) findings_.judged(direction, check::ord_all_ones);
  findings_.judged(direction, request.ird == open ? check::ird_all_ones : check::reply_ord);
  if (request.peer_to_peer && !reply.peer_to_peer) raise(check::flag_a_dropped, "A set, as asked");
  if (!request.peer_to_peer && reply.peer_to_peer) raise(check::flag_a_added, "A clear, as asked");
  if (request.peer_to_peer && reply.peer_to_peer && !any_rtr(reply))
    raise(check::no_rtr_flag, "at least one of B, C and D with A");
  if (request.ord == open && reply.ird != open)
    raise(check::ord_all_ones, "IRD 0x3fff in answer to ORD 0x3fff");
  if (request.ird == open && reply.ord != open)
    raise(check::ird_all_ones, "ORD 0x3fff in answer to IRD 0x3fff");
  if (request.ird != open && reply.ord != open && reply.ord > request.ird)
    raise(check::reply_ord, fmt::format("ORD of at most the Initiator's IRD, {}", request.ird));
}

void StartupRules::settle() {
  const auto markers = [](const std::optional<Frame>& frame) -> std::optional<bool> {
    return frame ? std::optional(frame->flags.markers()) : std::nullopt;
  };
  // The side that sets M receives Markers.
  const bool request_from_first = role(Direction::from_first) == Role::initiator;
  negotiated_.markers_from_first = markers(request_from_first ? reply_ : request_);
  negotiated_.markers_from_second = markers(request_from_first ? request_ : reply_);
  const bool one_asks = (request_ && request_->flags.crc()) || (reply_ && reply_->flags.crc());
  if (one_asks || complete()) negotiated_.crc = one_asks;
  negotiated_.revision = reply_ ? reply_->revision : request_->revision;
  if (request_) negotiated_.request = request_->values;
  if (!reply_) return;
  negotiated_.reply = reply_->values;
  negotiated_.rejected = reply_->flags.reject();
  negotiated_.enhanced = request_ && request_->values && reply_->values;
  negotiated_.peer_to_peer =
      negotiated_.enhanced && request_->values->peer_to_peer && reply_->values->peer_to_peer;
}

bool StartupRules::version_zero_possible() const {
  if (!request_ && !reply_) return true;
  return (request_ && request_->revision == 0) || (reply_ && reply_->revision == 0);
}

// ------------------------------------------------------------------- who may send when

Role StartupRules::role(Direction direction) const {
  const auto& known = request_ ? request_ : reply_;
  if (!known) return Role::unknown;
  return (known->place.direction == direction) == request_.has_value() ? Role::initiator
                                                                       : Role::responder;
}

void StartupRules::fpdu(const Incoming& incoming) {
  const bool first = !sent_[index_of(incoming.direction())];
  const bool terminate = incoming.segment.rdmap().opcode() == wire::Opcode::terminate;
  if (!first && !early_responder_ && !terminate) return;  // nothing of startup is open
  unreadable(incoming.fpdu);
  if (first && !holes_[index_of(incoming.direction())]) check_first(incoming);
  const bool set_up_is_open = first && negotiated_.request;
  if (!set_up_is_open && complete() && !negotiated_.rejected && terminate)
    check_later_terminate(incoming);
}

void StartupRules::unreadable(const FpduSeen& fpdu) {
  const Role sender = role(fpdu.place.direction);
  const bool first = !sent_[index_of(fpdu.place.direction)];
  const bool answers_early = early_responder_ && sender == Role::initiator;
  if (sender != Role::unknown && (first || answers_early)) check_turn(fpdu, sender);
  sent_[index_of(fpdu.place.direction)] = true;
}

StartupRules::First StartupRules::first_of(const FpduSeen& fpdu) {
  return {.place = fpdu.place,
          .certainty = fpdu.certainty,
          .text = describe_ulpdu(fpdu.ulpdu, fpdu.ulpdu_length),
          .received = fpdu.received};
}

/// How sure it is that the FPDU was sent before `other` had come from the other end; nothing if it had
/// come. A capture of several queues or taps may have the directions in another order than the wire:
/// what the FPDU's segment acknowledges had come.
std::optional<Certainty> StartupRules::sent_before(const First& fpdu, const Place& other) const {
  const bool by_frames = fpdu.place.first_frame < other.last_frame;
  const bool known = order_ == Order::as_it_happened || fpdu.received;
  const bool before = fpdu.received ? *fpdu.received < other.offset + other.length : by_frames;
  if (!before) return std::nullopt;
  return known ? fpdu.certainty : Certainty::likely;
}

void StartupRules::raise_before_reply(const First& fpdu, Certainty certainty) {
  findings_.raise(check::fpdu_before_reply, fpdu.place, certainty, fpdu.text,
                  reply_
                      ? fmt::format("no FPDU before the Reply, frame {}", reply_->place.last_frame)
                      : "no FPDU before the Reply");
}

/// RFC 5044 section 7.1.2. An FPDU that comes too early is kept until it is known what the other side
/// had sent by then.
void StartupRules::check_turn(const FpduSeen& fpdu, Role sender) {
  const bool initiator = sender == Role::initiator;
  const First first = first_of(fpdu);
  const auto before_reply = initiator && reply_ ? sent_before(first, reply_->place) : std::nullopt;
  if (negotiated_.rejected && !reject_reported_ && !before_reply) {
    reject_reported_ = true;
    const bool known = !initiator || order_ == Order::as_it_happened || fpdu.received;
    findings_.raise(initiator ? check::initiator_after_reject : check::responder_after_reject,
                    fpdu.place, known ? fpdu.certainty : Certainty::likely, first.text,
                    "no FPDU after a rejecting Reply");
    return;
  }
  if (initiator) {
    if (reply_ && !holes_[index_of(fpdu.place.direction)])
      findings_.judged(fpdu.place.direction, check::fpdu_before_reply);
    if (early_responder_) confirm_early_responder(&fpdu);
    if (sent_[index_of(fpdu.place.direction)]) return;
    if (!reply_)
      early_initiator_ = first;
    else if (before_reply)
      raise_before_reply(first, *before_reply);
    return;
  }
  const std::size_t other = index_of(opposite(fpdu.place.direction));
  if (complete() && !holes_[other]) findings_.judged(fpdu.place.direction, check::responder_first);
  if (complete() && !sent_[other] && !holes_[other] && !early_responder_) early_responder_ = first;
  if (order_ == Order::as_it_happened) confirm_early_responder(nullptr);
}

/// `by_initiator`: the Initiator's first FPDU; none if it has sent none that was seen.
void StartupRules::confirm_early_responder(const FpduSeen* by_initiator) {
  if (!early_responder_) return;
  const First early = *std::exchange(early_responder_, std::nullopt);
  const Place& request = request_->place;
  std::optional<Certainty> certainty;
  if (by_initiator != nullptr)
    certainty = sent_before(early, by_initiator->place);
  else if (early.received && *early.received <= request.offset + request.length)
    certainty = early.certainty;
  else
    certainty = order_ == Order::as_it_happened ? early.certainty : Certainty::likely;
  if (certainty)
    findings_.raise(check::responder_first, early.place, *certainty, early.text,
                    "no FPDU before the Initiator's first one");
}

void StartupRules::hole(Direction direction) {
  holes_[index_of(direction)] = true;
  // The Initiator's first FPDU or the Reply may have been in the hole.
  if (early_responder_ && opposite(direction) == early_responder_->place.direction) {
    const Place& request = request_->place;
    if (early_responder_->received &&
        *early_responder_->received <= request.offset + request.length)
      confirm_early_responder(nullptr);
    else
      early_responder_.reset();
  }
  if (early_initiator_ && opposite(direction) == early_initiator_->place.direction &&
      !early_initiator_->received)
    early_initiator_.reset();
}

void StartupRules::finish() {
  // After a rejection the connection belongs to the ULP: neither side sends FPDUs.
  if (negotiated_.rejected && request_ && reply_) {
    if (!holes_[index_of(request_->place.direction)])
      findings_.judged(request_->place.direction, check::initiator_after_reject);
    if (!holes_[index_of(reply_->place.direction)])
      findings_.judged(reply_->place.direction, check::responder_after_reject);
  }
  confirm_early_responder(nullptr);
  // A participant knows that no Reply was sent; in a capture the Reply may be missing.
  if (early_initiator_ && (order_ == Order::as_it_happened || early_initiator_->received == 0))
    raise_before_reply(*early_initiator_, early_initiator_->certainty);
  early_initiator_.reset();
}

// ------------------------------------------------------- the RTR indication (RFC 6581 9.2)

void StartupRules::check_first(const Incoming& incoming) {
  const bool accepted = complete() && !negotiated_.rejected;
  if (!accepted || role(incoming.direction()) != Role::initiator || !negotiated_.peer_to_peer)
    return;
  if (incoming.segment.rdmap().opcode() == wire::Opcode::terminate)
    check_first_terminate(incoming);
  else
    check_rtr(incoming);
}

void StartupRules::check_rtr(const Incoming& incoming) {
  const Values offered = *negotiated_.request, answered = *negotiated_.reply;
  const Values both = common(offered, answered);
  findings_.judged(incoming.direction(), check::rtr_missing, check::rtr_kind,
                   check::rtr_with_payload);
  if (!any_rtr(both)) findings_.judged(incoming.direction(), check::rtr_without_match);
  bool agreed = false, empty = incoming.payload_length == 0;
  switch (incoming.segment.rdmap().opcode()) {
    case wire::Opcode::send:
      agreed = both.rtr_send;
      break;
    case wire::Opcode::rdma_write:
      agreed = both.rtr_write;
      break;
    case wire::Opcode::read_request: {
      agreed = both.rtr_read;
      wire::Reader in(incoming.segment.payload);
      empty = in.read<wire::ReadRequestHeader>().length.value() == 0;
      rtr_offset_ = incoming.fpdu.place.offset;
      break;
    }
    default:
      return findings_.raise(check::rtr_missing, incoming,
                             "first a zero-length " + kinds(both) + " as RTR indication");
  }
  if (!any_rtr(both))
    findings_.raise(check::rtr_without_match, incoming,
                    "a Terminate 2/0/0x07, since Request and Reply have no RTR kind in common");
  else if (!agreed)
    findings_.raise(check::rtr_kind, incoming, "an RTR indication of kind " + kinds(both));
  else if (!empty)
    findings_.raise(check::rtr_with_payload, incoming, "an RTR indication without payload");
}

/// An Initiator that ends the set-up states the cause: RFC 6581 sections 8, 9.1, 9.2 and 9.3. The
/// Responder has sent no FPDU by then, so the error is one of set-up or the Initiator's own.
void StartupRules::check_first_terminate(const Incoming& incoming) {
  const auto cause = wire::parse_terminate_cause(incoming.segment.payload);
  if (!cause) return;
  findings_.judged(incoming.direction(), check::term_layer, check::term_code_not_true,
                   check::term_code);
  if (cause->layer != wire::layer::mpa || cause->type != wire::error_type::mpa)
    return findings_.raise(check::term_layer, incoming, "layer 2, type 0");
  const Values request = *negotiated_.request, reply = *negotiated_.reply;
  const bool match = any_rtr(common(request, reply));
  if (!match)
    findings_.judged(incoming.direction(), check::term_not_for_rtr, check::rtr_without_match);
  if (*cause == wire::cause::mpa_no_rtr && match)
    findings_.raise(check::term_code_not_true, incoming,
                    "not code 7, since Request and Reply have an RTR kind in common");
  else if (*cause == wire::cause::mpa_insufficient_ird && !ird_insufficient(request, reply))
    findings_.raise(match ? check::term_code_not_true : check::term_not_for_rtr, incoming,
                    match ? "not code 6, since the Responder's ORD is within the Initiator's IRD"
                          : "code 7, since there is no RTR kind in common");
  else if (cause->code < wire::cause::mpa_local_catastrophic.code && wire::is_registered(*cause))
    findings_.raise(check::term_code, incoming, "code 5 for an error without a code of its own");
}

/// Codes 6 and 7 are for errors of the enhanced set-up (RFC 6581 section 8), which is over once an
/// end has sent an FPDU, and never began where the Request is a plain one. (After a reject no FPDU
/// may come at all, whatever it says.) Code 5 may report a local error at any time. Never certain,
/// and so left to captures: the octets of 2/0/6 and 2/0/7 are those of 0/2/6 and 0/2/7 in the bit
/// order of a little-endian host.
void StartupRules::check_later_terminate(const Incoming& incoming) {
  if (order_ == Order::as_it_happened) return;
  const auto reading = read_terminate_control(incoming.segment.payload);
  if (!reading) return;
  const wire::TerminateCause cause = reading->terminate.cause;
  if (cause.layer != wire::layer::mpa || cause.type != wire::error_type::mpa) return;
  findings_.judged(incoming.direction(), check::term_code_not_true);
  if (cause != wire::cause::mpa_insufficient_ird && cause != wire::cause::mpa_no_rtr) return;
  findings_.raise(check::term_code_not_true, incoming.fpdu.place, Certainty::likely,
                  describe_ulpdu(incoming.fpdu.ulpdu, incoming.fpdu.ulpdu_length),
                  negotiated_.request
                      ? "no code of the enhanced set-up after the first FPDU of this end"
                      : "no code of the enhanced set-up, which the Request did not ask for");
}

bool StartupRules::is_rtr(const FpduSeen& fpdu) const {
  return fpdu.place.offset == rtr_offset_ && role(fpdu.place.direction) == Role::initiator;
}

// ------------------------------------------------------------- depths (RFC 6581 section 9.1)

void StartupRules::reads_outstanding(const Incoming& incoming, std::uint32_t outstanding) {
  if (!negotiated_.enhanced || negotiated_.rejected) return;
  const Values request = *negotiated_.request, reply = *negotiated_.reply;
  const auto above = [outstanding](std::uint16_t depth) {
    return depth != wire::read_depth_unnegotiated && outstanding > depth;
  };
  const auto raise = [&](const Statement& statement, std::uint16_t depth) {
    findings_.raise(statement, incoming.fpdu.place, incoming.fpdu.certainty,
                    fmt::format("{} Reads outstanding", outstanding),
                    fmt::format("at most {}", depth));
  };
  // A depth that was not negotiated is no limit.
  constexpr std::uint16_t open = wire::read_depth_unnegotiated;
  const Direction direction = incoming.direction();
  if (role(direction) == Role::initiator) {
    if (reply.ird != open) findings_.judged(direction, check::reads_above_responder_ird);
  } else {
    if (request.ird != open) findings_.judged(direction, check::reads_above_initiator_ird);
    if (reply.ord != open) findings_.judged(direction, check::reads_above_responder_ord);
  }
  if (role(direction) == Role::initiator) {
    if (above(reply.ird)) raise(check::reads_above_responder_ird, reply.ird);
  } else if (above(request.ird)) {
    raise(check::reads_above_initiator_ird, request.ird);
  } else if (above(reply.ord)) {
    raise(check::reads_above_responder_ord, reply.ord);
  }
}

}  // namespace dissectors::analyzer
