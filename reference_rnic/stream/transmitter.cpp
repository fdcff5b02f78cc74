// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/transmitter.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace rnic::stream {
namespace {

/// Payload up to this size is copied: to send one run of octets more costs more than that.
constexpr std::size_t copied_payload = 512;

std::size_t total(const auto& pieces) {
  std::size_t length = 0;
  for (const wire::Bytes piece : pieces) length += piece.size();
  return length;
}

/// Whether `second` lies directly behind `first`.
bool continues(wire::Bytes first, wire::Bytes second) {
  return first.data() + first.size() == second.data();
}

}  // namespace

void Transmitter::queue_startup_frame(std::vector<std::byte> octets) {
  Unit& unit = units_.emplace_back();
  unit.owned = std::move(octets);
  unit.size = unit.owned.size();
  unit.tag.purpose = Purpose::startup_frame;
  pending_ += unit.size;
}

void Transmitter::queue_fpdu(wire::Bytes header, std::span<const wire::Bytes> payload, bool copy,
                             MessageTag tag, bool last) {
  Unit& unit = units_.emplace_back();
  unit.tag = tag;
  unit.last = last;
  write_parts(unit, header, payload, copy || total(payload) <= copied_payload);
  if (context_.negotiated.send_markers)
    insert_markers(unit);
  else
    seal(unit);
  unit.size = unit.owned.empty() ? unit.head.size() + total(unit.payload) + unit.trailer.size()
                                 : unit.owned.size();
  position_ += unit.size;
  pending_ += unit.size;
}

/// The parts of an FPDU, and which of them the CRC covers.
void Transmitter::write_parts(Unit& unit, wire::Bytes header, std::span<const wire::Bytes> payload,
                              bool copy) {
  const std::size_t length = total(payload);
  const FpduFields fields = fields_for(header.size() + length);
  const std::size_t head_size = wire::fpdu_length_size + header.size() + (copy ? length : 0);
  unit.crc_size = fields.crc_field ? wire::fpdu_crc_size : 0;
  const wire::MutableBytes run = own_.take(head_size + fields.pad_size + unit.crc_size);
  unit.head = run.first(head_size);
  unit.trailer = run.subspan(head_size);

  wire::Writer writer(run);
  writer.write(wire::be16(fields.ulpdu_length));
  writer.write(header);
  covered_.assign(1, writer.written());
  for (const wire::Bytes piece : payload) {
    if (copy) writer.write(piece);
    covered_.push_back(copy ? writer.written().last(piece.size()) : piece);
  }
  if (!copy) unit.payload.assign(payload.begin(), payload.end());
  // Without CRCs the field stays zero (RFC 5044 section 4.4).
  std::ranges::fill(unit.trailer, std::byte{0});
  std::ranges::copy(std::span(fields.pad).first(std::min(fields.pad.size(), fields.pad_size)),
                    unit.trailer.begin());
  covered_.push_back(unit.trailer.first(fields.pad_size));
  assert(!writer.overflowed());
}

/// ULPDU_Length, the pad, and room for the CRC (RFC 5044 section 4.1).
FpduFields Transmitter::fields_for(std::size_t ulpdu_length) const {
  FpduFields fields{.ulpdu_length = static_cast<std::uint16_t>(ulpdu_length),
                    .pad_size = wire::pad_length(ulpdu_length)};
  context_.decisions.ask(&Decisions::fpdu_fields, context_.negotiated, fields);
  return fields;
}

/// If either side asked for CRCs; if neither did, the sender decides (RFC 5044 section 4.4).
bool Transmitter::computes_crc() const {
  if (context_.negotiated.crc) return true;
  return context_.decisions.decide(Choice<bool>{"mpa.crc.generation-may-go-on", false, either},
                                   &Decisions::crc_computed);
}

/// The CRC of the covered octets (RFC 5044 section 4.4).
void Transmitter::store_crc(const CrcCoverage& covered, wire::MutableBytes field) const {
  wire::Crc32c crc;
  wire::Bytes run;
  for (const wire::Bytes piece : covered.pieces) {
    if (continues(run, piece)) {
      run = {run.data(), run.size() + piece.size()};
      continue;
    }
    crc.update(run);
    run = piece;
  }
  crc.update(run);
  std::array<std::byte, wire::fpdu_crc_size> octets = crc.trailer();
  context_.decisions.ask(&Decisions::crc_leaves, covered, octets);
  std::ranges::copy(std::span(octets).first(field.size()), field.begin());
}

