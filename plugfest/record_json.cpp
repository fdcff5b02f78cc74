// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/record_json.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "base/record/json_reader.hpp"
#include "base/record/json_writer.hpp"
#include "plugfest/expected.hpp"
#include "plugfest/record_tables.hpp"
#include "plugfest/scenarios/scenario.hpp"

namespace plugfest {

namespace {

using nlohmann::json;

ParticipantRecord record_of(const Participant& one) {
  ParticipantRecord made{.name = one.name,
                         .vendor = one.vendor,
                         .alias = one.alias,
                         .agent = agent_kinds.at(one.agent.index()),
                         .deviations = {},
                         .kernel = {}};
  if (const auto* local = std::get_if<LocalReference>(&one.agent))
    made.deviations = local->deviations;
  if (const auto* guest = std::get_if<SiwGuest>(&one.agent)) made.kernel = guest->kernel;
  return made;
}

EventRecord record_of(const Event& event) {
  EventRecord made{.name = event.name,
                   .digest = event.digest,
                   .repeats = event.repeats,
                   .participants = {},
                   .scenarios = {}};
  for (const Participant& one : event.participants) made.participants.push_back(record_of(one));
  for (const std::string& name : event.scenarios) {
    const Scenario* scenario = find_scenario(name);
    made.scenarios.push_back({name, std::string(scenario != nullptr ? scenario->title : "")});
  }
  return made;
}

CellRecord record_of(const json& line) {
  CellRecord record;
  // What a later version adds to the format is ignored.
  if (const auto fault = base::record::from_json(line, record, {.refuse_unknown = false}))
    throw std::runtime_error("a line of cells.ndjson is no record of a cell: " + fault->text);
  return record;
}

}  // namespace

json to_json(const Outcome& outcome) { return base::record::to_json(outcome); }
json to_json(const Event& event) { return base::record::to_json(record_of(event)); }

Tally tally(const Event& event, const std::vector<Cell>& cells, const Journal& journal) {
  Tally result{.cells = cells.size(), .played = 0, .verdicts = {}, .news = {}, .stale = {}};
  std::vector<bool> held(event.expectations.size(), false);
  for (const Cell& cell : cells) {
    if (!journal.has(cell.id)) continue;
    ++result.played;
    const json& record = journal.latest(cell.id);
    const std::string verdict = record.value("verdict", "error");
    ++result.verdicts[verdict_named(verdict).value_or(Verdict::error)];
    const Expectation* expected = expectation_for(event, record);
    if (expected != nullptr)
      held[static_cast<std::size_t>(expected - event.expectations.data())] = true;
    if (is_bad(verdict) && expected == nullptr) result.news.push_back(cell.id);
  }
  if (result.played < result.cells) return result;  // the rest may be what they speak of
  for (std::size_t at = 0; at < held.size(); ++at)
    if (const Expectation& one = event.expectations[at];
        !held[at] && !one.intermittent && one.again == 1)
      result.stale.push_back(fmt::format("line {}: no cell of {} is {} any more ({})", one.line,
                                         one.cells, one.verdict, one.reason));
  return result;
}

json document(const Event& event, const std::vector<Cell>& cells, const Journal& journal,
              bool complete) {
  Document made{.complete = complete,
                .event = record_of(event),
                .summary = tally(event, cells, journal),
                .cells = {},
                .left_out = {}};
  for (const LeftOut& one : left_out_of(event))
    made.left_out.push_back({.id = one.cell.id,
                             .initiator = one.cell.initiator_name,
                             .responder = one.cell.responder_name,
                             .scenario = one.cell.scenario,
                             .reason = one.reason});
  for (const json& line : journal.records()) {
    ListedCell cell{.record = record_of(line),
                    .superseded = &line != &journal.latest(line["id"]),
                    .expected = {},
                    .varies = is_known_to_vary(event, line)};
    if (const Expectation* expected = expectation_for(event, line))
      cell.expected = expected->reason;
    made.cells.push_back(std::move(cell));
  }
  return base::record::to_json(made);
}

}  // namespace plugfest
