// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/report.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include <fmt/format.h>

#include "base/process.hpp"
#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"

namespace suite::runner {

namespace {

// A program of reports/, awaited. The error says why it cannot be started. `errors`: its standard
// error; -1: ours.
std::expected<base::ExitStatus, std::string> run_program(const char* name,
                                                         const std::vector<std::string>& words,
                                                         int errors = -1) {
  std::vector<std::string> command{RNIC_PYTHON,
                                   base::shipped_file(std::string("reports/") + name).string()};
  command.insert(command.end(), words.begin(), words.end());
  base::ProcessSetup setup;
  setup.dies_with_us = false;
  setup.errors = errors;
  std::string error;
  auto process = base::Process::start(command, setup, error);
  if (!process) return std::unexpected(error);
  return process->wait();
}

// What a program has to say at the end of a run goes by way of this: a standard error whose reader
// sleeps would hold it up, and the run with it.
class Notes {
 public:
  [[nodiscard]] int descriptor() const { return file_.get(); }
  void pass_on() const {
    std::array<char, 4096> text{};
    for (off_t at = 0; base::takes_a_line(stderr);) {
      const ssize_t count = ::pread(file_.get(), text.data(), text.size(), at);
      if (count <= 0) return;
      base::say(stderr, std::string_view(text.data(), static_cast<std::size_t>(count)));
      at += count;
    }
  }

 private:
  base::FileDescriptor file_{::memfd_create("notes", MFD_CLOEXEC)};
};

}  // namespace

std::expected<void, std::string> render_reports(const Options& options) {
  std::vector<std::string> words{options.out.string()};
  if (!options.junit.empty()) {
    words.insert(words.end(), {"--junit", (options.out / "junit.xml").string()});
    words.insert(words.end(), {"--junit", options.junit.string()});
  }
  const Notes notes;
  const auto end = run_program("render.py", words, notes.descriptor());
  notes.pass_on();
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
