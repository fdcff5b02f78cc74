// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/report.hpp"

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

jobs::ExitCode compare_runs(const Options& options) {
  const auto end = run_program("compare_runs.py", options.runs);
  if (!end) {
    base::say(stderr, "rnic-suite: the comparison: {}\n", end.error());
    return jobs::ExitCode::harness;
  }
  return end->signal == 0 ? static_cast<jobs::ExitCode>(end->code) : jobs::ExitCode::harness;
}

}  // namespace suite::runner
