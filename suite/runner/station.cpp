// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/station.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/shipped_file.hpp"
#include "base/time_text.hpp"
#include "suite/runner/case_record.hpp"
#include "suite/runner/host_facts.hpp"

namespace suite::runner {

namespace {

unsigned workers(const Options& options, const Site& site) {
  const unsigned wanted = options.jobs > 0 ? options.jobs : site.usual_jobs();
  return std::min(wanted, site.most_jobs());
}

}  // namespace

Station::Station(const Surroundings& around, std::size_t place, std::unique_ptr<Site> site,
                 Plan plan, Observer& observer)
    : around_(around),
      place_(place),
      observer_(observer),
      site_(std::move(site)),
      list_(std::move(plan.list)),
      schedule_(std::move(plan.jobs), site_->configuration_is_shared()),
      crew_(around.loop, *site_, schedule_, list_, workers(around.options, *site_),
            site_->setup(0).deadline_scale, static_cast<Crew::Observer&>(*this)) {
  evidence_.emplace(around.loop, around.folder, open_capture(), around.options.strict);
}

Station::~Station() {
  for (const auto& timer : {next_question_, end_of_patience_})
    if (timer) around_.loop.cancel(*timer);
}

std::unique_ptr<RunCapture> Station::open_capture() {
  const std::string interface = site_->record().interface;
  if (!around_.options.capture) no_capture_ = "switched off";
  if (interface.empty()) no_capture_ = "there is no interface to capture on";
  std::unique_ptr<RunCapture> capture;
  if (!no_capture_.empty()) return capture;
  site_->at_tester([&] {
    auto opened = RunCapture::open(around_.loop, interface, random_number());
    if (opened) {
      capture = std::move(*opened);
    } else {
      no_capture_ = opened.error();
      observer_.station_tells(no_capture_ + "; each pcap will be the tester's own record");
    }
  });
  return capture;
}

// ---------------------------------------------------------------- the IUT's host

void Station::meet() {
  bring_up([this] { crew_.open_first_seat(); });
}

void Station::begin() {
  begun_ = true;
  pump();
}

void Station::give_up() {
  given_up_ = true;
  schedule_.give_up();
}

bool Station::done() const {
  const bool all_over = schedule_.done() && held_.empty() && !contact_.in_question();
  return evidence_->pending() == 0 && (given_up_ || all_over);
}

void Station::bring_up(const std::function<void()>& then) {
  coming_up_ = true;
  site_->bring_up(around_.loop, [this, then](std::expected<void, std::string> up) {
    coming_up_ = false;
    if (given_up_) return;
    if (!up) return observer_.station_lost(up.error());
    then();
  });
}

// Whether the IUT's host has to be brought up before anything can start.
bool Station::recovering() {
  if (coming_up_) return true;
  if (site_->up()) return false;
  if (schedule_.running() > 0) return true;  // they notice by themselves, then it is brought up
  if (schedule_.done()) return false;
  observer_.station_tells("the IUT's host is down: bringing it up again");
  bring_up([this] {
    crew_.renew();
    pump();
  });
  return true;
}

void Station::pump() {
  if (given_up_ || !begun_ || recovering() || asks_for_contact()) return;
  crew_.pump();
}

void Station::crew_changed() {
  if (!met_ && crew_.hello()) {
    met_ = true;
    observer_.station_met(*this);
  }
  pump();
}

// ---------------------------------------------------------------- attempts

// The first station's sentinels stand for the run; those of others say whose they are.
std::string Station::sentinel_name(const Attempt& attempt) const {
  const char* when = attempt.job.number == 0 ? "first" : "last";
  return place_ == 0 ? fmt::format("{}.{}", attempt.one->id, when)
                     : fmt::format("{}.of_copy_{}.{}", attempt.one->id, place_ + 1, when);
}

results::CaseRecord Station::describe(const Attempt& attempt) const {
  results::CaseRecord record = describe_case(*attempt.one);
  auto words = judging_arguments(around_.options);
  words.insert(words.begin(), {base::typed_command(), "run"});
  if (attempt.one == &around_.parts.sentinel) {
    record.id = sentinel_name(attempt);
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
  if (const auto seen = around_.seen_to_fail.find(record.id); seen != around_.seen_to_fail.end())
    record.seen_to_fail_by = seen->second;
  return record;
}

void Station::attempt_started(const Attempt& attempt) {
  evidence_->begin(attempt);
  const std::string id = describe(attempt).id;
  if (!attempt.job.probe) jobs_[id] = attempt.job;
  observer_.case_started(id);
}

void Station::attempt_ended(Attempt attempt, cases::CaseOutcome outcome) {
  if (attempt.job.probe) return sentinel_answered(attempt, outcome);
  const bool may_be_lost = site_->may_go_away() && contact_.state() != Contact::State::unmet;
  if (may_be_lost && is_unanswered(outcome)) {
    contact_.unanswered(outcome.reason);
    if (attempt.job.once_lost) contact_.doubt();  // it ran alone: the sentinel decides
    observer_.case_given_back(describe(attempt).id);
    held_.push_back({std::move(attempt), std::move(outcome)});
    return pump();
  }
  const bool good = outcome.verdict == cases::Verdict::pass;
  if (!is_unanswered(outcome))
    contact_.answered(attempt.one->id, good, std::chrono::system_clock::now());
  conclude(std::move(attempt), std::move(outcome));
  if (!held_.empty() && contact_.state() == Contact::State::standing) release_held(false);
  pump();
}

void Station::conclude(Attempt attempt, cases::CaseOutcome outcome) {
  results::CaseRecord record = describe(attempt);
  consider_death(attempt, outcome);
  consider_kernel(attempt, outcome, record);
  const bool complaint = !record.kernel_log.empty();
  evidence_->complete(std::move(record), attempt, std::move(outcome),
                      [this, job = attempt.job, complaint](auto completed) {
                        if (!completed) return observer_.station_lost(completed.error());
                        settle(std::move(*completed), job, complaint);
                      });
  recent_.push_back({std::move(attempt), around_.loop.now()});
}

// ---------------------------------------------------------------- contact with a foreign host

bool Station::start_failed(const std::string& why) {
  const bool was_met = contact_.state() != Contact::State::unmet;
  if (!site_->may_go_away() || !was_met || given_up_) return false;
  contact_.unanswered(why);
  if (asking_) {
    schedule_.take_back_probe();
    asking_ = false;
    contact_lost();
  } else {
    around_.loop.defer([this] { pump(); });
  }
  return true;
}

// Whether nothing may start but the sentinel, which is seen to here.
bool Station::asks_for_contact() {
  const bool nothing_else = schedule_.done() && !held_.empty();
  if (nothing_else) contact_.doubt();
  if (!contact_.in_question()) return false;
  if (next_question_ || schedule_.running() > 0) return true;
  ask_sentinel();
  return true;
}

void Station::ask_sentinel() {
  if (!asking_) {
    asking_ = true;
    crew_.renew();  // what leads to their agents may be what is broken
    schedule_.repeat_alone(
        {Job{.number = 0, .attempt = 1, .group = 0, .alone = true, .probe = true}});
  }
  crew_.pump(1);
}

void Station::sentinel_answered(const Attempt& attempt, const cases::CaseOutcome& outcome) {
  asking_ = false;
  observer_.case_given_back(describe(attempt).id);
  evidence_->drop(attempt);
  if (outcome.verdict == cases::Verdict::pass || outcome.verdict == cases::Verdict::not_applicable)
    return contact_restored();
  contact_.unanswered(outcome.reason);
  contact_lost();
}

void Station::contact_restored() {
  const bool was_lost = contact_.state() == Contact::State::lost;
  if (end_of_patience_) around_.loop.cancel(*end_of_patience_);
  end_of_patience_.reset();
  if (was_lost) observer_.station_tells("the IUT answers again; what was lost is played again");
  contact_.restored(std::chrono::system_clock::now());
  release_held(was_lost);
  pump();
}

void Station::contact_lost() {
  const auto patience = around_.options.access.outage_wait;
  if (contact_.asked_in_vain(around_.loop.now())) {
    observer_.station_tells(fmt::format("{}; waiting {:.0f} s", contact_.text(),
                                        std::chrono::duration<double>(patience).count()));
    end_of_patience_ = around_.loop.schedule(around_.loop.now() + patience, [this] {
      end_of_patience_.reset();
      const std::string& good = contact_.last_good();
      observer_.station_lost(contact_.text() +
                             (good.empty() ? "" : "; the last case that passed is " + good));
    });
  }
  wait_and_ask_again();
}

void Station::wait_and_ask_again() {
  constexpr std::chrono::seconds between_questions{1};
  next_question_ = around_.loop.schedule(around_.loop.now() + between_questions, [this] {
    next_question_.reset();
    pump();
  });
}

// A case that goes unanswered while others are answered is played again alone; if the sentinel
// passes after it once more, that is its verdict. What an outage took is no verdict at all.
void Station::release_held(bool all_again) {
  std::vector<Job> again;
  for (Held& held : std::exchange(held_, {})) {
    if (held.attempt.job.once_lost && !all_again) {
      observer_.case_started(describe(held.attempt).id);
      conclude(std::move(held.attempt), std::move(held.outcome));
      continue;
    }
    evidence_->drop(held.attempt);
    Job job = held.attempt.job;
    job.once_lost = !all_again;
    again.push_back(job);
  }
  all_again ? schedule_.repeat_all(again) : schedule_.repeat_alone(again);
}

// ---------------------------------------------------------------- what an attempt comes to

// A worker that dies takes its evidence with it: the case runs again alone, so that all that is
// captured is its own. What the first attempt came to stands, whether the second dies too or not.
void Station::consider_death(const Attempt& attempt, cases::CaseOutcome& outcome) {
  const std::size_t number = attempt.job.number;
  const auto before = deaths_.find(number);
  if (before != deaths_.end() && !attempt.died) {
    outcome.verdict = before->second.verdict;
    outcome.reason = before->second.reason + "; not when it ran again alone";
  } else if (attempt.died && !attempt.job.alone) {
    deaths_.emplace(number, outcome);
    repeat_alone(attempt);
  }
}

// What the IUT's kernel has to say decides over what the case saw.
void Station::consider_kernel(const Attempt& attempt, cases::CaseOutcome& outcome,
                              results::CaseRecord& record) {
  const std::size_t number = attempt.job.number;
  const std::string excerpt = site_->kernel_complaints();
  std::erase_if(recent_, [this](const Recent& one) {
    return around_.loop.now() - one.ended > std::chrono::milliseconds(500);
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
std::vector<std::size_t> Station::flight(const Attempt& attempt) const {
  std::vector<std::size_t> numbers;
  for (const Attempt* other : crew_.running()) {
    if (other->job.number != attempt.job.number) numbers.push_back(other->job.number);
  }
  for (const Recent& one : recent_) {
    if (!one.attempt.job.alone) numbers.push_back(one.attempt.job.number);
  }
  return numbers;
}

void Station::repeat_alone(const Attempt& attempt) {
  Job job = attempt.job;
  ++job.attempt;
  schedule_.repeat_alone({job});
  observer_.more_to_do(1);
}

void Station::repeat_suspect(const Attempt& attempt) {
  incidents_.will_repeat(attempt.job.number);
  repeat_alone(attempt);
}

void Station::settle(results::CaseRecord record, const Job& job, bool complaint) {
  if (job.attempt == 1 || !incidents_.repeating(job.number)) return judge(std::move(record));
  const auto known = [this](const std::string& excerpt) {
    return observer_.is_known_complaint(excerpt);
  };
  for (auto& settled : incidents_.settle(job.number, std::move(record), complaint, known))
    judge(std::move(settled));
}

void Station::judge(results::CaseRecord record) {
  Job again = jobs_.at(record.id);
  ++again.attempt;
  if (!observer_.case_judged(std::move(record)) || given_up_) return;
  schedule_.repeat(again);
  observer_.more_to_do(1);
  pump();
}

}  // namespace suite::runner
