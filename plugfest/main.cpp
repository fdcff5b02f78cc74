// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-plugfest: every implementation against every implementation.
#include <algorithm>
#include <exception>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/did_you_mean.hpp"
#include "base/out_of_memory.hpp"
#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "base/version.hpp"
#include "plugfest/capture_point.hpp"
#include "plugfest/compare.hpp"
#include "plugfest/event_file.hpp"
#include "plugfest/event_run.hpp"
#include "plugfest/latecomers.hpp"
#include "plugfest/preflight.hpp"
#include "plugfest/run.hpp"
#include "plugfest/scenarios/scenario.hpp"
#include "plugfest/token.hpp"
#include "suite/jobs/progress.hpp"
#include "suite/jobs/worker_process.hpp"

namespace plugfest {

using suite::jobs::ExitCode;

namespace {

double length_of(std::string_view name) {
  const Scenario* scenario = find_scenario(name);
  return scenario != nullptr ? scenario->length : 1;
}

ExitCode list_scenarios() {
  for (const Scenario& scenario : scenarios())
    base::say(stdout, "{:36} {}{}\n", scenario.name, scenario.title,
              scenario.on_request ? " (only with --long)" : "");
  return ExitCode::good;
}

ExitCode check(const Event& event, const std::vector<Cell>& cells) {
  std::vector<suite::jobs::Job> jobs;
  std::vector<int> capacity;
  for (const Cell& cell : cells) jobs.push_back(job_of(cell, jobs.size()));
  for (const Participant& one : event.participants) capacity.push_back(one.parallel);
  const auto plan = suite::jobs::simulate(
      std::move(jobs), {.capacity = capacity, .slots = cells.size(), .barrier = false});
  base::say(stdout,
            "{}: {} participants, {} scenarios, {} cells; by estimate {} with all hosts at work\n",
            event.name, event.participants.size(), event.scenarios.size(), cells.size(),
            suite::jobs::clock_text(plan.makespan));
  return ExitCode::good;
}

/// The exit code of a command that only prints: not good if its output could not be written.
ExitCode printed(ExitCode code) {
  const auto fault = base::unwritten_output();
  if (!fault) return code;
  base::say(stderr, "rnic-plugfest: {}\n", *fault);
  return ExitCode::harness;
}

ExitCode list_cells(const std::vector<Cell>& cells) {
  for (const Cell& cell : cells) base::say(stdout, "{}\n", cell.id);
  return ExitCode::good;
}

/// The event file that was asked for; a plain name stands for an event that the suite has. The error
/// is one line.
std::expected<std::string, std::string> event_path(const std::string& asked) {
  std::error_code error;
  if (asked.contains('/') || asked.contains('.') || std::filesystem::exists(asked, error))
    return asked;
  const auto file = base::shipped_file("plugfest/events/" + asked + ".yaml");
  if (std::filesystem::exists(file, error)) return file.string();
  std::vector<std::string> known;
  for (const auto& one : std::filesystem::directory_iterator(file.parent_path(), error))
    known.push_back(one.path().stem().string());
  std::ranges::sort(known);
  return std::unexpected(
      fmt::format("there is no file {0}, and the suite has no event of that name{1}; it has {2}",
                  asked, base::did_you_mean(asked, known), fmt::join(known, ", ")));
}

std::expected<Event, Faults> read_event(const Options& options) {
  return load_event(options.event, {.trust = options.trust_event,
                                    .scenarios = scenario_names(options.long_scenarios),
                                    .folder = ".",
                                    .unfinished = options.command == Command::token});
}

/// Participants may join while the others play: then the rest is played with them.
ExitCode run_with_late_ones(Event event, std::vector<Cell> cells, Options options) {
  const auto tell = [](const std::string& line) { base::say(stderr, "{}\n", line); };
  Latecomers latecomers(options.event, event, [&options] { return read_event(options); }, tell);
  for (;;) {
    if (const auto code = run(event, cells, options, latecomers)) return *code;
    const std::size_t before = event.participants.size();
    event = latecomers.take();
    tell(fmt::format("{} participants have joined", event.participants.size() - before));
    cells = cells_of(event, length_of);
  }
}

/// Whether reports/ has this command: then it is started with these words. Its version is ours.
std::optional<ExitCode> report_command(int argc, char** argv) {
  if (argc < 2) return std::nullopt;
  for (const ReportCommand& one : report_commands())
    if (std::string_view(argv[1]) == one.name) {
      const std::vector<std::string> words(argv + 2, argv + argc);
      if (words != std::vector<std::string>{"--version"}) return run_report(one.program, words);
      base::say(stdout, "{}\n", base::version_text("rnic-plugfest"));
      return printed(ExitCode::good);
    }
  return std::nullopt;
}

ExitCode play(const Options& options) {
  if (const auto fault = base::shipped_files_fault(); fault && options.command == Command::run) {
    base::say(stderr, "rnic-plugfest: {}\n", *fault);
    return ExitCode::harness;
  }
  if (options.command == Command::list && options.event.empty()) return printed(list_scenarios());
  if (options.command == Command::capture) return serve_capture(options.interface);
  if (options.command == Command::diff) return printed(compare_runs(options.out, options.other));
  const auto event = read_event(options);
  if (!event) {
    for (const std::string& fault : event.error()) base::say(stderr, "rnic-plugfest: {}\n", fault);
    return ExitCode::usage;
  }
  if (options.command == Command::token) return printed(make_token(*event, options.token));
  const std::vector<Cell> cells = cells_of(*event, length_of);
  if (cells.size() > most_cells) {
    base::say(stderr, "rnic-plugfest: {}\n", too_many_cells(cells.size()));
    return ExitCode::usage;
  }
  switch (options.command) {
    case Command::run:
      base::outlive_the_terminal();
      return run_with_late_ones(*event, cells, options);
    case Command::collect:
      return collect(*event, cells, options);
    case Command::list:
      return printed(list_cells(cells));
    case Command::check:
      return printed(check(*event, cells));
    case Command::cell:
      return play_one(*event, cells, options);
    case Command::capture:
    case Command::diff:
    case Command::token:
      break;  // done above: they need no cells
    case Command::preflight:
      return printed(preflight(*event, options));
  }
  return ExitCode::usage;
}

}  // namespace
}  // namespace plugfest

int main(int argc, char** argv) {
  base::keep_standard_streams();
  if (argc > 1 && std::string_view(argv[1]) == suite::jobs::worker_argument)
    return plugfest::run_worker();
  if (const auto done = plugfest::report_command(argc, argv)) return static_cast<int>(*done);
  auto options = plugfest::parse_options(argc, argv);
  if (!options) return static_cast<int>(options.error());
  if (!options->event.empty()) {
    auto path = plugfest::event_path(options->event);
    if (!path) {
      base::say(stderr, "rnic-plugfest: {}\n", path.error());
      return static_cast<int>(suite::jobs::ExitCode::usage);
    }
    options->event = std::move(*path);
  }
  try {
    return static_cast<int>(plugfest::play(*options));
  } catch (const std::exception& error) {
    base::say(stderr, "rnic-plugfest: {}\n", base::words_of(error));
    return static_cast<int>(suite::jobs::ExitCode::harness);
  }
}
