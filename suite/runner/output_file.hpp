// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A file that the user names for what a command makes: looked at before the work, written after it.
#pragma once

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace suite::runner {

/// Why the file cannot be written, in one line; nothing if it can, as far as one can see.
[[nodiscard]] std::optional<std::string> output_file_fault(const std::filesystem::path& file);
/// Writes the file whole. Where that fails, a file that was not there before is not there after.
[[nodiscard]] std::expected<void, std::string> write_output_file(const std::filesystem::path& file,
                                                                 std::string_view text);

}  // namespace suite::runner
