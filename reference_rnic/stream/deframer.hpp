// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The receiving side of MPA in full operation (RFC 5044 sections 4 and 6): octets in, DDP segments
// out.
//
// With CRCs or Markers in use an FPDU is gathered in scratch, checked, and only then passed on.
// With neither, a segment is announced as soon as its header has arrived, and the payload is
// received directly into place.
#pragma once

#include <expected>
#include <span>
#include <vector>

#include "reference_rnic/stream/context.hpp"
#include "reference_rnic/stream/fault.hpp"
#include "reference_rnic/stream/inbound_buffer.hpp"
#include "reference_rnic/wire/fpdu.hpp"

namespace rnic::stream {

/// What DDP does with the segments that the framer finds.
class SegmentSink {
 public:
  virtual ~SegmentSink() = default;
  /// Whether the segment and everything after it is left waiting until
  /// Deframer::try_held_segment().
  [[nodiscard]] virtual bool holds_back(const IncomingSegment& segment) = 0;
  /// A header has arrived. Returns the places of the payload, payload_length octets in all, or
  /// none: then the payload is dropped. The pieces stay valid until end_segment().
  virtual std::span<const wire::MutableBytes> begin_segment(const IncomingSegment& segment) = 0;
  /// Where the last `left` octets of the payload go, asked again before each read that may put some
  /// of them directly into place: the consumer may have taken the memory back since. None: dropped.
  virtual std::span<const wire::MutableBytes> rest_of_segment(std::size_t left) = 0;
  /// The whole FPDU of the segment begun last has arrived and is verified, its payload in place.
  virtual void end_segment() = 0;
  /// The stream cannot continue: bad CRC, bad Marker, or a ULPDU too short for a DDP header.
  virtual void framing_fault(Fault fault) = 0;
};

/// What a Terminate says about an FPDU that MPA does not accept (RFC 5044 section 8).
[[nodiscard]] Fault framing_fault(wire::FpduError error);
/// What a Terminate says about a ULPDU that is too short for a DDP header.
[[nodiscard]] Fault overlong_fault();
[[nodiscard]] Fault truncation_fault();

class Deframer {
 public:
  Deframer(Context& context, SegmentSink& sink)
      : context_(context),
        sink_(sink),
        outcome_(context.scratch.outcome),
        buffer_(context.scratch.receive) {}

  /// Where the next octets are to be stored; never empty.
  [[nodiscard]] std::span<const wire::MutableBytes> targets();
  /// `count` octets have been stored there. In full operation, passes on what is complete.
  void received(std::size_t count);
  /// The octets that arrived before full operation, and how many of them the startup frame has.
  [[nodiscard]] wire::Bytes startup_octets() const { return buffer_.view(); }
  void consume_startup(std::size_t count) { buffer_.consume(count); }

  /// The next octet is the first of an FPDU (or of the first Marker). resume() processes octets
  /// that are already waiting.
  void enter_full_operation();
  void resume();
  /// Whether a segment is held back, or awaited again.
  [[nodiscard]] bool holding() const { return hold_ != Hold::none; }
  void try_held_segment();
  /// From here on every octet is dropped (after an error, RFC 5044 section 8; after a Terminate).
  void discard();
  [[nodiscard]] bool discarding() const { return phase_ == Phase::discarding; }
  /// Whether part of an FPDU has arrived and the rest has not.
  [[nodiscard]] bool inside_fpdu() const;

 private:
  using Parsed = std::expected<wire::ParsedFpdu, wire::FpduError>;

  [[nodiscard]] wire::MutableBytes scratch();
  [[nodiscard]] bool step();
  [[nodiscard]] bool step_direct();
  [[nodiscard]] bool step_verified(bool crc);
  [[nodiscard]] bool begin_direct();
  [[nodiscard]] bool await_header();
  [[nodiscard]] bool is_held_back(wire::Bytes ulpdu);
  [[nodiscard]] bool drops_bad_segment() const;
  void judge_framing(wire::FpduError error, std::size_t wire_size);
  [[nodiscard]] bool carry_out(const Parsed& parsed, const wire::FpduOptions& options);
  void hand_on(const wire::ParsedFpdu& fpdu);
  void report_truncated();
  void deliver(wire::Bytes ulpdu);
  void place_rest(wire::Bytes octets);
  [[nodiscard]] bool checks_crc() const;
  [[nodiscard]] std::size_t longest_fpdu_taken() const;

  enum class Phase : std::uint8_t { startup, header, payload, trailer, discarding };

  Context& context_;
  SegmentSink& sink_;
  FpduOutcome& outcome_;  ///< of the current FPDU
  InboundBuffer buffer_;
  std::vector<wire::MutableBytes>
      rest_;  ///< places of the payload still to come, direct placement only
  std::size_t rest_length_ = 0;
  std::size_t ulpdu_length_ = 0;
  std::uint64_t position_ = 0;  ///< of the front of buffer_, in octets of full operation
  Phase phase_ = Phase::startup;
  /// Why the LLP keeps a segment: it has no buffer yet, or it was bad and is to come again.
  enum class Hold : std::uint8_t { none, without_buffer, bad };
  Hold hold_ = Hold::none;
};

}  // namespace rnic::stream
