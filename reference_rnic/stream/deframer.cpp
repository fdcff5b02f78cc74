// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/deframer.hpp"

#include <algorithm>
#include <utility>

#include "reference_rnic/stream/startup.hpp"
#include "reference_rnic/wire/crc32c.hpp"
#include "reference_rnic/wire/fpdu.hpp"

namespace rnic::stream {
namespace {

/// Scratch in startup: more than a frame takes.
constexpr std::size_t startup_scratch = 1024;
static_assert(startup_scratch > max_startup_frame);
/// Scratch in full operation: several FPDUs per read, and the longest one with its Markers.
constexpr std::size_t verified_scratch = std::size_t{256} * 1024;
constexpr std::size_t direct_scratch = std::size_t{64} * 1024;
/// Behind this much payload that goes straight into place, only a little scratch is offered: the
/// next header and no more than it must.
constexpr std::size_t direct_worthwhile = std::size_t{8} * 1024;
constexpr std::size_t direct_lookahead = 64;

constexpr std::size_t longest_fpdu = std::size_t{68} * 1024;  ///< with its Markers
static_assert(longest_fpdu > wire::fpdu_size(wire::max_ulpdu) + 130 * wire::marker_size);

std::size_t header_size_of(wire::Bytes ulpdu) {
  const wire::DdpControl control{std::to_integer<std::uint8_t>(ulpdu.front())};
  return control.tagged() ? wire::tagged_header_size : wire::untagged_header_size;
}

}  // namespace

bool Deframer::checks_crc() const {
  if (context_.deviates(Deviation::crc_unchecked)) return false;
  if (context_.deviates(Deviation::crc_peer_demand_ignored) && !context_.config.crc) return false;
  if (context_.deviates(Deviation::crc_of_first_fpdu_checked_when_off) && position_ == 0)
    return true;
  return context_.negotiated.crc || context_.deviates(Deviation::crc_checked_when_off);
}

bool Deframer::direct() const { return !checks_crc() && !context_.negotiated.receive_markers; }

std::span<const wire::MutableBytes> Deframer::targets() {
  targets_.clear();
  if (!rest_.empty()) {
    const auto places = sink_.rest_of_segment(rest_length_);
    rest_.assign(places.begin(), places.end());
  }
  targets_.insert(targets_.end(), rest_.begin(), rest_.end());
  reserve_scratch();
  wire::MutableBytes tail = buffer_.tail();
  if (!rest_.empty() && rest_length_ >= direct_worthwhile)
    tail = tail.first(std::min(tail.size(), direct_lookahead));
  targets_.push_back(tail);
  return targets_;
}

void Deframer::reserve_scratch() {
  const std::size_t waiting = buffer_.view().size();
  if (phase_ == Phase::startup) return buffer_.reserve(waiting + startup_scratch);
  // Moving is worth while only if an FPDU in progress would not fit behind what is here.
  const std::size_t scratch = direct() ? direct_scratch : verified_scratch;
  buffer_.reserve(waiting == 0 ? scratch : std::max(2 * waiting, longest_fpdu));
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
  if (context_.deviates(Deviation::fpdu_sought_at_segment_start)) drop_before(count);
  if (phase_ != Phase::startup) resume();
  if (phase_ == Phase::header && !buffer_.view().empty() &&
      buffer_.view().size() < wire::fpdu_length_size + wire::tagged_header_size &&
      context_.deviates(Deviation::header_in_pieces_refused))
    malformed();
}

/// What a receiver does that trusts in TCP segments to begin with FPDUs: the last `count` octets
/// are a whole FPDU, so that what waits before them counts for nothing.
void Deframer::drop_before(std::size_t count) {
  const wire::Bytes octets = buffer_.view();
  if (phase_ != Phase::header || direct() || octets.size() <= count) return;
  const wire::FpduOptions options{checks_crc(), false, position_};
  if (wire::parse_fpdu(octets.last(count), options, stripped_))
    buffer_.consume(octets.size() - count);
}

void Deframer::enter_full_operation() {
  phase_ = Phase::header;
  if (context_.deviates(Deviation::octets_behind_startup_frame_lost)) buffer_.clear();
}

void Deframer::resume() {
  while (step()) {
    if (context_.deviates(Deviation::one_fpdu_per_read)) break;
  }
  if (phase_ != Phase::discarding) return;
  if (!buffer_.view().empty()) context_.decisions.ask(&Decisions::octets_dropped, buffer_.view());
  buffer_.clear();
}

void Deframer::discard() {
  phase_ = Phase::discarding;
  rest_.clear();
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

/// Advances by one FPDU or part of one. False: more octets are needed, or none wanted.
bool Deframer::step() {
  if (phase_ == Phase::startup || phase_ == Phase::discarding) return false;
  return direct() ? step_direct() : step_verified();
}

void Deframer::malformed() {
  // ddp.header.truncated-segment-rejected; no DDP error number fits, so RDMAP's unspecified one is
  // used.
  if (context_.deviates(Deviation::truncated_segment_ignored)) return;
  sink_.framing_fault({wire::cause::rdmap_operation_unspecified, "ULPDU too short for a DDP header",
                       std::nullopt, std::nullopt});
}

// ---- CRC or Markers in use ----

void Deframer::report(wire::FpduError error) {
  if (error == wire::FpduError::bad_marker) {
    sink_.framing_fault({wire::cause::mpa_marker,
                         "Marker and ULPDU_Length disagree on the start of an FPDU", std::nullopt,
                         std::nullopt});
    return;
  }
  sink_.framing_fault({wire::cause::mpa_crc, "CRC does not match", std::nullopt, std::nullopt});
}

/// Checks the FPDU of `wire_size` octets at the front of the buffer. Nothing: it is at fault, and
/// that has been dealt with.
std::optional<wire::ParsedFpdu> Deframer::verify(std::size_t wire_size) {
  const wire::FpduOptions options{checks_crc(), context_.negotiated.receive_markers, position_};
  if (options.markers) stripped_.resize(wire::fpdu_size(wire::max_ulpdu));
  const wire::Bytes octets = buffer_.view().first(wire_size);
  const auto parsed = wire::parse_fpdu(octets, options, stripped_);
  if (!context_.decisions.conforming()) {
    if (parsed && refuses(*parsed)) return std::nullopt;
    if (!parsed && parsed.error() == wire::FpduError::bad_marker && takes_wrong_markers(octets))
      return parse_without_markers(octets);
    if (!parsed && parsed.error() == wire::FpduError::bad_crc)
      if (const auto taken = overlook_bad_crc(octets, options)) return *taken;
  }
  if (parsed) return *parsed;
  report(parsed.error());
  return std::nullopt;
}

// ---- ways of being wrong about an FPDU ----

/// What a deviation makes of an FPDU whose CRC is wrong; an empty answer in the answer: it has been
/// dealt with, and is no FPDU.
std::optional<std::optional<wire::ParsedFpdu>> Deframer::overlook_bad_crc(
    wire::Bytes octets, const wire::FpduOptions& options) {
  constexpr std::optional<wire::ParsedFpdu> dropped;
  wire::FpduOptions lenient = options;
  lenient.crc = false;
  const auto unchecked = wire::parse_fpdu(octets, lenient, stripped_);
  if (unchecked && context_.deviates(Deviation::accepts_bad_crc)) return *unchecked;
  const bool half_is_enough = context_.deviates(Deviation::crc_half_compared) ||
                              context_.deviates(Deviation::half_of_crc_checked);
  if (unchecked && half_is_enough && half_of_crc_right(octets)) return *unchecked;
  if (unchecked && context_.deviates(Deviation::crc_check_leaves_reserved_bits_out) &&
      wire::parse_fpdu(without_reserved_bits(octets), options, stripped_))
    return *unchecked;
  if (context_.deviates(Deviation::resynchronizes_by_guess) && skip_to_valid_fpdu()) return dropped;
  if (unchecked && context_.deviates(Deviation::places_before_crc_check)) deliver(unchecked->ulpdu);
  if (!context_.deviates(Deviation::drops_bad_crc_and_goes_on)) return std::nullopt;
  buffer_.consume(octets.size());
  position_ += octets.size();
  return dropped;
}

/// What a deviation finds fault with in an FPDU of which only the first octets are here.
void Deframer::refuse_piece() {
  const std::size_t here = buffer_.view().size();
  const bool refused =
      (position_ == 0 && context_.deviates(Deviation::first_fpdu_needs_one_read)) ||
      (here < wire::tagged_header_size && context_.deviates(Deviation::fpdu_cut_in_header_refused));
  if (here != 0 && refused) report(wire::FpduError::bad_crc);
  in_pieces_ = here != 0;
}

/// Whether a deviation finds fault with an FPDU that is right. It has been reported then.
bool Deframer::refuses(const wire::ParsedFpdu& fpdu) {
  if (std::exchange(in_pieces_, false) && checks_crc() &&
      context_.deviates(Deviation::crc_restarts_at_each_read)) {
    report(wire::FpduError::bad_crc);
    return true;
  }
  const bool has_markers = fpdu.consumed != wire::fpdu_size(fpdu.ulpdu.size());
  if (has_markers && checks_crc() && context_.deviates(Deviation::crc_check_leaves_markers_out)) {
    report(wire::FpduError::bad_crc);
    return true;
  }
  if (context_.negotiated.receive_markers && wire::marker_at(position_) && position_ != 0 &&
      context_.deviates(Deviation::zero_fpduptr_refused)) {
    report(wire::FpduError::bad_marker);
    return true;
  }
  return false;
}

bool Deframer::takes_wrong_markers(wire::Bytes octets) const {
  if (context_.deviates(Deviation::wrong_marker_taken)) return true;
  if (!context_.deviates(Deviation::first_marker_checked_only)) return false;
  // The pointer of the first Marker, which stands before the FPDU or in it.
  const std::size_t at = wire::octets_to_marker(position_);
  const auto pointer = wire::Reader(octets.subspan(at + 2)).read<wire::be16>().value();
  return (pointer & ~3) == static_cast<int>(at);
}

std::optional<wire::ParsedFpdu> Deframer::parse_without_markers(wire::Bytes octets) {
  const std::size_t length = wire::strip_markers(stripped_, position_, octets).length;
  const wire::Bytes fpdu = wire::Bytes(stripped_).first(length);
  const std::size_t ulpdu_length = wire::Reader(fpdu).read<wire::be16>().value();
  return wire::ParsedFpdu{fpdu.subspan(wire::fpdu_length_size, ulpdu_length), octets.size(), true};
}

bool Deframer::half_of_crc_right(wire::Bytes octets) const {
  const auto right = wire::crc32c_trailer(octets.first(octets.size() - wire::fpdu_crc_size));
  return std::ranges::equal(octets.last(wire::fpdu_crc_size).first(2), std::span(right).first(2));
}

std::vector<std::byte> Deframer::without_reserved_bits(wire::Bytes octets) const {
  std::vector<std::byte> cleared(octets.begin(), octets.end());
  if (!context_.negotiated.receive_markers) return cleared;
  for (std::size_t at = wire::octets_to_marker(position_); at + 2 <= cleared.size();
       at += wire::marker_interval)
    cleared[at] = cleared[at + 1] = std::byte{0};
  return cleared;
}

/// Drops octets up to the next valid FPDU, if one has come.
bool Deframer::skip_to_valid_fpdu() {
  for (std::size_t skipped = 4; skipped < buffer_.view().size(); skipped += 4) {
    const wire::FpduOptions options{checks_crc(), false, 0};
    if (!wire::parse_fpdu(buffer_.view().subspan(skipped), options, stripped_)) continue;
    buffer_.consume(skipped);
    return true;
  }
  return false;
}

/// Delivers the FPDU that begins `first` octets on, if it is there; yields its size.
std::size_t Deframer::deliver_next(std::size_t first) {
  const wire::FpduOptions options{checks_crc(), false, 0};
  if (context_.negotiated.receive_markers) return 0;
  const auto next = wire::parse_fpdu(buffer_.view().subspan(first), options, {});
  if (!next) return 0;
  deliver(next->ulpdu);
  return next->consumed;
}

bool Deframer::step_verified() {
  const wire::FpduOptions options{checks_crc(), context_.negotiated.receive_markers, position_};
  const auto size = wire::fpdu_wire_size(buffer_.view(), options);
  if (size && *size > context_.config.emss &&
      context_.deviates(Deviation::fpdu_beyond_emss_refused)) {
    malformed();
    return false;
  }
  if (!size || buffer_.view().size() < *size) {
    if (!context_.decisions.conforming()) {
      if (size) act_early(*size);
      refuse_piece();
    }
    return false;
  }
  const std::size_t before = buffer_.view().size();
  const auto parsed = verify(*size);
  // Only a deviation drops an FPDU and goes on behind it.
  if (!parsed) return !context_.decisions.conforming() && buffer_.view().size() < before;
  if (context_.deviates(Deviation::refuses_nonzero_pad) && !parsed->pad_is_zero) {
    report(wire::FpduError::bad_crc);
    return false;
  }
  std::size_t consumed = parsed->consumed;
  if (context_.deviates(Deviation::fpdus_of_one_read_swapped)) {
    consumed += deliver_next(consumed);
    if (phase_ == Phase::discarding) return false;
  }
  if (!context_.decisions.conforming()) {
    if (!std::exchange(acted_early_, false)) deliver(ulpdu_of(*parsed));
  } else {
    deliver(parsed->ulpdu);
  }
  if (context_.deviates(Deviation::next_fpdu_sought_too_early) &&
      wire::pad_length(parsed->ulpdu.size()) == 2)
    consumed -= 2;
  buffer_.consume(consumed);
  position_ += consumed;
  return true;
}

/// Whether an FPDU of which only the CRC is missing is acted upon.
bool Deframer::acts_early(const wire::Segment& segment) const {
  if (context_.deviates(Deviation::delivers_before_crc_field)) return true;
  switch (segment.rdmap().opcode()) {
    case wire::Opcode::read_request: {
      const bool nothing =
          wire::Reader(segment.payload).read<wire::ReadRequestHeader>().length == 0;
      return context_.deviates(nothing ? Deviation::empty_request_served_before_it_is_whole
                                       : Deviation::request_served_before_it_is_whole);
    }
    case wire::Opcode::read_response:
      return context_.deviates(Deviation::response_taken_before_it_is_whole);
    case wire::Opcode::send:
      return context_.deviates(Deviation::send_delivered_before_it_is_whole);
    default:
      return false;
  }
}

void Deframer::act_early(std::size_t wire_size) {
  const wire::Bytes octets = buffer_.view();
  if (acted_early_ || context_.negotiated.receive_markers ||
      octets.size() + wire::fpdu_crc_size < wire_size)
    return;
  const std::size_t length = wire::Reader(octets).read<wire::be16>().value();
  const wire::Bytes ulpdu = octets.subspan(wire::fpdu_length_size, length);
  const auto segment = wire::parse_segment(ulpdu);
  if (!segment || !acts_early(*segment)) return;
  acted_early_ = true;
  deliver(ulpdu);
}

wire::Bytes Deframer::ulpdu_of(const wire::ParsedFpdu& parsed) const {
  if (!context_.deviates(Deviation::pad_taken_for_payload) || context_.negotiated.receive_markers)
    return parsed.ulpdu;
  return buffer_.view().subspan(wire::fpdu_length_size,
                                parsed.ulpdu.size() + wire::pad_length(parsed.ulpdu.size()));
}

void Deframer::deliver(wire::Bytes ulpdu) {
  const auto segment = wire::parse_segment(ulpdu);
  if (!segment) return malformed();
  const auto places = sink_.begin_segment({*segment, segment->payload.size()});
  rest_.assign(places.begin(), places.end());
  place(segment->payload);
  sink_.end_segment();
}

/// Copies octets to the first places of rest_, and takes these off it.
void Deframer::place(wire::Bytes octets) {
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
      place(buffer_.view().first(here));
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
      break;  // step() lets neither come here
  }
  std::unreachable();
}

bool Deframer::begin_direct() {
  const wire::Bytes octets = buffer_.view();
  wire::Reader reader(octets);
  ulpdu_length_ = reader.read<wire::be16>().value();
  if (reader.truncated() || (ulpdu_length_ != 0 && reader.rest().empty())) return false;
  const std::size_t header = ulpdu_length_ == 0 ? 0 : header_size_of(reader.rest());
  if (ulpdu_length_ == 0 || ulpdu_length_ < header) {
    malformed();
    return false;
  }
  if (reader.rest().size() < header) return false;
  const auto segment = wire::parse_segment(reader.rest().first(header));
  buffer_.consume(wire::fpdu_length_size + header);
  const auto places = sink_.begin_segment({*segment, ulpdu_length_ - header});
  rest_.assign(places.begin(), places.end());
  rest_length_ = ulpdu_length_ - header;
  phase_ = Phase::payload;
  return true;
}

}  // namespace rnic::stream
