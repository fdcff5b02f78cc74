// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A part of a run that several machines share: every count-th of its cases.
#pragma once

#include <cstddef>
#include <expected>
#include <string>

namespace suite::runner {

struct Shard {
  unsigned number = 1, count = 1;  ///< 1 to count

  /// `2/4`; empty text is the whole. The error is one line.
  [[nodiscard]] static std::expected<Shard, std::string> parse(const std::string& text);
  /// Empty if it is the whole.
  [[nodiscard]] std::string text() const;
  /// Neighbours in the table tend to take equally long, so that each shard gets its share of them.
  [[nodiscard]] bool has(std::size_t place) const { return place % count == number - 1; }
  bool operator==(const Shard&) const = default;
};

}  // namespace suite::runner
