// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/run.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "plugfest/cell_runner.hpp"
#include "plugfest/engine.hpp"
#include "plugfest/expected.hpp"
#include "plugfest/record_json.hpp"
#include "plugfest/slurm.hpp"
#include "suite/lab/command.hpp"

namespace plugfest {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Behind the deadline that a cell keeps by itself, before it is killed.
constexpr std::chrono::seconds grace{10};

volatile std::sig_atomic_t interrupted = 0;

void end_at_interrupts() {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second one ends us
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

ExitCode complain(ExitCode code, const std::string& why) {
  base::say(stderr, "rnic-plugfest: {}\n", why);
  return code;
}

bool fits_any(const std::vector<std::string>& globs, const Cell& cell) {
  return std::ranges::any_of(globs, [&](const std::string& glob) { return fits(glob, cell.id); });
}

/// Only where the race has not shown yet.
bool wants_another_try(const Event& event, const Journal& journal, const Cell& cell) {
  return journal.has(cell.id) &&
         journal.attempts(cell.id) < tries_for(event, journal.latest(cell.id));
}

/// A cell id as a file name; participants and scenarios have no such signs in their names.
std::string pcap_name(const Cell& cell, int attempt) {
  return fmt::format("pcap/{}--{}--{}.{}.{}.pcap", cell.initiator_name, cell.responder_name,
                     cell.scenario, cell.repeat, attempt);
}

json play_cell(const Event& event, const TestNetwork& network, const std::string& agent,
               const fs::path& folder, const Cell& cell, std::size_t slot, int attempt) {
  for (const std::size_t at : {cell.initiator, cell.responder})
    if (const std::string trouble = network.guests().trouble(at); !trouble.empty())
      return {{"verdict", "error"}, {"fault", "unknown"}, {"reason", trouble}, {"seconds", 0.0}};
  const CellHosts hosts = network.hosts_for(event, cell.initiator, cell.responder, slot);
  const auto participant_side = [&](std::size_t at, const Host& host) {
    return ParticipantSide{command_of(event, network, agent, at, host),
                           event.participants[at].claims};
  };
  const Scenario& scenario = *find_scenario(cell.scenario);
  return to_json(play({.scenario = scenario,
                       .initiator = participant_side(cell.initiator, hosts.initiator),
                       .responder = participant_side(cell.responder, hosts.responder),
                       .hosts = hosts,
                       .deadline = std::max(event.deadline, scenario.deadline),
                       .step_timeout = std::max(event.step_timeout, scenario.step_timeout),
                       .folder = folder,
                       .pcap = pcap_name(cell, attempt)}));
}

/// The matrix for people. The results stand without it.
bool render_matrix(const fs::path& folder) {
  constexpr std::chrono::minutes time_limit{2};
  const auto made = suite::lab::run_command(
      {RNIC_PYTHON, base::shipped_file("reports/render_plugfest.py").string(), folder.string()},
      {.network_namespace = -1, .time_limit = time_limit, .progress = {}});
  if (!made) base::say(stderr, "rnic-plugfest: no matrix: {}\n", made.error());
  return made.has_value();
}

ExitCode conclude(const Event& event, const std::vector<Cell>& cells, const Journal& journal,
                  bool complete) {
  const json whole = document(event, cells, journal, complete);
  const auto text = whole.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
  if (auto written = write_whole(journal.folder() / "results.json", text); !written)
    return complain(ExitCode::harness, written.error());
  const Tally counted = tally(event, cells, journal);
  std::string words;
  for (const auto& [verdict, count] : counted.verdicts)
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, verdict);
  base::say(stdout, "{} of {} cells: {}\n", counted.played, counted.cells,
            words.empty() ? "none" : words);
  for (const std::string& cell : counted.news)
    base::say(stdout, "new: {}: {}\n", cell,
              for_terminal(journal.latest(cell).value("reason", "")));
  for (const std::string& line : counted.stale) base::say(stdout, "stale: {}\n", line);
  const bool rendered = render_matrix(journal.folder());
  const char* best = rendered ? "report.html" : "results.json";
  base::say(stdout, "results: {}\n", (journal.folder() / best).string());
  if (!complete || !rendered) return ExitCode::harness;
  if (!counted.news.empty()) return ExitCode::new_failure;
  return counted.stale.empty() ? ExitCode::good : ExitCode::stale;
}

std::vector<int> capacities(const Event& event) {
  std::vector<int> all;
  for (const Participant& one : event.participants) all.push_back(one.parallel);
  return all;
}

/// More than hosts can fill would only stand empty. Each guest may be in a cell: these mostly wait.
std::size_t slots_for(const Event& event, const Options& options) {
  std::size_t ends = 0, guests = 0;
  for (const Participant& one : event.participants) {
    ends += static_cast<std::size_t>(one.parallel);
    guests += std::holds_alternative<SiwGuest>(one.agent) ? 1 : 0;
  }
  const std::size_t wanted =
      options.jobs > 0 ? options.jobs
      : options.engine == "slurm"
          ? ends  // the cluster has slots of its own
          : std::max<std::size_t>({1, std::thread::hardware_concurrency(), guests});
  return std::clamp<std::size_t>(ends / 2, 1, wanted);
}

}  // namespace

