// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/lint/wording.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "rules/catalogue.hpp"

namespace dissectors::lint {

std::string describe_direction(const analyzer::Connection& connection,
                               analyzer::Direction direction) {
  return fmt::format("{} > {}", connection.sender(direction).text(),
                     connection.sender(analyzer::opposite(direction)).text());
}

std::string describe_rule(std::string_view id) {
  const rules::Rule* rule = rules::find(id);
  if (rule == nullptr) return "not in the catalogue";
  std::string level(rules::name(rule->level));
  std::ranges::transform(level, level.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format("RFC {} section {}, {}", rule->rfc, rule->section, level);
}

std::uint32_t frame_of(const Record& record, const analyzer::Place& place) {
  if (place.last_frame != 0) return place.last_frame;
  return place.first_frame != 0 ? place.first_frame : record.frame;
}

std::string describe_frames(const Record& record, const analyzer::Place& place) {
  const std::uint32_t last = frame_of(record, place);
  if (place.first_frame == 0 || place.first_frame == last) return fmt::format("frame {}", last);
  return fmt::format("frames {} to {}", place.first_frame, last);
}

std::string describe_violation(const Violation& violation) {
  const analyzer::Finding& found = violation.finding;
  return fmt::format("{} ({}): came {}; admissible: {}{}", found.rule.id,
                     describe_rule(found.rule.id), found.actual, found.admissible,
                     found.certainty == analyzer::Certainty::likely ? " (likely)" : "");
}

std::string describe_tear(const capture::Tear& tear) {
  return fmt::format("octet {} of the file, after frame {}: {}", tear.offset, tear.frames,
                     tear.reason);
}

}  // namespace dissectors::lint
