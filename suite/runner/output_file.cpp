// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/output_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace suite::runner {

namespace fs = std::filesystem;

namespace {

std::string cannot_write(const fs::path& path, int code) {
  return fmt::format("cannot write {}: {}", path.string(), std::generic_category().message(code));
}

}  // namespace

std::optional<std::string> output_file_fault(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error))
    return fmt::format("cannot write {}: it is a folder; name a file", file.string());
  const fs::path place = fs::exists(file, error)
                             ? file
                             : (file.has_parent_path() ? file.parent_path() : fs::path("."));
  const int wanted = place == file ? W_OK : W_OK | X_OK;
  if (::access(place.c_str(), wanted) == 0) return std::nullopt;
  return cannot_write(file, errno);
}

std::expected<void, std::string> write_output_file(const fs::path& file, std::string_view text) {
  std::error_code error;
  const bool was_there = fs::exists(file, error);
  std::ofstream stream(file);
  stream << text;
  stream.close();
  if (stream) return {};
  const int code = errno;
  if (!was_there) fs::remove(file, error);
  return std::unexpected(cannot_write(file, code));
}

}  // namespace suite::runner