/// Writes the CRC of an FPDU that is kept in parts, which covered_ lists.
void Transmitter::seal(Unit& unit) {
  if (computes_crc()) store_crc({.pieces = covered_}, unit.trailer.last(unit.crc_size));
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
  if (!context_.decisions.empty()) decide_on_markers(unit.owned);
  if (!computes_crc()) return;

  const wire::MutableBytes octets(unit.owned);
  const wire::Bytes covered = octets.first(octets.size() - unit.crc_size);
  store_crc({std::span(&covered, 1), true, position_}, octets.last(unit.crc_size));
}

/// The Markers in an FPDU that begins at position_.
void Transmitter::decide_on_markers(wire::MutableBytes octets) const {
  for (std::size_t at = wire::octets_to_marker(position_); at < octets.size();
       at += wire::marker_interval) {
    auto marker = wire::Reader(octets.subspan(at)).read<wire::Marker>();
    context_.decisions.ask(&Decisions::marker_leaves, at != 0, marker);
    wire::Writer(octets.subspan(at)).write(marker);
  }
}

void Transmitter::list_unit(const Unit& unit, std::size_t skip, std::vector<wire::Bytes>& list) {
  const auto add = [&](wire::Bytes piece) {
    const std::size_t skipped = std::min(skip, piece.size());
    skip -= skipped;
    piece = piece.subspan(skipped);
    if (piece.empty()) return;
    if (!list.empty() && continues(list.back(), piece))
      list.back() = {list.back().data(), list.back().size() + piece.size()};
    else
      list.push_back(piece);
  };
  if (!unit.owned.empty()) return add(unit.owned);
  add(unit.head);
  for (const wire::Bytes piece : unit.payload) add(piece);
  add(unit.trailer);
}

void Transmitter::gather(std::vector<wire::Bytes>& list, std::size_t limit,
                         std::vector<std::size_t>* boundaries) {
  std::size_t listed = 0;
  std::size_t skip = front_sent_;
  for (Unit& unit : units_) {
    if (listed >= limit) break;
    // Consumer memory may have changed since the LLP refused these octets; nothing of an FPDU that
    // is still in parts has been sent, so its CRC can be computed again.
    if (unit.shown && unit.owned.empty() && !unit.payload.empty()) {
      covered_.assign(1, unit.head);
      covered_.insert(covered_.end(), unit.payload.begin(), unit.payload.end());
      covered_.push_back(unit.trailer.first(unit.trailer.size() - unit.crc_size));
      seal(unit);
    }
    unit.shown = true;
    list_unit(unit, skip, list);
    listed += unit.size - skip;
    skip = 0;
    if (boundaries != nullptr) boundaries->push_back(listed);
  }
}

std::span<const MessageTag> Transmitter::transmitted(std::size_t count) {
  assert(count <= pending_);
  finished_.clear();
  pending_ -= count;
  while (count != 0) {
    Unit& front = units_.front();
    const std::size_t here = std::min(count, front.size - front_sent_);
    front_sent_ += here;
    count -= here;
    begun_ = front.tag;
    if (front_sent_ < front.size) break;
    if (front.last) finished_.push_back(front.tag);
    front_sent_ = 0;
    if (!front.head.empty()) own_.release_oldest();
    units_.pop_front();
  }
  freeze_front();
  return finished_;
}

/// The rest of a partly sent FPDU is copied: its CRC must match the octets that follow, whatever
/// the consumer writes in the meantime.
void Transmitter::freeze_front() {
  if (front_sent_ == 0 || !units_.front().owned.empty()) return;
  Unit& front = units_.front();
  std::vector<wire::Bytes> pieces;
  std::size_t from = front_sent_;
  context_.decisions.ask(&Decisions::fpdu_continued, from);
  list_unit(front, from, pieces);
  std::vector<std::byte> rest;
  for (const wire::Bytes piece : pieces) rest.insert(rest.end(), piece.begin(), piece.end());
  front.owned = std::move(rest);
  front.size = front.owned.size();
  pending_ += front_sent_ - from;
  front.frozen = true;
  front_sent_ = 0;
}

void Transmitter::drop_from(std::size_t index) {
  while (units_.size() > index) {
    pending_ -= units_.back().size;
    position_ -= units_.back().size;  // not used any more if it is a startup frame
    if (!units_.back().head.empty()) own_.release_newest();
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
  drop_from(0);
  pending_ = front_sent_ = 0;
}

}  // namespace rnic::stream
