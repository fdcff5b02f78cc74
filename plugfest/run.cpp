// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>
#include <variant>

#include <fmt/format.h>

#include "base/line_file.hpp"
#include "base/record/json_writer.hpp"
#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "plugfest/cell_messages.hpp"
#include "plugfest/cell_runner.hpp"
#include "plugfest/event_run.hpp"
#include "plugfest/gate.hpp"
#include "plugfest/record_json.hpp"
#include "plugfest/record_tables.hpp"
#include "plugfest/scenarios/scenario.hpp"
#include "plugfest/slurm.hpp"
#include "suite/jobs/progress.hpp"
#include "suite/lab/command.hpp"

namespace plugfest {

using suite::jobs::ExitCode;

namespace {

namespace fs = std::filesystem;

/// The time after a cell's own deadline before its worker is ended.
constexpr std::chrono::seconds grace{10};

ExitCode complain(ExitCode code, const std::string& why) {
  base::say(stderr, "rnic-plugfest: {}\n", why);
  return code;
}

bool fits_any(const std::vector<std::string>& globs, const Cell& cell) {
  return std::ranges::any_of(globs, [&](const std::string& glob) { return fits(glob, cell.id); });
}

/// Only if the race has not shown yet.
bool wants_another_try(const Event& event, const Journal& journal, const Cell& cell) {
  return journal.has(cell.id) &&
         journal.attempts(cell.id) < tries_for(event, journal.latest(cell.id));
}

/// Lost to a host that was down. What an entry of the event lists is settled, whatever it comes from.
bool was_lost(const Event& event, const Journal& journal, const Cell& cell) {
  if (!journal.has(cell.id)) return false;
  const CellOutline& latest = journal.latest(cell.id);
  return latest.absent && judge(event, latest).result != suite::results::GateResult::known;
}

/// A cell id as a file name; participants and scenarios have no such signs in their names.
std::string pcap_name(const Cell& cell, int attempt) {
  return fmt::format("pcap/{}--{}--{}.{}.{}.pcap", cell.initiator_name, cell.responder_name,
                     cell.scenario, cell.repeat, attempt);
}

CellOrder order_for(const Event& event, const TestNetwork& network, const std::string& agent,
                    const fs::path& folder, const Cell& cell, std::size_t slot, int attempt) {
  const CellHosts hosts = network.hosts_for(event, cell.initiator, cell.responder, slot);
  const auto side = [&](std::size_t at, const Host& host) {
    return ParticipantSide{.command = command_of(event, network, agent, at, host),
                           .claims = event.participants[at].claims,
                           .network_namespace = host.network_namespace,
                           .address = host.address};
  };
  const Scenario& scenario = *find_scenario(cell.scenario);
  return {.scenario = cell.scenario,
          .initiator = side(cell.initiator, hosts.initiator),
          .responder = side(cell.responder, hosts.responder),
          .captures = hosts.captures,
          .deadline = std::max(event.deadline, scenario.deadline),
          .step_timeout = std::max(event.step_timeout, scenario.step_timeout),
          .folder = folder.string(),
          .pcap = pcap_name(cell, attempt)};
}

/// Why the cell cannot be played now; empty: it can.
std::string trouble_of(const TestNetwork& network, const Cell& cell) {
  const std::string trouble = network.guests().trouble(cell.initiator);
  return trouble.empty() ? network.guests().trouble(cell.responder) : trouble;
}

/// The matrix for people. The results are complete without it.
bool render_matrix(const fs::path& folder, std::size_t cells) {
  const auto time_limit = std::chrono::minutes(2) + cells * std::chrono::milliseconds(20);
  const auto made = suite::lab::run_command(
      {RNIC_PYTHON, base::shipped_file("reports/render_plugfest.py").string(), folder.string()},
      {.network_namespace = -1, .time_limit = time_limit, .progress = {}});
  if (!made) base::say(stderr, "rnic-plugfest: no matrix: {}\n", made.error());
  return made.has_value();
}

/// `out`: the folder in the words of the command line.
ExitCode conclude(const Event& event, const std::vector<Cell>& cells, Journal& journal,
                  const fs::path& out, bool complete) {
  const auto written = write_document(event, cells, journal, complete);
  if (!written) return complain(ExitCode::harness, written.error());
  const Tally& counted = *written;
  std::string words;
  for (const auto& [verdict, count] : counted.verdicts)
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, name(verdict));
  if (counted.advisories != 0) words += fmt::format(", {} with an advisory", counted.advisories);
  base::say(stdout, "{} of {} cells: {}\n", counted.played, counted.cells,
            words.empty() ? "none" : words);
  for (const std::string& cell : counted.new_failures)
    base::say(stdout, "new: {}: {}\n", cell,
              suite::jobs::for_terminal(journal.latest(cell).reason));
  for (const std::string& line : counted.stale) base::say(stdout, "stale: {}\n", line);
  if (!complete)
    base::say(stdout, "{} cells have no result yet: the same `run` goes on with them\n",
              counted.cells - counted.played);
  const bool rendered = render_matrix(journal.folder(), journal.attempts().size());
  const char* best = rendered ? "report.html" : suite::results::document_name;
  base::say(stdout, "results: {}\n", (out / best).string());
  return suite::jobs::exit_code({.harness = !complete || !rendered,
                                 .new_failure = !counted.new_failures.empty(),
                                 .stale = !counted.stale.empty()});
}

std::vector<int> capacities(const Event& event) {
  std::vector<int> all;
  for (const Participant& one : event.participants) all.push_back(one.parallel);
  return all;
}

/// More than the hosts can fill would stay empty. Each guest may be in a cell: guests mostly wait.
std::size_t slots_for(const Event& event, const Options& options) {
  std::size_t ends = 0, guests = 0;
  for (const Participant& one : event.participants) {
    ends += static_cast<std::size_t>(one.parallel);
    guests += std::holds_alternative<SiwGuest>(one.agent) ? 1 : 0;
  }
  const std::size_t wanted =
      options.jobs > 0 ? options.jobs
      : options.engine == "slurm"
          ? ends  // the cluster has its own slots
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
  return network.agent_command(event, participant, host.address, agent);
}

namespace {

void tell(const std::string& line) { base::say(stderr, "{}\n", line); }

using Played = std::expected<RunEnd, std::string>;

Played play_here(const Event& event, const std::vector<Cell>& cells, Journal& journal,
                 const Options& options, RunOptions& run, suite::jobs::Progress& progress) {
  const std::string agent = own_agent(options);
  auto network = TestNetwork::make(event, run.slots, Guests(event, journal.folder(), agent), tell);
  if (!network) return std::unexpected(network.error());
  run.away = [&](std::size_t participant) { return network->guests().away(participant); };
  run.complete = [&](const Cell& cell, Outcome& outcome) { network->after(cell, outcome); };
  run.task = [&](const Cell& cell, std::size_t slot, int attempt) -> Task {
    if (std::string trouble = trouble_of(*network, cell); !trouble.empty())
      return Unplayable{std::move(trouble)};
    return order_for(event, *network, agent, fs::absolute(journal.folder()), cell, slot, attempt);
  };
  return run_cells(cells, journal, run, progress);
}

Played play_on_slurm(const Event& event, const std::vector<Cell>& cells, Journal& journal,
                     const Options& options, RunOptions& run, suite::jobs::Progress& progress) {
  const auto slurm = Slurm::open(event, options, journal.folder());
  if (!slurm) return std::unexpected(slurm.error());
  // A cell may wait in the queue for any time; its time limit is that of its job.
  run.time_limit = [](const Cell&) { return std::chrono::days(30); };
  run.task = [&](const Cell& cell, std::size_t, int attempt) -> Task {
    return slurm->order(cell, attempt);
  };
  auto done = run_cells(cells, journal, run, progress);
  slurm->cancel_all();
  return done;
}

RunOptions run_options(const Event& event, const Journal& journal, const Options& options) {
  RunOptions run;
  run.slots = slots_for(event, options);
  run.capacity = capacities(event);
  run.pause = event.step_timeout;
  run.time_limit = [&](const Cell& cell) {
    return event.deadline + grace + extra_time(event, cell.scenario);
  };
  run.rerun = [&](const Cell& cell) {
    return was_lost(event, journal, cell) || fits_any(options.rerun, cell) ||
           wants_another_try(event, journal, cell);
  };
  // What was to be rerun has been rerun.
  run.repeat = [&](const Cell& cell) {
    return !fits_any(options.rerun, cell) && wants_another_try(event, journal, cell);
  };
  run.note = [&](const CellOutline& cell) {
    using Note = suite::jobs::Progress::Note;
    using suite::results::GateResult;
    const GateResult result = judge(event, cell).result;
    if (result == GateResult::known) return Note::known;
    return result == GateResult::new_failure ? Note::new_failure : Note::none;
  };
  return run;
}

}  // namespace

namespace {

std::vector<Cell> selected(const std::vector<Cell>& cells, const Options& options) {
  std::vector<Cell> chosen;
  std::ranges::copy_if(cells, std::back_inserter(chosen), [&](const Cell& cell) {
    return options.select.empty() || fits_any(options.select, cell);
  });
  return chosen;
}

/// The glob of --rerun that no cell fits; empty: there is none.
std::string vain_rerun(const std::vector<Cell>& chosen, const Options& options) {
  for (const std::string& glob : options.rerun)
    if (std::ranges::none_of(chosen, [&](const Cell& cell) { return fits(glob, cell.id); }))
      return glob;
  return {};
}

/// Cells that --rerun names and that were not played since they had so many attempts.
std::vector<std::string> left_to_rerun(const std::map<std::string, int>& before,
                                       const Journal& journal) {
  std::vector<std::string> left;
  for (const auto& [cell, attempts] : before)
    if (journal.attempts(cell) == attempts) left.push_back(cell);
  return left;
}

}  // namespace

std::optional<ExitCode> run(const Event& event, const std::vector<Cell>& cells, Options& options,
                            Latecomers& latecomers) {
  const std::vector<Cell> chosen = selected(cells, options);
  if (chosen.empty()) return complain(ExitCode::usage, "no cell fits --select");
  if (const std::string glob = vain_rerun(chosen, options); !glob.empty())
    return complain(ExitCode::usage, fmt::format("no cell fits --rerun {}", glob));
  auto journal = Journal::open(options.out, record_of(event));
  if (!journal) return complain(ExitCode::usage, journal.error());

  RunOptions run = run_options(event, *journal, options);
  run.others_come = [&latecomers] { return latecomers.have_come(); };
  run.met = journal->met_since(latecomers.since());
  std::map<std::string, int> to_rerun;
  for (const Cell& cell : chosen)
    if (fits_any(options.rerun, cell)) to_rerun[cell.id] = journal->attempts(cell.id);
  const std::size_t left = still_to_play(chosen, *journal, run).size();
  base::say(stderr, "{} cells, {} of them to play, {} at a time\n", chosen.size(), left, run.slots);
  RunEnd end = RunEnd::complete;
  if (left > 0) {
    suite::jobs::Progress progress(stderr);
    const auto play_all = options.engine == "slurm" ? play_on_slurm : play_here;
    const auto done = play_all(event, chosen, *journal, options, run, progress);
    if (!done) return complain(ExitCode::harness, done.error());
    end = *done;
  }
  if (end != RunEnd::interrupted && latecomers.have_come()) {
    options.rerun = left_to_rerun(to_rerun, *journal);
    return std::nullopt;
  }
  return conclude(event, chosen, *journal, options.out, end == RunEnd::complete);
}

ExitCode collect(const Event& event, const std::vector<Cell>& cells, const Options& options) {
  if (std::error_code error; !fs::exists(fs::path(options.out), error))
    return complain(ExitCode::usage, fmt::format("--out: there is no folder {}", options.out));
  auto journal = Journal::open(options.out, record_of(event));
  if (!journal) return complain(ExitCode::usage, journal.error());
  const RunOptions run = run_options(event, *journal, options);
  return conclude(event, cells, *journal, options.out, still_to_play(cells, *journal, run).empty());
}

namespace {

struct Player {
  Outcome operator()(const CellOrder& order) const { return play(order); }
  Outcome operator()(const SlurmOrder& order) const { return play_as_job(order); }
  Outcome operator()(const Unplayable& cell) const { return error_outcome(cell.why); }
};

}  // namespace

int run_worker() {
  return serve_cells([](const Task& task) { return std::visit(Player{}, task); });
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
  const std::string trouble = trouble_of(*network, *cell);
  Outcome outcome =
      trouble.empty()
          ? play(order_for(event, *network, agent, options.out, *cell, 0, options.attempt))
          : error_outcome(trouble);
  network->after(*cell, outcome);
  const auto text = base::record::one_line(base::record::to_json(outcome));
  if (const int fault = base::replace_file(file, text); fault != 0)
    return complain(ExitCode::harness, fmt::format("{}: {}", file.string(), std::strerror(fault)));
  return ExitCode::good;
}

ExitCode run_report(const std::string& program, const std::vector<std::string>& words) {
  const std::string path = base::shipped_file("reports/" + program).string();
  std::vector<std::string> command{RNIC_PYTHON, path};
  command.insert(command.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(arguments.front(), arguments.data());
  return complain(ExitCode::harness, fmt::format("{}: {}", path, std::strerror(errno)));
}

}  // namespace plugfest
