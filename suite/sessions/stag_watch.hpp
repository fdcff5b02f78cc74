// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the STags of a session reveal about those that come next (RFC 5040 section 8.1.1, RFC 5042
// section 6.1.1).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "suite/sessions/player.hpp"

namespace suite::sessions {

class StagWatch {
 public:
  /// The STag of a new region.
  void given(std::uint32_t stag);
  /// The region of the STag has been deregistered.
  void freed(std::uint32_t stag) { freed_ = stag; }
  /// What is wrong with all of them. None, if they are too few to say.
  [[nodiscard]] std::vector<Found> findings() const;

 private:
  [[nodiscard]] std::optional<Found> predictable() const;
  [[nodiscard]] std::optional<Found> crowded() const;
  [[nodiscard]] std::optional<Found> reused() const;

  std::vector<std::uint32_t> given_;
  std::optional<std::uint32_t> freed_;
  std::size_t given_again_ = 0;
};

}  // namespace suite::sessions
