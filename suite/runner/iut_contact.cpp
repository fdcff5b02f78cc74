// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Contact with an IUT on a host of its own: lost, waited for, and restored.
#include <fmt/format.h>

#include <utility>

#include "suite/lab/kernel_log.hpp"
#include "suite/runner/iut_instance.hpp"

namespace suite::runner {

using jobs::Attempt;
using jobs::Job;

bool IutInstance::start_failed(const std::string& why) {
  const bool was_met = outage_.state() != OutageDetector::State::unmet;
  if (!network_->may_go_away() || !was_met || given_up_) return false;
  outage_.unanswered(why);
  if (asking_) {
    schedule_.take_back_probe();
    asking_ = false;
    contact_lost();
  } else {
    around_.loop.defer([this] { pump(); });
  }
  return true;
}

// Whether only the sentinel may start; this function starts it.
bool IutInstance::asks_for_contact() {
  if (schedule_.done() && !held_.empty()) outage_.doubt();  // no other case can show it
  if (!outage_.in_question()) return false;
  if (next_question_ || schedule_.running() > 0) return true;
  if (std::exchange(crashed_, false)) reset_host();
  if (network_->resetting())
    wait_and_ask_again();
  else
    ask_sentinel();
  return true;
}

void IutInstance::ask_sentinel() {
  if (!asking_) {
    asking_ = true;
    pool_.renew();  // the connection to their agents may be broken
    schedule_.repeat_alone(
        {Job{.number = 0, .attempt = 1, .group = 0, .alone = true, .probe = true}});
  }
  pool_.pump(1);
}

void IutInstance::sentinel_answered(const Attempt& attempt, const cases::CaseOutcome& outcome) {
  asking_ = false;
  observer_.case_returned(describe(attempt).id);
  evidence_->drop(attempt);
  if (outcome.verdict == cases::Verdict::pass || outcome.verdict == cases::Verdict::not_applicable)
    return contact_restored();
  outage_.unanswered(outcome.reason);
  contact_lost();
}

void IutInstance::contact_restored() {
  // Of a report that has been judged, the rest may have come meanwhile.
  const std::string rest = network_->kernel_complaints();
  if (lab::tells_of_crash(rest) && !was_reset_) {
    crashed_ = true;
    return pump();
  }
  was_reset_ = false;
  const bool was_lost = outage_.state() == OutageDetector::State::lost;
  if (outage_timer_) around_.loop.cancel(*outage_timer_);
  outage_timer_.reset();
  if (was_lost) observer_.instance_reports("the IUT answers again; the lost cases run again");
  outage_.restored(std::chrono::system_clock::now());
  was_lost ? release_after_outage() : release_held();
  pump();
}

void IutInstance::contact_lost() {
  const auto timeout = around_.options.access.outage_wait;
  complaint_ += network_->kernel_complaints();
  if (outage_.asked_in_vain(around_.loop.now())) {
    observer_.instance_reports(fmt::format("{}; waiting {:.0f} s", outage_.text(),
                                           std::chrono::duration<double>(timeout).count()));
    outage_timer_ = around_.loop.schedule(around_.loop.now() + timeout, [this] {
      outage_timer_.reset();
      observer_.instance_lost(account_of_outage());
    });
    reset_host();
  }
  wait_and_ask_again();
}

// Once for each outage.
void IutInstance::reset_host() {
  if (!std::exchange(was_reset_, true) && network_->reset(around_.loop)) pool_.renew();
}

std::string IutInstance::account_of_outage() const {
  std::string text = outage_.text();
  if (!complaint_.empty())
    text += "; its kernel has reported: " + complaint_.substr(0, complaint_.find('\n'));
  if (!outage_.last_good().empty()) text += "; the last case that passed is " + outage_.last_good();
  return text;
}

void IutInstance::wait_and_ask_again() {
  constexpr std::chrono::seconds between_questions{1};
  next_question_ = around_.loop.schedule(around_.loop.now() + between_questions, [this] {
    next_question_.reset();
    pump();
  });
}

// A case that is not answered while others are answered runs again alone; if the sentinel passes
// after it again, that is its verdict.
void IutInstance::release_held() {
  std::vector<Job> again;
  for (Held& held : std::exchange(held_, {})) {
    if (held.attempt.job.once_lost) {
      observer_.case_started(describe(held.attempt).id);
      conclude(std::move(held.attempt), std::move(held.outcome));
      continue;
    }
    evidence_->drop(held.attempt);
    Job job = held.attempt.job;
    job.once_lost = true;
    again.push_back(job);
  }
  schedule_.repeat_alone(again);
}

// A case that an outage interrupted has no verdict. If it may be the cause, since an outage came in
// its second attempt too or the kernel complained, it is played alone; an outage in each of its
// attempts, or a complaint of the kernel while it ran alone, is its verdict.
void IutInstance::release_after_outage() {
  constexpr unsigned most_outages = 3;
  const bool complained = !complaint_.empty(), by_one = held_.size() == 1;
  std::vector<Job> beside_others, alone;
  for (Held& held : std::exchange(held_, {})) {
    const unsigned outages = ++outages_[held.attempt.job.number];
    const bool by_this = complained && by_one && held.attempt.job.alone;
    if (by_this || outages == most_outages) {
      observer_.case_started(describe(held.attempt).id);
      held.outcome.reason = fmt::format(
          "the IUT stopped answering in each of {} attempts, the last of which ran alone: {}",
          outages, held.outcome.reason);
      conclude(std::move(held.attempt), std::move(held.outcome));
      continue;
    }
    evidence_->drop(held.attempt);
    Job job = held.attempt.job;
    job.once_lost = false;
    (complained || outages > 1 ? alone : beside_others).push_back(job);
  }
  complaint_.clear();
  schedule_.repeat_all(beside_others);
  schedule_.repeat_alone(alone);
}

}  // namespace suite::runner
