// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/strict_yaml.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>

namespace base {

std::optional<YAML::Node> StrictYaml::parse(const std::string& text) {
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    fault(error.mark, "this is not YAML: " + error.msg);
    return std::nullopt;
  }
}

void StrictYaml::each(const YAML::Node& mapping, std::string_view what,
                      const std::function<void(const std::string&, const YAML::Node&)>& take) {
  if (mapping.IsNull()) return;  // a heading with nothing under it
  if (!mapping.IsMap())
    return fault(mapping, fmt::format("{} must be a mapping of keys to values", what));
  std::set<std::string> seen;
  for (const auto& entry : mapping) {
    if (!entry.first.IsScalar()) {
      fault(entry.first, "a key must be a word");
      continue;
    }
    const auto& key = entry.first.Scalar();
    key_ = entry.first.Mark();
    if (!seen.insert(key).second)
      fault(entry.first, fmt::format("\"{}\" is there twice", key));
    else
      take(key, entry.second);
  }
}

std::optional<std::string> StrictYaml::text(const YAML::Node& value, std::string_view key) {
  if (value.IsScalar()) return value.Scalar();
  fault(value, fmt::format("{} must be a text", key));
  return std::nullopt;
}

std::optional<std::int64_t> StrictYaml::integer(const YAML::Node& value, std::string_view key,
                                                std::int64_t low, std::int64_t high) {
  std::int64_t number = 0;
  const std::string digits = value.IsScalar() ? value.Scalar() : std::string();
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (!digits.empty() && error == std::errc() && stop == end && low <= number && number <= high)
    return number;
  fault(value, fmt::format("{} must be an integer from {} to {}", key, low, high));
  return std::nullopt;
}

std::optional<double> StrictYaml::number(const YAML::Node& value, std::string_view key, double low,
                                         double high) {
  double number = 0;
  const std::string digits = value.IsScalar() ? value.Scalar() : std::string();
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (!digits.empty() && error == std::errc() && stop == end && low <= number && number <= high)
    return number;
  fault(value, fmt::format("{} must be a number from {} to {}", key, low, high));
  return std::nullopt;
}

void StrictYaml::fault(const YAML::Node& at, const std::string& what) {
  fault(at.IsNull() ? key_ : at.Mark(), what);
}

void StrictYaml::fault(const YAML::Mark& mark, const std::string& what) {
  if (mark.is_null()) return fault(what);
  fault(mark.line + 1, what);
}

void StrictYaml::fault(int line, const std::string& what) {
  faults_.push_back(fmt::format("{}:{}: {}", name_, line, what));
}

std::expected<std::string, Faults> read_text(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    return std::unexpected(Faults{fmt::format("cannot read {}: it is a folder", file.string())});
  constexpr std::size_t most = std::size_t{16} << 20;  // a device has no end
  std::ifstream in(file);
  std::string text(most + 1, '\0');
  if (!in || (!in.read(text.data(), static_cast<std::streamsize>(text.size())) && !in.eof()))
    return std::unexpected(
        Faults{fmt::format("cannot read {}: {}", file.string(), std::strerror(errno))});
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > most)
    return std::unexpected(
        Faults{fmt::format("cannot read {}: it is larger than {} octets", file.string(), most)});
  return text;
}

}  // namespace base
