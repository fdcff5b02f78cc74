// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/run.hpp"

#include <algorithm>
#include <map>
#include <ranges>

#include <fmt/format.h>

#include "base/did_you_mean.hpp"
#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "base/time_text.hpp"
#include "rules/catalogue.hpp"
#include "suite/iut/pics/pics.hpp"
#include "suite/jobs/ending_signals.hpp"
#include "suite/jobs/progress.hpp"
#include "suite/results/folder.hpp"
#include "suite/results/suite_version.hpp"
#include "suite/runner/awaited_agent.hpp"
#include "suite/runner/earlier_run.hpp"
#include "suite/runner/host_facts.hpp"
#include "suite/runner/iut_host.hpp"
#include "suite/runner/iut_instance.hpp"
#include "suite/runner/output_file.hpp"
#include "suite/runner/plan.hpp"
#include "suite/runner/report.hpp"
#include "suite/runner/run_expectations.hpp"
#include "suite/runner/run_gate.hpp"
#include "suite/runner/run_summary.hpp"
#include "suite/runner/self_test_record.hpp"

namespace suite::runner {

using jobs::ExitCode;

namespace {

namespace fs = std::filesystem;
using base::WallTime;
using std::chrono::steady_clock;

std::unexpected<Refusal> refuse(ExitCode code, std::string why) {
  return std::unexpected(Refusal{code, std::move(why)});
}

// ---------------------------------------------------------------- before the run

std::optional<std::string> unknown_deviation(const Options& options) {
  for (const std::string& name : options.deviations) {
    if (rnic::deviants::find_deviation(name)) continue;
    return fmt::format(
        "--deviation: there is no deviation '{}'{}; `{} explain RULE` names those of a rule", name,
        base::did_you_mean(name, rnic::deviants::deviations() |
                                     std::views::transform(&rnic::deviants::DeviationInfo::name)),
        base::typed_command());
  }
  return std::nullopt;
}

std::optional<std::string> unknown_variant(const Options& options) {
  for (const std::string& name : options.lawful) {
    if (rnic::lawful::find_lawful(name)) continue;
    return fmt::format(
        "--lawful: there is no lawful variant '{}'{}; `rnic-self-test --list-lawful` lists them",
        name,
        base::did_you_mean(name, rnic::lawful::lawful_variants() |
                                     std::views::transform(&rnic::lawful::LawfulInfo::name)));
  }
  return std::nullopt;
}

// The command that helps if the IUT on a host of its own does not answer.
std::string advice(const Options& options) {
  if (options.choice.in_lab()) return "";
  Options iut_only = options;
  iut_only.strict = false;
  iut_only.expectations.clear();
  std::vector<std::string> words{base::typed_command(), "doctor"};
  for (const std::string& word : judging_arguments(iut_only)) words.push_back(word);
  return fmt::format("; `{}` helps to find the cause", shell_text(words));
}

jobs::Progress::Note note_of(results::GateResult result) {
  using Note = jobs::Progress::Note;
  switch (result) {
    case results::GateResult::new_failure:
      return Note::new_failure;
    case results::GateResult::known:
      return Note::known;
    case results::GateResult::stale:
      return Note::stale;
    case results::GateResult::as_expected:
    case results::GateResult::superseded:
      return Note::none;
  }
  return Note::none;
}

// ---------------------------------------------------------------- the run

class Run final : IutInstance::Observer {
 public:
  Run(const SuiteParts& parts, Options options, const std::vector<std::string>& command)
      : parts_(parts), options_(std::move(options)), command_(command), progress_(stderr) {
    record_.id = new_run_id();
    record_.start = base::time_text(begin_wall_);
    record_.suite = results::suite_version();
    record_.catalogue = rules::version();
    record_.command = command;
    record_.host = host_name();
    record_.machine = machine();
    record_.options = options_record(options_);
  }

  /// Returns nothing if the run in the folder turns out to be of another IUT, and this run must
  /// begin in a folder of its own.
  std::optional<ExitCode> execute() {
    if (auto ready = prepare(); !ready) {
      if (begin_anew_) return std::nullopt;
      progress_.close();
      base::say(stderr, "rnic-suite: {}\n", ready.error().why);
      return ready.error().code;
    }
    run_cases();
    return finish();
  }

