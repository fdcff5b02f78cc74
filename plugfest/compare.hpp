// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `rnic-plugfest diff`: where two runs, of one event or of two states of it, came out differently.
#pragma once

#include <expected>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "plugfest/record.hpp"
#include "suite/jobs/exit_code.hpp"

namespace plugfest {

struct Difference {
  std::string cell;
  std::string before, after;  ///< how it came out; "not played" where a run has no such cell
  std::string reason;         ///< of the run in which it is worse, or the later one; one line
};

/// How the attempt that counts came out, of each cell of a run.
struct Ending {
  std::string how, reason;
  bool bad = false;
};
using Endings = std::map<std::string, Ending>;
void add(Endings& endings, const ListedCell& cell);

/// Cells that came out differently, by their ids. A bad cell that is expected differs from one that
/// is not; one that is listed as intermittent counts as the same whatever its outcome.
[[nodiscard]] std::vector<Difference> differences(const Endings& before, const Endings& after);

/// Of the results in a run's folder, of which one cell at a time is in memory. The error is one line.
[[nodiscard]] std::expected<Endings, std::string> load_endings(const std::filesystem::path& folder);

/// Prints them: `new_failure` if there are any.
[[nodiscard]] suite::jobs::ExitCode compare_runs(const std::filesystem::path& before,
                                                 const std::filesystem::path& after);

}  // namespace plugfest
