// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The command line of rnic-plugfest.
#pragma once

#include <expected>
#include <string>
#include <vector>

namespace plugfest {

/// The numbers are those of rnic-suite (docs/running.md).
enum class ExitCode : int {
  good = 0,         ///< all cells have been played, and none is bad that was not expected to be
  new_failure = 1,  ///< a cell's verdict is bad and not expected
  usage = 2,        ///< the command line, or the event file
  harness = 3,      ///< the run could not go on, or was interrupted
  stale = 4,        ///< no new failure, yet an expectation no longer holds
};

enum class Command { run, list, check, preflight, cell, bundle };

struct Options {
  Command command = Command::run;
  std::string event;
  std::string out = "plugfest-results";
  std::string engine = "local";
  std::string agent;     ///< rnic-agent of the references; empty: beside this program
  std::size_t jobs = 0;  ///< 0: as many as this machine has processors
  bool trust_event = false;
  bool long_scenarios = false;
  std::string cell;                        ///< of `cell`: its id
  int attempt = 1;                         ///< of `cell`
  std::string vendor, to;                  ///< of `bundle`: for whom, and the folder to make
  std::vector<std::string> select, rerun;  ///< globs over cell ids
};

/// The options, or what to end with: help was shown, or a fault was told.
[[nodiscard]] std::expected<Options, ExitCode> parse_options(int argc, char** argv);

}  // namespace plugfest
