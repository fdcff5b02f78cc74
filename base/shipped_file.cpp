// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/shipped_file.hpp"

#include <system_error>

namespace base {

namespace fs = std::filesystem;

fs::path shipped_file(std::string_view path) {
  std::error_code error;
  return shipped_file(path, RNIC_SOURCE_DIR, fs::read_symlink("/proc/self/exe", error));
}

fs::path shipped_file(std::string_view path, const fs::path& sources, const fs::path& program) {
  std::error_code error;
  if (fs::is_directory(sources, error)) return sources / path;
  return program.parent_path().parent_path() / "share/rnic-conformance-suite" / path;
}

}  // namespace base
