// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How TCP cut the octets of each side into segments, from what the analyzer reports: whether a sender
// has its segments begin with FPDUs (RFC 5044 section 5.1) shows in all of them, not in one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "dissectors/analyzer/events.hpp"
#include "plugfest/verdict.hpp"

namespace plugfest {

class SegmentCuts {
 public:
  static constexpr std::string_view rule = "mpa.segmentation.segments-begin-with-fpdu";

  /// The analyzer's finding that alignment is lost there, which comes before the FPDU itself. It is
  /// silent where the other end's window ends, or where a segment is missing.
  void lost(std::uint64_t connection, const dissectors::analyzer::Place& place);
  void fpdu(std::uint64_t connection, const std::optional<Side>& sender,
            const dissectors::analyzer::FpduSeen& seen);

  /// Of each side that sent FPDUs.
  [[nodiscard]] std::vector<Cuts> counted() const;

 private:
  struct Stream {
    std::optional<std::uint64_t> told;  ///< where the analyzer's last finding lies
    bool lost = false;                  ///< by the sender, until an FPDU begins a segment again
  };
  std::map<std::pair<std::uint64_t, dissectors::analyzer::Direction>, Stream> streams_;
  std::map<std::optional<Side>, Cuts> sides_;
};

}  // namespace plugfest
