// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The known issues that a run is compared with: their file, and the draft of another one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "suite/expectations/expectations_file.hpp"
#include "suite/results/record.hpp"
#include "suite/runner/earlier_run.hpp"
#include "suite/runner/options.hpp"
#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

/// The file asked for, or the IUT's own if there is one; empty: neither.
[[nodiscard]] std::filesystem::path expectations_path(const Options& options);
/// What it lists; nothing where the path is empty. Prints the file's notices.
[[nodiscard]] Checked<expectations::KnownIssues> load_expectations(
    const SuiteParts& parts, const std::filesystem::path& path);
/// Why --write-expectations must not write there; nothing if it may.
[[nodiscard]] std::optional<std::string> draft_fault(const Options& options);
/// Writes the draft that --write-expectations asks for. False: that failed, and was reported.
[[nodiscard]] bool write_draft(const Options& options, const results::Document& document);

}  // namespace suite::runner
