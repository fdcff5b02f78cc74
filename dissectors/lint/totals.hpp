// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What rnic-lint reports about the whole capture at its end.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "dissectors/analyzer/events.hpp"
#include "dissectors/capture/capture_reader.hpp"
#include "dissectors/capture/live_capture.hpp"

namespace dissectors::lint {

/// The kinds of frames.
struct FrameCounts {
  std::uint64_t frames = 0;
  std::uint64_t tcp = 0;
  std::uint64_t fragments = 0;  ///< of IP packets: not judged
  std::uint64_t malformed = 0;  ///< headers that do not fit, or that the capture cut
  std::uint64_t cut = 0;        ///< the capture kept less of the frame than the wire carried
};

/// How often a rule was broken.
struct Broken {
  std::uint64_t times = 0;
  std::uint32_t first_frame = 0;
};

struct Totals {
  FrameCounts frames;
  std::uint64_t connections = 0, iwarp_connections = 0, fpdus = 0;
  std::array<std::uint64_t, analyzer::note_kinds> notes{};
  std::map<std::string_view, Broken> violations;  ///< by rule
  /// Evaluated somewhere in the capture, on octets that could have failed them.
  analyzer::CheckSet judged;
  std::optional<capture::Tear> tear;
  std::optional<capture::CaptureCounts> live;  ///< counters of a live capture

  [[nodiscard]] std::uint64_t violation_count() const {
    std::uint64_t sum = 0;
    for (const auto& [rule, broken] : violations) sum += broken.times;
    return sum;
  }
};

}  // namespace dissectors::lint