 private:
  [[nodiscard]] Checked<void> prepare();
  [[nodiscard]] Checked<CaseList> prepare_folder();
  [[nodiscard]] Checked<void> begin_session();
  [[nodiscard]] Checked<void> prepare_instances(std::vector<Plan> plans);
  [[nodiscard]] Checked<void> meet_iut();
  void compare_claims(const iut::Hello& hello);
  void describe_iut(const iut::Hello& hello);
  void describe_lab();
  void run_cases();
  void end_captures();
  [[nodiscard]] ExitCode finish();
  [[nodiscard]] results::Document conclude(results::Document document);
  [[nodiscard]] bool tell_of(const results::Document& document);
  [[nodiscard]] bool nothing_left() const;

  void instance_met(IutInstance& instance) override;
  void case_started(const std::string& id) override { progress_.started(id); }
  void case_returned(const std::string& id) override { progress_.returned(id); }
  Again case_judged(results::CaseRecord record, bool accompanied) override;
  void more_to_do(std::size_t attempts) override { progress_.expect_more(attempts); }
  void instance_reports(const std::string& line) override { progress_.tell(line); }
  void instance_lost(const std::string& why) override { abort_run(results::Ending::aborted, why); }
  bool is_known_kernel_message(const std::string& excerpt) const override {
    return gate_->is_known_kernel_message(excerpt);
  }
  void show(const results::CaseRecord& record);
  void abort_run(results::Ending ending, const std::string& why);

