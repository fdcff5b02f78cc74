// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The commands of rnic-suite.
#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/out_of_memory.hpp"
#include "base/record/json_writer.hpp"
#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "suite/cases/renamed_cases.hpp"
#include "suite/jobs/worker_process.hpp"
#include "suite/results/folder.hpp"
#include "suite/runner/case_record.hpp"
#include "suite/runner/coverage.hpp"
#include "suite/runner/descendants.hpp"
#include "suite/runner/dispute.hpp"
#include "suite/runner/doctor_and_probe.hpp"
#include "suite/runner/explain.hpp"
#include "suite/runner/merge.hpp"
#include "suite/runner/options.hpp"
#include "suite/runner/report.hpp"
#include "suite/runner/run.hpp"
#include "suite/runner/run_summary.hpp"
#include "suite/runner/selection.hpp"
#include "suite/runner/session_cases.hpp"
#include "suite/runner/soak.hpp"
#include "suite/runner/suite_parts.hpp"
#include "suite/runner/worker.hpp"

namespace suite::runner {

using jobs::ExitCode;

namespace {

/// What `list --json` prints about a case.
struct CaseListing {
  std::string id, title, layer, file, variant, configuration;
  std::vector<std::string> rules;
};
constexpr auto table_of(const CaseListing*) {
  using base::record::required;
  return base::record::table(
      "case", required("id", &CaseListing::id), required("title", &CaseListing::title),
      required("layer", &CaseListing::layer), required("file", &CaseListing::file),
      required("variant", &CaseListing::variant),
      required("configuration", &CaseListing::configuration),
      required("rules", &CaseListing::rules));
}

CaseListing listing_of(const cases::Case& one) {
  const results::CaseRecord record = describe_case(one);
  return {.id = record.id,
          .title = record.title,
          .layer = record.layer,
          .file = record.file,
          .variant = record.variant,
          .configuration = record.configuration,
          .rules = record.rules};
}

/// For commands that only print: ends without a message if the reader of the output, such as
/// `head`, ends.
void end_with_the_reader() { std::signal(SIGPIPE, SIG_DFL); }

/// The exit code of a command that only prints: harness if the output could not be written.
ExitCode printed(ExitCode code) {
  const auto fault = base::unwritten_output();
  if (!fault) return code;
  base::say(stderr, "rnic-suite: {}\n", *fault);
  return ExitCode::harness;
}

/// Former ids of cases select their current ones.
Options with_current_ids(const SuiteParts& parts, Options options) {
  std::vector<std::string> patterns;
  for (const std::string& pattern : options.select) {
    const auto current = cases::current_patterns(pattern, parts.table);
    if (current != std::vector{pattern})
      base::say(stderr, "rnic-suite: --select '{}': cases were renamed; this is now {}\n", pattern,
                fmt::join(current, ", "));
    patterns.insert(patterns.end(), current.begin(), current.end());
  }
  options.select = std::move(patterns);
  return options;
}

ExitCode list(const SuiteParts& parts, const Options& options) {
  Options selection = options;
  selection.rerun_failed = false;
  const auto chosen = select(parts.table, selection, {});
  if (!chosen) {
    base::say(stderr, "rnic-suite: {}\n", chosen.error());
    return ExitCode::usage;
  }
  if (options.json) {
    std::vector<CaseListing> all;
    for (const cases::Case* one : *chosen) all.push_back(listing_of(*one));
    base::say(stdout, "{}\n", base::record::to_json(all).dump(1));
    return ExitCode::good;
  }
  for (const cases::Case* one : *chosen) base::say(stdout, "{}\n", one->id);
  return ExitCode::good;
}

ExitCode collect(const Options& options) {
  const auto complain = [](ExitCode code, const std::string& why) {
    base::say(stderr, "rnic-suite: {}\n", why);
    return code;
  };
  std::error_code error;
  const std::filesystem::path journal = std::filesystem::path(options.subject) / "results.ndjson";
  if (!std::filesystem::exists(journal, error)) {
    return complain(
        ExitCode::usage,
        fmt::format("{} does not exist; give the --out folder of a run", journal.string()));
  }
  if (const auto readable = results::read_journal(journal); !readable)
    return complain(ExitCode::usage, readable.error());
  const auto document = results::collect(options.subject);
  if (!document) return complain(ExitCode::harness, document.error());
  base::say(stdout, outcome_text(*document, options.subject));
  Options report = options;
  report.out = options.subject;
  if (const auto rendered = render_reports(report); !rendered) {
    base::say(stderr, "rnic-suite: {}\n", rendered.error());
    return ExitCode::harness;
  }
  base::say(stdout, "report: {}\n", (report.out / "report.html").string());
  return exit_code(findings_of(*document));
}

ExitCode coverage(const SuiteParts& parts, const Options& options) {
  Evaluated evaluated;
  if (options.results.empty()) {
    evaluated = evaluated_by_self_test();
  } else {
    auto of_run = evaluated_in(options.results);
    if (!of_run) {
      base::say(stderr, "rnic-suite: --results: {}\n", of_run.error());
      return ExitCode::usage;
    }
    evaluated = std::move(*of_run);
  }
  return options.every_rule ? print_rules(parts, evaluated) : print_coverage(parts, evaluated);
}

/// Commands that give a wrong result without the files that belong to the suite: a known issue
/// would show as a new failure, or the report would be missing.
bool needs_shipped_files(Command command) {
  return command == Command::run || command == Command::explain || command == Command::collect ||
         command == Command::merge || command == Command::diff;
}

ExitCode perform(const SuiteParts& parts, const Options& options,
                 const std::vector<std::string>& command) {
  if (const auto fault = base::shipped_files_fault();
      fault && needs_shipped_files(options.command)) {
    base::say(stderr, "rnic-suite: {}\n", *fault);
    return ExitCode::harness;
  }
  switch (options.command) {
    case Command::run:
      base::outlive_the_terminal();
      return run(parts, options, command);
    case Command::list:
      end_with_the_reader();
      return printed(list(parts, options));
    case Command::explain:
      end_with_the_reader();
      return printed(explain(parts, options.subject));
    case Command::coverage:
      end_with_the_reader();
      if (options.terminate_matrix) return printed(print_terminate_matrix());
      return printed(coverage(parts, options));
    case Command::dispute:
      return printed(bundle_dispute(options));
    case Command::collect:
      return collect(options);
    case Command::merge:
      return merge_shards(parts, options, command);
    case Command::diff:
      return compare_runs(options);
    case Command::probe:
      return printed(probe(parts, options));
    case Command::doctor:
      return printed(run_doctor(options));
  }
  return ExitCode::usage;
}

ExitCode perform_command(const SuiteParts& parts, const std::vector<std::string>& command) {
  const Descendants descendants;
  const auto options = parse_options({command.begin() + 1, command.end()});
  if (options) {
    SuiteParts all = with_sessions(parts, options->select);
    if (options->choice.over_roce)
      all.sentinel = options->choice.kind == IutChoice::Kind::kdat     ? all.kdat_sentinel
                     : options->choice.kind == IutChoice::Kind::kverbs ? all.loopback_sentinel
                                                                       : all.dat_sentinel;
    return perform(all, with_current_ids(all, *options), command);
  }
  const Stop& stop = options.error();
  if (stop.code != ExitCode::good) {
    base::say(stderr, "rnic-suite: {}\n", stop.text);
    return stop.code;
  }
  base::say(stdout, stop.text);
  return printed(ExitCode::good);
}

ExitCode cannot_go_on(const std::string& why) {
  base::say(stderr, "rnic-suite: {}\n", why);
  return ExitCode::harness;
}

/// Whether the first word is a command of reports/: then it is performed there.
std::optional<ExitCode> report_command(const std::vector<std::string>& command) {
  if (command.size() < 2) return std::nullopt;
  const auto one = std::ranges::find(report_commands(), command[1], &ReportCommand::name);
  if (one == report_commands().end()) return std::nullopt;
  if (const auto fault = base::shipped_files_fault()) return cannot_go_on(*fault);
  return perform(*one, {command.begin() + 2, command.end()});
}

}  // namespace

const cases::Case* SuiteParts::find(const std::string& id) const {
  for (const cases::Case* one : {&sentinel, &dat_sentinel, &kdat_sentinel, &loopback_sentinel})
    if (id == one->id) return one;
  for (const Control& control : controls) {
    if (control.one.id == id) return &control.one;
  }
  for (const cases::Case& one : table) {
    if (one.id == id) return &one;
  }
  return nullptr;
}

int run_program(const SuiteParts& parts, int argc, char** argv) {
  base::keep_standard_streams();
  const std::vector<std::string> command(argv, argv + argc);
  if (argc > 1 && std::string_view(argv[1]) == jobs::worker_argument) return run_worker(parts);
  std::error_code error;
  static_cast<void>(std::filesystem::current_path(error));
  if (error)
    return static_cast<int>(cannot_go_on(
        "the current folder no longer exists; change to one that does, and start again"));
  const auto perform_run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), command.front());
    return perform_command(parts, arguments);
  };
  try {
    if (argc > 1 && command[1] == "soak")
      return static_cast<int>(
          printed(soak(parts, {command.begin() + 2, command.end()}, perform_run)));
    if (argc > 1 && command[1] == "replay")
      return static_cast<int>(
          printed(replay(parts, {command.begin() + 2, command.end()}, perform_run)));
    if (const auto ended = report_command(command)) return static_cast<int>(*ended);
    return static_cast<int>(perform_command(parts, command));
  } catch (const std::exception& fault) {
    const bool in_run = argc > 1 && command[1] == "run";
    const bool no_memory = dynamic_cast<const std::bad_alloc*>(&fault) != nullptr;
    return static_cast<int>(cannot_go_on(
        base::words_of(fault) +
        (in_run && no_memory
             ? "; what was judged is in the run's folder, and the same command continues it"
             : "")));
  }
}

}  // namespace suite::runner
