// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rows are made one by one (the greedy way of AETG): each begins with a combination that is not
// covered yet, and takes for each further factor the value that covers most.
#include "suite/sessions/covering_array.hpp"

#include <algorithm>
#include <cassert>
#include <optional>

namespace suite::sessions {

namespace {

/// While a row is made, some of its factors have no value yet.
using PartialRow = std::vector<std::optional<std::uint32_t>>;

/// Which combinations of the values of some factors are covered.
class Combination {
 public:
  Combination(std::vector<std::size_t> factors, std::span<const std::uint32_t> sizes)
      : factors_(std::move(factors)) {
    std::size_t all = 1;
    for (const std::size_t factor : factors_) all *= sizes[factor];
    covered_.assign(all, false);
    left_ = all;
    for (const std::size_t factor : factors_) sizes_.push_back(sizes[factor]);
  }

  [[nodiscard]] std::size_t left() const { return left_; }
  [[nodiscard]] const std::vector<std::size_t>& factors() const { return factors_; }

  /// All its factors have values, and these are not covered.
  [[nodiscard]] bool is_open(const PartialRow& row) const {
    const auto at = place(row);
    return at && !covered_[*at];
  }
  void cover(const PartialRow& row) {
    const std::size_t at = *place(row);
    if (!covered_[at]) --left_;
    covered_[at] = true;
  }
  /// Sets its factors to the first values that are not covered.
  void begin(PartialRow& row) {
    while (covered_[first_]) ++first_;
    std::size_t rest = first_;
    for (std::size_t i = factors_.size(); i-- > 0;) {
      row[factors_[i]] = static_cast<std::uint32_t>(rest % sizes_[i]);
      rest /= sizes_[i];
    }
  }

 private:
  [[nodiscard]] std::optional<std::size_t> place(const PartialRow& row) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      const auto& value = row[factors_[i]];
      if (!value) return std::nullopt;
      at = at * sizes_[i] + *value;
    }
    return at;
  }

  std::vector<std::size_t> factors_;
  std::vector<std::size_t> sizes_;
  std::vector<bool> covered_;
  std::size_t left_ = 0, first_ = 0;
};

/// All subsets of `strength` factors.
std::vector<Combination> combinations(std::span<const std::uint32_t> sizes, std::size_t strength) {
  std::vector<Combination> all;
  std::vector<bool> chosen(sizes.size(), false);
  std::fill_n(chosen.begin(), strength, true);
  do {
    std::vector<std::size_t> factors;
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (chosen[i]) factors.push_back(i);
    all.emplace_back(std::move(factors), sizes);
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  return all;
}

class Builder {
 public:
  Builder(std::span<const std::uint32_t> sizes, std::size_t strength)
      : sizes_(sizes), all_(combinations(sizes, strength)), of_factor_(sizes.size()) {
    for (Combination& each : all_)
      for (const std::size_t factor : each.factors()) of_factor_[factor].push_back(&each);
  }

  std::vector<CoveringRow> build() {
    std::vector<CoveringRow> rows;
    while (true) {
      const auto most = std::ranges::max_element(all_, {}, &Combination::left);
      if (most->left() == 0) return rows;
      rows.push_back(next(*most, rows.size()));
    }
  }

 private:
  CoveringRow next(Combination& begun_with, std::size_t number) {
    PartialRow row(sizes_.size());
    begun_with.begin(row);
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const std::size_t factor = (number + i) % sizes_.size();
      if (!row[factor]) row[factor] = best(row, factor, number);
    }
    for (Combination& each : all_) each.cover(row);
    CoveringRow values;
    for (const auto& value : row) values.push_back(*value);
    return values;
  }

  /// Of values that cover equally much, another one in each row.
  std::uint32_t best(PartialRow& row, std::size_t factor, std::size_t number) const {
    std::uint32_t best = 0;
    std::ptrdiff_t most = -1;
    for (std::uint32_t i = 0; i < sizes_[factor]; ++i) {
      const auto value = static_cast<std::uint32_t>((number + i) % sizes_[factor]);
      row[factor] = value;
      const auto covers = std::ranges::count_if(
          of_factor_[factor], [&](const Combination* each) { return each->is_open(row); });
      if (covers <= most) continue;
      most = covers;
      best = value;
    }
    return best;
  }

  std::span<const std::uint32_t> sizes_;
  std::vector<Combination> all_;
  std::vector<std::vector<const Combination*>> of_factor_;
};

}  // namespace

std::vector<CoveringRow> covering_array(std::span<const std::uint32_t> sizes,
                                        std::size_t strength) {
  assert(strength > 0 && strength <= sizes.size());
  return Builder(sizes, strength).build();
}

}  // namespace suite::sessions
