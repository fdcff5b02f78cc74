// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/stag_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/lower_tester/stag_guess.hpp"

namespace suite::sessions {

void StagWatch::given(std::uint32_t stag) {
  if (freed_ == stag) ++given_again_;
  given_.push_back(stag);
}

std::vector<Found> StagWatch::findings() const {
  std::vector<Found> all;
  for (const auto& found : {predictable(), crowded(), reused()})
    if (found) all.push_back(*found);
  return all;
}

/// The next STag as the one before plus a constant.
std::optional<Found> StagWatch::predictable() const {
  constexpr std::size_t enough = 6;
  if (given_.size() < enough) return std::nullopt;
  const auto [times, step] = lower_tester::guess_by_step(given_);
  const std::size_t all = given_.size() - 1;
  if (times * 2 <= all) return std::nullopt;
  const bool always = times == all;
  std::vector<std::string> rules{"sec.stag.hard-to-predict"};
  if (always) rules.insert(rules.begin(), "rdmap.security.stag-unpredictable");
  return Found{
      .rules = std::move(rules),
      .admissible = "STags that do not follow from the one before",
      .came = fmt::format("{} of {} STags are {:#x} above the one before", times, all, step),
      .advisory = !always};
}

/// Random STags practically never all lie within a sixteenth of the range.
std::optional<Found> StagWatch::crowded() const {
  constexpr std::size_t enough = 10;
  constexpr std::uint32_t sixteenth = 1U << 28;
  if (given_.size() < enough) return std::nullopt;
  const auto [lowest, highest] = std::ranges::minmax(given_);
  if (highest - lowest >= sixteenth) return std::nullopt;
  return Found{
      .rules = {"rdmap.security.stag-sparse"},
      .admissible = "STags from more than a sixteenth of the range",
      .came = fmt::format("{} STags from {:#010x} to {:#010x}", given_.size(), lowest, highest),
      .advisory = true};
}

std::optional<Found> StagWatch::reused() const {
  constexpr std::size_t enough = 2;
  if (given_again_ < enough) return std::nullopt;
  return Found{.rules = {"sec.stag.slow-reuse"},
               .admissible = "an STag that has not just been freed",
               .came = fmt::format("{} regions have the STag that was freed before", given_again_),
               .advisory = true};
}

}  // namespace suite::sessions
