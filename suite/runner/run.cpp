// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/run.hpp"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <map>
#include <ranges>

#include <fmt/format.h>

#include "rules/catalogue.hpp"
#include "suite/expectations/gate.hpp"
#include "suite/iut/pics/pics.hpp"
#include "suite/results/folder.hpp"
#include "suite/results/time_text.hpp"
#include "suite/runner/case_pcap.hpp"
#include "suite/runner/case_record.hpp"
#include "suite/runner/crew.hpp"
#include "suite/runner/did_you_mean.hpp"
#include "suite/runner/host_facts.hpp"
#include "suite/runner/incident.hpp"
#include "suite/runner/output_file.hpp"
#include "suite/runner/progress.hpp"
#include "suite/runner/report.hpp"
#include "suite/runner/seen_to_fail.hpp"
#include "suite/runner/selection.hpp"

namespace suite::runner {

namespace {

namespace fs = std::filesystem;
using results::WallTime;
using std::chrono::steady_clock;

// What ends a run before its first case: an exit code and one line.
struct Refusal {
  ExitCode code;
  std::string why;
};
template <typename Value>
using Checked = std::expected<Value, Refusal>;
std::unexpected<Refusal> refuse(ExitCode code, std::string why) {
  return std::unexpected(Refusal{code, std::move(why)});
}

// SIGINT, SIGTERM and SIGHUP as an event of the World, as long as it lives.
class EndingSignals {
 public:
  EndingSignals(rnic::llp::RealWorld& world, std::function<void(int)> callback) : world_(world) {
    sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, signal);
    sigprocmask(SIG_BLOCK, &set_, &before_);
    fd_ = rnic::llp::FileDescriptor(::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
    world_.watch(fd_.get(), EPOLLIN, [this, callback = std::move(callback)](std::uint32_t) {
      signalfd_siginfo info{};
      if (::read(fd_.get(), &info, sizeof info) == sizeof info)
        callback(static_cast<int>(info.ssi_signo));
    });
  }
  ~EndingSignals() {
    world_.unwatch(fd_.get());
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;

 private:
  rnic::llp::RealWorld& world_;
  rnic::llp::FileDescriptor fd_;
  sigset_t set_{}, before_{};
};

// ---------------------------------------------------------------- before the run

std::vector<std::string> not_passed(const results::Document& document) {
  std::vector<std::string> ids;
  for (const auto& record : document.cases) {
    const bool good = record.verdict == results::Verdict::pass ||
                      record.verdict == results::Verdict::not_applicable;
    if (!good && record.gate.result != results::GateResult::superseded) ids.push_back(record.id);
  }
  return ids;
}

Checked<std::vector<const cases::Case*>> select_cases(const SuiteParts& parts,
                                                      const Options& options) {
  std::vector<std::string> failed;
  if (options.rerun_failed) {
    const auto last = results::read(options.out);
    if (!last) {
      return refuse(ExitCode::usage,
                    fmt::format("--rerun-failed: {}; without it, all cases run", last.error()));
    }
    failed = not_passed(*last);
  }
  auto chosen = select(parts.table, options, failed);
  if (!chosen) return refuse(ExitCode::usage, chosen.error());
  return std::move(*chosen);
}

std::optional<std::string> unknown_deviation(const Options& options) {
  for (const std::string& name : options.deviations) {
    if (rnic::stream::find_deviation(name)) continue;
    return fmt::format(
        "--deviation: there is no deviation '{}'{}; `rnic-suite explain RULE` names those of a "
        "rule",
        name,
        did_you_mean(name, rnic::stream::deviations() |
                               std::views::transform(&rnic::stream::DeviationInfo::name)));
  }
  return std::nullopt;
}

// What to type where the IUT on somebody's own host does not answer.
std::string advice(const Options& options) {
  if (options.choice.in_lab()) return "";
  Options iut_only = options;
  iut_only.strict = false;
  iut_only.expectations.clear();
  std::vector<std::string> words{"rnic-suite", "doctor"};
  for (const std::string& word : judging_arguments(iut_only)) words.push_back(word);
  return fmt::format("; `{}` looks for the cause", shell_text(words));
}

// The file of known deviations: the one asked for, or the IUT's own if there is one.
fs::path expectations_path(const Options& options) {
  if (!options.expectations.empty()) return options.expectations;
  const fs::path own =
      fs::path(RNIC_SOURCE_DIR) / "suite/expectations" / (options.choice.name() + ".yaml");
  return fs::exists(own) ? own : fs::path();
}

Checked<expectations::KnownDeviations> load_expectations(const SuiteParts& parts,
                                                         const fs::path& path) {
  if (path.empty()) return expectations::KnownDeviations();
  const expectations::Known known{
      .is_case = [&](const std::string& id) { return parts.find(id) != nullptr; },
      .is_rule = [](const std::string& id) { return rules::find(id) != nullptr; }};
  auto loaded = expectations::load(path, known);
  if (loaded) return std::move(*loaded);
  std::string faults;
  for (const std::string& fault : loaded.error()) faults += (faults.empty() ? "" : "\n") + fault;
  return refuse(ExitCode::usage, faults);
}

// All cases of a run by the schedule's numbers: the sentinel first and last,
// the selected ones between them.
struct Plan {
  std::vector<const cases::Case*> list;
  std::vector<Job> jobs;
};

Plan make_plan(const SuiteParts& parts, const std::vector<const cases::Case*>& selected,
               const std::vector<expectations::Isolation>& apart) {
  Plan plan;
  std::vector<cases::Configuration> groups;
  const auto add = [&](const cases::Case* one, bool alone) {
    auto group = std::ranges::find(groups, one->configuration);
    if (group == groups.end()) group = groups.insert(groups.end(), one->configuration);
    plan.jobs.push_back({.number = plan.list.size(),
                         .attempt = 1,
                         .group = static_cast<std::size_t>(group - groups.begin()),
                         .alone = alone});
    plan.list.push_back(one);
  };
  const auto isolated = [&](const cases::Case* one) {
    return std::ranges::find(apart, one->id, &expectations::Isolation::case_id) != apart.end();
  };
  add(&parts.sentinel, true);
  for (const cases::Case* one : selected) {
    if (!isolated(one)) add(one, false);
  }
  for (const expectations::Isolation& isolation : apart) {
    const auto found = std::ranges::find(selected, isolation.case_id,
                                         [](const cases::Case* one) { return one->id; });
    if (found != selected.end()) add(*found, true);
  }
  add(&parts.sentinel, true);
  return plan;
}

// ---------------------------------------------------------------- the run

class Run final : Crew::Observer {
 public:
  Run(const SuiteParts& parts, const Options& options, const std::vector<std::string>& command)
      : parts_(parts), options_(options), progress_(stderr) {
    record_.id = new_run_id();
    record_.start = results::time_text(begin_wall_);
    record_.suite = suite_version();
    record_.catalogue = rules::version();
    record_.command = command;
    record_.host = host_name();
    record_.machine = machine();
    record_.options = options_record(options);
  }

