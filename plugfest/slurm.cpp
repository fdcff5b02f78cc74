// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/slurm.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/epoll_loop.hpp"
#include "base/line_file.hpp"
#include "base/record/json_file.hpp"
#include "plugfest/record_tables.hpp"
#include "plugfest/scenarios/scenario.hpp"
#include "suite/lab/command.hpp"

namespace plugfest {

namespace {

namespace fs = std::filesystem;
using base::EpollLoop;

/// How often the record is looked for, and how often the cluster is asked about a job without one.
constexpr std::chrono::milliseconds glance{50};
constexpr std::chrono::seconds between_questions{3};
/// A job that has ended may have left a record that this host does not see yet.
constexpr int questions_after_the_end = 2;
/// For what a node does before and after the cell itself, such as to boot guests.
constexpr std::chrono::seconds preparation{150};

constexpr const char* run_the_words = "#!/bin/sh\nexec \"$@\"\n";

std::chrono::seconds time_for(const Event& event, const Cell& cell) {
  return event.deadline + extra_time(event, cell.scenario) + preparation;
}

std::expected<std::string, std::string> ask(std::vector<std::string> argv) {
  return suite::lab::run_command(argv);
}

std::string last_lines(const fs::path& file) {
  constexpr std::size_t longest = 2000;
  std::ifstream in(file);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  return text.size() > longest ? text.substr(text.size() - longest) : text;
}

std::optional<Outcome> record_in(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  return base::record::read_file<Outcome>(file, "the record of a cell")
      .value_or(error_outcome("the job left no record that can be read"));
}

}  // namespace

fs::path slurm_record(const fs::path& folder, const Cell& cell, int attempt) {
  return folder / "slurm" /
         fmt::format("{}--{}--{}.{}.{}.json", cell.initiator_name, cell.responder_name,
                     cell.scenario, cell.repeat, attempt);
}

fs::path Slurm::file_of(const Cell& cell, int attempt, const char* ending) const {
  return slurm_record(folder_, cell, attempt).replace_extension(ending);
}

std::expected<Slurm, std::string> Slurm::open(const Event& event, const Options& options,
                                              const fs::path& folder) {
  for (const char* program : {"sbatch", "squeue", "scancel"})
    if (suite::lab::find_program(program).empty())
      return std::unexpected(
          fmt::format("--engine slurm: there is no {}: apt-get install slurm-client munge, and put "
                      "the cluster's slurm.conf in place (or name it in SLURM_CONF)",
                      program));
  if (const auto queue = ask({"squeue", "-h", "-o", "%i"}); !queue)
    return std::unexpected(
        fmt::format("--engine slurm: the cluster does not answer: {}", queue.error()));
  Slurm slurm;
  std::error_code error;
  slurm.event_ = &event;
  slurm.folder_ = fs::absolute(folder);
  fs::create_directories(slurm.folder_ / "slurm", error);
  const fs::path words = slurm.folder_ / "slurm" / "words.sh";
  if (const int fault = base::replace_file(words, run_the_words); fault != 0)
    return std::unexpected(fmt::format("{}: {}", words.string(), std::strerror(fault)));
  slurm.job_name_ = "plugfest-" + event.digest.substr(0, 12);
  slurm.program_ = {fs::read_symlink("/proc/self/exe", error).string(), "cell",
                    fs::absolute(options.event).string(), "--out", slurm.folder_.string()};
  if (!options.agent.empty())
    slurm.program_.insert(slurm.program_.end(), {"--agent", fs::absolute(options.agent).string()});
  if (options.long_scenarios) slurm.program_.emplace_back("--long");
  if (options.trust_event) slurm.program_.emplace_back("--trust-event");
  slurm.cancel_all();
  return slurm;
}

void Slurm::cancel_all() const {
  static_cast<void>(ask({"scancel", "--me", "--name=" + job_name_}));
}

std::vector<std::string> Slurm::submission(const Cell& cell, int attempt) const {
  std::vector<std::string> nodes;
  bool alone = true;
  for (const std::size_t at : {cell.initiator, cell.responder}) {
    const Participant& one = event_->participants[at];
    alone = alone && one.parallel == 1;
    if (!one.node.empty() && std::ranges::find(nodes, one.node) == nodes.end())
      nodes.push_back(one.node);
  }
  const auto minutes = std::chrono::ceil<std::chrono::minutes>(time_for(*event_, cell));
  std::vector<std::string> argv{"sbatch",
                                "--parsable",
                                "--no-requeue",  // a cell is played once
                                "--job-name=" + job_name_,
                                "--comment=" + cell.id,
                                fmt::format("--nodes={}", std::max<std::size_t>(nodes.size(), 1)),
                                fmt::format("--time={}", minutes.count()),
                                "--chdir=" + folder_.string(),
                                "--output=" + file_of(cell, attempt, ".log").string()};
  if (!nodes.empty()) {
    argv.push_back(fmt::format("--nodelist={}", fmt::join(nodes, ",")));
    if (alone) argv.emplace_back("--exclusive");
  }
  argv.push_back((folder_ / "slurm" / "words.sh").string());
  argv.insert(argv.end(), program_.begin(), program_.end());
  argv.insert(argv.end(), {"--cell", cell.id, "--attempt", std::to_string(attempt)});
  return argv;
}

SlurmOrder Slurm::order(const Cell& cell, int attempt) const {
  return {.submission = submission(cell, attempt),
          .record = slurm_record(folder_, cell, attempt).string(),
          .log = file_of(cell, attempt, ".log").string(),
          .time_limit = time_for(*event_, cell)};
}

namespace {

/// What the cluster says of a job: what `squeue` prints of its state, or nothing.
using State = std::expected<std::string, std::string>;

bool still_there(const State& state) {
  return state && !state->empty() && !state->starts_with("CANCELLED") &&
         !state->starts_with("FAILED") && !state->starts_with("TIMEOUT") &&
         !state->starts_with("NODE_FAIL");
}

Outcome without_record(const std::string& job, const fs::path& log) {
  Outcome outcome = error_outcome(fmt::format("job {} ended without a record", job));
  outcome.said.push_back({Side::initiator, last_lines(log)});
  return outcome;
}

}  // namespace

Outcome play_as_job(const SlurmOrder& order) {
  if (auto left = record_in(order.record)) return *left;
  const auto submitted = ask(order.submission);
  if (!submitted) return error_outcome(submitted.error());
  const std::string job = submitted->substr(0, submitted->find_first_of(";\n"));
  EpollLoop loop;
  auto next_question = loop.now() + between_questions;
  std::optional<base::TimePoint> running_since;
  for (int gone = 0; gone <= questions_after_the_end;) {
    if (auto record = record_in(order.record)) return *record;
    loop.run_until(loop.now() + glance, [] { return false; });
    if (loop.now() < next_question) continue;
    next_question = loop.now() + between_questions;
    const State state = ask({"squeue", "-h", "-o", "%T", "-j", job});
    if (state && state->starts_with("RUNNING")) {
      if (!running_since) running_since = loop.now();
      if (loop.now() - *running_since < order.time_limit) continue;
      static_cast<void>(ask({"scancel", job}));
      return error_outcome("the cell hung: job " + job + " was taken back");
    }
    gone = still_there(state) ? 0 : gone + 1;
  }
  return without_record(job, order.log);
}

}  // namespace plugfest
