// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Finds the frame with an octet of a TCP stream, so that a verdict can name the frame that it rests
// on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "dissectors/capture/frame.hpp"

namespace dissectors::capture {

class StreamIndex {
 public:
  /// The frames of one pcap, in file order.
  StreamIndex(LinkType link, std::span<const Frame> frames);

  /// Number (from 1) of the first frame that carries the octet at `offset` (from 0) of the stream
  /// in this direction. Where the same ports were used twice it is the later connection's.
  [[nodiscard]] std::optional<std::uint32_t> octet(const Flow& flow, std::uint64_t offset) const;
  /// Number of the first frame with SYN, with FIN, or with RST, in this direction.
  [[nodiscard]] std::optional<std::uint32_t> syn(const Flow& flow) const;
  [[nodiscard]] std::optional<std::uint32_t> fin(const Flow& flow) const;
  [[nodiscard]] std::optional<std::uint32_t> reset(const Flow& flow) const;

 private:
  struct Piece {
    std::uint64_t begin, end;  ///< stream offsets
    std::uint32_t frame;
  };
  struct Direction {
    bool started = false;
    std::uint32_t origin = 0;   ///< sequence number of offset 0
    std::uint64_t highest = 0;  ///< offset after the last octet seen
    std::vector<Piece> pieces;
    std::optional<std::uint32_t> syn, fin, reset;
  };
  static void add(Direction& direction, const Segment& segment, std::uint32_t number);
  [[nodiscard]] const Direction* find(const Flow& flow) const;

  std::map<Flow, Direction> directions_;
};

}  // namespace dissectors::capture
