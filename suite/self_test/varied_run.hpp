// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The deviations of the reference RNIC under lawful variants: a fault of an implementation is noticed
// at its rule whichever permissions it uses as well, except for a list with reasons.
#pragma once

#include <expected>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "suite/self_test/lawful_run.hpp"

namespace suite::self_test {

/// A deviation, or all those of one rule, that go unnoticed wherever a variant is used.
struct Hidden {
  std::string deviation;  ///< a glob over names of deviations or ids of rules
  std::string variant;
  std::string reason;
};

/// Reads `DEVIATION-OR-RULE VARIANT REASON` from each line; `#` begins a comment. The error is one line
/// for each fault.
[[nodiscard]] std::expected<std::vector<Hidden>, std::vector<std::string>> load_hidden(
    const std::filesystem::path& file);

struct VariedPlan {
  runner::WorkerSetup setup;        ///< strict; deviations and variants are filled in
  std::vector<std::string> chosen;  ///< names of deviations; empty: all
  unsigned shard = 1, shards = 1;
  LawfulSet set;  ///< for all of them; empty: one is drawn for each
  unsigned seed = 1;
  std::vector<Hidden> hidden;
};

enum class Noticed : std::uint8_t {
  caught,   ///< a case fails at the rule
  no_case,  ///< no case of the rule applies under these variants, or none passes without deviation
  hidden,   ///< unnoticed, and listed
  unnoticed,  ///< unnoticed, and not listed
};

struct VariedResult {
  const rnic::deviants::DeviationInfo* info = nullptr;
  LawfulSet set;
  Noticed noticed = Noticed::unnoticed;
  std::string reason;  ///< if hidden
};

/// The error is one line: the test bed could not be made.
[[nodiscard]] std::expected<std::vector<VariedResult>, std::string> run_varied(
    const runner::SuiteParts& parts, const VariedPlan& plan,
    const std::function<void(const VariedResult&)>& progress);

}  // namespace suite::self_test
