// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/options.hpp"

#include <array>

#include <CLI/CLI.hpp>

#include "base/command_line.hpp"
#include "base/standard_streams.hpp"
#include "base/version.hpp"

namespace plugfest {

using suite::jobs::ExitCode;

namespace {

constexpr const char* footer =
    "A cell is INITIATOR/RESPONDER/SCENARIO#REPEAT; a glob matches across slashes, #1 may be left "
    "out.\n"
    "After a kill, the same `run` continues where it stopped.\n"
    "\n"
    "examples:\n"
    "  rnic-plugfest run virtual --out /tmp/fest                         # an event of the suite\n"
    "  rnic-plugfest run event.yaml --out fest --rerun 'acme/*/send.*'   # a row, some scenarios\n"
    "  rnic-plugfest run event.yaml --out fest --rerun '*/acme/*'        # a column\n"
    "  rnic-plugfest run event.yaml --out /shared/fest --engine slurm    # jobs of a cluster\n"
    "  rnic-plugfest token event.yaml acme --listen 192.0.2.1 --address 192.0.2.7   # to join "
    "with\n"
    "  rnic-plugfest bundle fest --vendor 'Acme Networks' --to acme      # for one vendor\n"
    "  rnic-plugfest serve fest                                          # http://localhost:8088\n"
    "  rnic-plugfest compare spring autumn --html both.html\n"
    "  rnic-plugfest diff monday tuesday                                 # cells that differ\n"
    "  rnic-plugfest list                                                # the scenarios\n"
    "  rnic-plugfest list event.yaml                                     # its cells\n"
    "  rnic-plugfest check event.yaml\n"
    "  rnic-plugfest preflight event.yaml                                # before the event\n"
    "\n"
    "exit: 0 as expected, 1 a new failure or a difference, 2 usage or event file, 3 the run could\n"
    "      not continue or was interrupted, 4 an expectation that no longer fits any cell";

}  // namespace

std::span<const ReportCommand> report_commands() {
  static constexpr std::array commands{
      ReportCommand{"serve", "serve_plugfest.py",
                    "show a run while it goes on, on a page of its own"},
      ReportCommand{"bundle", "bundle_plugfest.py",
                    "make the folder that one vendor may see: its own cells, the others under "
                    "aliases"},
      ReportCommand{"verify", "verify_bundle.py", "check a signed bundle against its manifest"},
      ReportCommand{"compare", "compare_plugfests.py",
                    "make a page of two events, or of two runs of one"}};
  return commands;
}

namespace {

void add_token_options(CLI::App& command, Options& options) {
  TokenOptions& token = options.token;
  constexpr int longest = 3650;
  command.add_option("event", options.event, "the event file")->required();
  command.add_option("name", token.name, "the participant's name")->required();
  command.add_option("--listen", token.listen,
                     "where the agent reaches this host: ADDRESS[:PORT]; without a port, a free "
                     "one from 7471 on");
  command.add_option("--address", token.address,
                     "the address of the participant's RNIC, for its peers");
  command.add_option("--vendor", token.vendor, "whose it is");
  command.add_option("--alias", token.alias, "what others see in place of its name");
  command.add_option("--days", token.days, "how long the token holds")
      ->check(CLI::Range(1, longest))
      ->capture_default_str();
  command.add_option("--to", token.to, "the file to make (default: NAME.token)");
  command.footer(
      "A participant that the event file does not have is added to its folder `join`; for one "
      "that it has,\n"
      "only the token is made anew. The first call also makes the certificates that `tls` of the "
      "event file\n"
      "names, and the authority's key beside its certificate.");
}

}  // namespace

std::expected<Options, ExitCode> parse_options(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Plays every implementation against every other, captures and judges each exchange, and "
      "prints one matrix.",
      "rnic-plugfest");
  app.set_version_flag("--version", base::version_text("rnic-plugfest"));
  app.footer(footer);
  app.require_subcommand(1);
  constexpr std::size_t most_jobs = 256;

  auto* run = app.add_subcommand("run", "play the cells that have no result yet");
  run->add_option("event", options.event, "the event file")->required();
  run->add_option("--out", options.out, "folder for results and captures")->capture_default_str();
  run->add_option("--jobs", options.jobs, "cells at a time")
      ->check(CLI::Range(std::size_t{1}, most_jobs));
  run->add_option("--select", options.select, "only cells that fit one of these globs");
  run->add_option("--rerun", options.rerun,
                  "also play cells that fit one of these globs and have a result");
  run->add_option("--engine", options.engine,
                  "who runs the cells: this machine, or jobs of a Slurm cluster")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->capture_default_str();
  auto* collect = app.add_subcommand(
      "collect", "make results and matrix of what a run that was killed has played so far");
  collect->add_option("event", options.event, "the event file")->required();
  collect->add_option("--out", options.out, "folder of the run")->required();
  auto* list = app.add_subcommand("list", "list the scenarios, or the cells of an event");
  list->add_option("event", options.event, "the event file");
  auto* check =
      app.add_subcommand("check", "read an event file and report its faults or its cells");
  check->add_option("event", options.event, "the event file")->required();
  auto* preflight = app.add_subcommand(
      "preflight", "find what would spoil the event, with a remedy for each fault");
  preflight->add_option("event", options.event, "the event file")->required();
  auto* token = app.add_subcommand(
      "token",
      "make the file with which a participant's agent joins the event (rnic-agent --join)");
  add_token_options(*token, options);
  auto* capture = app.add_subcommand(
      "capture", "capture an interface for a run on another host, as its event file asks by ssh");
  capture->add_option("interface", options.interface, "an interface of this host")->required();
  auto* cell = app.add_subcommand("cell", "play one cell, as a job of --engine slurm does");
  cell->add_option("event", options.event, "the event file")->required();
  cell->add_option("--out", options.out, "folder of the run")->required();
  cell->add_option("--cell", options.cell, "its id")->required();
  cell->add_option("--attempt", options.attempt, "number of the attempt, from 1");
  for (const ReportCommand& one : report_commands()) app.add_subcommand(one.name, one.what);
  auto* diff =
      app.add_subcommand("diff", "list the cells that came out differently in another run");
  diff->add_option("before", options.out, "the --out folder of one run")->required();
  diff->add_option("after", options.other, "the --out folder of the other")->required();
  for (auto* command : {run, preflight, cell})
    command->add_option("--agent", options.agent, "the rnic-agent of this machine's references");
  for (auto* command : {run, collect, list, check, cell})
    command->add_flag("--long", options.long_scenarios, "with the scenarios that take minutes");
  for (auto* command : {run, collect, list, check, preflight, token, cell})
    command->add_flag("--trust-event", options.trust_event,
                      "the event file may name programs to run (argv)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      base::say(stderr, "rnic-plugfest: {}\n", base::refusal_of(app, error));
      return std::unexpected(ExitCode::usage);
    }
    app.exit(error);  // prints what was asked for
    return std::unexpected(ExitCode::good);
  }
  if (*collect) options.command = Command::collect;
  if (*list) options.command = Command::list;
  if (*check) options.command = Command::check;
  if (*preflight) options.command = Command::preflight;
  if (*token) options.command = Command::token;
  if (*capture) options.command = Command::capture;
  if (*cell) options.command = Command::cell;
  if (*diff) options.command = Command::diff;
  return options;
}

}  // namespace plugfest
