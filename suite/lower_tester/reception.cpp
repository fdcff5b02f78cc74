// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lower_tester/reception.hpp"

#include <algorithm>

namespace suite::lower_tester {

void Reception::take(wire::Bytes octets) {
  if (phase_ == Phase::stopped) return;
  buffer_.insert(buffer_.end(), octets.begin(), octets.end());
  while (parse_one()) {
  }
}

void Reception::start_fpdus(bool crc, bool markers) {
  if (phase_ != Phase::holding) return;
  options_ = {.crc = crc, .markers = markers, .position = 0};
  scratch_.resize(markers ? wire::fpdu_size(wire::max_ulpdu) : 0);
  phase_ = Phase::fpdus;
  while (parse_one()) {
  }
}

void Reception::examine_rest(bool closed) {
  if (phase_ == Phase::fpdus && buffer_.empty() && current_)
    return finish(closed ? End::cut_off : End::broken_off);
  if (phase_ != Phase::fpdus || buffer_.empty()) return;
  give_up("an FPDU that ends early");
}

bool Reception::parse_one() {
  if (buffer_.empty()) return false;
  if (phase_ == Phase::frame) return parse_frame();
  return phase_ == Phase::fpdus && parse_fpdu();
}

void Reception::give_up(std::string what, std::optional<Message> but_for_crc) {
  phase_ = Phase::stopped;
  listener_.on_malformed({std::move(what), std::move(buffer_), std::move(but_for_crc)});
  buffer_.clear();
}

bool Reception::parse_frame() {
  const bool request = expected_ == wire::MpaFrameKind::request;
  const auto parsed = wire::parse_mpa_frame(expected_, buffer_);
  if (parsed) {
    const Octets frame(buffer_.begin(),
                       buffer_.begin() + static_cast<std::ptrdiff_t>(parsed->consumed));
    drop(frame.size());
    phase_ = Phase::holding;
    listener_.on_frame({expected_, frame});
    return true;
  }
  switch (parsed.error()) {
    case wire::MpaFrameError::incomplete:
      break;
    case wire::MpaFrameError::wrong_key:
      give_up(request ? "not the key of an MPA Request" : "not the key of an MPA Reply");
      break;
    case wire::MpaFrameError::private_data_too_long:
      give_up("a startup frame with PD_Length above 512");
      break;
  }
  return false;
}

bool Reception::parse_fpdu() {
  const auto size = wire::fpdu_wire_size(buffer_, options_);
  if (!size || buffer_.size() < *size) return false;
  const auto parsed = wire::parse_fpdu(buffer_, options_, scratch_);
  if (!parsed) {
    // After a bad CRC or Marker no length can be trusted.
    const wire::Bytes crc = wire::Bytes(buffer_).first(*size).last(wire::fpdu_crc_size);
    if (parsed.error() == wire::FpduError::bad_marker)
      give_up("an FPDU with a Marker that does not point to its beginning");
    else
      give_up(std::ranges::count(crc, std::byte{0}) == std::ssize(crc)
                  ? "an FPDU with zero in place of its CRC"
                  : "an FPDU with a wrong CRC",
              message_but_for_crc());
    return false;
  }
  const Octets fpdu(buffer_.begin(),
                    buffer_.begin() + static_cast<std::ptrdiff_t>(parsed->consumed));
  const Octets ulpdu(parsed->ulpdu.begin(), parsed->ulpdu.end());
  drop(fpdu.size());
  options_.position += fpdu.size();
  const auto segment = wire::parse_segment(ulpdu);
  if (!segment) {
    listener_.on_malformed({"a ULPDU too short for its DDP header", fpdu});
    return true;
  }
  listener_.on_fpdu(ulpdu);
  take_segment(ulpdu, *segment);
  return true;
}

/// The message in the FPDU at the front, if it is a whole one.
std::optional<Message> Reception::message_but_for_crc() {
  wire::FpduOptions unchecked = options_;
  unchecked.crc = false;
  const auto parsed = wire::parse_fpdu(buffer_, unchecked, scratch_);
  if (!parsed || current_) return std::nullopt;
  const auto segment = wire::parse_segment(parsed->ulpdu);
  if (!segment || !segment->ddp().last()) return std::nullopt;
  if (!segment->tagged && segment->untagged_header.message_offset.value() != 0) return std::nullopt;
  Message message;
  message.tagged = segment->tagged;
  message.tagged_header = segment->tagged_header;
  message.untagged_header = segment->untagged_header;
  message.payload.assign(segment->payload.begin(), segment->payload.end());
  message.segments.emplace_back(parsed->ulpdu.begin(), parsed->ulpdu.end());
  return message;
}

namespace {

/// `next`: the offset at which the message continues.
bool belongs_to(const Message& message, const wire::Segment& segment, std::uint64_t next) {
  if (message.tagged != segment.tagged) return false;
  if (segment.tagged)
    return message.opcode() == segment.rdmap().opcode() &&
           message.stag() == segment.tagged_header.stag.value();
  const wire::UntaggedHeader& header = segment.untagged_header;
  if (message.queue() != header.queue_number.value()) return false;
  // A segment that continues where the last one ended belongs to the same message, even if its MSN
  // is wrong.
  const bool goes_on = next > 0 && header.message_offset.value() == next &&
                       header.rdmap == message.untagged_header.rdmap;
  return message.msn() == header.message_sequence_number.value() || goes_on;
}

bool is_terminate(const wire::Segment& segment) {
  return !segment.tagged && segment.rdmap().opcode() == wire::Opcode::terminate;
}

}  // namespace

void Reception::take_segment(wire::Bytes ulpdu, const wire::Segment& segment) {
  if (current_ &&
      !belongs_to(*current_, segment, pieces_.back().offset + pieces_.back().data.size()))
    finish(is_terminate(segment) ? End::cut_off : End::broken_off);
  if (!current_) {
    current_.emplace();
    current_->tagged = segment.tagged;
    current_->tagged_header = segment.tagged_header;
    current_->untagged_header = segment.untagged_header;
  }
  const std::uint64_t offset = segment.tagged ? segment.tagged_header.tagged_offset.value()
                                              : segment.untagged_header.message_offset.value();
  pieces_.push_back({offset, Octets(segment.payload.begin(), segment.payload.end())});
  current_->segments.emplace_back(ulpdu.begin(), ulpdu.end());
  if (segment.ddp().last()) finish(End::whole);
}

void Reception::finish(End end) {
  // Another order of segments is lawful, although discouraged (RFC 5041 section 5.3).
  std::ranges::stable_sort(pieces_, {}, &Piece::offset);
  for (const Piece& piece : pieces_)
    current_->payload.insert(current_->payload.end(), piece.data.begin(), piece.data.end());
  if (current_->tagged) current_->tagged_header.tagged_offset = pieces_.front().offset;
  current_->cut_off = end == End::cut_off;
  const Message message = std::move(*current_);
  current_.reset();
  pieces_.clear();
  listener_.on_message(message);
}

}  // namespace suite::lower_tester
