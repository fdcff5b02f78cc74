// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An unknown word, and the one that was probably meant.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace base {

/// How many octets to insert, remove or replace to turn one word into the other.
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// ` (did you mean 'x'?)` for the known word closest to `word`, or nothing if two thirds of no word
/// are the same.
template <std::ranges::input_range Words>
[[nodiscard]] std::string did_you_mean(std::string_view word, Words&& known) {
  std::string best;
  std::size_t least = std::string_view::npos;
  for (const auto& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    const std::size_t length = std::max(word.size(), std::string_view(candidate).size());
    if (distance > length / 3 || distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best.empty() ? "" : " (did you mean '" + best + "'?)";
}

}  // namespace base
