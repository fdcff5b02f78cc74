// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/options.hpp"

#include <CLI/CLI.hpp>

#include "base/version.hpp"

namespace plugfest {

using suite::jobs::ExitCode;

namespace {

constexpr const char* footer =
    "A cell is INITIATOR/RESPONDER/SCENARIO#REPEAT; globs go over slashes, #1 may be left out.\n"
    "The same `run` again, after a kill, goes on where it stopped.\n"
    "\n"
    "examples:\n"
    "  rnic-plugfest run plugfest/events/virtual.yaml --out /tmp/fest\n"
    "  rnic-plugfest run event.yaml --out fest --rerun 'acme/*/send.*'   # a row, some scenarios\n"
    "  rnic-plugfest run event.yaml --out fest --rerun '*/acme/*'        # a column\n"
    "  rnic-plugfest run event.yaml --out /shared/fest --engine slurm    # jobs of a cluster\n"
    "  rnic-plugfest bundle fest --vendor 'Acme Networks' --to acme      # for one vendor\n"
    "  rnic-plugfest diff monday tuesday                                 # cells that differ\n"
    "  rnic-plugfest list                                                # the scenarios\n"
    "  rnic-plugfest list event.yaml                                     # its cells\n"
    "  rnic-plugfest check event.yaml\n"
    "  rnic-plugfest preflight event.yaml                                # before the event\n"
    "\n"
    "exit: 0 as expected; 1 a new failure, or a difference; 2 usage or event file; 3 the run could "
    "not go on or "
    "was\n"
    "interrupted; 4 an expectation no longer holds";

}  // namespace

std::expected<Options, ExitCode> parse_options(int argc, char** argv) {
  Options options;
  CLI::App app("Every implementation against every implementation: captured, judged, one matrix.",
               "rnic-plugfest");
  app.set_version_flag("--version", base::version_text("rnic-plugfest"));
  app.footer(footer);
  app.require_subcommand(1);
  constexpr std::size_t most_jobs = 256;

  auto* run = app.add_subcommand("run", "plays the cells that have no result yet");
  run->add_option("event", options.event, "the event file")->required();
  run->add_option("--out", options.out, "folder for results and captures")->capture_default_str();
  run->add_option("--jobs", options.jobs, "cells at a time")
      ->check(CLI::Range(std::size_t{1}, most_jobs));
  run->add_option("--select", options.select, "only cells that fit one of these globs");
  run->add_option("--rerun", options.rerun, "plays cells that fit although they have a result");
  run->add_option("--engine", options.engine,
                  "who runs the cells: this machine, or jobs of a Slurm cluster")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->capture_default_str();
  auto* list = app.add_subcommand("list", "names the scenarios, or the cells of an event");
  list->add_option("event", options.event, "the event file");
  auto* check = app.add_subcommand("check", "reads an event file and says what it amounts to");
  check->add_option("event", options.event, "the event file")->required();
  auto* preflight = app.add_subcommand(
      "preflight", "looks for what would spoil the event: each fault with its remedy");
  preflight->add_option("event", options.event, "the event file")->required();
  auto* cell = app.add_subcommand("cell", "plays one cell: what a job of --engine slurm does");
  cell->add_option("event", options.event, "the event file")->required();
  cell->add_option("--out", options.out, "folder of the run")->required();
  cell->add_option("--cell", options.cell, "its id")->required();
  cell->add_option("--attempt", options.attempt, "the how manieth");
  auto* bundle = app.add_subcommand(
      "bundle", "what one vendor may see of a run: its own cells, the others under aliases");
  bundle->add_option("results", options.out, "the --out folder of the run")->required();
  bundle->add_option("--vendor", options.vendor, "as the event file has it")->required();
  bundle->add_option("--to", options.to, "folder to make")->required();
  auto* diff = app.add_subcommand("diff", "cells that came out differently in another run");
  diff->add_option("before", options.out, "the --out folder of one run")->required();
  diff->add_option("after", options.other, "the --out folder of the other")->required();
  for (auto* command : {run, preflight, cell})
    command->add_option("--agent", options.agent, "the rnic-agent of this machine's references");
  for (auto* command : {run, list, check, cell})
    command->add_flag("--long", options.long_scenarios, "with the scenarios that take minutes");
  for (auto* command : {run, list, check, preflight, cell})
    command->add_flag("--trust-event", options.trust_event,
                      "the event file may name programs to run (argv)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return std::unexpected(app.exit(error) == 0 ? ExitCode::good : ExitCode::usage);
  }
  if (*list) options.command = Command::list;
  if (*check) options.command = Command::check;
  if (*preflight) options.command = Command::preflight;
  if (*cell) options.command = Command::cell;
  if (*bundle) options.command = Command::bundle;
  if (*diff) options.command = Command::diff;
  return options;
}

}  // namespace plugfest
