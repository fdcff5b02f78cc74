// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/rdmap_rules.hpp"

#include <fmt/format.h>

#include <utility>

#include "reference_rnic/wire/notation.hpp"

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

namespace check {
#define ANALYZER_CHECK(name, ...) ANALYZER_STATEMENT(rdmap, name, __VA_ARGS__)
#include "dissectors/analyzer/rdmap_rules.def"
#undef ANALYZER_CHECK
}  // namespace check

/// The statements that differ from kind to kind of message.
struct OpcodeRules {
  const Statement& version;
  const Statement& reserved;
  const Statement& tag;
  const Statement& queue;
  const Statement& queue_three;  ///< its place in the queue of Atomic Responses
  const Statement& invalidate;
};

constexpr OpcodeRules write_rules{check::version,          check::reserved_bits,
                                  check::write_untagged,   check::send_queue,
                                  check::send_queue_three, check::invalidate_stag};
constexpr OpcodeRules response_rules{check::version,           check::reserved_bits,
                                     check::response_untagged, check::send_queue,
                                     check::send_queue_three,  check::invalidate_stag};
constexpr OpcodeRules send_rules{check::version,          check::reserved_bits,
                                 check::send_tagged,      check::send_queue,
                                 check::send_queue_three, check::invalidate_stag};
constexpr OpcodeRules request_rules{
    check::version,       check::reserved_bits,       check::request_tagged,
    check::request_queue, check::request_queue_three, check::invalidate_stag};
constexpr OpcodeRules terminate_rules_of{
    check::version,         check::reserved_bits,         check::terminate_tagged,
    check::terminate_queue, check::terminate_queue_three, check::invalidate_stag};
constexpr OpcodeRules immediate_rules{
    check::immediate_version, check::immediate_reserved_bits, check::immediate_tagged,
    check::immediate_queue,   check::immediate_queue_three,   check::immediate_invalidate_stag};
constexpr OpcodeRules atomic_request_rules{
    check::atomic_version,       check::atomic_reserved_bits,       check::atomic_request_tagged,
    check::atomic_request_queue, check::atomic_request_queue_three, check::atomic_invalidate_stag};
constexpr OpcodeRules atomic_response_rules{
    check::atomic_version,        check::atomic_reserved_bits, check::atomic_response_tagged,
    check::atomic_response_queue, check::send_queue_three,     check::atomic_invalidate_stag};

constexpr const OpcodeRules& rules_of(wire::Opcode opcode) {
  switch (opcode) {
    case wire::Opcode::rdma_write:
      return write_rules;
    case wire::Opcode::read_response:
      return response_rules;
    case wire::Opcode::read_request:
      return request_rules;
    case wire::Opcode::terminate:
      return terminate_rules_of;
    case wire::Opcode::immediate:
    case wire::Opcode::immediate_solicited:
      return immediate_rules;
    case wire::Opcode::atomic_request:
      return atomic_request_rules;
    case wire::Opcode::atomic_response:
      return atomic_response_rules;
    default:
      return send_rules;
  }
}

/// What is evaluated on a segment of each defined opcode whose control fields are right.
constexpr auto evaluated_if_right = [] {
  std::array<CheckSet, 16> sets;
  for (std::size_t value = 0; value < sets.size(); ++value) {
    const auto opcode = static_cast<wire::Opcode>(value);
    const OpcodeRules& of = rules_of(opcode);
    sets[value].add(of.version, of.reserved, check::opcode, of.tag);
    if (wire::is_tagged(opcode)) continue;
    sets[value].add(of.queue, of.queue_three);
    if (!wire::carries_invalidate(opcode)) sets[value].add(of.invalidate);
  }
  return sets;
}();

