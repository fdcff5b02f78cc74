// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads the results of a run that is over, such as a baseline or a shard, wherever they were kept.
#pragma once

#include <filesystem>

#include "suite/results/record.hpp"
#include "suite/results/run_folder.hpp"

namespace suite::results {

/// The document of a folder (its results.json, or its journal if the run was killed) or of one file
/// of these two kinds. The error is one line that names the file.
[[nodiscard]] Result<Document> read_document(const std::filesystem::path& path);

}  // namespace suite::results
