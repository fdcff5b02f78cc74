// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/renamed_cases.hpp"

#include <algorithm>
#include <array>

#include "base/glob.hpp"

namespace suite::cases {

namespace {

constexpr RenamedCase table_of_renamed[] = {
#define RNIC_RENAMED_CASE(old_id, id) {old_id, id},
#include "suite/cases/renamed_cases.def"
#undef RNIC_RENAMED_CASE
};

constexpr std::array<std::string_view, 3> variants{"", "@initiator", "@ipv6"};

}  // namespace

std::span<const RenamedCase> renamed_cases() { return table_of_renamed; }

std::string current_id(std::string_view id) {
  const std::string_view plain = id.substr(0, id.find('@'));
  const auto found = std::ranges::find(renamed_cases(), plain, &RenamedCase::old_id);
  if (found == renamed_cases().end()) return std::string(id);
  return std::string(found->id).append(id.substr(plain.size()));
}

std::vector<std::string> current_patterns(const std::string& pattern, std::span<const Case> table) {
  const auto fits = [&](const std::string& id) { return base::matches_glob(pattern, id); };
  if (std::ranges::any_of(table, fits, &Case::id)) return {pattern};
  std::vector<std::string> ids;
  for (const RenamedCase& renamed : renamed_cases())
    for (const std::string_view variant : variants) {
      std::string id = std::string(renamed.id).append(variant);
      if (fits(std::string(renamed.old_id).append(variant)) &&
          std::ranges::find(table, id, &Case::id) != table.end())
        ids.push_back(std::move(id));
    }
  return ids.empty() ? std::vector{pattern} : ids;
}

}  // namespace suite::cases
