// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Turns octets from the IUT into arrivals: startup frame, FPDUs with or without Markers and CRC,
// messages. It decodes the protocol with the codecs alone, so that a fault of the reference stream
// cannot hide itself. The analyzer judges; this does not.
#pragma once

#include <functional>
#include <optional>

#include "reference_rnic/wire/fpdu.hpp"
#include "suite/lower_tester/arrival.hpp"

namespace suite::lower_tester {

class Reception {
 public:
  /// Receives what arrives, in order.
  class Listener {
   public:
    virtual ~Listener() = default;
    /// The startup frame. FPDUs are expected only after start_fpdus() was called, here or later.
    virtual void on_frame(const ReceivedFrame& frame) = 0;
    /// The ULPDU of each FPDU whose CRC and length are right, before the message that it may
    /// complete.
    virtual void on_fpdu(wire::Bytes /*ulpdu*/) {}
    virtual void on_message(const Message& message) = 0;
    virtual void on_malformed(const Malformed& malformed) = 0;
  };

  Reception(wire::MpaFrameKind expected, Listener& listener)
      : expected_(expected), listener_(listener) {}

  void take(wire::Bytes octets);
  void start_fpdus(bool crc, bool markers);
  /// Nothing more will arrive for now: the rest of an FPDU is malformed, and a message without its
  /// last segment is reported as it is, cut off if the connection was closed.
  void examine_rest(bool closed = false);
  /// There are octets that belong to no complete frame or FPDU.
  [[nodiscard]] bool in_the_middle() const { return !buffer_.empty() || current_.has_value(); }

 private:
  enum class Phase : std::uint8_t { frame, holding, fpdus, stopped };

  bool parse_one();
  bool parse_frame();
  bool parse_fpdu();
  void take_segment(wire::Bytes ulpdu, const wire::Segment& segment);
  enum class End : std::uint8_t { whole, broken_off, cut_off };
  void finish(End end);
  void give_up(std::string what, std::optional<Message> but_for_crc = {});
  [[nodiscard]] std::optional<Message> message_but_for_crc();
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
