// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/report.hpp"

#include <array>

#include <fmt/format.h>

#include "base/process.hpp"
#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"

namespace suite::runner {

namespace {

// A program of reports/, awaited. The error says why it cannot be started.
std::expected<base::ExitStatus, std::string> run_program(const char* name,
                                                         const std::vector<std::string>& words) {
  std::vector<std::string> command{RNIC_PYTHON,
                                   base::shipped_file(std::string("reports/") + name).string()};
  command.insert(command.end(), words.begin(), words.end());
  base::ProcessSetup setup;
  setup.dies_with_us = false;
  std::string error;
  auto process = base::Process::start(command, setup, error);
  if (!process) return std::unexpected(error);
  return process->wait();
}

}  // namespace

std::expected<void, std::string> render_reports(const Options& options) {
  std::vector<std::string> words{options.out.string()};
  if (!options.junit.empty()) {
    words.insert(words.end(), {"--junit", (options.out / "junit.xml").string()});
    words.insert(words.end(), {"--junit", options.junit.string()});
  }
  const auto end = run_program("render.py", words);
  if (!end) return std::unexpected("the reports: " + end.error());
  if (end->good()) return {};
  return std::unexpected(fmt::format(
      "not all reports of {0} could be made; correct that, then make them by `{1} collect {0}`",
      options.out.string(), base::typed_command()));
}

std::span<const ReportCommand> report_commands() {
  static constexpr std::array commands{
      ReportCommand{"report", "render.py",
                    "make the reports of a run again, or elsewhere; SARIF, and annotations of a "
                    "GitHub workflow"},
      ReportCommand{"history", "render_history.py",
                    "make a page of several runs: the trend, what changed, unstable cases"},
      ReportCommand{"statement", "render_statement.py",
                    "make the conformance statement of a run: one page, by profile"}};
  return commands;
}

jobs::ExitCode perform(const ReportCommand& command, const std::vector<std::string>& words) {
  const auto end = run_program(command.program, words);
  if (!end) {
    base::say(stderr, "rnic-suite {}: {}\n", command.name, end.error());
    return jobs::ExitCode::harness;
  }
  return end->signal == 0 ? static_cast<jobs::ExitCode>(end->code) : jobs::ExitCode::harness;
}

jobs::ExitCode compare_runs(const Options& options) {
  return perform({"diff", "compare_runs.py", ""}, options.runs);
}

}  // namespace suite::runner
