// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which octets of a message are in place, if its segments may arrive in any order and may overlap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace rnic::stream {

class PlacedOctets {
 public:
  void add(std::uint64_t from, std::uint64_t length) {
    const std::uint64_t end = from + length;
    if (from > without_gap_) {
      std::uint64_t& known_end = after_a_gap_[from];
      known_end = std::max(known_end, end);
      return;
    }
    without_gap_ = std::max(without_gap_, end);
    while (!after_a_gap_.empty() && after_a_gap_.begin()->first <= without_gap_) {
      without_gap_ = std::max(without_gap_, after_a_gap_.begin()->second);
      after_a_gap_.erase(after_a_gap_.begin());
    }
  }
  /// The number of octets at the beginning that have no gap.
  [[nodiscard]] std::uint64_t without_gap() const { return without_gap_; }

 private:
  std::uint64_t without_gap_ = 0;
  /// First octet and end of each range that has arrived after the first gap.
  std::map<std::uint64_t, std::uint64_t> after_a_gap_;
};

}  // namespace rnic::stream
