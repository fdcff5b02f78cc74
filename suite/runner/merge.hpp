// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Makes one run of the shards that several machines have run.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "suite/jobs/exit_code.hpp"
#include "suite/runner/options.hpp"
#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

/// Writes the merged run into `--out`, with all pcaps, and makes its reports. The exit code is that of
/// the whole run. Shards that are missing, given twice, or of different runs are refused.
[[nodiscard]] jobs::ExitCode merge_shards(const SuiteParts& parts, const Options& options,
                                          const std::vector<std::string>& command);

}  // namespace suite::runner