/// Whether every control field has the one value that its opcode and the versions of today allow.
bool control_is_right(const wire::Segment& segment) {
  const wire::RdmapControl control = segment.rdmap();
  const wire::Opcode opcode = control.opcode();
  if (control != wire::RdmapControl::make(opcode) || !wire::is_defined(opcode) ||
      segment.ddp().version() == 0 || wire::is_tagged(opcode) != segment.tagged)
    return false;
  const wire::UntaggedHeader& header = segment.untagged_header;
  return segment.tagged ||
         (header.queue_number.value() == static_cast<std::uint32_t>(wire::queue_of(opcode)) &&
          (wire::carries_invalidate(opcode) || header.ulp_word.value() == 0));
}

/// RFC 6580 keeps this opcode for experiments, which two ends may agree on.
constexpr auto experimental = static_cast<wire::Opcode>(0xF);

}  // namespace

RdmapRules::Answer RdmapRules::take(const Incoming& incoming, const MessageStep& step) {
  const Direction direction = incoming.direction();
  confirm_unasked(incoming);
  if (terminated_[index_of(direction)] &&
      !std::exchange(after_terminate_reported_[index_of(direction)], true))
    findings_.raise(check::after_terminate, incoming, "nothing after a Terminate");
  stags_[index_of(direction)].forget();
  if (!check_control(incoming)) return {};
  if (!lost_ || incoming.fpdu.certainty == Certainty::likely) return take_message(incoming, step);
  FpduSeen in_doubt = incoming.fpdu;
  in_doubt.certainty = Certainty::likely;
  return take_message(
      {.fpdu = in_doubt, .segment = incoming.segment, .payload_length = incoming.payload_length},
      step);
}

RdmapRules::Answer RdmapRules::take_message(const Incoming& incoming, const MessageStep& step) {
  const Direction direction = incoming.direction();
  const wire::Opcode opcode = incoming.segment.rdmap().opcode();
  if (opcode == wire::Opcode::read_response) return read_response(incoming, step);
  settle_short(responses_[index_of(direction)]);
  if (opcode == wire::Opcode::rdma_write) {
    check_write(incoming, step);
    return {};
  }
  if (!step.last) return {};
  switch (opcode) {
    case wire::Opcode::read_request:
      read_request(incoming, step);
      break;
    case wire::Opcode::atomic_request:
      atomic_request(incoming, step);
      break;
    case wire::Opcode::atomic_response:
      return atomic_response(incoming, step);
    case wire::Opcode::immediate:
    case wire::Opcode::immediate_solicited:
      immediate(incoming, step);
      break;
    case wire::Opcode::terminate:
      terminated_[index_of(direction)] = true;
      break;
    case wire::Opcode::send_invalidate:
    case wire::Opcode::send_solicited_invalidate:
      stags_[index_of(opposite(direction))].invalidate(
          incoming.segment.untagged_header.ulp_word.value());
      break;
    default:
      break;
  }
  return {};
}

// ------------------------------------------------------- control fields (RFC 5040 section 4.1)

/// False if the message is of no defined kind, or in the wrong kind of segment.
bool RdmapRules::check_control(const Incoming& incoming) {
  const wire::RdmapControl control = incoming.segment.rdmap();
  const wire::Opcode opcode = control.opcode();
  if (control_is_right(incoming.segment)) {
    findings_.judged(incoming.direction(), evaluated_if_right[std::to_underlying(opcode)]);
    return true;
  }
  const OpcodeRules& of = rules_of(opcode);
  findings_.judged(incoming.direction(), of.version, of.reserved, check::opcode);
  check_version(incoming);
  if ((control.octet & wire::RdmapControl::reserved_mask) != 0)
    findings_.raise(of.reserved, incoming, "reserved RDMAP bits zero");
  if (!wire::is_defined(opcode)) {
    if (opcode != experimental)
      findings_.raise(check::opcode, incoming, "an opcode that an RFC defines");
    else
      findings_.note(NoteKind::not_judged, incoming.fpdu.place, "an experimental opcode");
    return false;
  }
  findings_.judged(incoming.direction(), of.tag);
  if (wire::is_tagged(opcode) != incoming.segment.tagged) {
    findings_.raise(of.tag, incoming, wire::is_tagged(opcode) ? "T set" : "T clear");
    return false;
  }
  if (!incoming.segment.tagged) check_untagged(incoming);
  return true;
}

