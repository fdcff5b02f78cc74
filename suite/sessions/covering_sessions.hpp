// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Sessions in which all pairs, or triples, of values of their dimensions meet: of a stream's
// parameters, of one message or piece of work on it, of what is under way at that time, and of what
// follows. Everything else of a session is drawn.
#pragma once

#include <cstdint>
#include <vector>

#include "suite/sessions/covering_array.hpp"
#include "suite/sessions/session.hpp"

namespace suite::sessions {

class CoveringSessions {
 public:
  /// `strength`: 2 for pairs, 3 for triples.
  explicit CoveringSessions(std::size_t strength);

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  /// `seed`: of what is drawn.
  [[nodiscard]] Session session(std::size_t row, std::uint64_t seed) const;

 private:
  std::vector<CoveringRow> rows_;
};

}  // namespace suite::sessions
