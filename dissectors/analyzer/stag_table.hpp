// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The STags that the wire shows to be invalid: those that a Send with Invalidate named, until their
// owner has sent something and may have advertised them again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dissectors::analyzer {

/// STags of one end. The analyzer cannot know what payloads advertise, so an STag counts as invalid
/// only between its invalidation and the next message of its owner. If there are more than `kept`,
/// the oldest is forgotten: this can hide a fault, but never produce a false one.
class StagTable {
 public:
  static constexpr std::size_t kept = 64;

  void invalidate(std::uint32_t stag) {
    stags_[next_ % kept] = stag;
    ++next_;
  }
  [[nodiscard]] bool invalid(std::uint32_t stag) const {
    for (std::size_t i = 0; i < kept && i < next_; ++i)
      if (stags_[i] == stag) return true;
    return false;
  }
  [[nodiscard]] bool any_invalid() const { return next_ != 0; }
  /// The owner sent a message, or octets went by unseen.
  void forget() { next_ = 0; }

 private:
  std::array<std::uint32_t, kept> stags_{};
  std::size_t next_ = 0;
};

}  // namespace dissectors::analyzer
