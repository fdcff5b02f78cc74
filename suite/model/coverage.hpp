// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How often each transition of the model was taken, and each reaction to an error seen.
#pragma once

#include <array>
#include <cstdint>
#include <map>
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

/// What an IUT may do about an error that it finds.
enum class Reaction : std::uint8_t {
  /// A Terminate reports it.
  reported,
  /// The stream ends without one (docs/disputes.md D7).
  closed,
  /// What came is not acknowledged (docs/disputes.md D8, D9).
  left_out,
};
inline constexpr std::array<std::string_view, 3> reaction_texts{
    "a Terminate", "the end of the stream without a Terminate", "nothing acknowledged"};

class Coverage {
 public:
  /// `fault`: what is wrong, as the table of faults has it.
  void reacted(std::string_view fault, Reaction reaction) {
    ++reactions_[fault][static_cast<std::size_t>(reaction)];
  }
  [[nodiscard]] std::uint64_t reactions(std::string_view fault, std::size_t reaction) const {
    const auto found = reactions_.find(fault);
    return found == reactions_.end() ? 0 : found->second[reaction];
  }
  void took(Transition transition) { ++taken_[static_cast<std::size_t>(transition)]; }
  [[nodiscard]] std::uint64_t taken(std::size_t transition) const { return taken_[transition]; }
  void add(const Coverage& other) {
    for (std::size_t i = 0; i < taken_.size(); ++i) taken_[i] += other.taken_[i];
    for (const auto& [fault, counts] : other.reactions_)
      for (std::size_t i = 0; i < counts.size(); ++i) reactions_[fault][i] += counts[i];
  }

 private:
  std::array<std::uint64_t, transitions.size()> taken_{};
  std::map<std::string_view, std::array<std::uint64_t, reaction_texts.size()>> reactions_;
};

}  // namespace suite::model
