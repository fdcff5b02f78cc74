// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <numeric>

#include "base/strict_yaml.hpp"
#include "suite/sessions/session_tables.hpp"

namespace suite::sessions {

namespace {

using base::StrictYaml;
using base::record::Json;

constexpr std::string_view script_prefix = "soak.script.";
/// Stands for / in the id of a script, since an id is also the name of a pcap.
constexpr char separator = ':';

/// Truth values and numbers (decimal, also negative, or 0x...) as such, every other scalar as text.
Json scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (text == "true" || text == "false") return text == "true";
  if (std::uint64_t number = 0; YAML::convert<std::uint64_t>::decode(node, number)) return number;
  if (std::int64_t number = 0; YAML::convert<std::int64_t>::decode(node, number)) return number;
  return text;
}

/// As bits of a step's value.
std::uint64_t rights(StrictYaml& yaml, const YAML::Node& list) {
  std::uint64_t bits = 0;
  if (!list.IsSequence()) yaml.fault(list, "rights must be a list");
  for (const YAML::Node& item : list) {
    const auto right =
        std::ranges::find(all_rights, yaml.text(item, "a right").value_or(""), &Right::name);
    if (right == all_rights.end())
      yaml.fault(item, "there is no such right");
    else
      bits |= right->bit;
  }
  return bits;
}

void take_member(StrictYaml& yaml, Json& made, const std::string& key, const YAML::Node& value) {
  if (value.IsScalar())
    made[key] = scalar(value);
  else
    yaml.fault(value, key + " must be a word or a number");
}

Json stream(StrictYaml& yaml, const YAML::Node& node) {
  Json made = Json::object();
  yaml.each(node, "a stream", [&](const std::string& key, const YAML::Node& value) {
    take_member(yaml, made, key, value);
  });
  return made;
}

Json step(StrictYaml& yaml, const std::string& action, const YAML::Node& node) {
  Json made{{"action", action}};
  const bool is_region = action == name(Action::register_region);
  if (is_region)  // all of them, unless the script says otherwise
    made["value"] =
        std::accumulate(all_rights.begin(), all_rights.end(), std::uint64_t{0},
                        [](std::uint64_t bits, const Right& right) { return bits | right.bit; });
  yaml.each(node, "what a step consists of", [&](const std::string& key, const YAML::Node& value) {
    if (is_region && key == "rights")
      made["value"] = rights(yaml, value);
    else
      take_member(yaml, made, key, value);
  });
  return made;
}

/// `peer_close`, or `peer_write: {length: 8}`.
Json step(StrictYaml& yaml, const YAML::Node& node) {
  if (node.IsScalar()) return step(yaml, node.Scalar(), YAML::Node());
  Json made;
  if (node.IsMap() && node.size() == 1)
    yaml.each(node, "a step", [&](const std::string& action, const YAML::Node& value) {
      made = step(yaml, action, value);
    });
  else
    yaml.fault(node, "a step is `ACTION` or `ACTION: {MEMBER: VALUE, ...}`");
  return made;
}

template <typename Item>
Json list(StrictYaml& yaml, const YAML::Node& node, const char* what, Item&& item) {
  Json made = Json::array();
  if (!node.IsSequence()) {
    yaml.fault(node, std::string(what) + " must be a list");
    return made;
  }
  for (const YAML::Node& each : node) made.push_back(item(each));
  return made;
}

Json session(StrictYaml& yaml, const YAML::Node& script) {
  Json made{{"version", 1}};
  yaml.each(script, "a script", [&](const std::string& key, const YAML::Node& value) {
    if (key == "api")
      take_member(yaml, made, key, value);
    else if (key == "streams")
      made[key] =
          list(yaml, value, "streams", [&](const YAML::Node& each) { return stream(yaml, each); });
    else if (key == "steps")
      made[key] =
          list(yaml, value, "steps", [&](const YAML::Node& each) { return step(yaml, each); });
    else
      yaml.fault_of_key("a script has `streams` and `steps` only, or `api: dat` and `steps`");
  });
  if (!made.contains("steps")) yaml.fault("there are no `steps`");
  if (!made.contains("api") && !made.contains("streams"))
    made["streams"] = Json::array({Json::object()});
  return made;
}

template <typename Enumeration>
std::string words() {
  return fmt::format("  {}\n", fmt::join(names_of(Enumeration{}), "\n  "));
}

}  // namespace

std::expected<std::string, std::string> script_id(const std::filesystem::path& file) {
  std::string path = file.lexically_normal().string();
  const bool plain = std::ranges::all_of(path, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("/._-+").contains(static_cast<char>(c));
  });
  if (!plain)
    return std::unexpected(fmt::format(
        "{}: the path of a script may only have letters, digits and / . _ - +; rename it", path));
  std::ranges::replace(path, '/', separator);
  return fmt::format("{}{}", script_prefix, path);
}

std::optional<std::filesystem::path> script_of(std::string_view id) {
  if (!id.starts_with(script_prefix)) return std::nullopt;
  std::string path(id.substr(script_prefix.size()));
  std::ranges::replace(path, separator, '/');
  return path;
}

std::string defaults_of(const Json& record) {
  std::string text;
  for (const auto& [member, value] : record.items())
    if (member != "action")
      text += fmt::format("  {}: {}\n", member,
                          value.is_string() ? value.get<std::string>() : value.dump());
  return text;
}

std::string script_words() {
  using base::record::to_json;
  std::string rights;
  for (const Right& right : all_rights) rights += fmt::format("  {}\n", right.name);
  return "actions\n" + words<Action>() + "\nmembers of a step\n" + defaults_of(to_json(Step{})) +
         "\nrights of register_region, a list; all of them if it is left out\n" + rights +
         "\nwrong\n" + words<Wrong>() + "\nmembers of a stream\n" +
         defaults_of(to_json(StreamSetup{})) + "\nfault\n" + words<StartupFault>();
}

std::expected<Json, std::string> session_of_script(const std::string& name,
                                                   const std::string& text) {
  StrictYaml yaml(name);
  Json made;
  if (const auto script = yaml.parse(text)) made = session(yaml, *script);
  if (!yaml.faults().empty()) return std::unexpected(yaml.faults().front());
  return made;
}

std::expected<Json, std::string> json_of_session(const std::filesystem::path& file) {
  const auto text = base::read_text(file);
  if (!text) return std::unexpected(text.error().front());
  if (file.extension() == ".yaml") return session_of_script(file.string(), *text);
  Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded()) return std::unexpected(file.string() + " is not JSON");
  return json;
}

}  // namespace suite::sessions
