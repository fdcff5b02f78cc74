// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a check reports when it finds a fault, and how: findings and notes for a Reporter.
//
// Each rules file has its statements in a .def file beside it, one line for one check:
//   ANALYZER_CHECK(name, "rule it reports", "rule that the same fault breaks as well", ...)
// Included once it makes the constants that the checks use, included again the list of the rules
// that are checked.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "dissectors/analyzer/message_tracker.hpp"

namespace dissectors::analyzer {

/// One check: the rule that it reports comes first, after it those that the same fault breaks.
struct Statement {
  std::span<const rules::RuleId> ids;
};

#define ANALYZER_STATEMENT(name, ...)                           \
  inline constexpr ::rules::RuleId name##_rules[]{__VA_ARGS__}; \
  inline constexpr Statement name{name##_rules};

/// What a check looks at: one segment as it stands in its FPDU.
struct Incoming {
  const FpduSeen& fpdu;
  const rnic::wire::Segment& segment;
  /// Of the payload on the wire; the segment has less where the capture cut the frame.
  std::uint32_t payload_length = 0;
  [[nodiscard]] Direction direction() const { return fpdu.place.direction; }
  [[nodiscard]] bool whole() const { return segment.payload.size() == payload_length; }
};

/// Gives the results of checks the form that a Reporter takes.
class Findings {
 public:
  explicit Findings(Reporter& reporter) : reporter_(&reporter) {}
  void raise(const Statement& statement, const Place& place, Certainty certainty,
             std::string actual, std::string admissible) const {
    reporter_->finding({.rule = statement.ids.front(),
                        .place = place,
                        .actual = std::move(actual),
                        .admissible = std::move(admissible),
                        .certainty = certainty,
                        .also = statement.ids.subspan(1)});
  }
  /// The segment itself is what came.
  void raise(const Statement& statement, const Incoming& incoming, std::string admissible) const;
  void note(NoteKind kind, const Place& place, std::string text) const {
    reporter_->note({.kind = kind, .place = place, .text = std::move(text)});
  }

 private:
  Reporter* reporter_;
};

/// An array with one element for each end of a connection.
[[nodiscard]] constexpr std::size_t index_of(Direction direction) {
  return direction == Direction::from_first ? 0 : 1;
}

}  // namespace dissectors::analyzer
