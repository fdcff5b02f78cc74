// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/iut_instance.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/shipped_file.hpp"
#include "base/time_text.hpp"
#include "suite/lab/kernel_log.hpp"
#include "suite/runner/case_messages.hpp"
#include "suite/runner/case_record.hpp"
#include "suite/runner/host_facts.hpp"

namespace suite::runner {

using jobs::Attempt;
using jobs::Job;

namespace {

unsigned workers(const Options& options, const TestNetwork& network) {
  const unsigned wanted = options.jobs > 0 ? options.jobs : network.usual_jobs();
  return std::min(wanted, network.most_jobs());
}

}  // namespace

IutInstance::IutInstance(const RunContext& around, std::size_t place,
                         std::unique_ptr<TestNetwork> network, Plan plan, Observer& observer)
    : around_(around),
      place_(place),
      observer_(observer),
      network_(std::move(network)),
      list_(std::move(plan.list)),
      schedule_(std::move(plan.jobs), {.capacity = {},
                                       .slots = workers(around.options, *network_),
                                       .barrier = network_->configuration_is_shared()}),
      pool_(around.loop, schedule_, workers(around.options, *network_),
            static_cast<jobs::WorkerPool::Client&>(*this)) {
  evidence_.emplace(around.loop, around.folder, open_capture(), around.options.strict);
}

IutInstance::~IutInstance() {
  for (const auto& timer : {next_question_, outage_timer_})
    if (timer) around_.loop.cancel(*timer);
}

std::unique_ptr<jobs::RunCapture> IutInstance::open_capture() {
  const std::string interface = network_->record().interface;
  if (!around_.options.capture) no_capture_ = "switched off";
  if (interface.empty()) no_capture_ = "there is no interface to capture on";
  std::unique_ptr<jobs::RunCapture> capture;
  if (!no_capture_.empty()) return capture;
  network_->at_tester([&] {
    auto opened = jobs::RunCapture::open(around_.loop, interface, random_number(), {});
    if (opened) {
      capture = std::move(*opened);
    } else {
      no_capture_ = opened.error();
      observer_.instance_reports(no_capture_ + "; each pcap will be the tester's own record");
    }
  });
  return capture;
}

// ---------------------------------------------------------------- the IUT's host

void IutInstance::meet() {
  bring_up([this] { pool_.open_first_slot(); });
}

void IutInstance::begin() {
  begun_ = true;
  pump();
}

void IutInstance::give_up() {
  given_up_ = true;
  schedule_.give_up();
}

bool IutInstance::done() const {
  const bool all_over = schedule_.done() && held_.empty() && !outage_.in_question();
  return evidence_->pending() == 0 && !looking_for_leaks_ && (given_up_ || all_over);
}

void IutInstance::bring_up(const std::function<void()>& then) {
  coming_up_ = true;
  network_->bring_up(around_.loop, [this, then](std::expected<void, std::string> up) {
    coming_up_ = false;
    if (given_up_) return;
    if (!up) return observer_.instance_lost(up.error());
    then();
  });
}

// Whether the IUT's host must be brought up before anything can start.
bool IutInstance::recovering() {
  if (coming_up_) return true;
  if (network_->up()) return false;
  if (schedule_.running() > 0)
    return true;  // they notice it themselves; then the host is brought up
  if (schedule_.done()) return false;
  observer_.instance_reports("the IUT's host is down: bringing it up again");
  bring_up([this] {
    pool_.renew();
    pump();
  });
  return true;
}

void IutInstance::pump() {
  if (given_up_ || !begun_ || recovering() || asks_for_contact()) return;
  pool_.pump();
}

void IutInstance::pool_changed() {
  if (!met_ && hello_) {
    met_ = true;
    observer_.instance_met(*this);
  }
  pump();
}

// ---------------------------------------------------------------- attempts

// The sentinels and controls of the first instance are those of the run; those of others have the
// name of their instance.
std::string IutInstance::control_name(const Attempt& attempt) const {
  const std::string& id = case_of(attempt).id;
  return place_ == 0 ? id : fmt::format("{}.of_copy_{}", id, place_ + 1);
}

std::string IutInstance::sentinel_name(const Attempt& attempt) const {
  const char* when = attempt.job.number == 0 ? "first" : "last";
  return place_ == 0 ? fmt::format("{}.{}", case_of(attempt).id, when)
                     : fmt::format("{}.of_copy_{}.{}", case_of(attempt).id, place_ + 1, when);
}

results::CaseRecord IutInstance::describe(const Attempt& attempt) const {
  results::CaseRecord record = describe_case(case_of(attempt));
  auto words = judging_arguments(around_.options);
  words.insert(words.begin(), {base::typed_command(), "run"});
  if (&case_of(attempt) == &around_.parts.sentinel) {
    record.id = sentinel_name(attempt);
  } else if (control_of(attempt) != nullptr) {
    record.id = control_name(attempt);
  } else {
    words.insert(words.end(), {"--select", record.id});
  }
  if (around_.folder != std::filesystem::current_path() / "out")
    words.insert(words.end(), {"--out", around_.folder.string()});
  record.rerun = shell_text(words);
  const auto before = around_.attempts.find(record.id);
  record.attempt = attempt.job.attempt + (before == around_.attempts.end() ? 0 : before->second);
  record.worker = attempt.worker;
  record.start = base::time_text(attempt.wall_start);
  record.stderr_text = attempt.stderr_text;
  const SelfTestRecord& known = around_.self_test;
  if (const auto seen = known.seen_to_fail_by.find(record.id); seen != known.seen_to_fail_by.end())
    record.seen_to_fail_by = seen->second;
  if (const auto seen = known.seen_to_fail_at.find(record.id); seen != known.seen_to_fail_at.end())
    record.seen_to_fail_at = seen->second;
  return record;
}

std::optional<jobs::Message> IutInstance::setup(std::uint32_t worker) {
  return format(network_->setup(worker));
}

jobs::Order IutInstance::order(const Attempt& attempt) {
  const double usual = network_->setup(0).deadline_scale;
  const double scale = attempt.job.known_to_hang ? network_->scale_of_known_hang() : usual;
  return order_of(case_of(attempt), attempt.job, scale, usual, controls_);
}

std::optional<jobs::WorkerReport> IutInstance::read(const jobs::Message& text) {
  auto message = parse_worker_message(text);
  if (!message) return std::nullopt;
  const auto* ready = std::get_if<ReadyMessage>(&*message);
  if (ready != nullptr && !hello_) hello_ = ready->hello;
  return report_of(std::move(*message));
}

void IutInstance::attempt_started(const Attempt& attempt) {
  evidence_->begin(attempt);
  const std::string id = describe(attempt).id;
  if (!attempt.job.probe) jobs_[id] = attempt.job;
  accompanied_.erase(attempt.job.number);
  const auto running = pool_.running();
  if (running.size() > 1)
    for (const Attempt* one : running) accompanied_.insert(one->job.number);
  observer_.case_started(id);
}

void IutInstance::attempt_ended(Attempt attempt, std::any result) {
  attempt_over(std::move(attempt), std::any_cast<cases::CaseOutcome>(std::move(result)));
}

void IutInstance::worker_died(Attempt attempt, const jobs::WorkerDeath& death) {
  attempt_over(std::move(attempt), outcome_of(death));
}

void IutInstance::attempt_over(Attempt attempt, cases::CaseOutcome outcome) {
  if (attempt.job.probe) return sentinel_answered(attempt, outcome);
  const bool was_met = outage_.state() != OutageDetector::State::unmet;
  if (network_->may_go_away() && was_met && outcome.silence) {
    outage_.unanswered(outcome.reason);
    // Nothing else runs that could be answered: the sentinel decides before another case is lost.
    if (attempt.job.alone) outage_.doubt();
    observer_.case_returned(describe(attempt).id);
    held_.push_back({std::move(attempt), std::move(outcome)});
    return pump();
  }
  const bool good = outcome.verdict == cases::Verdict::pass;
  if (!outcome.silence)
    outage_.answered(case_of(attempt).id, good, std::chrono::system_clock::now());
  const bool last = &case_of(attempt) == &around_.parts.sentinel && attempt.job.number != 0;
  if (last && network_->finds_leaks())
    return look_for_leaks(std::move(attempt), std::move(outcome));
  conclude(std::move(attempt), std::move(outcome));
  if (!held_.empty() && outage_.state() == OutageDetector::State::standing) release_held();
  pump();
}

// After all cases. What they have left behind belongs to none of them: it fails the last sentinel.
void IutInstance::look_for_leaks(Attempt attempt, cases::CaseOutcome outcome) {
  looking_for_leaks_ = true;
  observer_.instance_reports("looking for memory that the IUT's kernel has lost");
  network_->look_for_leaks(around_.loop,
                           [this, attempt = std::move(attempt),
                            outcome = std::move(outcome)](const TestNetwork::Leaks& found) mutable {
                             looking_for_leaks_ = false;
                             if (found) {
                               leaks_ = *found;
                             } else {
                               outcome.verdict = cases::Verdict::error;
                               outcome.reason = found.error();
                             }
                             conclude(std::move(attempt), std::move(outcome));
                             pump();
                           });
}

void IutInstance::conclude(Attempt attempt, cases::CaseOutcome outcome) {
  results::CaseRecord record = describe(attempt);
  VerdictInputs inputs{
      .seen = {.verdict = outcome.verdict, .reason = outcome.reason, .rule = outcome.deciding_rule},
      .earlier_death = earlier_death(attempt, outcome),
      .kernel = look_at_kernel(attempt)};
  if (inputs.kernel.kind == KernelEvidence::Kind::none && !leaks_.empty())
    inputs.kernel = {.kind = KernelEvidence::Kind::alone, .excerpt = std::exchange(leaks_, {})};
  Decision decision = decide(inputs);
  record.outcome = std::move(outcome);
  record.outcome.verdict = decision.ruling.verdict;
  record.outcome.reason = std::move(decision.ruling.reason);
  record.outcome.deciding_rule = std::move(decision.ruling.rule);
  if (record.outcome.verdict != cases::Verdict::not_applicable) record.outcome.lack.reset();
  record.decided_by = decision.by;
  const Control* control = control_of(attempt);
  const bool works = record.outcome.verdict == cases::Verdict::pass ||
                     record.outcome.verdict == cases::Verdict::not_applicable;
  if (control != nullptr) {
    auto& failed = controls_.*control->place;
    failed.reset();
    if (!works) failed = {record.outcome.reason, record.outcome.deciding_rule};
  }
  record.kernel_log = inputs.kernel.excerpt;
  const bool complaint = !record.kernel_log.empty();
  evidence_->complete(std::move(record), attempt,
                      [this, job = attempt.job, complaint](auto completed) {
                        if (!completed) return observer_.instance_lost(completed.error());
                        settle(std::move(*completed), job, complaint);
                      });
  recent_.push_back({std::move(attempt), around_.loop.now()});
}

const Control* IutInstance::control_of(const Attempt& attempt) const {
  const auto& all = around_.parts.controls;
  const auto found = std::ranges::find_if(
      all, [&](const Control& control) { return &control.one == &case_of(attempt); });
  return found == all.end() ? nullptr : &*found;
}

// ---------------------------------------------------------------- the ruling of an attempt

// The evidence of a worker that crashes is lost: the case runs again alone, so that everything
// captured belongs to it. The ruling of the first attempt counts, whether or not the second one
// crashes too.
std::optional<Ruling> IutInstance::earlier_death(const Attempt& attempt,
                                                 const cases::CaseOutcome& outcome) {
  const std::size_t number = attempt.job.number;
  const auto before = deaths_.find(number);
  if (before != deaths_.end() && !attempt.died) return before->second;
  if (attempt.died && !attempt.job.alone) {
    deaths_.emplace(number, Ruling{outcome.verdict, outcome.reason});
    repeat_alone(attempt);
  }
  return std::nullopt;
}

// What the IUT's kernel has logged since the last call. If other cases ran, each of them runs again
// alone.
KernelEvidence IutInstance::look_at_kernel(const Attempt& attempt) {
  using Kind = KernelEvidence::Kind;
  const std::size_t number = attempt.job.number;
  const std::string fresh = network_->kernel_complaints();
  const std::string excerpt = std::exchange(complaint_, {}) + fresh;
  // A crash may have taken down what the next cases need.
  if (!fresh.empty() && network_->may_go_away()) outage_.doubt();
  crashed_ = crashed_ || lab::tells_of_crash(fresh);
  constexpr std::chrono::milliseconds delay{500};  // of the kernel's log
  const auto now = around_.loop.now();
  std::erase_if(recent_, [&](const Recent& one) { return now - one.ended > delay; });
  if (!excerpt.empty()) {
    const auto others = flight(attempt);
    if (attempt.job.alone || others.empty()) return {.kind = Kind::alone, .excerpt = excerpt};
    std::vector<std::size_t> suspects = others;
    suspects.push_back(number);
    incidents_.open(excerpt, suspects);
    for (const Recent& one : std::exchange(recent_, {})) {
      if (incidents_.suspected(one.attempt.job.number)) repeat_suspect(one.attempt);
    }
  }
  const auto suspicion = incidents_.suspected(number);
  if (!suspicion) return {};
  repeat_suspect(attempt);
  return {.kind = Kind::beside_others, .excerpt = *suspicion};
}

// The cases, except sentinels, that run at the same time as this one or have only just ended.
std::vector<std::size_t> IutInstance::flight(const Attempt& attempt) const {
  std::vector<std::size_t> numbers;
  for (const Attempt* other : pool_.running()) {
    if (other->job.number != attempt.job.number) numbers.push_back(other->job.number);
  }
  for (const Recent& one : recent_) {
    if (!one.attempt.job.alone) numbers.push_back(one.attempt.job.number);
  }
  return numbers;
}

void IutInstance::repeat_alone(const Attempt& attempt) {
  Job job = attempt.job;
  ++job.attempt;
  schedule_.repeat_alone({job});
  observer_.more_to_do(1);
}

void IutInstance::repeat_suspect(const Attempt& attempt) {
  incidents_.will_repeat(attempt.job.number);
  repeat_alone(attempt);
}

void IutInstance::settle(results::CaseRecord record, const Job& job, bool complaint) {
  if (job.attempt == 1 || !incidents_.repeating(job.number)) return judge(std::move(record));
  const auto known = [this](const std::string& excerpt) {
    return observer_.is_known_kernel_message(excerpt);
  };
  for (auto& settled : incidents_.settle(job.number, std::move(record), complaint, known))
    judge(std::move(settled));
}

void IutInstance::judge(results::CaseRecord record) {
  using Again = Observer::Again;
  Job again = jobs_.at(record.id);
  const bool shares = network_->configuration_is_shared();
  const Again how =
      observer_.case_judged(std::move(record), shares && accompanied_.contains(again.number));
  ++again.attempt;
  if (how == Again::no || given_up_) return;
  how == Again::alone ? schedule_.repeat_alone({again}) : schedule_.repeat(again);
  observer_.more_to_do(1);
  pump();
}

}  // namespace suite::runner
