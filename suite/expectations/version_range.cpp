// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/expectations/version_range.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include <fmt/format.h>

namespace suite::expectations {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::vector<std::uint64_t> numbers(std::string_view version) {
  std::vector<std::uint64_t> list;
  while (!version.empty() && is_digit(version.front())) {
    std::uint64_t number = 0;
    const auto [end, error] =
        std::from_chars(version.data(), version.data() + version.size(), number);
    if (error != std::errc()) break;
    list.push_back(number);
    version.remove_prefix(static_cast<std::size_t>(end - version.data()));
    if (version.empty() || version.front() != '.') break;
    version.remove_prefix(1);
  }
  return list;
}

}  // namespace

std::strong_ordering compare_versions(std::string_view left, std::string_view right) {
  const auto a = numbers(left), b = numbers(right);
  return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
}

std::expected<VersionRange, std::string> VersionRange::parse(std::string_view text) {
  VersionRange range;
  if (text == "any") return range;
  std::istringstream parts{std::string(text)};
  for (std::string part; std::getline(parts, part, ',');) {
    auto condition = parse_condition(part);
    if (!condition) return std::unexpected(condition.error());
    range.conditions_.push_back(*condition);
  }
  if (range.conditions_.empty()) return std::unexpected("empty; write `any` for every version");
  return range;
}

std::expected<VersionRange::Condition, std::string> VersionRange::parse_condition(
    std::string_view text) {
  using namespace std::string_view_literals;
  constexpr std::array fields{std::pair{"kernel"sv, &Versions::kernel},
                              std::pair{"firmware"sv, &Versions::firmware},
                              std::pair{"driver_version"sv, &Versions::driver_version}};
  constexpr std::array relations{
      std::pair{"=="sv, Relation::equal}, std::pair{"<"sv, Relation::less},
      std::pair{"<="sv, Relation::at_most}, std::pair{">"sv, Relation::more},
      std::pair{">="sv, Relation::at_least}};
  std::istringstream words{std::string(text)};
  std::string field, relation, version, rest;
  words >> field >> relation >> version >> rest;
  const auto found_field =
      std::ranges::find(fields, field, [](const auto& entry) { return entry.first; });
  if (found_field == fields.end()) {
    return std::unexpected(fmt::format("'{}' is none of kernel, firmware, driver_version", field));
  }
  const auto found_relation =
      std::ranges::find(relations, relation, [](const auto& entry) { return entry.first; });
  if (found_relation == relations.end())
    return std::unexpected(fmt::format("'{}' is none of == < <= > >=", relation));
  if (version.empty() || !is_digit(version.front()))
    return std::unexpected(fmt::format("'{}' is no version", version));
  if (!rest.empty())
    return std::unexpected(
        fmt::format("'{}' is too much; conditions are separated by commas", rest));
  return Condition{found_field->second, found_relation->second, version};
}

bool VersionRange::holds(const Versions& versions) const {
  return std::ranges::all_of(
      conditions_, [&](const Condition& condition) { return holds(condition, versions); });
}

bool VersionRange::holds(const Condition& condition, const Versions& versions) {
  const auto order = compare_versions(versions.*condition.field, condition.version);
  switch (condition.relation) {
    case Relation::equal:
      return order == 0;
    case Relation::less:
      return order < 0;
    case Relation::at_most:
      return order <= 0;
    case Relation::more:
      return order > 0;
    case Relation::at_least:
      return order >= 0;
  }
  return false;
}

}  // namespace suite::expectations
