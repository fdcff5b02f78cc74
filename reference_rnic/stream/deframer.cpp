// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/deframer.hpp"

#include <algorithm>
#include <utility>

#include "reference_rnic/stream/startup.hpp"
#include "reference_rnic/wire/fpdu.hpp"

namespace rnic::stream {
namespace {

/// Scratch in startup: more than a frame needs.
constexpr std::size_t startup_scratch = 1024;
static_assert(startup_scratch > max_startup_frame);
/// Scratch in full operation: for several FPDUs per read, and for the longest one with its Markers.
constexpr std::size_t verified_scratch = std::size_t{256} * 1024;
constexpr std::size_t direct_scratch = std::size_t{64} * 1024;
/// After this much payload that is received directly into place, only a little scratch is offered:
/// for the next header, and no more than necessary.
constexpr std::size_t direct_worthwhile = std::size_t{8} * 1024;
constexpr std::size_t direct_lookahead = 64;

constexpr std::size_t longest_fpdu = std::size_t{68} * 1024;  ///< with its Markers
static_assert(longest_fpdu > wire::fpdu_size(wire::max_ulpdu) + 130 * wire::marker_size);

std::size_t header_size_of(wire::Bytes ulpdu) {
  const wire::DdpControl control{std::to_integer<std::uint8_t>(ulpdu.front())};
  return control.tagged() ? wire::tagged_header_size : wire::untagged_header_size;
}

}  // namespace

Fault framing_fault(wire::FpduError error) {
  // RFC 5044 section 8.
  if (error == wire::FpduError::bad_marker)
    return {wire::cause::mpa_marker, "Marker and ULPDU_Length disagree on the start of an FPDU",
            std::nullopt, std::nullopt};
  return {wire::cause::mpa_crc, "CRC does not match", std::nullopt, std::nullopt};
}

Fault overlong_fault() {
  return {wire::cause::rdmap_local_catastrophic, "an FPDU longer than is accepted", std::nullopt,
          std::nullopt};
}

Fault truncation_fault() {
  // ddp.header.truncated-segment-rejected; no DDP error number fits, so RDMAP's unspecified one is
  // used.
  return {wire::cause::rdmap_operation_unspecified, "ULPDU too short for a DDP header",
          std::nullopt, std::nullopt};
}

/// No sentence says how far beyond the MULPDU a receiver must accept FPDUs (docs/disputes.md D60).
std::size_t Deframer::longest_fpdu_taken() const {
  constexpr std::size_t jumbo_frame = 9000;
  return context_.decisions.decide(
      Range<std::size_t>{"mpa.segmentation.over-mulpdu-need-not-be-supported", longest_fpdu,
                         std::max(context_.config.emss, jumbo_frame), longest_fpdu},
      &Decisions::longest_fpdu, context_.config);
}

/// CRCs are checked if either side asked for them (RFC 5044 section 7.1.1).
bool Deframer::checks_crc() const {
  bool checked = context_.negotiated.crc;
  context_.decisions.ask(&Decisions::crc_checked, context_.config, context_.negotiated, position_,
                         checked);
  return checked;
}

std::span<const wire::MutableBytes> Deframer::targets() {
  auto& targets = context_.scratch.targets;
  targets.clear();
  if (!rest_.empty()) {
    const auto places = sink_.rest_of_segment(rest_length_);
    rest_.assign(places.begin(), places.end());
  }
  targets.insert(targets.end(), rest_.begin(), rest_.end());
  wire::MutableBytes tail = scratch();
  if (!rest_.empty() && rest_length_ >= direct_worthwhile)
    tail = tail.first(std::min(tail.size(), direct_lookahead));
  targets.push_back(tail);
  return targets;
}

/// Room for octets behind those that wait.
wire::MutableBytes Deframer::scratch() {
  const std::size_t waiting = buffer_.view().size();
  if (phase_ == Phase::startup) {
    buffer_.reserve(waiting + startup_scratch);
    return buffer_.tail().first(startup_scratch);
  }
  // Moving is worthwhile only if an FPDU in progress would not fit after the octets here.
  const bool verified = context_.negotiated.crc || context_.negotiated.receive_markers;
  const std::size_t most = verified ? verified_scratch : direct_scratch;
  buffer_.reserve(waiting == 0 ? most : std::max(2 * waiting, longest_fpdu));
  const wire::MutableBytes tail = buffer_.tail();
  return tail.first(std::min(tail.size(), std::max(most, 2 * waiting)));
}

void Deframer::received(std::size_t count) {
  std::size_t placed = 0;
  while (placed < count && !rest_.empty()) {
    const std::size_t here = std::min(count - placed, rest_.front().size());
    rest_.front() = rest_.front().subspan(here);
    if (rest_.front().empty()) rest_.erase(rest_.begin());
    placed += here;
  }
  rest_length_ -= placed;
  buffer_.commit(count - placed);
  if (phase_ != Phase::startup) resume();
}

void Deframer::enter_full_operation() { phase_ = Phase::header; }

void Deframer::resume() {
  while (step()) {
  }
  if (phase_ == Phase::discarding) buffer_.clear();
}

void Deframer::discard() {
  phase_ = Phase::discarding;
  hold_ = Hold::none;
  rest_.clear();
}

void Deframer::try_held_segment() {
  if (hold_ != Hold::without_buffer) return;
  hold_ = Hold::none;
  resume();
}

bool Deframer::is_held_back(wire::Bytes ulpdu) {
  const auto segment = wire::parse_segment(ulpdu);
  if (!segment || !sink_.holds_back({*segment, segment->payload.size()})) return false;
  hold_ = Hold::without_buffer;
  return true;
}

/// A segment with a bad CRC or Marker may be dropped and awaited again, instead of being an error
/// (RFC 5044 section 8). On a link that delivers every octet correctly it does not come again.
bool Deframer::drops_bad_segment() const {
  return context_.decisions.decide(
      Choice<bool>{"mpa.receive.bad-segment-may-be-dropped", false, either},
      &Decisions::bad_segment_dropped);
}

/// What happens with an FPDU that is not valid.
void Deframer::judge_framing(wire::FpduError error, std::size_t wire_size) {
  const auto looked_at = [this] {
    return context_.decisions.decide(
        Choice<bool>{"mpa.markers.checking-each-is-optional", true, either},
        &Decisions::markers_compared);
  };
  if (error == wire::FpduError::bad_marker && !looked_at()) {
    const wire::MutableBytes stripped = context_.scratch.receive.stripped(wire_size);
    const wire::Bytes octets = buffer_.view().first(wire_size);
    const auto left = wire::strip_markers(stripped, position_, octets);
    const wire::Bytes fpdu = stripped.first(left.length);
    outcome_.ulpdus.push_back(
        fpdu.subspan(wire::fpdu_length_size, wire::Reader(fpdu).read<wire::be16>().value()));
    outcome_.consumed = wire_size;
  } else if (drops_bad_segment()) {
    hold_ = Hold::bad;
  } else {
    outcome_.fault = framing_fault(error);
  }
}

bool Deframer::inside_fpdu() const {
  switch (phase_) {
    case Phase::header:
      return !buffer_.view().empty();
    case Phase::payload:
    case Phase::trailer:
      return true;
    case Phase::startup:
    case Phase::discarding:
      return false;
  }
  std::unreachable();
}

/// Advances by one FPDU or part of one. False: more octets are needed, or none are wanted.
bool Deframer::step() {
  if (phase_ == Phase::startup || phase_ == Phase::discarding || holding()) return false;
  if (phase_ == Phase::header && buffer_.view().empty()) return false;
  const bool crc = checks_crc();
  return crc || context_.negotiated.receive_markers ? step_verified(crc) : step_direct();
}

/// A ULPDU without a complete DDP header has arrived.
void Deframer::report_truncated() {
  std::optional<Fault> fault = truncation_fault();
  context_.decisions.ask(&Decisions::truncated_segment, fault);
  if (fault) sink_.framing_fault(std::move(*fault));
}

// ---- CRC or Markers in use ----

bool Deframer::step_verified(bool crc) {
  const wire::FpduOptions options{crc, context_.negotiated.receive_markers, position_};
  const std::size_t unmarked = options.markers ? wire::fpdu_size(wire::max_ulpdu) : 0;
  const auto parsed =
      wire::parse_fpdu(buffer_.view(), options, context_.scratch.receive.stripped(unmarked));
  const bool usual = parsed || parsed.error() == wire::FpduError::incomplete;
  if (!usual || !context_.decisions.empty()) return carry_out(parsed, options);
  if (parsed) hand_on(*parsed);
  return parsed.has_value();
}

/// An FPDU that is valid and that no member of the chain decides about.
void Deframer::hand_on(const wire::ParsedFpdu& fpdu) {
  deliver(fpdu.ulpdu);
  buffer_.consume(fpdu.consumed);
  position_ += fpdu.consumed;
}

/// Passes on what has been found valid, and reports what has not (RFC 5044 sections 6 and 8).
/// False: more octets are needed.
bool Deframer::carry_out(const Parsed& parsed, const wire::FpduOptions& options) {
  outcome_.ulpdus.clear();
  outcome_.fault.reset();
  outcome_.consumed = 0;
  if (parsed) {
    outcome_.ulpdus.push_back(parsed->ulpdu);
    outcome_.consumed = parsed->consumed;
  } else if (parsed.error() != wire::FpduError::incomplete) {
    judge_framing(parsed.error(), wire::fpdu_wire_size(buffer_.view(), options).value_or(0));
  }
  if (!context_.decisions.empty()) {
    const wire::Bytes octets = buffer_.view();
    const std::size_t wire_size = wire::fpdu_wire_size(octets, options).value_or(0);
    if (wire_size > longest_fpdu_taken()) outcome_ = {{}, overlong_fault(), 0};
    const ArrivedFpdu arrived{octets, options, wire_size, parsed, context_.config};
    context_.decisions.ask(&Decisions::fpdu_arrived, arrived, outcome_);
  }
  // What has been processed after all is not awaited again.
  if (hold_ == Hold::bad && (outcome_.consumed != 0 || outcome_.fault)) hold_ = Hold::none;
  if (outcome_.ulpdus.size() == 1 && is_held_back(outcome_.ulpdus.front())) return false;
  for (const wire::Bytes ulpdu : outcome_.ulpdus)
    if (!discarding()) deliver(ulpdu);
  if (outcome_.fault) sink_.framing_fault(std::move(*outcome_.fault));
  buffer_.consume(outcome_.consumed);
  position_ += outcome_.consumed;
  return outcome_.consumed != 0;
}

void Deframer::deliver(wire::Bytes ulpdu) {
  const auto segment = wire::parse_segment(ulpdu);
  if (!segment) return report_truncated();
  wire::Bytes payload = segment->payload;
  for (const wire::MutableBytes place : sink_.begin_segment({*segment, payload.size()})) {
    const wire::Bytes here = payload.first(std::min(payload.size(), place.size()));
    if (!here.empty()) std::memcpy(place.data(), here.data(), here.size());
    payload = payload.subspan(here.size());
  }
  sink_.end_segment();
}

/// Copies octets to the first places of rest_, and removes these from it.
void Deframer::place_rest(wire::Bytes octets) {
  while (!octets.empty() && !rest_.empty()) {
    const std::size_t here = std::min(octets.size(), rest_.front().size());
    std::memcpy(rest_.front().data(), octets.data(), here);
    octets = octets.subspan(here);
    rest_.front() = rest_.front().subspan(here);
    if (rest_.front().empty()) rest_.erase(rest_.begin());
  }
}

// ---- neither CRC nor Markers ----

bool Deframer::step_direct() {
  switch (phase_) {
    case Phase::header:
      return begin_direct();
    case Phase::payload: {
      const std::size_t here = std::min(rest_length_, buffer_.view().size());
      place_rest(buffer_.view().first(here));
      buffer_.consume(here);
      rest_length_ -= here;
      if (rest_length_ != 0) return false;
      phase_ = Phase::trailer;
      return true;
    }
    case Phase::trailer: {
      const std::size_t trailer = wire::pad_length(ulpdu_length_) + wire::fpdu_crc_size;
      if (buffer_.view().size() < trailer) return false;
      buffer_.consume(trailer);
      phase_ = Phase::header;
      sink_.end_segment();
      return true;
    }
    case Phase::startup:
    case Phase::discarding:
      break;  // step() excludes both
  }
  std::unreachable();
}

/// Part of a header has arrived.
bool Deframer::await_header() {
  return carry_out(std::unexpected(wire::FpduError::incomplete), {.crc = false});
}

bool Deframer::begin_direct() {
  const wire::Bytes octets = buffer_.view();
  wire::Reader reader(octets);
  ulpdu_length_ = reader.read<wire::be16>().value();
  if (reader.truncated() || (ulpdu_length_ != 0 && reader.rest().empty())) return await_header();
  const std::size_t header = ulpdu_length_ == 0 ? 0 : header_size_of(reader.rest());
  if (ulpdu_length_ == 0 || ulpdu_length_ < header) {
    report_truncated();
    return false;
  }
  if (reader.rest().size() < header) return await_header();
  const auto segment = wire::parse_segment(reader.rest().first(header));
  const IncomingSegment begun{*segment, ulpdu_length_ - header};
  if (sink_.holds_back(begun)) {
    hold_ = Hold::without_buffer;
    return false;
  }
  buffer_.consume(wire::fpdu_length_size + header);
  const auto places = sink_.begin_segment(begun);
  rest_.assign(places.begin(), places.end());
  rest_length_ = ulpdu_length_ - header;
  phase_ = Phase::payload;
  return true;
}

}  // namespace rnic::stream
