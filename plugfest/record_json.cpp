// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/record_json.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "plugfest/gate.hpp"
#include "plugfest/record_tables.hpp"
#include "plugfest/scenarios/scenario.hpp"

namespace plugfest {

namespace {

static_assert(agent_kinds.size() == std::variant_size_v<AgentKind>);

ParticipantRecord record_of(const Participant& one) {
  ParticipantRecord made{.name = one.name,
                         .vendor = one.vendor,
                         .alias = one.alias,
                         .agent = agent_kinds.at(one.agent.index()),
                         .deviations = {},
                         .kernel = {},
                         .digest = one.digest};
  if (const auto* local = std::get_if<LocalReference>(&one.agent))
    made.deviations = local->deviations;
  if (const auto* guest = std::get_if<SiwGuest>(&one.agent)) made.kernel = guest->kernel;
  return made;
}

}  // namespace

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

/// The expectations that no cell of the event needs any more. While a cell has no verdict it may be
/// what they speak of, whether it waits or was not selected.
std::vector<std::string> stale_of(const Event& event, const Journal& journal) {
  std::vector<bool> held(event.expectations.size(), false);
  for (const Cell& cell : cells_of(event, [](std::string_view) { return 1.0; })) {
    if (!journal.has(cell.id)) return {};
    if (const Expectation* expected = expectation_for(event, journal.latest(cell.id)))
      held[static_cast<std::size_t>(expected - event.expectations.data())] = true;
  }
  std::vector<std::string> stale;
  for (std::size_t at = 0; at < held.size(); ++at)
    if (const Expectation& one = event.expectations[at];
        !held[at] && !one.intermittent && one.again == 1)
      stale.push_back(fmt::format("line {}: no cell of {} is {} any more ({})", one.line, one.cells,
                                  name(one.verdict), one.reason));
  return stale;
}

Tally tally(const Event& event, const std::vector<Cell>& cells, const Journal& journal) {
  Tally result{.cells = cells.size(),
               .played = 0,
               .verdicts = {},
               .advisories = 0,
               .new_failures = {},
               .stale = {}};
  for (const Cell& cell : cells) {
    if (!journal.has(cell.id)) continue;
    ++result.played;
    const CellOutline& latest = journal.latest(cell.id);
    ++result.verdicts[latest.verdict];
    if (latest.advisory) ++result.advisories;
    if (judge(event, latest).result == suite::results::GateResult::new_failure)
      result.new_failures.push_back(cell.id);
  }
  result.stale = stale_of(event, journal);
  return result;
}

std::expected<Tally, std::string> write_document(const Event& event, const std::vector<Cell>& cells,
                                                 Journal& journal, bool complete) {
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
  const auto listed = [&](CellRecord record, const CellOutline& outline) {
    ListedCell cell{.record = std::move(record),
                    .gate = judge(event, outline),
                    .varies = is_known_to_vary(event, outline)};
    if (!journal.has(outline.id) || &outline != &journal.latest(outline.id))
      cell.gate.result = suite::results::GateResult::superseded;
    return cell;
  };
  if (const auto done = journal.end(made, listed); !done) return std::unexpected(done.error());
  return std::move(made.summary);
}

}  // namespace plugfest
