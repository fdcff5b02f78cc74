// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/record_json.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "plugfest/expected.hpp"
#include "plugfest/scenarios/scenario.hpp"

namespace plugfest {

namespace {

using nlohmann::json;

json side_json(const std::optional<Side>& side) { return side ? json(word(*side)) : json(nullptr); }

std::string kind_of(const AgentKind& agent) {
  constexpr std::array<const char*, 4> words{"reference", "ssh", "argv", "siw-vm"};
  return words[agent.index()];
}

json participant_json(const Participant& one) {
  json made{{"name", one.name},
            {"vendor", one.vendor},
            {"alias", one.alias},
            {"agent", kind_of(one.agent)}};
  if (const auto* local = std::get_if<LocalReference>(&one.agent))
    made["deviations"] = local->deviations;
  if (const auto* guest = std::get_if<SiwGuest>(&one.agent)) made["kernel"] = guest->kernel;
  return made;
}

}  // namespace

json to_json(const Outcome& outcome) {
  json made{{"verdict", word(outcome.verdict)},
            {"fault", word(outcome.fault)},
            {"reason", outcome.reason},
            {"seconds", outcome.seconds},
            {"frames", outcome.frames},
            {"dropped", outcome.dropped},
            {"pcap", outcome.pcap},
            {"capture_trouble", outcome.capture_trouble},
            {"checks", json::array()},
            {"findings", json::array()},
            {"cuts", json::array()},
            {"steps", json::array()},
            {"wire", json::array()},
            {"said", json::array()}};
  for (const Check& one : outcome.checks)
    made["checks"].push_back({{"side", word(one.side)},
                              {"what", one.what},
                              {"expected", one.expected},
                              {"actual", one.actual},
                              {"good", one.good}});
  for (const WireFinding& one : outcome.findings)
    made["findings"].push_back({{"rule", one.rule},
                                {"level", one.level},
                                {"also", one.also},
                                {"side", side_json(one.side)},
                                {"frame", one.frame},
                                {"actual", one.actual},
                                {"admissible", one.admissible},
                                {"certain", one.certain},
                                {"provoked", one.provoked}});
  for (const Cuts& one : outcome.cuts)
    made["cuts"].push_back({{"side", side_json(one.side)},
                            {"segments", one.segments},
                            {"within", one.within},
                            {"frame", one.frame}});
  for (const Step& one : outcome.steps)
    made["steps"].push_back({{"at", one.at}, {"side", side_json(one.side)}, {"text", one.text}});
  for (const WireLine& one : outcome.wire)
    made["wire"].push_back(
        {{"frame", one.frame}, {"side", side_json(one.side)}, {"text", one.text}});
  for (const auto& [side, text] : outcome.said)
    made["said"].push_back({{"side", word(side)}, {"text", text}});
  return made;
}

json to_json(const Event& event) {
  json made{{"name", event.name},
            {"digest", event.digest},
            {"repeats", event.repeats},
            {"participants", json::array()},
            {"scenarios", json::array()}};
  for (const Participant& one : event.participants)
    made["participants"].push_back(participant_json(one));
  for (const std::string& name : event.scenarios) {
    const Scenario* scenario = find_scenario(name);
    made["scenarios"].push_back(
        {{"name", name}, {"title", scenario != nullptr ? scenario->title : ""}});
  }
  return made;
}

Tally tally(const Event& event, const std::vector<Cell>& cells, const Journal& journal) {
  Tally result{.verdicts = {}, .cells = cells.size(), .played = 0, .news = {}, .stale = {}};
  std::vector<bool> held(event.expectations.size(), false);
  for (const Cell& cell : cells) {
    if (!journal.has(cell.id)) continue;
    ++result.played;
    const json& record = journal.latest(cell.id);
    const std::string verdict = record.value("verdict", "error");
    ++result.verdicts[verdict];
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
  const Tally counted = tally(event, cells, journal);
  json made{{"plugfest", 1},
            {"complete", complete},
            {"event", to_json(event)},
            {"summary",
             {{"cells", counted.cells},
              {"played", counted.played},
              {"verdicts", counted.verdicts},
              {"news", counted.news},
              {"stale", counted.stale}}},
            {"cells", json::array()},
            {"left_out", json::array()}};
  for (const LeftOut& one : left_out_of(event))
    made["left_out"].push_back({{"id", one.cell.id},
                                {"initiator", one.cell.initiator_name},
                                {"responder", one.cell.responder_name},
                                {"scenario", one.cell.scenario},
                                {"reason", one.reason}});
  for (const json& record : journal.records()) {
    json cell = record;
    const std::string id = cell["id"];
    cell["superseded"] = cell != journal.latest(id);
    const Expectation* expected = expectation_for(event, cell);
    cell["expected"] = expected != nullptr ? json(expected->reason) : json(nullptr);
    cell["varies"] = is_known_to_vary(event, cell);
    made["cells"].push_back(std::move(cell));
  }
  return made;
}

}  // namespace plugfest
