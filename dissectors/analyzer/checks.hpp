// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The checks of the analyzer: their numbers, the rules that each reports, and sets of them, with
// which a connection reports what was evaluated on its octets.
//
// Each rules file has its checks in a .def file of the same name, one line for each check:
//   ANALYZER_CHECK(name, "rule it reports", "rule that the same fault breaks as well", ...)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rules/rule_id.hpp"

namespace dissectors::analyzer {

enum class Check : std::uint16_t {
#define ANALYZER_CHECK(name, ...) framing_##name,
#include "dissectors/analyzer/framing_rules.def"
#undef ANALYZER_CHECK
#define ANALYZER_CHECK(name, ...) startup_##name,
#include "dissectors/analyzer/startup_rules.def"
#undef ANALYZER_CHECK
#define ANALYZER_CHECK(name, ...) ddp_##name,
#include "dissectors/analyzer/ddp_rules.def"
#undef ANALYZER_CHECK
#define ANALYZER_CHECK(name, ...) rdmap_##name,
#include "dissectors/analyzer/rdmap_rules.def"
#undef ANALYZER_CHECK
#define ANALYZER_CHECK(name, ...) atomic_##name,
#include "dissectors/analyzer/atomic_rules.def"
#undef ANALYZER_CHECK
#define ANALYZER_CHECK(name, ...) terminate_##name,
#include "dissectors/analyzer/terminate_rules.def"
#undef ANALYZER_CHECK
  count
};
inline constexpr std::size_t check_count = static_cast<std::size_t>(Check::count);

/// One check: the rule that it reports comes first, after it those that the same fault breaks.
struct Statement {
  Check check{};
  std::span<const rules::RuleId> ids;
};

/// Makes the Statement of one line of a .def file. `family` is the first part of the file's name.
#define ANALYZER_STATEMENT(family, name, ...)                   \
  inline constexpr ::rules::RuleId name##_rules[]{__VA_ARGS__}; \
  inline constexpr Statement name{Check::family##_##name, name##_rules};

class CheckSet {
 public:
  template <typename... Statements>
  constexpr void add(const Statements&... statements) {
    (add(statements.check), ...);
  }
  constexpr void add(Check check) {
    words_[index(check) / width] |= std::uint64_t{1} << index(check) % width;
  }
  constexpr void add(const CheckSet& others) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= others.words_[i];
  }
  [[nodiscard]] constexpr bool contains(Check check) const {
    return (words_[index(check) / width] >> index(check) % width & 1U) != 0;
  }

 private:
  static constexpr std::size_t width = 64;
  [[nodiscard]] static constexpr std::size_t index(Check check) {
    return static_cast<std::size_t>(check);
  }
  std::array<std::uint64_t, (check_count + width - 1) / width> words_{};
};

/// The checks that were evaluated on what each end of a connection sent: computed on octets that
/// could have failed them.
using JudgedChecks = std::array<CheckSet, 2>;

}  // namespace dissectors::analyzer
