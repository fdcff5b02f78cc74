// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lower_tester/stag_guess.hpp"

#include <algorithm>
#include <map>

namespace suite::lower_tester {

namespace {

constexpr std::uint32_t key_mask = 0xFF;

/// How often each value came.
using Counts = std::map<std::uint32_t, std::size_t>;

StagGuess most_frequent(const Counts& counts) {
  const auto found = std::ranges::max_element(counts, {}, &Counts::value_type::second);
  return found == counts.end() ? StagGuess{} : StagGuess{found->second, found->first};
}

}  // namespace

StagGuess guess_by_step(std::span<const std::uint32_t> stags) {
  Counts steps;
  for (std::size_t i = 1; i < stags.size(); ++i) ++steps[stags[i] - stags[i - 1]];
  return most_frequent(steps);
}

StagGuess guess_key_by_index(std::span<const std::uint32_t> stags) {
  Counts keys;
  for (const std::uint32_t stag : stags) ++keys[stag & key_mask];
  if (most_frequent(keys).hits > stags.size() / 4) return {};
  StagGuess best;
  for (const unsigned shift : {8U, 16U, 24U}) {
    Counts differences;
    for (const std::uint32_t stag : stags) ++differences[(stag - (stag >> shift)) & key_mask];
    const StagGuess guess = most_frequent(differences);
    if (guess.hits > best.hits) best = guess;
  }
  return best;
}

}  // namespace suite::lower_tester
