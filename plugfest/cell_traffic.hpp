// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which connections of a capture are the cell's: others may pass where it is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dissectors/capture/frame.hpp"
#include "plugfest/verdict.hpp"

namespace plugfest {

class CellTraffic {
 public:
  /// The addresses of the two ends (literals), and the ports at which they have listened.
  CellTraffic(const std::string& initiator, const std::string& responder,
              const std::vector<std::uint16_t>& listened);

  /// Its ends are those of the cell, or one of them is where an end has listened: a host may connect
  /// from another of its addresses, and a port mapper may put another port on the wire. Two ends at
  /// one address can be told from others by the port alone.
  [[nodiscard]] bool has(const dissectors::capture::Flow& flow) const;

  /// Which end sends what goes this way; nothing: they have one address.
  [[nodiscard]] std::optional<Side> sender_of(const dissectors::capture::Flow& flow) const;

 private:
  [[nodiscard]] std::optional<Side> side_at(const dissectors::capture::Endpoint& end) const;

  std::optional<dissectors::capture::Endpoint> initiator_, responder_;  ///< port 0
  std::vector<dissectors::capture::Endpoint> listeners_;
};

}  // namespace plugfest
