// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The command line of rnic-plugfest.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <vector>

#include "suite/jobs/exit_code.hpp"

namespace plugfest {

enum class Command { run, collect, list, check, preflight, token, capture, cell, diff };

/// Of `token`.
struct TokenOptions {
  std::string name;             ///< of the participant
  std::string listen, address;  ///< empty: the event has the participant already
  std::string vendor, alias;
  std::string to;  ///< file; empty: NAME.token
  int days = 90;
};

struct Options {
  Command command = Command::run;
  std::string event;
  std::string out = "plugfest-results";
  std::string engine = "local";
  std::string agent;     ///< rnic-agent of the references; empty: next to this program
  std::size_t jobs = 0;  ///< 0: as many as this machine has processors
  bool trust_event = false;
  bool long_scenarios = false;
  std::string cell;                        ///< of `cell`: its id
  int attempt = 1;                         ///< of `cell`
  std::string other;                       ///< of `diff`: the later run's folder
  std::vector<std::string> select, rerun;  ///< globs over cell ids
  TokenOptions token;
  std::string interface;  ///< of `capture`
};

/// A command that a program of reports/ performs: its words go there as they are.
struct ReportCommand {
  const char *name, *program, *what;
};
[[nodiscard]] std::span<const ReportCommand> report_commands();

/// The options, or what to end with: help was shown, or a fault was reported.
[[nodiscard]] std::expected<Options, suite::jobs::ExitCode> parse_options(int argc, char** argv);

}  // namespace plugfest
