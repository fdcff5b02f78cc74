// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/run.hpp"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <ranges>

#include <fmt/format.h>

#include "base/did_you_mean.hpp"
#include "base/shipped_file.hpp"
#include "base/time_text.hpp"
#include "rules/catalogue.hpp"
#include "suite/expectations/gate.hpp"
#include "suite/iut/pics/pics.hpp"
#include "suite/results/folder.hpp"
#include "suite/runner/host_facts.hpp"
#include "suite/runner/output_file.hpp"
#include "suite/runner/plan.hpp"
#include "suite/runner/progress.hpp"
#include "suite/runner/report.hpp"
#include "suite/runner/seen_to_fail.hpp"
#include "suite/runner/selection.hpp"
#include "suite/runner/station.hpp"

namespace suite::runner {

namespace {

namespace fs = std::filesystem;
using base::WallTime;
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

// SIGINT, SIGTERM and SIGHUP as an event of the event loop, as long as it lives.
class EndingSignals {
 public:
  EndingSignals(base::EpollLoop& loop, std::function<void(int)> callback) : loop_(loop) {
    sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, signal);
    sigprocmask(SIG_BLOCK, &set_, &before_);
    fd_ = base::FileDescriptor(::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
    loop_.watch(fd_.get(), EPOLLIN, [this, callback = std::move(callback)](std::uint32_t) {
      signalfd_siginfo info{};
      if (::read(fd_.get(), &info, sizeof info) == sizeof info)
        callback(static_cast<int>(info.ssi_signo));
    });
  }
  ~EndingSignals() {
    loop_.unwatch(fd_.get());
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;

 private:
  base::EpollLoop& loop_;
  base::FileDescriptor fd_;
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
    if (rnic::deviants::find_deviation(name)) continue;
    return fmt::format(
        "--deviation: there is no deviation '{}'{}; `rnic-suite explain RULE` names those of a "
        "rule",
        name,
        base::did_you_mean(name, rnic::deviants::deviations() |
                                     std::views::transform(&rnic::deviants::DeviationInfo::name)));
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
  const fs::path own = base::shipped_file("suite/expectations") / (options.choice.name() + ".yaml");
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

// ---------------------------------------------------------------- the run

class Run final : Station::Observer {
 public:
  Run(const SuiteParts& parts, const Options& options, const std::vector<std::string>& command)
      : parts_(parts), options_(options), progress_(stderr) {
    record_.id = new_run_id();
    record_.start = base::time_text(begin_wall_);
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
  [[nodiscard]] Checked<void> prepare_stations(std::vector<Plan> plans);
  [[nodiscard]] Checked<void> meet_iut();
  void compare_claims(const iut::Hello& hello);
  void describe_iut(const iut::Hello& hello);
  void describe_lab();
  void run_cases();
  void end_captures();
  [[nodiscard]] ExitCode finish();
  [[nodiscard]] bool nothing_left() const;

  void station_met(Station& station) override;
  void case_started(const std::string& id) override { progress_.started(id); }
  bool case_judged(results::CaseRecord record) override;
  void more_to_do(std::size_t attempts) override { progress_.expect_more(attempts); }
  void station_tells(const std::string& line) override { progress_.tell(line); }
  void station_lost(const std::string& why) override { abort_run(results::Ending::aborted, why); }
  bool is_known_complaint(const std::string& excerpt) const override {
    return gate_->known_complaint(excerpt) != nullptr;
  }
  void abort_run(results::Ending ending, const std::string& why);

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
  base::EpollLoop loop_;
  std::optional<results::Folder> folder_;
  expectations::KnownDeviations known_;
  std::optional<expectations::Gate> gate_;
  std::vector<std::unique_ptr<Station>> stations_;  ///< the first one speaks for the IUT
  std::optional<EndingSignals> signals_;
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
  auto plans = make_plans(parts_, *selected, known_.isolated, most_sites(options_));
  for (Plan& plan : plans) mark_known_hangs(plan, known_.entries);
  record_.expectations_file = path.string();

  if (!options_.junit.empty()) {  // found out before the run rather than after it
    if (const auto fault = output_file_fault(options_.junit))
      return refuse(ExitCode::harness, "--junit: " + *fault);
  }
  signals_.emplace(loop_, [this](int signal) {
    abort_run(results::Ending::interrupted, "interrupted by " + base::signal_name(signal));
  });
  auto folder = results::Folder::open(options_.out);
  if (!folder) return refuse(ExitCode::harness, folder.error());
  folder_.emplace(std::move(*folder));
  return prepare_stations(std::move(plans));
}

Checked<void> Run::prepare_stations(std::vector<Plan> plans) {
  auto sites =
      make_sites(options_, plans.size(), [this](const std::string& line) { progress_.tell(line); });
  if (!sites) return refuse(ExitCode::harness, sites.error() + advice(options_));
  for (std::size_t place = 0; place < plans.size(); ++place) {
    stations_.push_back(std::make_unique<Station>(
        Station::Surroundings{loop_, parts_, options_, seen_to_fail_, folder_->path()}, place,
        std::move((*sites)[place]), std::move(plans[place]),
        static_cast<Station::Observer&>(*this)));
  }
  describe_lab();
  if (auto met = meet_iut(); !met) return met;
  const iut::Hello& hello = *stations_.front()->hello();
  compare_claims(hello);
  describe_iut(hello);
  gate_.emplace(std::move(known_), record_.iut);
  if (auto begun = folder_->begin(record_); !begun) return refuse(ExitCode::harness, begun.error());
  return {};
}

void Run::describe_lab() {
  record_.lab = stations_.front()->site().record();
  if (stations_.size() > 1) record_.lab.note = fmt::format("{} guests", stations_.size());
  const bool live = stations_.front()->evidence().live();
  record_.capture.mode = live ? results::CaptureMode::live : results::CaptureMode::tester;
  record_.capture.note = stations_.front()->no_capture();
}

// All copies of the IUT come up side by side; the run begins when the first has said who it is.
Checked<void> Run::meet_iut() {
  for (const auto& station : stations_) station->meet();
  loop_.run_until(base::TimePoint::max(), [this] { return over_ || stations_.front()->hello(); });
  if (over_) {
    const bool lost = record_.ending == results::Ending::aborted;
    return refuse(ExitCode::harness, record_.ending_reason + (lost ? advice(options_) : ""));
  }
  return {};
}

void Run::station_met(Station& station) {
  if (begun_) station.begin();
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
                 .addresses = stations_.front()->site().iut_addresses(),
                 .deviations = options_.deviations};
}

void Run::run_cases() {
  record_.timings["setup"] = std::chrono::duration<double>(steady_clock::now() - begin_).count();
  const auto start = steady_clock::now();
  begun_ = true;
  for (const auto& station : stations_) {
    progress_.expect_more(station->cases());
    if (station->hello()) station->begin();
  }
  loop_.run_until(base::TimePoint::max(), [this] { return nothing_left(); });
  record_.timings["cases"] = std::chrono::duration<double>(steady_clock::now() - start).count();
}

bool Run::nothing_left() const {
  return std::ranges::all_of(stations_, [](const auto& station) { return station->done(); });
}

// ---------------------------------------------------------------- verdicts

bool Run::case_judged(results::CaseRecord record) {
  record.gate = gate_->judge(record);
  const bool sentinel = record.id.starts_with(parts_.sentinel.id);
  if (!sentinel && record.verdict != results::Verdict::not_applicable) ++judged_;
  auto added = folder_->add(record);
  // Syncing once for all that is settled at this moment keeps the disk from setting the pace.
  if (added && records_++ % 8 == 0) added = folder_->sync();
  if (!added) {
    abort_run(results::Ending::aborted, added.error());
    return false;
  }
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
  const auto gate = record.gate.result;
  if (gate == results::GateResult::new_failure) failures_[record.id] = std::move(record);
  return gate == results::GateResult::superseded;
}

void Run::abort_run(results::Ending ending, const std::string& why) {
  if (over_) return;
  over_ = true;
  record_.ending = ending;
  record_.ending_reason = why;
  for (const auto& station : stations_) {
    station->give_up();
    loop_.defer([&station] { station->dismiss(true); });
  }
}

// ---------------------------------------------------------------- after the run

void Run::end_captures() {
  std::size_t open = 0;
  record_.capture.closing_seen = stations_.front()->evidence().live();
  for (const auto& station : stations_) {
    if (!station->evidence().live()) continue;
    ++open;
    station->evidence().close([&](bool seen) {
      record_.capture.closing_seen = record_.capture.closing_seen && seen;
      --open;
    });
  }
  loop_.run_until(base::TimePoint::max(), [&] { return open == 0; });
  for (const auto& station : stations_) station->evidence().report(record_.capture);
}

ExitCode Run::finish() {
  const auto start = steady_clock::now();
  for (const auto& station : stations_) station->dismiss(over_);
  end_captures();
  if (!over_) record_.ending = results::Ending::finished;
  record_.complete = !over_;
  record_.end = base::time_text(std::chrono::system_clock::now());
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
