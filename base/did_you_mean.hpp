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

/// How many octets to insert, remove, replace or exchange with the next to turn one word into the
/// other.
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above, row(b.size() + 1);  // of the rows up to here
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
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
