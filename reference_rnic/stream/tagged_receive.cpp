// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/tagged_receive.hpp"

#include <array>
#include <span>
#include <utility>

namespace rnic::stream {
namespace {

/// The verification of RFC 5041 section 7.1 that `fault` fails.
rules::RuleId rule_of(MemoryFault fault) {
  switch (fault) {
    case MemoryFault::not_associated:
      return "ddp.terminate.tagged-stag-not-associated";
    case MemoryFault::base_or_bounds:
      return "ddp.tagged.check-end-in-range";
    case MemoryFault::to_wrap:
      return "ddp.tagged.check-to-no-wrap";
    case MemoryFault::access_rights:
      return "ddp.tagged.check-stag-allows-placement";
    case MemoryFault::invalid_stag:
    case MemoryFault::cannot_invalidate:
      break;
  }
  return "ddp.tagged.check-stag-valid";
}

/// RFC 5041 section 7.2. It has no code for missing access rights: Invalid STag is used for them
/// (docs/disputes.md).
wire::TerminateCause ddp_cause(MemoryFault fault) {
  switch (fault) {
    case MemoryFault::not_associated:
      return wire::cause::ddp_tagged_stag_not_associated;
    case MemoryFault::base_or_bounds:
      return wire::cause::ddp_tagged_base_or_bounds;
    case MemoryFault::to_wrap:
      return wire::cause::ddp_tagged_to_wrap;
    case MemoryFault::invalid_stag:
    case MemoryFault::access_rights:
    case MemoryFault::cannot_invalidate:
      break;
  }
  return wire::cause::ddp_tagged_invalid_stag;
}

const char* detail_of(MemoryFault fault) {
  switch (fault) {
    case MemoryFault::not_associated:
      return "STag is not associated with this stream";
    case MemoryFault::base_or_bounds:
      return "tagged segment is outside its buffer";
    case MemoryFault::to_wrap:
      return "tagged offset wraps";
    case MemoryFault::access_rights:
      return "STag does not allow this access";
    case MemoryFault::invalid_stag:
    case MemoryFault::cannot_invalidate:
      break;
  }
  return "no such STag";
}

/// To compare a Response with its Request is a permission (RFC 5040 section 5.2.2).
constexpr rules::RuleId compared = "rdmap.read.response-validated-by-sink";

bool is_response(const Incoming& incoming) {
  return incoming.segment.rdmap().opcode() == wire::Opcode::read_response;
}

/// Where the payload lies in the sink of the Read.
std::uint64_t within_sink(const Incoming& incoming, const SendQueue::Entry& read) {
  return incoming.segment.tagged_header.tagged_offset.value() - read.work.sink_offset;
}

}  // namespace

std::expected<TaggedReceive::Places, Fault> TaggedReceive::begin(const Incoming& incoming) {
  if (is_response(incoming)) {
    if (auto fault = check_response(incoming)) return std::unexpected(std::move(*fault));
  }
  if (incoming.payload_length != 0) return places(incoming, 0);
  // RFC 5041 section 5.2: neither STag nor TO is looked at.
  if (auto fault = incoming.check("ddp.tagged.zero-length-unchecked"))
    return std::unexpected(std::move(*fault));
  return Places();
}

std::expected<TaggedReceive::Places, Fault> TaggedReceive::rest(const Incoming& incoming,
                                                                std::size_t left) {
  return places(incoming, incoming.payload_length - left);
}

/// The memory of the payload from octet `from` on. The memory makes the checks of STag, stream,
/// base and bounds and rights (RFC 5041 section 7.1): in an RNIC, StagTable::resolve()
/// (verbs/stag_table.cpp).
std::expected<TaggedReceive::Places, Fault> TaggedReceive::places(const Incoming& incoming,
                                                                  std::size_t from) {
  places_.clear();
  const wire::TaggedHeader& header = incoming.segment.tagged_header;
  std::uint64_t offset = header.tagged_offset.value() + from;
  context_.decisions.ask(&Decisions::place, incoming, offset);
  const auto memory = context_.memory.resolve(
      header.stag.value(), offset, incoming.payload_length - from,
      is_response(incoming) ? MemoryAccess::read_sink : MemoryAccess::remote_write);
  if (memory) {
    places_.push_back(*memory);
    return Places(places_);
  }
  // RDMAP has a code for missing access rights (docs/disputes.md D3).
  static constexpr std::array of_rdmap{wire::cause::rdmap_access_rights};
  const bool rights = memory.error() == MemoryFault::access_rights;
  if (auto fault = incoming.check(rule_of(memory.error()), false, ddp_cause(memory.error()),
                                  detail_of(memory.error()),
                                  rights ? std::span<const wire::TerminateCause>(of_rdmap)
                                         : std::span<const wire::TerminateCause>()))
    return std::unexpected(std::move(*fault));
  return Places();
}

/// A Response must belong to the oldest Read and stay within what that requested (RFC 5040 section
/// 5.2.2).
std::optional<Fault> TaggedReceive::check_response(const Incoming& incoming) {
  auto* entry = send_queue_.outstanding(WorkKind::read);
  // No text lays down the code (docs/disputes.md D58).
  static constexpr std::array any_other{
      wire::cause::rdmap_operation_unspecified, wire::cause::ddp_tagged_invalid_stag,
      wire::cause::ddp_tagged_stag_not_associated, wire::cause::rdmap_invalid_stag};
  if (auto fault = incoming.check("rdmap.read.invalid-response-surfaced", entry != nullptr,
                                  wire::cause::rdmap_unexpected_opcode,
                                  "Read Response without a Read Request", any_other))
    return fault;
  if (entry == nullptr || incoming.payload_length == 0) return std::nullopt;
  const wire::TaggedHeader& header = incoming.segment.tagged_header;
  auto fault = incoming.check_if_made(
      compared, compared, header.stag.value() == entry->work.sink_stag,
      wire::cause::ddp_tagged_invalid_stag, "Read Response names another sink STag");
  if (!fault) {
    const std::uint64_t within = within_sink(incoming, *entry);
    fault = incoming.check_if_made(compared, compared,
                                   incoming.payload_length <= entry->length &&
                                       within <= entry->length - incoming.payload_length,
                                   wire::cause::ddp_tagged_base_or_bounds,
                                   "Read Response goes beyond what was requested");
  }
  if (fault) entry->status = WorkStatus::bad_response;
  return fault;
}

std::optional<Fault> TaggedReceive::end(const Incoming& incoming) {
  Completion completion{incoming.segment.ddp().last(), incoming.payload_length};
  context_.decisions.ask(&Decisions::completes, incoming, completion);
  if (!is_response(incoming)) return std::nullopt;
  auto* entry = send_queue_.outstanding(WorkKind::read);
  if (entry == nullptr) return std::nullopt;
  response_.add(within_sink(incoming, *entry), incoming.payload_length);
  if (!completion.complete) return std::nullopt;
  // RFC 5041 section 5.3 only recommends increasing TOs, and a segment may come twice: what counts
  // is that no octet is missing (RFC 5041 section 5.4, RFC 5040 section 5.2.2).
  const PlacedOctets response = std::exchange(response_, {});
  auto fault = incoming.check_if_made(compared, compared, response.without_gap() >= entry->length,
                                      wire::cause::ddp_tagged_base_or_bounds,
                                      "Read Response leaves out octets that were requested");
  if (fault)
    entry->status = WorkStatus::bad_response;
  else
    send_queue_.respond(*entry, WorkStatus::success);
  return fault;
}

}  // namespace rnic::stream
