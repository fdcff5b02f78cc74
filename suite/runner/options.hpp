// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The command line of rnic-suite as values.
#pragma once

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "suite/iut/pics/pics.hpp"
#include "suite/iut/pics/pixit.hpp"
#include "suite/jobs/exit_code.hpp"
#include "suite/runner/iut_choice.hpp"
#include "suite/runner/shard.hpp"

namespace suite::runner {

enum class Command : std::uint8_t {
  run,
  list,
  probe,
  doctor,
  explain,
  coverage,
  collect,
  merge,
  diff,
  dispute
};

struct Options {
  Command command = Command::run;
  // the IUT
  std::string iut = "reference", host;
  std::string agent_path;  ///< of rnic-agent on the IUT's host; empty: in its PATH
  /// --host tls: files in PEM: of this host, and of the authority that has signed the agent's
  std::filesystem::path certificate, key, authority;
  IutChoice choice;
  std::vector<std::string> addresses;  ///< of the IUT, where it is not in the lab's network
  std::vector<std::string> tester_addresses;
  std::string capture_interface;
  std::vector<std::string> deviations;
  std::vector<std::string> lawful;  ///< variants
  std::string link = "tcp";         ///< or memory
  std::filesystem::path pics, pixit, expectations;
  std::filesystem::path baseline;  ///< an earlier run: only what got worse since then fails
  std::string edition;             ///< of the suite: what later ones judge does not fail
  iut::Pics claims;   ///< what is in the PICS: the one asked for, or our own of this IUT
  iut::Pixit access;  ///< what is in the PIXIT, where one is asked for
  // the cases
  std::vector<std::string> select, rules;
  std::optional<int> rfc;             ///< only cases that judge a rule of it
  std::vector<std::string> sections;  ///< of that RFC, each with those below it
  Shard shard;
  bool rerun_failed = false, long_run = false, strict = false;
  bool slab_checks = false;             ///< siw-vm: the guest's kernel looks for memory errors
  std::string series;                   ///< siw-vm: of Debian's kernels; empty: the usual one
  std::filesystem::path kernel_source;  ///< siw-vm: of the guest's kernel; empty: Debian's
  bool kernel_checks = false;           ///< that one has KASAN, lockdep, kmemleak and the like
  bool kernel_drivers = false;          ///< with it, drivers of iWARP hardware are compiled
  std::filesystem::path kernel_image, kernel_modules;  ///< siw-vm: a kernel that is built already
  // the run
  std::filesystem::path out = "out", junit;
  std::filesystem::path write_expectations;  ///< drafts of known issues; empty: none
  bool out_given = false;                    ///< --out names just this folder
  bool fresh = false;  ///< a new run in a new folder, even if one could continue
  unsigned jobs = 0;   ///< 0: as the IUT suits
  bool capture = true;
  // other commands
  bool terminate_matrix = false;  ///< coverage: of Terminates instead of rules
  bool every_rule = false;        ///< coverage: rule by rule instead of their numbers
  /// coverage, dispute: the folder of a run; coverage, empty: the reference
  std::string results;
  bool json = false;  ///< list: with everything known about each case
  /// explain: a rule id; collect: a folder; probe: a file; dispute: a case id or finding:RULE
  std::string subject;
  std::vector<std::string> runs;  ///< diff, merge: folders of runs
};

/// A command line that leaves nothing to run: help was asked for, or it is wrong.
struct Stop {
  jobs::ExitCode code = jobs::ExitCode::usage;
  /// for standard output if the code is good, else for standard error, one line for each fault
  std::string text;
};

[[nodiscard]] std::expected<Options, Stop> parse_options(const std::vector<std::string>& arguments);

/// The arguments with which another run judges in the same way: IUT and judgement, without
/// selection, output and parallelism.
[[nodiscard]] std::vector<std::string> judging_arguments(const Options& options);
/// Every option that changes what is run or how it is judged, by name. Options come and go with
/// versions: the record is an open object, whose members are shown and compared by name.
[[nodiscard]] nlohmann::ordered_json options_record(const Options& options);
/// Words quoted as a shell command.
[[nodiscard]] std::string shell_text(const std::vector<std::string>& words);

}  // namespace suite::runner
