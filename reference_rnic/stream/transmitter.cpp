// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/transmitter.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace rnic::stream {
namespace {

constexpr std::size_t spare_limit = 16;

std::size_t total(std::span<const wire::Bytes> pieces) {
  std::size_t length = 0;
  for (const wire::Bytes piece : pieces) length += piece.size();
  return length;
}

}  // namespace

Transmitter::Unit Transmitter::fresh() {
  if (spare_.empty()) return {};
  Unit unit = std::move(spare_.back());
  spare_.pop_back();
  unit.copied.clear();
  unit.owned.clear();
  unit.shown = unit.frozen = false;
  return unit;
}

void Transmitter::append(Unit unit) {
  pending_ += unit.size;
  units_.push_back(std::move(unit));
}

void Transmitter::queue_startup_frame(std::vector<std::byte> octets) {
  Unit unit;
  unit.owned = std::move(octets);
  unit.size = unit.owned.size();
  unit.tag.purpose = Purpose::startup_frame;
  append(std::move(unit));
}

void Transmitter::queue_fpdu(wire::Bytes header, std::span<const wire::Bytes> payload, bool copy,
                             MessageTag tag, bool last) {
  Unit unit = fresh();
  unit.tag = tag;
  unit.last = last;
  const std::size_t length = header.size() + total(payload);
  wire::Writer head(unit.head);
  head.write(wire::be16(static_cast<std::uint16_t>(length)));
  head.write(header);
  assert(!head.overflowed());
  unit.head_size = head.size();
  unit.payload.assign(payload.begin(), payload.end());
  if (copy) {
    for (const wire::Bytes piece : payload)
      unit.copied.insert(unit.copied.end(), piece.begin(), piece.end());
    unit.payload.assign(1, wire::Bytes(unit.copied));
  }
  unit.trailer.fill(std::byte{0});
  unit.trailer_size = wire::pad_length(length) + wire::fpdu_crc_size;
  if (!context_.decisions.conforming()) spoil_parts(unit);
  seal(unit);
  if (context_.negotiated.send_markers) insert_markers(unit);
  unit.size = unit.owned.empty() ? unit.head_size + total(unit.payload) + unit.trailer_size
                                 : unit.owned.size();
  position_ += unit.size;
  append(std::move(unit));
}

void Transmitter::store_crc(const wire::Crc32c& crc, wire::MutableBytes field) const {
  if (!context_.negotiated.crc || context_.deviates(Deviation::crc_not_generated)) {
    std::ranges::fill(field, std::byte{0});
    return;
  }
  std::ranges::copy(crc.trailer(), field.begin());
  if (context_.deviates(Deviation::crc_octets_reversed)) std::ranges::reverse(field);
  if (context_.deviates(Deviation::sends_bad_crc)) field.front() ^= std::byte{1};
}

/// Writes the CRC of an FPDU that is kept in parts (RFC 5044 section 4.4).
void Transmitter::seal(Unit& unit) {
  if (unit.trailer_size < wire::fpdu_crc_size) return;
  const wire::MutableBytes trailer = wire::MutableBytes(unit.trailer).first(unit.trailer_size);
  wire::Crc32c crc;
  if (context_.negotiated.crc) {
    const std::size_t from =
        context_.deviates(Deviation::crc_excludes_length_field) ? wire::fpdu_length_size : 0;
    crc.update(wire::Bytes(unit.head).first(unit.head_size).subspan(from));
    for (const wire::Bytes piece : unit.payload) {
      if (unit.payload.size() > 1 && context_.deviates(Deviation::crc_restarts_at_each_piece))
        crc = {};
      crc.update(piece);
    }
    if (!context_.deviates(Deviation::crc_excludes_pad))
      crc.update(trailer.first(trailer.size() - wire::fpdu_crc_size));
  }
  store_crc(crc, trailer.last(wire::fpdu_crc_size));
}

/// Turns the parts into one run of octets with Markers, and a CRC that covers these (RFC 5044
/// sections 4.3 and 4.4).
void Transmitter::insert_markers(Unit& unit) {
  std::vector<wire::Bytes> pieces;
  list_unit(unit, 0, pieces);
  std::vector<std::byte> fpdu;
  for (const wire::Bytes piece : pieces) fpdu.insert(fpdu.end(), piece.begin(), piece.end());
  unit.owned.resize(wire::length_with_markers(position_, fpdu.size()));
  wire::Writer writer(unit.owned);
  wire::insert_markers(writer, position_, fpdu);
  assert(writer.size() == unit.owned.size());
  if (!context_.decisions.conforming()) spoil_markers(unit.owned);

  if (unit.trailer_size < wire::fpdu_crc_size) return;
  const wire::MutableBytes octets(unit.owned);
  const wire::Bytes covered = octets.first(octets.size() - wire::fpdu_crc_size);
  if (context_.deviates(Deviation::crc_excludes_markers)) {
    store_crc(wire::Crc32c().update(wire::Bytes(fpdu).first(fpdu.size() - wire::fpdu_crc_size)),
              octets.last(wire::fpdu_crc_size));
    return;
  }
  const std::size_t from =
      wire::marker_at(position_) && context_.deviates(Deviation::crc_excludes_leading_marker)
          ? wire::marker_size
          : 0;
  store_crc(wire::Crc32c().update(covered.subspan(from)), octets.last(wire::fpdu_crc_size));
}