/// Version 0 goes with DDP version 0 alone (RFC 5044 appendix C.1).
void RdmapRules::check_version(const Incoming& incoming) {
  const std::uint8_t version = incoming.segment.rdmap().version();
  if (version == wire::rdmap_version && incoming.segment.ddp().version() != 0) return;
  const bool consortium =
      version == 0 && incoming.segment.ddp().version() == 0 && startup_->version_zero_possible();
  // A DDP version that is wrong by itself is for the rules of DDP.
  const bool only_ddp = version == wire::rdmap_version && !startup_->version_zero_possible();
  if (!consortium && !only_ddp)
    findings_.raise(rules_of(incoming.segment.rdmap().opcode()).version, incoming, "RV 1");
}

void RdmapRules::check_untagged(const Incoming& incoming) {
  const wire::UntaggedHeader& header = incoming.segment.untagged_header;
  const wire::Opcode opcode = header.rdmap.opcode();
  const OpcodeRules& of = rules_of(opcode);
  const std::uint32_t queue = static_cast<std::uint32_t>(wire::queue_of(opcode));
  const std::uint32_t found = header.queue_number.value();
  findings_.judged(incoming.direction(), of.queue, of.queue_three);
  if (!wire::carries_invalidate(opcode)) findings_.judged(incoming.direction(), of.invalidate);
  if (found != queue)
    findings_.raise(found == static_cast<std::uint32_t>(wire::Queue::atomic_response)
                        ? of.queue_three
                        : of.queue,
                    incoming, fmt::format("QN {}", queue));
  if (!wire::carries_invalidate(opcode) && header.ulp_word.value() != 0)
    findings_.raise(of.invalidate, incoming, "zero in place of the Invalidate STag");
}

// ------------------------------------------------------------------------------- messages

void RdmapRules::check_write(const Incoming& incoming, const MessageStep& step) {
  if (!step.first || incoming.payload_length == 0) return;
  const std::uint32_t stag = incoming.segment.tagged_header.stag.value();
  const StagTable& owned = stags_[index_of(opposite(incoming.direction()))];
  if (owned.any_invalid()) findings_.judged(incoming.direction(), check::invalidated_stag);
  if (owned.invalid(stag))
    findings_.raise(check::invalidated_stag, incoming,
                    fmt::format("another STag: {:#010x} was invalidated by this end, and nothing "
                                "has come from its owner since",
                                stag));
}

/// RFC 7306 section 6.3
void RdmapRules::immediate(const Incoming& incoming, const MessageStep& step) {
  if (!step.known) return;
  findings_.judged(incoming.direction(), check::immediate_short, check::immediate_long);
  if (step.octets == wire::immediate_size) return;
  findings_.raise(
      step.octets < wire::immediate_size ? check::immediate_short : check::immediate_long, incoming,
      "eight octets of Immediate Data");
}

/// RFC 5040 section 4.4
void RdmapRules::read_request(const Incoming& incoming, const MessageStep& step) {
  constexpr std::size_t size = sizeof(wire::ReadRequestHeader);
  if (step.known) findings_.judged(incoming.direction(), check::request_short, check::request_long);
  if (step.known && step.octets != size)
    findings_.raise(step.octets < size ? check::request_short : check::request_long, incoming,
                    fmt::format("{} octets after the DDP header", size));
  wire::Reader in(step.content);
  const auto header = in.read<wire::ReadRequestHeader>();
  if (in.truncated()) {
    doubt(incoming.direction()) = true;
    return;
  }
  OutstandingRequest request;
  request.rtr = startup_->is_rtr(incoming.fpdu);
  request.sink_stag = header.sink_stag.value();
  request.sink_offset = header.sink_offset.value();
  request.length = header.length.value();
  request.source_stag = header.source_stag.value();
  request.source_offset = header.source_offset.value();
  push(incoming, request, step);
  const Response& response = responses_[index_of(opposite(incoming.direction()))];
  const bool one_in_progress = response.active && response.matched && !response.request.rtr;
  if (doubt(incoming.direction())) return;
  const std::uint32_t outstanding =
      requests(incoming.direction()).reads() + (one_in_progress ? 1U : 0U);
  const std::uint32_t surplus = surplus_[index_of(incoming.direction())];
  startup_->reads_outstanding(incoming, outstanding - std::min(outstanding, surplus));
}

