// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Files that belong to the suite: expectations, PICS, report templates.
#pragma once

#include <filesystem>
#include <string_view>

namespace base {

/// Where a file or folder is, by its path from the top folder of the sources: there, or below
/// `share/rnic-conformance-suite` beside the program's folder where it is installed without them.
[[nodiscard]] std::filesystem::path shipped_file(std::string_view path);

/// The same for given folders.
[[nodiscard]] std::filesystem::path shipped_file(std::string_view path,
                                                 const std::filesystem::path& sources,
                                                 const std::filesystem::path& program);

}  // namespace base