  ExitCode execute() {
    if (auto ready = prepare(); !ready) {
      progress_.close();
      fmt::print(stderr, "rnic-suite: {}\n", ready.error().why);
      return ready.error().code;
    }
    run_cases();
    return finish();
  }

 private:
  [[nodiscard]] Checked<void> prepare();
  [[nodiscard]] Checked<void> prepare_site();
  void open_capture(std::unique_ptr<RunCapture>& capture);
  [[nodiscard]] Checked<void> meet_iut();
  void compare_claims(const iut::Hello& hello);
  void describe_iut(const iut::Hello& hello);
  void run_cases();
  void end_capture();
  [[nodiscard]] ExitCode finish();
  [[nodiscard]] bool nothing_left() const;
  [[nodiscard]] bool recover_site();

  void attempt_started(const Attempt& attempt) override;
  void attempt_ended(Attempt attempt, cases::CaseOutcome outcome) override;
  void crew_changed() override { pump(); }
  void crew_lost(const std::string& why) override { abort_run(results::Ending::aborted, why); }

  void consider_death(const Attempt& attempt, cases::CaseOutcome& outcome);
  void consider_kernel(const Attempt& attempt, cases::CaseOutcome& outcome,
                       results::CaseRecord& record);
  [[nodiscard]] std::vector<std::size_t> flight(const Attempt& attempt) const;
  void repeat(const Attempt& attempt);
  void repeat_suspect(const Attempt& attempt) {
    incidents_.will_repeat(attempt.job.number);
    repeat(attempt);
  }
  [[nodiscard]] results::CaseRecord describe(const Attempt& attempt) const;
  void settle(results::CaseRecord record, std::size_t number, bool complaint);
  void write(results::CaseRecord record);
  void abort_run(results::Ending ending, const std::string& why);
  void pump();

