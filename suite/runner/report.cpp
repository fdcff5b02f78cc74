// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/report.hpp"

#include <fmt/format.h>

#include "base/process.hpp"
#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"

namespace suite::runner {

std::expected<void, std::string> render_reports(const Options& options) {
  std::vector<std::string> words{RNIC_PYTHON, base::shipped_file("reports/render.py").string(),
                                 options.out.string()};
  if (!options.junit.empty()) {
    words.insert(words.end(), {"--junit", (options.out / "junit.xml").string()});
    words.insert(words.end(), {"--junit", options.junit.string()});
  }
  base::ProcessSetup setup;
  setup.dies_with_us = false;
  std::string error;
  auto process = base::Process::start(words, setup, error);
  if (!process) return std::unexpected("the reports: " + error);
  if (process->wait().good()) return {};
  return std::unexpected(fmt::format(
      "not all reports of {0} could be made; correct that, then make them by `{1} collect {0}`",
      options.out.string(), base::typed_command()));
}

jobs::ExitCode compare_runs(const Options& options) {
  std::vector<std::string> words{RNIC_PYTHON,
                                 base::shipped_file("reports/compare_runs.py").string()};
  words.insert(words.end(), options.runs.begin(), options.runs.end());
  base::ProcessSetup setup;
  setup.dies_with_us = false;
  std::string error;
  auto process = base::Process::start(words, setup, error);
  if (!process) {
    base::say(stderr, "rnic-suite: the comparison: {}\n", error);
    return jobs::ExitCode::harness;
  }
  const base::ExitStatus end = process->wait();
  return end.signal == 0 ? static_cast<jobs::ExitCode>(end.code) : jobs::ExitCode::harness;
}

}  // namespace suite::runner