std::string own_agent(const Options& options) {
  if (!options.agent.empty()) return options.agent;
  std::error_code error;
  const fs::path own = base::built_program("suite/upper_tester/rnic-agent");
  return fs::exists(own, error) ? own.string() : "rnic-agent";
}

std::vector<std::string> command_of(const Event& event, const TestNetwork& network,
                                    const std::string& agent, std::size_t participant,
                                    const Host& host) {
  const Participant& one = event.participants[participant];
  if (network.guests().has(participant)) return network.guests().agent_command(one, participant);
  return agent_command(event, participant, host.address, agent);
}

namespace {

void tell(const std::string& line) { base::say(stderr, "{}\n", line); }

/// Behind the rest, races that have not shown are given another try.
std::expected<bool, std::string> play_with_tries(const std::vector<Cell>& cells, Journal& journal,
                                                 const CellWork& work, const Options& options,
                                                 EngineOptions& engine, Progress& progress) {
  auto done = run_cells(cells, journal, work, engine, &progress);
  const auto race = engine.again;
  engine.again = [&](const Cell& cell) {  // who was to be rerun has been
    return race(cell) && !fits_any(options.rerun, cell);
  };
  while (done && *done) {
    const std::size_t left = still_to_play(cells, journal, engine).size();
    if (left == 0) break;
    progress.add(left);
    done = run_cells(cells, journal, work, engine, &progress);
  }
  return done;
}

/// Whether all cells have a result now.
std::expected<bool, std::string> play_here(const Event& event, const std::vector<Cell>& cells,
                                           Journal& journal, const Options& options,
                                           EngineOptions& engine, Progress& progress) {
  const std::string agent = own_agent(options);
  auto network =
      TestNetwork::make(event, engine.slots, Guests(event, journal.folder(), agent), tell);
  if (!network) return std::unexpected(network.error());
  engine.away = [&](std::size_t participant) { return network->guests().away(participant); };
  engine.after = [&](const Cell& cell, json& record) { network->after(cell, record); };
  const CellWork work = [&](const Cell& cell, std::size_t slot, int attempt) {
    return play_cell(event, *network, agent, journal.folder(), cell, slot, attempt);
  };
  return play_with_tries(cells, journal, work, options, engine, progress);
}

std::expected<bool, std::string> play_on_slurm(const Event& event, const std::vector<Cell>& cells,
                                               Journal& journal, const Options& options,
                                               EngineOptions& engine, Progress& progress) {
  const auto slurm = Slurm::open(event, options, journal.folder());
  if (!slurm) return std::unexpected(slurm.error());
  // A cell waits in the queue as long as it must; its deadline is its job's.
  constexpr std::chrono::days for_ever{30};
  engine.deadline = for_ever;
  const CellWork work = [&](const Cell& cell, std::size_t, int attempt) {
    return slurm->play(cell, attempt);
  };
  auto done = play_with_tries(cells, journal, work, options, engine, progress);
  slurm->cancel_all();
  return done;
}

}  // namespace