  const SuiteParts& parts_;
  const Options& options_;
  const WallTime begin_wall_ = std::chrono::system_clock::now();
  const steady_clock::time_point begin_ = steady_clock::now();
  Progress progress_;
  const SeenToFail seen_to_fail_ = [] {
    SeenToFail seen = load_seen_to_fail(RNIC_SEEN_TO_FAIL);
    seen.merge(load_seen_to_fail(RNIC_DAT_SEEN_TO_FAIL));
    return seen;
  }();
  rnic::llp::RealWorld world_;
  Plan plan_;
  std::unique_ptr<Site> site_;
  std::optional<results::Folder> folder_;
  expectations::KnownDeviations known_;
  std::optional<expectations::Gate> gate_;
  std::optional<CasePcaps> evidence_;
  std::optional<Schedule> schedule_;
  std::optional<Crew> crew_;
  std::optional<EndingSignals> signals_;
  Incidents incidents_;
  std::map<std::size_t, cases::CaseOutcome>
      deaths_;  ///< of workers, by case: what the first attempt came to
  struct Recent {
    Attempt attempt;
    steady_clock::time_point ended;
  };
  std::deque<Recent> recent_;  ///< ended so lately that a complaint of the kernel may be about them
  results::RunRecord record_;
  std::map<std::string, results::CaseRecord>
      failures_;                              ///< new failures by id, to be told at the end
  std::map<std::string, std::string> stale_;  ///< stale entries by case
  std::size_t judged_ = 0, records_ = 0;
  bool begun_ = false;  ///< cases may start
  bool over_ = false;   ///< ended before its time: interrupted or aborted
};

Checked<void> Run::prepare() {
  if (const auto unknown = unknown_deviation(options_)) {
    return refuse(ExitCode::usage, *unknown);
  }
  auto selected = select_cases(parts_, options_);
  if (!selected) return std::unexpected(selected.error());
  record_.selected = selected->size();

  const fs::path path = expectations_path(options_);
  auto known = load_expectations(parts_, path);
  if (!known) return std::unexpected(known.error());
  known_ = std::move(*known);
  plan_ = make_plan(parts_, *selected, known_.isolated);
  record_.expectations_file = path.string();

  if (!options_.junit.empty()) {  // found out before the run rather than after it
    if (const auto fault = output_file_fault(options_.junit))
      return refuse(ExitCode::harness, "--junit: " + *fault);
  }
  signals_.emplace(world_, [this](int signal) {
    abort_run(results::Ending::interrupted, "interrupted by " + iut::signal_name(signal));
  });
  auto folder = results::Folder::open(options_.out);
  if (!folder) return refuse(ExitCode::harness, folder.error());
  folder_.emplace(std::move(*folder));
  return prepare_site();
}

Checked<void> Run::prepare_site() {
  auto site = make_site(options_, [this](const std::string& line) { progress_.tell(line); });
  if (!site) return refuse(ExitCode::harness, site.error() + advice(options_));
  site_ = std::move(*site);
  std::unique_ptr<RunCapture> capture;
  open_capture(capture);
  evidence_.emplace(world_, folder_->path(), std::move(capture), options_.strict);

  schedule_.emplace(plan_.jobs, site_->configuration_is_shared());
  const unsigned wanted = options_.jobs > 0 ? options_.jobs : site_->usual_jobs();
  crew_.emplace(world_, *site_, *schedule_, plan_.list, std::min(wanted, site_->most_jobs()),
                site_->setup(0).deadline_scale, static_cast<Crew::Observer&>(*this));
  if (auto met = meet_iut(); !met) return met;

  record_.lab = site_->record();
  compare_claims(*crew_->hello());
  describe_iut(*crew_->hello());
  gate_.emplace(std::move(known_), record_.iut);
  if (auto begun = folder_->begin(record_); !begun) return refuse(ExitCode::harness, begun.error());
  return {};
}

void Run::open_capture(std::unique_ptr<RunCapture>& capture) {
  const std::string interface = site_->record().interface;
  if (!options_.capture) {
    record_.capture.note = "switched off";
  } else if (interface.empty()) {
    record_.capture.note = "there is no interface to capture on";
  } else {
    site_->at_tester([&] {
      auto opened = RunCapture::open(world_, interface, random_number());
      if (opened) {
        capture = std::move(*opened);
      } else {
        record_.capture.note = opened.error();
        progress_.tell(opened.error() + "; each pcap will be the tester's own record");
      }
    });
  }
  record_.capture.mode = capture ? results::CaptureMode::live : results::CaptureMode::tester;
}

// One worker starts, and the IUT says who it is.
Checked<void> Run::meet_iut() {
  crew_->open_first_seat();
  world_.run_until(rnic::llp::TimePoint::max(), [this] { return over_ || crew_->hello(); });
  if (over_) {
    const bool lost = record_.ending == results::Ending::aborted;
    return refuse(ExitCode::harness, record_.ending_reason + (lost ? advice(options_) : ""));
  }
  return {};
}

// What the vendor denies and the agent offers all the same is worth a line.
void Run::compare_claims(const iut::Hello& hello) {
  for (const std::string& word : hello.capabilities)
    if (!iut::is_capability(word))
      progress_.tell(fmt::format("the agent's hello has a capability that is not known: {}", word));
  for (const auto& [word, usable] : options_.claims.usable()) {
    const bool offered = std::ranges::find(hello.capabilities, word) != hello.capabilities.end();
    if (!usable && offered)
      progress_.tell(fmt::format("the PICS denies {}, and the IUT's agent offers it", word));
  }
}

void Run::describe_iut(const iut::Hello& hello) {
  record_.iut = {.kind = options_.choice.name(),
                 .driver = hello.driver,
                 .driver_version = hello.driver_version,
                 .firmware = hello.firmware,
                 .kernel = hello.kernel,
                 .implementation = hello.implementation,
                 .capabilities = hello.capabilities,
                 .limits = hello.limits,
                 .addresses = site_->iut_addresses(),
                 .deviations = options_.deviations};
}

void Run::run_cases() {
  record_.timings["setup"] = std::chrono::duration<double>(steady_clock::now() - begin_).count();
  const auto start = steady_clock::now();
  progress_.expect_more(plan_.list.size());
  begun_ = true;
  pump();
  world_.run_until(rnic::llp::TimePoint::max(), [this] { return nothing_left(); });
  record_.timings["cases"] = std::chrono::duration<double>(steady_clock::now() - start).count();
}

bool Run::nothing_left() const { return evidence_->pending() == 0 && (over_ || schedule_->done()); }

void Run::pump() {
  if (over_ || !begun_) return;
  if (!site_->up()) {
    if (schedule_->running() > 0) return;  // they notice by themselves, then it is brought up again
    if (!schedule_->done() && !recover_site()) return;
  }
  crew_->pump();
}

bool Run::recover_site() {
  progress_.tell("the IUT's host is down: bringing it up again");
  if (auto again = site_->bring_up(); !again) {
    abort_run(results::Ending::aborted, again.error());
    return false;
  }
  crew_->renew();
  return true;
}

// ---------------------------------------------------------------- attempts

results::CaseRecord Run::describe(const Attempt& attempt) const {
  results::CaseRecord record = describe_case(*attempt.one);
  auto words = judging_arguments(options_);
  words.insert(words.begin(), {"./run_suite.sh"});
  if (attempt.one == &parts_.sentinel) {
    record.id += attempt.job.number == 0 ? ".first" : ".last";
  } else {
    words.insert(words.end(), {"--select", record.id});
  }
  record.rerun = shell_text(words);
  record.attempt = attempt.job.attempt;
  record.worker = attempt.worker;
  record.start = results::time_text(attempt.wall_start);
  record.stderr_text = attempt.stderr_text;
  if (const auto seen = seen_to_fail_.find(record.id); seen != seen_to_fail_.end())
    record.seen_to_fail_by = seen->second;
  return record;
}

void Run::attempt_started(const Attempt& attempt) {
  evidence_->begin(attempt);
  progress_.started(describe(attempt).id);
}

void Run::attempt_ended(Attempt attempt, cases::CaseOutcome outcome) {
  results::CaseRecord record = describe(attempt);
  consider_death(attempt, outcome);
  consider_kernel(attempt, outcome, record);
  const std::size_t number = attempt.job.number;
  const bool complaint = !record.kernel_log.empty();
  evidence_->complete(std::move(record), attempt, std::move(outcome),
                      [this, number, complaint](auto completed) {
                        if (!completed)
                          return abort_run(results::Ending::aborted, completed.error());
                        settle(std::move(*completed), number, complaint);
                      });
  recent_.push_back({std::move(attempt), steady_clock::now()});
  pump();
}

// A worker that dies takes its evidence with it: the case runs again alone, so that all that is
// captured is its own. What the first attempt came to stands, whether the second dies too or not.
void Run::consider_death(const Attempt& attempt, cases::CaseOutcome& outcome) {
  const std::size_t number = attempt.job.number;
  const auto before = deaths_.find(number);
  if (before != deaths_.end() && !attempt.died) {
    outcome.verdict = before->second.verdict;
    outcome.reason = before->second.reason + "; not when it ran again alone";
  } else if (attempt.died && !attempt.job.alone) {
    deaths_.emplace(number, outcome);
    repeat(attempt);
  }
}

// What the IUT's kernel has to say decides over what the case saw.
void Run::consider_kernel(const Attempt& attempt, cases::CaseOutcome& outcome,
                          results::CaseRecord& record) {
  const std::size_t number = attempt.job.number;
  const std::string excerpt = site_->kernel_complaints();
  std::erase_if(recent_, [](const Recent& one) {
    return steady_clock::now() - one.ended > std::chrono::milliseconds(500);
  });
  if (!excerpt.empty()) {
    const auto others = flight(attempt);
    if (attempt.job.alone || others.empty()) {
      outcome.verdict = cases::Verdict::fail;
      outcome.reason = results::kernel_complained;
      outcome.reason += excerpt.substr(0, excerpt.find('\n'));
      record.kernel_log = excerpt;
      return;
    }
    std::vector<std::size_t> suspects = others;
    suspects.push_back(number);
    incidents_.open(excerpt, suspects);
    for (const Recent& one : std::exchange(recent_, {})) {
      if (incidents_.suspected(one.attempt.job.number)) repeat_suspect(one.attempt);
    }
  }
  if (const auto suspicion = incidents_.suspected(number)) {
    outcome.verdict = cases::Verdict::error;
    outcome.reason =
        "the IUT's kernel complained while this case ran beside others; it runs again alone";
    record.kernel_log = *suspicion;
    repeat_suspect(attempt);
  }
}

// The cases, sentinels aside, that run beside this one or have only just ended.
std::vector<std::size_t> Run::flight(const Attempt& attempt) const {
  std::vector<std::size_t> numbers;
  for (const Attempt* other : crew_->running()) {
    if (other->job.number != attempt.job.number) numbers.push_back(other->job.number);
  }
  for (const Recent& one : recent_) {
    if (!one.attempt.job.alone) numbers.push_back(one.attempt.job.number);
  }
  return numbers;
}

void Run::repeat(const Attempt& attempt) {
  Job job = attempt.job;
  ++job.attempt;
  schedule_->repeat_alone({job});
  progress_.expect_more(1);
}

void Run::settle(results::CaseRecord record, std::size_t number, bool complaint) {
  if (record.attempt > 1 && incidents_.repeating(number)) {
    for (auto& settled : incidents_.settle(number, std::move(record), complaint,
                                           [this](const std::string& excerpt) {
                                             return gate_->known_complaint(excerpt) != nullptr;
                                           }))
      write(std::move(settled));
  } else {
    write(std::move(record));
  }
}

void Run::write(results::CaseRecord record) {
  record.gate = gate_->judge(record);
  const bool sentinel = record.id.starts_with(parts_.sentinel.id);
  if (!sentinel && record.verdict != results::Verdict::not_applicable) ++judged_;
  auto added = folder_->add(record);
  // Syncing once for all that is settled at this moment keeps the disk from setting the pace.
  if (added && records_++ % 8 == 0) added = folder_->sync();
  if (!added) return abort_run(results::Ending::aborted, added.error());
  progress_.ended(record);
  failures_.erase(record.id);  // only a case's last attempt counts
  stale_.erase(record.id);
  if (record.gate.result == results::GateResult::stale)
    stale_[record.id] = record.gate.entry + " " + record.id;
  // An agent that cannot send or receive yet is no dead IUT: startup can be judged without.
  const bool dead = sentinel && record.verdict != results::Verdict::pass &&
                    record.verdict != results::Verdict::not_applicable &&
                    options_.deviations.empty();
  if (dead && record.id.ends_with(".first"))
    abort_run(results::Ending::aborted,
              "the IUT does not work: " + record.reason + advice(options_));
  if (record.gate.result == results::GateResult::new_failure)
    failures_[record.id] = std::move(record);
}

void Run::abort_run(results::Ending ending, const std::string& why) {
  if (over_) return;
  over_ = true;
  record_.ending = ending;
  record_.ending_reason = why;
  if (schedule_) schedule_->give_up();
  if (crew_) world_.defer([this] { crew_->dismiss(true); });
}

// ---------------------------------------------------------------- after the run

void Run::end_capture() {
  bool answered = !evidence_->live();
  if (!answered) {
    evidence_->close([&](bool seen) {
      record_.capture.closing_seen = seen;
      answered = true;
    });
  }
  world_.run_until(rnic::llp::TimePoint::max(), [&] { return answered; });
  evidence_->report(record_.capture);
}

ExitCode Run::finish() {
  const auto start = steady_clock::now();
  crew_->dismiss(over_);
  end_capture();
  if (!over_) record_.ending = results::Ending::finished;
  record_.complete = !over_;
  record_.end = results::time_text(std::chrono::system_clock::now());
  Findings findings{.harness = over_ || judged_ == 0,
                    .new_failure = !failures_.empty(),
                    .stale = !stale_.empty()};
  if (!over_ && judged_ == 0) record_.ending_reason = "no case was judged: all are not applicable";
  record_.exit_code = static_cast<int>(exit_code(findings));
  record_.timings["teardown"] = std::chrono::duration<double>(steady_clock::now() - start).count();
  record_.timings["total"] = std::chrono::duration<double>(steady_clock::now() - begin_).count();

  std::vector<std::string> stale_entries;
  for (const auto& [id, entry] : stale_) stale_entries.push_back(entry);
  const auto document = folder_->end(record_, stale_entries);
  progress_.close();
  for (const auto& [id, failure] : failures_)
    fmt::print("\n{}", failure_text(failure, options_.out.string()));
  for (const std::string& entry : stale_entries)
    fmt::print("\nstale: {} passes now; remove the entry\n", entry);
  if (document) {
    fmt::print("{}{}\n", failures_.empty() && stale_.empty() ? "" : "\n", summary_text(*document));
    std::fflush(stdout);
    if (const auto rendered = render_reports(options_); rendered) {
      fmt::print("report: {}\n", (options_.out / "report.html").string());
      std::fflush(stdout);
    } else {
      findings.harness = true;
      fmt::print(stderr, "rnic-suite: {}\n", rendered.error());
    }
  } else {
    findings.harness = true;
    record_.ending_reason = fmt::format(
        "{}; what was judged is in results.ndjson there: mend that, then `rnic-suite collect {}`",
        document.error(), options_.out.string());
  }
  if (!record_.ending_reason.empty()) fmt::print(stderr, "rnic-suite: {}\n", record_.ending_reason);
  return exit_code(findings);
}

}  // namespace

ExitCode run(const SuiteParts& parts, const Options& options,
             const std::vector<std::string>& command) {
  return Run(parts, options, command).execute();
}

}  // namespace suite::runner
