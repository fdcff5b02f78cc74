// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What `rnic-plugfest capture` says of a capture before it sends the frames: a line of JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/record/json_reader.hpp"
#include "base/record/json_writer.hpp"
#include "base/record/table.hpp"

namespace plugfest {

struct CapturedEnd {
  std::uint64_t frames = 0, dropped = 0;
  std::string trouble;
};
constexpr auto table_of(const CapturedEnd*) {
  return base::record::table("captured", base::record::required("frames", &CapturedEnd::frames),
                             base::record::required("dropped", &CapturedEnd::dropped),
                             base::record::required("trouble", &CapturedEnd::trouble));
}

[[nodiscard]] inline std::string text_of(const CapturedEnd& end) {
  return base::record::one_line(base::record::to_json(end));
}
/// Nothing: it is none.
[[nodiscard]] inline std::optional<CapturedEnd> parse_captured_end(std::string_view line) {
  const auto json = base::record::Json::parse(line, nullptr, false);
  CapturedEnd made;
  if (json.is_discarded() || base::record::from_json(json, made)) return std::nullopt;
  return made;
}

}  // namespace plugfest
