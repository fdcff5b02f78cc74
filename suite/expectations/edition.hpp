// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An edition of the suite: the cases and rules that it had when it was published. A gate that holds
// an edition does not turn red by what later ones judge, until its owner moves on.
#pragma once

#include <expected>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "suite/results/record.hpp"

namespace suite::expectations {

struct Edition {
  std::string name;
  std::set<std::string> rules;
  /// By case id: the rules that the case judged.
  std::map<std::string, std::set<std::string>> cases;

  /// Why this failure belongs to a later edition; nothing if it does not: the case is of this one and
  /// broke a rule that it judged then, or has no verdict.
  [[nodiscard]] std::optional<std::string> why_later(const results::CaseRecord& record) const;
  [[nodiscard]] std::optional<std::string> why_later(const results::FindingRecord& finding) const;
};

/// The contents of a ledger (suite/editions/*.json; tools/freeze_edition writes them). The error is
/// one line. `current_id` gives the present id of a case that may have been renamed.
[[nodiscard]] std::expected<Edition, std::string> load_edition(
    const std::filesystem::path& file,
    const std::function<std::string(const std::string&)>& current_id);

/// The published editions in a folder of ledgers, the oldest first.
[[nodiscard]] std::vector<std::string> edition_names(const std::filesystem::path& folder);

}  // namespace suite::expectations