void Transmitter::spoil_parts(Unit& unit) {
  const std::size_t pad = unit.trailer_size - wire::fpdu_crc_size;
  const std::size_t ulpdu = unit.head_size - wire::fpdu_length_size + total(unit.payload);
  const auto restate = [&](std::size_t length) {
    wire::Writer(unit.head).write(wire::be16(static_cast<std::uint16_t>(length)));
  };
  if (context_.deviates(Deviation::length_counts_pad)) restate(ulpdu + pad);
  if (context_.deviates(Deviation::length_counts_itself)) restate(ulpdu + wire::fpdu_length_size);
  if (context_.deviates(Deviation::length_little_endian)) std::swap(unit.head[0], unit.head[1]);
  if (context_.deviates(Deviation::pad_not_zero))
    std::fill_n(unit.trailer.begin(), pad, std::byte{0xA5});
  // Markers stand at multiples of four octets: without pads there is no saying where.
  if (context_.deviates(Deviation::pad_missing) && !context_.negotiated.send_markers)
    unit.trailer_size = wire::fpdu_crc_size;
  if (!context_.negotiated.crc && context_.deviates(Deviation::crc_field_left_out))
    unit.trailer_size -= wire::fpdu_crc_size;
}

/// Markers gone wrong, in an FPDU that begins at position_.
void Transmitter::spoil_markers(std::vector<std::byte>& octets) {
  for (std::size_t at = wire::octets_to_marker(position_); at < octets.size();
       at += wire::marker_interval) {
    const bool between = at == 0;
    if (context_.deviates(Deviation::marker_reserved_not_zero)) octets[at] = std::byte{0x80};
    if (context_.deviates(Deviation::marker_low_bits_set)) octets[at + 3] |= std::byte{1};
    if (!between && context_.deviates(Deviation::marker_pointer_wrong))
      octets[at + 3] ^= std::byte{8};
    if (!between && context_.deviates(Deviation::marker_pointer_zero_within))
      octets[at + 2] = octets[at + 3] = {};
    if (between && context_.deviates(Deviation::marker_between_fpdus_not_zero))
      octets[at + 3] = std::byte{4};
  }
}

void Transmitter::list_unit(const Unit& unit, std::size_t skip,
                            std::vector<wire::Bytes>& list) const {
  const auto add = [&](wire::Bytes piece) {
    const std::size_t skipped = std::min(skip, piece.size());
    skip -= skipped;
    if (skipped < piece.size()) list.push_back(piece.subspan(skipped));
  };
  if (!unit.owned.empty()) return add(unit.owned);
  add(wire::Bytes(unit.head).first(unit.head_size));
  for (const wire::Bytes piece : unit.payload) add(piece);
  add(wire::Bytes(unit.trailer).first(unit.trailer_size));
}

void Transmitter::gather(std::vector<wire::Bytes>& list, std::size_t limit,
                         std::vector<std::size_t>* boundaries) {
  std::size_t listed = 0;
  std::size_t skip = front_sent_;
  for (Unit& unit : units_) {
    if (listed >= limit) break;
    // Consumer memory may have changed since the LLP refused these octets; none of an FPDU that is
    // still in parts has left, so the CRC can follow.
    if (unit.shown && unit.owned.empty()) seal(unit);
    unit.shown = true;
    list_unit(unit, skip, list);
    listed += unit.size - skip;
    skip = 0;
    if (boundaries != nullptr) boundaries->push_back(listed);
  }
}

std::vector<MessageTag> Transmitter::transmitted(std::size_t count) {
  assert(count <= pending_);
  std::vector<MessageTag> finished;
  pending_ -= count;
  while (count != 0) {
    Unit& front = units_.front();
    const std::size_t here = std::min(count, front.size - front_sent_);
    front_sent_ += here;
    count -= here;
    begun_ = front.tag;
    if (front_sent_ < front.size) break;
    if (front.last) finished.push_back(front.tag);
    front_sent_ = 0;
    if (spare_.size() < spare_limit) spare_.push_back(std::move(front));
    units_.pop_front();
  }
  freeze_front();
  return finished;
}

/// The rest of a partly sent FPDU is copied: its CRC must stay true to the octets that follow,
/// whatever the consumer writes meanwhile.
void Transmitter::freeze_front() {
  if (front_sent_ == 0 || !units_.front().owned.empty()) return;
  Unit& front = units_.front();
  std::vector<wire::Bytes> pieces;
  list_unit(front, context_.deviates(Deviation::partial_fpdu_sent_anew) ? 0 : front_sent_, pieces);
  std::vector<std::byte> rest;
  for (const wire::Bytes piece : pieces) rest.insert(rest.end(), piece.begin(), piece.end());
  front.owned = std::move(rest);
  front.size = front.owned.size();
  if (context_.deviates(Deviation::partial_fpdu_sent_anew)) pending_ += front_sent_;
  front.frozen = true;
  front_sent_ = 0;
}

void Transmitter::drop_from(std::size_t index) {
  while (units_.size() > index) {
    pending_ -= units_.back().size;
    position_ -= units_.back().size;  // of no use any more where it is a startup frame
    units_.pop_back();
  }
}

void Transmitter::drop_messages_not_begun() {
  std::size_t keep = 0;
  while (begun_ && keep < units_.size() && units_[keep].tag == *begun_) ++keep;
  drop_from(keep);
}

std::vector<MessageTag> Transmitter::messages() const {
  std::vector<MessageTag> tags;
  if (begun_) tags.push_back(*begun_);
  for (const Unit& unit : units_)
    if (tags.empty() || tags.back() != unit.tag) tags.push_back(unit.tag);
  return tags;
}

void Transmitter::drop_all_but_begun_fpdu() {
  const bool within = !units_.empty() && (front_sent_ != 0 || units_.front().frozen);
  drop_from(within ? 1 : 0);
}

void Transmitter::drop_all() {
  units_.clear();
  pending_ = front_sent_ = 0;
}

}  // namespace rnic::stream
