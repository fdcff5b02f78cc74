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

namespace suite::runner {

enum class Command : std::uint8_t { run, list, probe, doctor, explain, coverage, collect, dispute };

/// Another host, as `--host` names it: by one of the two.
struct OtherHost {
  std::string ssh;                  ///< [USER@]HOST
  std::vector<std::string> prefix;  ///< words put before a command that runs there
};

/// Which IUT: what `--iut` and `--host` say.
struct IutChoice {
  enum class Kind : std::uint8_t { reference, agent, siw_vm, verbs, dat } kind = Kind::reference;
  std::string device;  ///< verbs; of dat the IA's name in dat.conf
  /// Argv of the agent's process; empty: in process, or in the guest
  std::vector<std::string> agent;
  std::vector<std::string> dat_cases;  ///< dat: argv of rnic-dat-cases, where the agent is
  std::optional<OtherHost> host;       ///< verbs, dat: where the agent is, if not here
  /// agent:reference, dat:reference: our own, in the lab's namespace
  bool local_reference = false;
  bool dat_in_guest = false;  ///< dat:siw-vm: OpenFabrics' provider over the guest's soft-iWARP
  [[nodiscard]] bool in_guest() const { return kind == Kind::siw_vm || dat_in_guest; }
  /// Whether it runs in the lab's own network; otherwise it is a host of its own.
  [[nodiscard]] bool in_lab() const {
    return kind == Kind::reference || local_reference || in_guest();
  }
  /// The word that results and expectations use.
  [[nodiscard]] std::string name() const;
};

/// The IUT of `--iut IUT --host HOST`, or one line that says what is wrong with them.
[[nodiscard]] std::expected<IutChoice, std::string> parse_iut(const std::string& iut,
                                                              const std::string& host);

struct Options {
  Command command = Command::run;
  // the IUT
  std::string iut = "reference", host;
  IutChoice choice;
  std::vector<std::string> addresses;  ///< of the IUT, where it is not in the lab's network
  std::vector<std::string> tester_addresses;
  std::string capture_interface;
  std::vector<std::string> deviations;
  std::vector<std::string> lawful;  ///< variants
  std::string link = "tcp";         ///< or memory
  std::filesystem::path pics, pixit, expectations;
  iut::Pics claims;   ///< what is in the PICS: the one asked for, or our own of this IUT
  iut::Pixit access;  ///< what is in the PIXIT, where one is asked for
  // the cases
  std::vector<std::string> select, rules;
  std::optional<int> rfc;             ///< only cases that judge a rule of it
  std::vector<std::string> sections;  ///< of that RFC, each with those below it
  bool rerun_failed = false, long_run = false, strict = false;
  bool slab_checks = false;  ///< siw-vm: the guest's kernel looks for memory errors
  // the run
  std::filesystem::path out = "out", junit;
  std::filesystem::path write_expectations;  ///< drafts of known issues; empty: none
  bool out_given = false;                    ///< --out names just this folder
  bool fresh = false;                        ///< a new run in a new folder, whatever there is
  unsigned jobs = 0;                         ///< 0: as the IUT suits
  bool capture = true;
  // other commands
  bool terminate_matrix = false;  ///< coverage: of Terminates in place of rules
  bool every_rule = false;        ///< coverage: rule by rule in place of their numbers
  std::string results;            ///< coverage, dispute: the folder of a run; coverage, empty: the
                                  ///< reference
  bool json = false;              ///< list: with all that is known of each case
  std::string subject;  ///< explain: a rule id; collect: a folder; probe: a file; dispute: a
                        ///< case id or finding:RULE
};

/// The result of a command line that leaves nothing to run:
/// help was asked for, or it is wrong.
struct Stop {
  jobs::ExitCode code = jobs::ExitCode::usage;
  std::string text;  ///< for standard output if the code is good, else for standard error, one line
                     ///< for each fault
};

[[nodiscard]] std::expected<Options, Stop> parse_options(const std::vector<std::string>& arguments);

/// The arguments that make another run judge likewise: IUT and judgement,
/// without selection, output and parallelism.
[[nodiscard]] std::vector<std::string> judging_arguments(const Options& options);
/// Every option that changes what is run or how it is judged, by name.
[[nodiscard]] nlohmann::ordered_json options_record(const Options& options);
/// Words as a shell command that means just them.
[[nodiscard]] std::string shell_text(const std::vector<std::string>& words);

}  // namespace suite::runner
