// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/lint/output_file.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace dissectors::lint {

namespace {

std::unexpected<std::string> cannot_write(const std::string& path, int fault) {
  return std::unexpected(
      fmt::format("cannot write {}: {}", path, std::generic_category().message(fault)));
}

}  // namespace

std::expected<OutputFile, std::string> OutputFile::open(const std::string& path, Mode mode) {
  std::FILE* file = std::fopen(path.c_str(), mode == Mode::fresh ? "wbe" : "abe");
  if (file == nullptr) return cannot_write(path, errno);
  return OutputFile(path, file);
}

void OutputFile::write(std::span<const std::byte> octets) {
  if (fault_ == 0 && std::fwrite(octets.data(), 1, octets.size(), file_.get()) != octets.size())
    fault_ = errno;
}

std::expected<void, std::string> OutputFile::close() {
  if (std::fclose(file_.release()) != 0 && fault_ == 0) fault_ = errno;
  if (fault_ != 0) return cannot_write(path_, fault_);
  return {};
}

}  // namespace dissectors::lint