ExitCode run(const Event& event, const std::vector<Cell>& cells, const Options& options) {
  std::vector<Cell> chosen;
  std::ranges::copy_if(cells, std::back_inserter(chosen), [&](const Cell& cell) {
    return options.select.empty() || fits_any(options.select, cell);
  });
  if (chosen.empty()) return complain(ExitCode::usage, "no cell fits --select");
  for (const std::string& glob : options.rerun)
    if (!fits_any({glob}, chosen.front()) &&
        std::ranges::none_of(chosen, [&](const Cell& cell) { return fits(glob, cell.id); }))
      return complain(ExitCode::usage, fmt::format("no cell fits --rerun {}", glob));
  auto journal = Journal::open(options.out, to_json(event));
  if (!journal) return complain(ExitCode::usage, journal.error());
  std::error_code error;
  fs::create_directories(journal->folder() / "pcap", error);

  EngineOptions engine{.slots = slots_for(event, options),
                       .capacity = capacities(event),
                       .deadline = event.deadline + grace,
                       .again =
                           [&](const Cell& cell) {
                             return fits_any(options.rerun, cell) ||
                                    wants_another_try(event, *journal, cell);
                           },
                       .interrupted = [] { return interrupted != 0; },
                       .extra = [&](const Cell& cell) { return extra_time(event, cell.scenario); }};
  const std::size_t left = still_to_play(chosen, *journal, engine).size();
  base::say(stderr, "{} cells, {} of them to play, {} at a time\n", chosen.size(), left,
            engine.slots);
  bool complete = left == 0;
  if (left > 0) {
    end_at_interrupts();
    Progress progress(stderr, left);
    const auto conduct = options.engine == "slurm" ? play_on_slurm : play_here;
    const auto done = conduct(event, chosen, *journal, options, engine, progress);
    if (!done) return complain(ExitCode::harness, done.error());
    complete = *done;
  }
  return conclude(event, chosen, *journal, complete);
}

ExitCode play_one(const Event& event, const std::vector<Cell>& cells, const Options& options) {
  const auto cell = std::ranges::find(cells, options.cell, &Cell::id);
  if (cell == cells.end())
    return complain(ExitCode::usage, fmt::format("the event has no cell {}", options.cell));
  const fs::path file = slurm_record(options.out, *cell, options.attempt);
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  fs::create_directories(fs::path(options.out) / "pcap", error);
  const std::string agent = own_agent(options);
  // The kernel logs of guests are kept as evidence in the record; two nodes may have one guest.
  auto network = TestNetwork::make(event, 1, Guests(event, "", agent), tell);
  if (!network) return complain(ExitCode::harness, network.error());
  network->before(*cell);
  json record = play_cell(event, *network, agent, options.out, *cell, 0, options.attempt);
  network->after(*cell, record);
  const auto text = record.dump(-1, ' ', false, json::error_handler_t::replace);
  if (auto written = write_whole(file, text); !written)
    return complain(ExitCode::harness, written.error());
  return ExitCode::good;
}

ExitCode make_bundle(const Options& options) {
  constexpr std::chrono::minutes time_limit{5};
  const auto made = suite::lab::run_command(
      {RNIC_PYTHON, base::shipped_file("reports/bundle_plugfest.py").string(), "--vendor",
       options.vendor, "--to", options.to, options.out},
      {.network_namespace = -1, .time_limit = time_limit, .progress = {}});
  if (!made) return complain(ExitCode::harness, "no bundle: " + made.error());
  base::say(stdout, *made);
  return ExitCode::good;
}

}  // namespace plugfest
