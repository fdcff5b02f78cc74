// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a check reports when it finds a fault, and how: findings and notes for a Reporter.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "dissectors/analyzer/checks.hpp"
#include "dissectors/analyzer/message_tracker.hpp"

namespace dissectors::analyzer {

/// An array with one element for each end of a connection.
[[nodiscard]] constexpr std::size_t index_of(Direction direction) {
  return direction == Direction::from_first ? 0 : 1;
}

/// The input of a check: one segment in its FPDU.
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
  Findings(Reporter& reporter, JudgedChecks& judged) : reporter_(&reporter), judged_(&judged) {}
  /// These checks were evaluated on what this end sent.
  template <typename... Statements>
  void judged(Direction direction, const Statements&... statements) const {
    (*judged_)[index_of(direction)].add(statements...);
  }
  void raise(const Statement& statement, const Place& place, Certainty certainty,
             std::string actual, std::string admissible) const {
    judged(place.direction, statement);
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
  JudgedChecks* judged_;
};

}  // namespace dissectors::analyzer
