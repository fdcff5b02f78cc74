// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where the receive windows of one end of a connection ended: a segment that the other end cuts there
// was cut by TCP.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dissectors/capture/frame.hpp"

namespace dissectors::analyzer {

/// Remembers the last right edges. Between capture and sender some acknowledgements are on their way,
/// so the edge that a sender knew need not be the last one captured.
class ReceiveWindow {
 public:
  /// To be called for each segment of the end whose window it is, SYNs too.
  void advertised(const capture::Segment& segment);
  /// The other end's SYN offers window scaling or does not, which decides for both (RFC 7323 section
  /// 2.2). As long as it was not seen, the own offer is believed.
  void other_end_scales(bool scales) { other_end_scales_ = scales; }
  /// The widest so far, in octets; 0 as long as none was seen.
  [[nodiscard]] std::uint32_t widest() const { return widest_; }
  /// No octet so far after the last one received can be meant for this end.
  [[nodiscard]] std::uint64_t reach() const;
  /// The window ended before this sequence number.
  [[nodiscard]] bool ends_at(std::uint32_t sequence) const;

 private:
  static constexpr std::size_t kept = 32;
  std::array<std::uint32_t, kept> edges_{};
  std::size_t count_ = 0;
  std::uint32_t widest_ = 0;
  std::uint8_t scale_ = 0;
  bool scale_seen_ = false;
  bool other_end_scales_ = true;
};

}  // namespace dissectors::analyzer