void RdmapRules::atomic_request(const Incoming& incoming, const MessageStep& step) {
  const auto header = atomics_.request(incoming, step);
  if (!header) {
    doubt(incoming.direction()) = true;
    return;
  }
  OutstandingRequest request;
  request.atomic = true;
  request.identifier = header->request_id.value();
  push(incoming, request, step);
}

void RdmapRules::push(const Incoming& incoming, OutstandingRequest request,
                      const MessageStep& step) {
  const Direction requester = incoming.direction();
  // Its Response came first, by the order of the capture.
  auto& early = unsolicited_[index_of(opposite(requester))];
  if (early && early->atomic == request.atomic &&
      (request.atomic ? early->identifier == request.identifier
                      : early->stag == request.sink_stag && early->offset == request.sink_offset)) {
    early.reset();
    return;
  }
  request.msn = step.msn;
  request.fresh = true;
  request.frame = incoming.fpdu.place.last_frame;
  request.time = incoming.fpdu.place.time;
  if (requests(requester).push(request)) return;
  findings_.note(NoteKind::memory_bound, incoming.fpdu.place,
                 fmt::format("more than {} Requests outstanding: Responses are not judged",
                             OutstandingRequests::bound));
  lose(requester);
  requests(requester).clear();
}

RdmapRules::Answer RdmapRules::answer_to(const OutstandingRequest& request,
                                         const Incoming& incoming) const {
  const std::uint64_t now = incoming.fpdu.place.time;
  return {.request_frame = request.frame,
          .response_time = now > request.time ? now - request.time : 0};
}

// ------------------------------------------------- what has been served so far

std::optional<RdmapRules::Progress> RdmapRules::progress(Direction requester, std::uint32_t msn) {
  if (lost_) return std::nullopt;
  const Response& response = responses_[index_of(opposite(requester))];
  if (response.active && response.matched && response.request.msn == msn)
    return Progress{response.request, response.octets};
  OutstandingRequests& waiting = requests(requester);
  for (std::size_t i = 0; i < std::min(waiting.size(), search_depth); ++i)
    if (!waiting.at(i).atomic && waiting.at(i).msn == msn) return Progress{waiting.at(i), 0};
  return std::nullopt;
}

// ------------------------------------------------- Atomic Responses (RFC 7306 section 5.2.2)

RdmapRules::Answer RdmapRules::atomic_response(const Incoming& incoming, const MessageStep& step) {
  const Direction requester = opposite(incoming.direction());
  const auto header = atomics_.response(incoming, step);
  if (!header) {
    if (!step.known || !incoming.whole()) doubt(requester) = true;
    return {};
  }
  OutstandingRequests& waiting = requests(requester);
  const auto found = find_atomic(incoming, header->original_request_id.value());
  if (!found) return {};
  const OutstandingRequest request = waiting.at(*found);
  if (doubt(requester)) {
    for (std::size_t gone = 0; gone <= *found; ++gone) waiting.erase(0);
    if (request.fresh) doubt(requester) = false;
  } else {
    waiting.erase(*found);
  }
  return answer_to(request, incoming);
}

