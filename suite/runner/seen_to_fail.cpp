// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/seen_to_fail.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

namespace suite::runner {

SeenToFail load_seen_to_fail(const std::filesystem::path& file) {
  std::ifstream stream(file);
  const auto matrix = nlohmann::json::parse(stream, nullptr, false);
  if (!matrix.is_object()) return {};
  const auto list = matrix.find("seen_to_fail_by");
  if (list == matrix.end() || !list->is_object()) return {};
  SeenToFail seen;
  for (const auto& [id, deviations] : list->items()) {
    if (deviations.is_array()) seen[id] = deviations.get<std::vector<std::string>>();
  }
  return seen;
}

}  // namespace suite::runner