  const SuiteParts& parts_;
  Options options_;
  const std::vector<std::string>& command_;
  const WallTime begin_wall_ = std::chrono::system_clock::now();
  const steady_clock::time_point begin_ = steady_clock::now();
  jobs::Progress progress_;
  const SelfTestRecord self_test_ = load_self_tests();
  base::EpollLoop loop_;
  std::optional<results::Folder> folder_;
  std::optional<results::Journal> journal_;        ///< of the run that is continued, until it is
  std::optional<results::RunRecord> earlier_;      ///< the run that is continued, as it was left
  std::map<std::string, std::uint32_t> attempts_;  ///< of earlier sessions, by record's id
  CaseList whole_;                                 ///< all cases of the run
  expectations::KnownIssues known_;
  Allowances allowances_;
  std::optional<RunGate> gate_;
  std::vector<std::unique_ptr<IutInstance>> instances_;  ///< the first one reports what the IUT is
  std::optional<jobs::EndingSignals> signals_;
  results::RunRecord record_;
  std::size_t records_ = 0;
  bool begun_ = false;  ///< cases may start
  bool over_ = false;   ///< interrupted or aborted
  bool begin_anew_ = false;
};

Checked<void> Run::prepare() {
  if (const auto unknown = unknown_deviation(options_)) {
    return refuse(ExitCode::usage, *unknown);
  }
  if (const auto unknown = unknown_variant(options_)) return refuse(ExitCode::usage, *unknown);
  const fs::path path = expectations_path(options_);
  auto known = load_expectations(parts_, path);
  if (!known) return std::unexpected(known.error());
  known_ = std::move(*known);
  record_.expectations_file = path.string();
  auto allowances = load_allowances(options_);
  if (!allowances) return std::unexpected(allowances.error());
  allowances_ = std::move(*allowances);

  if (!options_.junit.empty()) {  // found out before the run rather than after it
    if (const auto fault = output_file_fault(options_.junit))
      return refuse(ExitCode::harness, "--junit: " + *fault);
  }
  if (!options_.write_expectations.empty()) {
    if (const auto fault = output_file_fault(options_.write_expectations))
      return refuse(ExitCode::harness, "--write-expectations: " + *fault);
    if (const auto fault = draft_fault(options_)) return refuse(ExitCode::usage, *fault);
  }
  signals_.emplace(loop_, [this](int signal) {
    abort_run(results::Ending::interrupted, "interrupted by " + base::signal_name(signal));
  });
  const auto cases = prepare_folder();
  if (!cases) return std::unexpected(cases.error());
  auto plans = make_plans(parts_, *cases, known_.isolated, most_networks(options_));
  for (Plan& plan : plans) mark_known_hangs(plan, known_.entries);
  return prepare_instances(std::move(plans));
}

// Which cases run, and where the results go.
Checked<CaseList> Run::prepare_folder() {
  auto place = find_place(parts_, options_, record_,
                          [this](const std::string& line) { progress_.tell(line); });
  if (!place) return std::unexpected(place.error());
  options_.out = place->name;
  folder_.emplace(std::move(place->folder));
  whole_ = std::move(place->whole);
  record_.selected = whole_.size();
  if (place->earlier) {
    earlier_ = place->earlier->document.run;
    attempts_ = attempts_in(place->earlier->document.cases);
    journal_ = std::move(place->earlier);
    progress_.tell(fmt::format("{}: {} of the {} cases of the run will run", options_.out.string(),
                               place->play.size(), whole_.size()));
  }
  return std::move(place->play);
}

// The IUT has reported what it is.
Checked<void> Run::begin_session() {
  if (earlier_) {
    if (const auto other = other_iut(earlier_->iut, record_.iut)) {
      begin_anew_ = !options_.out_given;
      const std::string why = fmt::format("{} holds {}", options_.out.string(), *other);
      if (begin_anew_) progress_.tell(why + "; this run begins anew");
      return refuse(ExitCode::usage,
                    why + ": give a different --out, or --fresh for a new folder beside it");
    }
    record_.id = earlier_->id;
    record_.start = earlier_->start;
    record_.command = earlier_->command;
    record_.options = earlier_->options;
    record_.sessions = earlier_->sessions;
  }
  record_.sessions.push_back({.start = base::time_text(begin_wall_),
                              .end = {},
                              .command = command_,
                              .asked = asked_by(options_),
                              .ending = results::Ending::running,
                              .ending_reason = ""});
  const auto begun = journal_ ? folder_->go_on(*journal_, record_) : folder_->begin(record_);
  journal_.reset();
  if (!begun) return refuse(ExitCode::harness, begun.error());
  return {};
}

Checked<void> Run::prepare_instances(std::vector<Plan> plans) {
  auto networks = make_networks(options_, plans.size(),
                                [this](const std::string& line) { progress_.tell(line); });
  if (!networks) return refuse(ExitCode::harness, networks.error() + advice(options_));
  for (std::size_t place = 0; place < plans.size(); ++place) {
    instances_.push_back(std::make_unique<IutInstance>(
        IutInstance::RunContext{loop_, parts_, options_, self_test_, folder_->path(), attempts_},
        place, std::move((*networks)[place]), std::move(plans[place]),
        static_cast<IutInstance::Observer&>(*this)));
  }
  describe_lab();
  if (auto met = meet_iut(); !met) return met;
  const iut::Hello& hello = *instances_.front()->hello();
  if (const auto fault = fault_of_awaited(options_, hello))
    return refuse(ExitCode::harness, *fault);
  compare_claims(hello);
  describe_iut(hello);
  gate_.emplace(std::move(known_), allowances_, record_.iut);
  return begin_session();
}

void Run::describe_lab() {
  record_.lab = instances_.front()->network().record();
  if (instances_.size() > 1) record_.lab.note = fmt::format("{} guests", instances_.size());
  const bool live = instances_.front()->evidence().live();
  record_.capture.mode = live ? results::CaptureMode::live : results::CaptureMode::tester;
  record_.capture.note = instances_.front()->no_capture();
}

// All copies of the IUT start together; the run begins when the first has reported what it is.
Checked<void> Run::meet_iut() {
  for (const auto& instance : instances_) instance->meet();
  loop_.run_until(base::TimePoint::max(), [this] { return over_ || instances_.front()->hello(); });
  if (over_) {
    const bool lost = record_.ending == results::Ending::aborted;
    return refuse(ExitCode::harness, record_.ending_reason + (lost ? advice(options_) : ""));
  }
  return {};
}

void Run::instance_met(IutInstance& instance) {
  if (begun_) instance.begin();
}

// A capability that the vendor denies but the agent offers is reported in a line.
void Run::compare_claims(const iut::Hello& hello) {
  for (const std::string& word : hello.capabilities)
    if (!iut::is_capability(word))
      progress_.tell(fmt::format("the agent's hello has an unknown capability: {}", word));
  for (const auto& [word, usable] : options_.claims.usable()) {
    const bool offered = std::ranges::find(hello.capabilities, word) != hello.capabilities.end();
    if (!usable && offered)
      progress_.tell(fmt::format("the PICS denies {}, and the IUT's agent offers it", word));
  }
}

void Run::describe_iut(const iut::Hello& hello) {
  record_.iut = {.kind = options_.choice.name(),
                 .identity = {.implementation = hello.implementation,
                              .driver = hello.driver,
                              .driver_version = hello.driver_version,
                              .firmware = hello.firmware,
                              .kernel = hello.kernel},
                 .capabilities = hello.capabilities,
                 .limits = hello.limits,
                 .addresses = instances_.front()->network().iut_addresses(),
                 .deviations = options_.deviations,
                 .ports = ports_of_iut(options_.choice)};
}

void Run::run_cases() {
  record_.timings["setup"] = std::chrono::duration<double>(steady_clock::now() - begin_).count();
  const auto start = steady_clock::now();
  begun_ = true;
  for (const auto& instance : instances_) {
    progress_.expect_more(instance->cases());
    if (instance->hello()) instance->begin();
  }
  loop_.run_until(base::TimePoint::max(), [this] { return nothing_left(); });
  record_.timings["cases"] = std::chrono::duration<double>(steady_clock::now() - start).count();
}

bool Run::nothing_left() const {
  return std::ranges::all_of(instances_, [](const auto& instance) { return instance->done(); });
}

// ---------------------------------------------------------------- verdicts

IutInstance::Observer::Again Run::case_judged(results::CaseRecord record, bool accompanied) {
  // Tries are counted from zero in each session.
  const auto before = attempts_.find(record.id);
  record.gate =
      gate_->judge(record, record.attempt - (before == attempts_.end() ? 0 : before->second));
  // A verdict must not depend on what runs beside the case.
  record.failed_beside_others = accompanied && record.outcome.verdict == results::Verdict::fail &&
                                record.gate.result == results::GateResult::new_failure;
  const bool again_alone = record.failed_beside_others ||
                           (accompanied && record.gate.result == results::GateResult::stale);
  if (again_alone)
    record.gate = {.result = results::GateResult::superseded,
                   .entry = "",
                   .reason = fmt::format("it {} beside other cases, and is played again alone",
                                         record.failed_beside_others ? "failed" : "passed")};
  const bool sentinel = record.id.starts_with(parts_.sentinel.id);
  auto added = folder_->keep_session(record);
  if (added) added = folder_->add(record);
  // One sync for everything that is settled at this moment, so that the disk does not slow down the
  // run.
  if (added && records_++ % 8 == 0) added = folder_->sync();
  if (!added) {
    abort_run(results::Ending::aborted, added.error());
    return Again::no;
  }
  show(record);
  // A failing sentinel does not mean that an IUT is dead whose agent cannot send or receive yet:
  // startup can still be judged.
  const bool dead = sentinel && record.outcome.verdict != results::Verdict::pass &&
                    record.outcome.verdict != results::Verdict::not_applicable &&
                    options_.deviations.empty();
  if (dead && record.id.ends_with(".first"))
    abort_run(results::Ending::aborted,
              "the IUT does not work: " + record.outcome.reason + advice(options_));
  if (record.pcap && record.pcap->unseen && sentinel && record.id.ends_with(".first"))
    abort_run(results::Ending::aborted,
              fmt::format("the capture on {} sees nothing of the connections to the IUT: name the "
                          "interface that they use with --capture-interface, or give --no-capture",
                          record_.lab.interface));
  if (again_alone) return Again::alone;
  return record.gate.result == results::GateResult::superseded ? Again::beside_others : Again::no;
}

void Run::show(const results::CaseRecord& record) {
  double bound = 0;
  for (const auto& instance : instances_) bound = std::max(bound, instance->bound());
  progress_.ended({.id = record.id,
                   .verdict = results::name(record.outcome.verdict),
                   .reason = record.outcome.reason,
                   .seconds = std::chrono::duration<double>(record.outcome.duration).count(),
                   .note = note_of(record.gate.result)},
                  bound);
}

void Run::abort_run(results::Ending ending, const std::string& why) {
  if (over_) return;
  over_ = true;
  record_.ending = ending;
  record_.ending_reason = why;
  for (const auto& instance : instances_) {
    instance->give_up();
    loop_.defer([&instance] { instance->dismiss(true); });
  }
}

// ---------------------------------------------------------------- after the run

void Run::end_captures() {
  std::size_t open = 0;
  record_.capture.closing_seen = instances_.front()->evidence().live();
  for (const auto& instance : instances_) {
    if (!instance->evidence().live()) continue;
    ++open;
    instance->evidence().close([&](bool seen) {
      record_.capture.closing_seen = record_.capture.closing_seen && seen;
      --open;
    });
  }
  loop_.run_until(base::TimePoint::max(), [&] { return open == 0; });
  for (const auto& instance : instances_) instance->evidence().report(record_.capture);
}

// The run as a whole: the result of all its sessions.
results::Document Run::conclude(results::Document document) {
  const std::string now = base::time_text(std::chrono::system_clock::now());
  const std::size_t missing = without_verdict(whole_, document.cases).size();
  if (!over_) record_.ending = results::Ending::finished;
  record_.sessions.back().end = record_.end = now;
  record_.sessions.back().ending = record_.ending;
  record_.sessions.back().ending_reason = record_.ending_reason;
  record_.complete = !over_ && missing == 0;
  if (!over_ && missing > 0)
    record_.ending_reason = fmt::format("{} of {} cases have no verdict", missing, whole_.size());
  document.run = record_;
  gate_->judge_findings(document);
  const jobs::Findings findings = findings_of(document);
  if (record_.complete && findings.harness)
    record_.ending_reason =
        death_at_the_end(document).value_or("no case was judged: all are not applicable");
  record_.exit_code = static_cast<int>(exit_code(findings));
  document.run = record_;
  return document;
}

// Whether the reports were made.
bool Run::tell_of(const results::Document& document) {
  base::say(stdout, outcome_text(document, options_.out.string()));
  const auto rendered = render_reports(options_);
  if (rendered) base::say(stdout, "report: {}\n", (options_.out / "report.html").string());
  if (!rendered && base::takes_a_line(stderr))
    base::say(stderr, "rnic-suite: {}\n", rendered.error());
  return rendered.has_value();
}

ExitCode Run::finish() {
  const auto start = steady_clock::now();
  for (const auto& instance : instances_) instance->dismiss(over_);
  end_captures();
  record_.timings["teardown"] = std::chrono::duration<double>(steady_clock::now() - start).count();
  record_.timings["total"] = std::chrono::duration<double>(steady_clock::now() - begin_).count();
  describe_lab();  // with what was noted of it meanwhile
  auto document = folder_->so_far();
  results::Result<void> ended;
  if (document) {
    *document = conclude(std::move(*document));
    ended = folder_->end(*document);
  } else {
    ended = std::unexpected(document.error());
  }
  progress_.close();
  bool good = false;
  if (ended) {
    good = tell_of(*document) && write_draft(options_, *document);
  } else {
    record_.ending_reason = fmt::format(
        "{}; what was judged is in results.ndjson there: correct that, then `{} collect {}`",
        ended.error(), base::typed_command(), options_.out.string());
  }
  if (!record_.ending_reason.empty()) base::say(stderr, "rnic-suite: {}\n", record_.ending_reason);
  return good ? static_cast<ExitCode>(*record_.exit_code) : ExitCode::harness;
}

}  // namespace

ExitCode run(const SuiteParts& parts, const Options& options,
             const std::vector<std::string>& command) {
  if (const auto code = Run(parts, options, command).execute()) return *code;
  Options anew = options;
  anew.fresh = true;
  return Run(parts, anew, command).execute().value_or(ExitCode::harness);
}

}  // namespace suite::runner
