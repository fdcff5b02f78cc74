// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads a record from a file that has one JSON document.
#pragma once

#include <expected>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/record/json_reader.hpp"

namespace base::record {

/// `what` names the record in the error, which is one line: "FILE is not WHAT: member ...".
template <class T>
[[nodiscard]] std::expected<T, std::string> read_file(const std::filesystem::path& file,
                                                      const std::string& what,
                                                      const ReadOptions& options = {}) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::unexpected(file.string() + " cannot be read");
  const Json json = Json::parse(stream, nullptr, false);
  if (json.is_discarded()) return std::unexpected(file.string() + " is not JSON");
  T read{};
  if (const auto fault = from_json(json, read, options))
    return std::unexpected(file.string() + " is not " + what + ": " + fault->text);
  return read;
}

}  // namespace base::record