/// Which of the outstanding Requests the Response is for.
std::optional<std::size_t> RdmapRules::find_atomic(const Incoming& incoming,
                                                   std::uint32_t identifier) {
  const Direction requester = opposite(incoming.direction());
  OutstandingRequests& waiting = requests(requester);
  std::optional<std::size_t> first, same;
  for (std::size_t i = 0; i < std::min(waiting.size(), search_depth) && !same; ++i) {
    if (!waiting.at(i).atomic) continue;
    if (!first) first = i;
    if (waiting.at(i).identifier == identifier) same = i;
  }
  if (doubt(requester)) return same;
  const std::size_t next = first.value_or(waiting.size()) + 1;
  const bool another = next < waiting.size();
  const bool atomics_after = another && waiting.at(next).atomic;
  const bool reads_after = another && !waiting.at(next).atomic;
  atomics_.judged(incoming, atomics_after, reads_after);
  if (!first) {
    Unsolicited early;
    early.atomic = true;
    early.identifier = identifier;
    unsolicited(incoming, std::move(early));
    return std::nullopt;
  }
  const std::uint32_t expected = waiting.at(*first).identifier;
  if (*first > 0) atomics_.atomic_before_read(incoming);
  if (!same) atomics_.wrong_identifier(incoming, expected);
  if (same && *same != *first) atomics_.out_of_order(incoming, expected);
  return same ? same : first;
}

// ------------------------------------------------------------- Responses without a Request

/// The capture may have the two directions in another order than the wire, so the Request may
/// follow.
void RdmapRules::unsolicited(const Incoming& incoming, Unsolicited response) {
  auto& slot = unsolicited_[index_of(incoming.direction())];
  if (slot) raise(*slot);
  response.place = incoming.fpdu.place;
  response.certainty = incoming.fpdu.certainty;
  response.text = describe_ulpdu(incoming.fpdu.ulpdu, incoming.fpdu.ulpdu_length);
  if (order_ == Order::of_the_capture) {
    slot = std::move(response);
    return;
  }
  raise(response);
  ++surplus_[index_of(opposite(incoming.direction()))];
}

/// If the requester sent anything else after the Response, there was no Request before it.
void RdmapRules::confirm_unasked(const Incoming& by) {
  auto& slot = unsolicited_[index_of(opposite(by.direction()))];
  if (!slot || by.fpdu.place.first_frame <= slot->place.last_frame) return;
  const wire::Opcode opcode = by.segment.rdmap().opcode();
  const bool may_be_the_request =
      !slot->repeated && !by.segment.tagged &&
      opcode == (slot->atomic ? wire::Opcode::atomic_request : wire::Opcode::read_request);
  if (may_be_the_request) return;
  raise(*std::exchange(slot, std::nullopt));
  ++surplus_[index_of(by.direction())];
}

void RdmapRules::raise(const Unsolicited& response) {
  const Statement& statement = response.atomic     ? AtomicRules::unsolicited()
                               : response.repeated ? check::response_repeated
                                                   : check::response_unsolicited;
  findings_.raise(statement, response.place, response.certainty, response.text,
                  "no Response without a Request");
}

// ------------------------------------------------------------------------ what is not seen

void RdmapRules::lose(Direction direction) {
  doubt_ = {true, true};
  lost_ = lost_ || order_ == Order::of_the_capture;
  for (OutstandingRequests& waiting : requests_)
    for (std::size_t i = 0; i < waiting.size(); ++i) waiting.at(i).fresh = false;
  responses_[index_of(direction)] = Response{};
  unsolicited_[index_of(opposite(direction))].reset();
  answered_ = {};
  for (StagTable& table : stags_) table.forget();
}

void RdmapRules::ended(Direction direction) {
  if (terminated_[index_of(direction)]) findings_.judged(direction, check::after_terminate);
}

void RdmapRules::finish() {
  for (Response& response : responses_) settle_short(response);
  for (auto& slot : unsolicited_)
    if (slot) raise(*std::exchange(slot, std::nullopt));
}

}  // namespace dissectors::analyzer
