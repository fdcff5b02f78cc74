// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/session_file.hpp"

#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/std.h>
#include <yaml-cpp/yaml.h>

#include "base/line_file.hpp"
#include "base/record/json_reader.hpp"
#include "suite/sessions/session_tables.hpp"

namespace suite::sessions {

namespace {

using base::record::Json;

/// Numbers and truth values as such, all other scalars as text.
Json scalar(const YAML::Node& node) {
  if (bool truth = false; YAML::convert<bool>::decode(node, truth)) return truth;
  if (std::uint64_t number = 0; YAML::convert<std::uint64_t>::decode(node, number)) return number;
  return node.Scalar();
}

// NOLINTNEXTLINE(misc-no-recursion): yaml-cpp has bounded the depth when it parsed.
Json value(const YAML::Node& node) {
  if (node.IsScalar()) return scalar(node);
  if (node.IsNull()) return Json::object();
  Json made = node.IsSequence() ? Json::array() : Json::object();
  if (node.IsSequence())
    for (const auto& item : node) made.push_back(value(item));
  if (node.IsMap())
    for (const auto& item : node) made[item.first.Scalar()] = value(item.second);
  return made;
}

/// `peer_close`, and `peer_write: {length: 8}`, for `{action: peer_write, length: 8}`.
Json step(const YAML::Node& node) {
  if (node.IsScalar()) return {{"action", node.Scalar()}};
  if (!node.IsMap() || node.size() != 1 || node["action"]) return value(node);
  Json made = value(node.begin()->second);
  if (made.is_object()) made["action"] = node.begin()->first.Scalar();
  return made;
}

/// A script as the JSON of the session that it is; discarded if it is not YAML.
Json script_as_json(const std::string& text) {
  constexpr std::size_t longest = std::size_t{1} << 20;
  if (text.size() > longest) return Json(Json::value_t::discarded);
  try {
    const YAML::Node script = YAML::Load(text);
    Json made = value(script);
    if (!made.is_object()) return Json(Json::value_t::discarded);
    made["version"] = 1;
    if (!made.contains("streams")) made["streams"] = Json::array({Json::object()});
    made["steps"] = Json::array();
    for (const auto& item : script["steps"]) made["steps"].push_back(step(item));
    return made;
  } catch (const YAML::Exception&) {
    return Json(Json::value_t::discarded);
  }
}

}  // namespace

std::expected<void, std::string> write_session(const std::filesystem::path& file,
                                               const SessionFile& session) {
  const std::string text = base::record::to_json(session).dump(1) + "\n";
  if (const int error = base::replace_file(file, text); error != 0)
    return std::unexpected(fmt::format("{}: {}", file.string(), std::strerror(error)));
  return {};
}

std::expected<SessionFile, std::string> read_session(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  if (!input) return std::unexpected(fmt::format("{} cannot be read", file.string()));
  const std::string text{std::istreambuf_iterator<char>(input), {}};
  const bool is_script = file.extension() == ".yaml";
  const auto json = is_script ? script_as_json(text) : Json::parse(text, nullptr, false);
  if (json.is_discarded())
    return std::unexpected(
        fmt::format("{} is not {}", file.string(), is_script ? "YAML of a script" : "JSON"));
  SessionFile session;
  if (const auto fault = base::record::from_json(json, session))
    return std::unexpected(fmt::format("{}: {}", file.string(), fault->text));
  if (session.session.streams.empty() || session.session.streams.size() > most_streams)
    return std::unexpected(
        fmt::format("{}: a session has 1 to {} streams", file.string(), most_streams));
  return session;
}

}  // namespace suite::sessions
