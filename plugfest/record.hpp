// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The records of a plugfest: reports/schema/plugfest-2.schema.json as C++ values, member by member.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugfest/verdict.hpp"
#include "suite/results/record.hpp"
#include "suite/results/run_folder.hpp"

namespace plugfest {

/// Of the document.
inline constexpr int format_version = 2;

struct ParticipantRecord {
  std::string name, vendor, alias;
  /// What kind of agent.
  std::string agent;
  std::optional<std::vector<std::string>> deviations;
  /// Of a siw-vm.
  std::optional<std::string> kernel;
  /// SHA-256 of what its results depend on: all that the event file says but its vendor, alias and
  /// place.
  std::string digest;
};

struct ScenarioRecord {
  std::string name, title;
};

struct EventRecord {
  std::string name, digest;
  int repeats = 1;
  std::vector<ParticipantRecord> participants;
  std::vector<ScenarioRecord> scenarios;
};

/// One attempt at a cell, as the journal has it.
struct CellRecord {
  std::string id, initiator, responder, scenario;
  int repeat = 1, attempt = 1;
  Outcome outcome;
};

/// What a run keeps of an attempt in memory; the rest is in the journal.
struct CellOutline {
  std::string id;
  int attempt = 1;
  Verdict verdict = Verdict::error;
  bool advisory = false;
  std::optional<Side> absent;
  std::string reason;
  suite::results::LinePlace place;  ///< in the journal
};
[[nodiscard]] CellOutline outline_of(const CellRecord& record);

/// The same in the document, beside the other attempts and what the organiser expects.
struct ListedCell {
  CellRecord record;
  suite::results::Gate gate;
  /// An expectation lists several outcomes, and this cell has one of them.
  bool varies = false;
};

struct LeftOutRecord {
  std::string id, initiator, responder, scenario, reason;
};

/// How a run compares with what was expected of it.
struct Tally {
  /// Of all cells of the event, and of those that have a verdict.
  std::size_t cells = 0, played = 0;
  std::map<Verdict, std::size_t> verdicts;
  /// Of those that pass.
  std::size_t advisories = 0;
  /// Cells whose verdict is bad and not expected.
  std::vector<std::string> new_failures;
  /// Expectations that hold for no cell, one line each.
  std::vector<std::string> stale;
};

/// One line of the journal of an event: one of these.
struct JournalLine {
  std::optional<EventRecord> run{};
  std::optional<CellRecord> attempt{};
  std::optional<Tally> end{};
};

struct Document {
  bool complete = false;
  EventRecord event;
  Tally summary;
  /// Written and read one by one.
  std::vector<ListedCell> cells;
  std::vector<LeftOutRecord> left_out;
};

}  // namespace plugfest
