// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/expectations/edition.hpp"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "base/record/json_file.hpp"
#include "suite/expectations/version_range.hpp"

namespace suite::expectations {

namespace {

/// A ledger as it is written.
struct Ledger {
  std::string edition;
  std::vector<std::string> rules;
  std::map<std::string, std::vector<std::string>> cases;
};

constexpr auto table_of(const Ledger*) {
  using base::record::required;
  return base::record::table("ledger", required("edition", &Ledger::edition),
                             required("rules", &Ledger::rules), required("cases", &Ledger::cases));
}

}  // namespace

std::optional<std::string> Edition::why_later(const results::CaseRecord& record) const {
  const auto listed = cases.find(record.id);
  if (listed == cases.end()) return fmt::format("edition {} does not have this case yet", name);
  bool broken = false;
  for (const results::ExpectationRecord& one : record.outcome.expectations) {
    if (one.judgement != results::Judgement::fail) continue;
    broken = true;
    if (listed->second.contains(one.rule)) return std::nullopt;
  }
  if (!broken || record.outcome.verdict != results::Verdict::fail) return std::nullopt;
  return fmt::format("in edition {} this case did not judge what it fails for", name);
}

std::optional<std::string> Edition::why_later(const results::FindingRecord& finding) const {
  if (rules.contains(finding.rule)) return std::nullopt;
  return fmt::format("edition {} does not have this rule yet", name);
}

std::expected<Edition, std::string> load_edition(
    const std::filesystem::path& file,
    const std::function<std::string(const std::string&)>& current_id) {
  const auto ledger = base::record::read_file<Ledger>(file, "the ledger of an edition");
  if (!ledger) return std::unexpected(ledger.error());
  Edition edition{
      .name = ledger->edition, .rules = {ledger->rules.begin(), ledger->rules.end()}, .cases = {}};
  for (const auto& [id, rules] : ledger->cases)
    edition.cases[current_id(id)].insert(rules.begin(), rules.end());
  return edition;
}

std::vector<std::string> edition_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder, error))
    if (file.path().extension() == ".json") names.push_back(file.path().stem().string());
  std::ranges::sort(names, [](const std::string& left, const std::string& right) {
    return compare_versions(left, right) < 0;
  });
  return names;
}

}  // namespace suite::expectations
