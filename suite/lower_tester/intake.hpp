// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Octets from the IUT to arrivals: startup frame, FPDUs with or without Markers and CRC, messages.
// Its own reading of the protocol, made of the codecs alone, so that a fault of the reference
// stream cannot agree with itself.
#pragma once

#include <functional>
#include <optional>

#include "reference_rnic/wire/fpdu.hpp"
#include "suite/lower_tester/arrival.hpp"
#include "suite/lower_tester/diagnosis.hpp"

namespace suite::lower_tester {

/// One FPDU as it came, before it is part of a message.
struct ReceivedFpdu {
  wire::Bytes octets;  ///< as on the wire, Markers included
  wire::Bytes ulpdu;
  bool pad_is_zero = true;
  MarkerBits markers;
};

class Intake {
 public:
  /// Who hears of what comes, in order.
  class Listener {
   public:
    virtual ~Listener() = default;
    /// The startup frame. FPDUs are looked for only once start_fpdus() was called, here or later.
    virtual void on_frame(const ReceivedFrame& frame) = 0;
    /// Each FPDU whose CRC and length are right, before the message that it may complete.
    virtual void on_fpdu(const ReceivedFpdu& fpdu, const wire::Segment& segment) = 0;
    /// `broken_off`: another message began before this one's last segment had come, or nothing
    /// followed. One that a Terminate or the connection's end cut off is not broken off.
    virtual void on_message(const Message& message, bool broken_off) = 0;
    /// `rule`: what the IUT broke by sending this.
    virtual void on_malformed(const Malformed& malformed, RuleId rule) = 0;
  };

  Intake(wire::MpaFrameKind expected, Listener& listener)
      : expected_(expected), listener_(listener) {}

  void take(wire::Bytes octets);
  void start_fpdus(bool crc, bool markers);
  /// Nothing more will come for now: what is left of an FPDU is malformed, and a message without
  /// its last segment broken off, or cut off if that is so because the connection was closed.
  void examine_rest(bool closed = false);
  /// Octets are there that belong to no complete frame or FPDU.
  [[nodiscard]] bool in_the_middle() const { return !buffer_.empty() || current_.has_value(); }
  /// Octets came behind the startup frame and cannot be FPDUs yet.
  [[nodiscard]] bool holds_early_octets() const {
    return phase_ == Phase::holding && !buffer_.empty();
  }

 private:
  enum class Phase : std::uint8_t { frame, holding, fpdus, deaf };

  bool parse_one();
  bool parse_frame();
  bool parse_fpdu();
  void take_segment(wire::Bytes ulpdu, const wire::Segment& segment);
  enum class End : std::uint8_t { whole, broken_off, cut_off };
  void finish(End end);
  void give_up(std::string what, RuleId rule);
  void drop(std::size_t count) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  struct Piece {
    std::uint64_t offset;
    Octets data;
  };

  wire::MpaFrameKind expected_;
  Listener& listener_;
  Phase phase_ = Phase::frame;
  Octets buffer_;
  wire::FpduOptions options_;
  Octets scratch_;
  std::optional<Message> current_;
  std::vector<Piece> pieces_;
};

}  // namespace suite::lower_tester
