// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads a record from a file that has one JSON document.
#pragma once

#include <expected>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "base/record/json_reader.hpp"

namespace base::record {

namespace detail {

/// `look` is called by the parser, and may put a fault into `fault`.
template <class T, class Look>
[[nodiscard]] std::expected<T, std::string> read_file(const std::filesystem::path& file,
                                                      const std::string& what,
                                                      const ReadOptions& options, const Look& look,
                                                      std::optional<ReadFault>& fault) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::unexpected(file.string() + " cannot be read");
  const Json json = Json::parse(stream, look, false);
  if (json.is_discarded()) return std::unexpected(file.string() + " is not JSON");
  T read{};
  if (!fault) fault = from_json(json, read, options);
  if (fault) return std::unexpected(file.string() + " is not " + what + ": " + fault->text);
  return read;
}

}  // namespace detail

/// `what` names the record in the error, which is one line: "FILE is not WHAT: member ...".
template <class T>
[[nodiscard]] std::expected<T, std::string> read_file(const std::filesystem::path& file,
                                                      const std::string& what,
                                                      const ReadOptions& options = {}) {
  std::optional<ReadFault> fault;
  return detail::read_file<T>(file, what, options, nullptr, fault);
}

/// The same for a document that is too large to be in memory: the elements of its list `list` are
/// passed to `take`, and the record has none of them.
template <class T, class Element, class Take>
[[nodiscard]] std::expected<T, std::string> read_file(const std::filesystem::path& file,
                                                      const std::string& what,
                                                      const std::string& list, const Take& take,
                                                      const ReadOptions& options = {}) {
  std::string member;  // of the document
  std::optional<ReadFault> fault;
  const auto look = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1) member = parsed.get<std::string>();
    if (event != Json::parse_event_t::object_end || depth != 2 || member != list) return true;
    Element element{};
    const auto wrong = from_json(parsed, element, options);
    if (!wrong) take(std::move(element));
    if (wrong && !fault) fault = wrong;
    return false;
  };
  return detail::read_file<T>(file, what, options, look, fault);
}

}  // namespace base::record
