// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How often each transition of the model was taken.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace suite::model {

enum class Transition : std::uint8_t {
#define MODEL_TRANSITION(enumerator, place, text) enumerator,
#include "suite/model/transitions.def"
#undef MODEL_TRANSITION
};

struct TransitionInfo {
  std::string_view name;
  /// RFC and section.
  std::string_view place;
  std::string_view text;
};
inline constexpr auto transitions = std::to_array<TransitionInfo>({
#define MODEL_TRANSITION(enumerator, place, text) {#enumerator, place, text},
#include "suite/model/transitions.def"
#undef MODEL_TRANSITION
});

class Coverage {
 public:
  void took(Transition transition) { ++taken_[static_cast<std::size_t>(transition)]; }
  [[nodiscard]] std::uint64_t taken(std::size_t transition) const { return taken_[transition]; }
  void add(const Coverage& other) {
    for (std::size_t i = 0; i < taken_.size(); ++i) taken_[i] += other.taken_[i];
  }

 private:
  std::array<std::uint64_t, transitions.size()> taken_{};
};

}  // namespace suite::model
