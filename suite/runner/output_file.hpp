// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The output file of a command, which the user names: checked before the work, written after it.
#pragma once

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace suite::runner {

/// Why the file cannot be written, in one line; nothing if it probably can.
[[nodiscard]] std::optional<std::string> output_file_fault(const std::filesystem::path& file);
/// Writes the whole file. If that fails, a file that did not exist before does not exist after it.
[[nodiscard]] std::expected<void, std::string> write_output_file(const std::filesystem::path& file,
                                                                 std::string_view text);

}  // namespace suite::runner
