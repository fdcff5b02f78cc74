// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/worker_pool.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "suite/runner/case_record.hpp"
#include "suite/runner/outage_detector.hpp"

namespace suite::runner {

namespace {

constexpr unsigned most_failed_starts = 3;

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const auto begin = text.rfind('\n', end);
  return text.substr(begin + 1, end - begin);
}

}  // namespace

WorkerPool::WorkerPool(base::EpollLoop& loop, TestNetwork& network, Schedule& schedule,
                       std::vector<const cases::Case*> list, unsigned jobs, double deadline_scale,
                       Observer& observer)
    : loop_(loop),
      network_(network),
      schedule_(schedule),
      list_(std::move(list)),
      jobs_(jobs),
      deadline_scale_(deadline_scale),
      observer_(observer) {}

WorkerPool::~WorkerPool() { dismiss(true); }

void WorkerPool::pump(unsigned most) {
  if (dismissed_) return;
  while (schedule_.waiting() > 0) {
    const auto idle =
        std::ranges::find(slots_, Slot::State::idle, [](const auto& slot) { return slot->state; });
    if (idle == slots_.end()) break;
    const auto job = schedule_.next();
    if (!job) return;
    begin(**idle, *job);
  }
  // Workers start while others work: not more of them than there is work left.
  const auto starting = static_cast<std::size_t>(std::ranges::count(
      slots_, Slot::State::starting, [](const auto& slot) { return slot->state; }));
  for (std::size_t more = starting; slots_.size() < most && more < schedule_.waiting(); ++more)
    open_slot();
}

void WorkerPool::open_slot() {
  auto slot = std::make_unique<Slot>();
  std::uint32_t number = 0;
  while (std::ranges::any_of(slots_,
                             [&](const auto& other) { return other->worker->number() == number; }))
    ++number;
  auto started = WorkerProcess::start(loop_, number, network_.setup(number), *this);
  if (!started) {
    observer_.pool_lost("cannot start a worker: " + started.error());
    return;
  }
  slot->worker = std::move(*started);
  slot->limit.emplace(loop_, [worker = slot->worker.get()] { worker->abort(); });
  slot->limit->set(time_to_start, time_to_start);
  slots_.push_back(std::move(slot));
}

void WorkerPool::begin(Slot& slot, const Job& job) {
  const cases::Case* one = list_.at(job.number);
  slot.state = Slot::State::busy;
  slot.attempt.emplace(Attempt{.job = job,
                               .one = one,
                               .worker = slot.worker->number(),
                               .wall_start = std::chrono::system_clock::now(),
                               .start = loop_.now(),
                               .stderr_text = {},
                               .died = false});
  static_cast<void>(slot.worker->take_stderr());
  slot.worker->send(
      RunMessage{one->id, job.attempt, job.group,
                 job.known_to_hang ? network_.scale_of_known_hang() : deadline_scale_});
  const auto silence = tolerated_silence(*one, deadline_scale_);
  slot.limit->set(silence, silence * most_rows);
  observer_.attempt_started(*slot.attempt);
}

void WorkerPool::word(WorkerProcess& worker, WorkerMessage word) {
  Slot& slot = slot_of(worker);
  const bool killed = slot.state == Slot::State::leaving;  // and it said this before it knew
  if (killed && !std::holds_alternative<DiedMessage>(word)) return;
  if (auto* ready = std::get_if<ReadyMessage>(&word)) {
    slot.limit->lift();
    slot.state = Slot::State::idle;
    failed_starts_ = 0;
    if (!hello_) hello_ = std::move(ready->hello);
    observer_.pool_changed();
  } else if (const auto* why = std::get_if<UnreachableMessage>(&word)) {
    unreachable(slot, why->why);
  } else if (std::holds_alternative<AliveMessage>(word)) {
    if (slot.attempt) slot.limit->alive();
  } else if (const auto* died = std::get_if<DiedMessage>(&word)) {
    slot.died = *died;
  } else if (auto* outcome = std::get_if<OutcomeMessage>(&word)) {
    if (!slot.attempt) return;
    slot.attempt->stderr_text = std::move(outcome->stderr_text);
    slot.state =
        Slot::State::starting;  // until it is ready again: its agent may have to be restarted
    conclude(slot, std::move(outcome->outcome));
    slot.limit->set(time_to_start, time_to_start);
  }
}

void WorkerPool::conclude(Slot& slot, cases::CaseOutcome outcome) {
  Attempt attempt = std::move(*slot.attempt);
  slot.attempt.reset();
  attempt.stderr_text += slot.worker->take_stderr();
  schedule_.ended();
  observer_.attempt_ended(std::move(attempt), std::move(outcome));
}

void WorkerPool::unreachable(Slot& slot, const std::string& why) {
  slot.state = Slot::State::leaving;
  slot.failed = !slot.attempt;
  ++failed_starts_;
  last_complaint_ = why;
  std::ranges::replace(last_complaint_, '\n', ' ');
}

void WorkerPool::renew() {
  failed_starts_ = 0;
  for (const auto& slot : slots_) {
    if (slot->state == Slot::State::busy) continue;
    slot->state = Slot::State::leaving;
    slot->worker->kill();
  }
}

void WorkerPool::ended(WorkerProcess& worker, base::ExitStatus how) {
  Slot& slot = slot_of(worker);
  slot.limit->lift();
  if (slot.attempt) {
    slot.attempt->died = true;
    auto outcome = outcome_of_death(slot, how);
    outcome.duration = loop_.now() - slot.attempt->start;
    conclude(slot, std::move(outcome));
  } else if (slot.state == Slot::State::starting) {
    slot.failed = true;
    ++failed_starts_;
    last_complaint_ = last_line(worker.take_stderr());
  }
  const bool failed = slot.failed;
  // The process object is in the middle of telling us: it goes when that is over.
  const auto found =
      std::ranges::find_if(slots_, [&](const auto& one) { return one.get() == &slot; });
  loop_.defer([kept = std::shared_ptr<Slot>(std::move(*found))] {});
  slots_.erase(found);
  check_for_loss(failed);
}

// The run goes on as long as somebody can take cases, or the IUT's host can be brought up again.
void WorkerPool::check_for_loss(bool failed) {
  if (dismissed_) return;
  const bool never_met = !hello_ && slots_.empty();
  if (!never_met && failed && observer_.start_failed(last_complaint_)) return;
  if (never_met ||
      (failed && failed_starts_ >= most_failed_starts && slots_.empty() && network_.up())) {
    observer_.pool_lost(last_complaint_.empty() ? "workers end before they can take a case"
                                                : last_complaint_);
  } else {
    observer_.pool_changed();
  }
}

cases::CaseOutcome WorkerPool::outcome_of_death(const Slot& slot, base::ExitStatus how) const {
  const double limit = std::chrono::duration<double>(loop_.now() - slot.attempt->start).count();
  const bool in_iut = slot.died && slot.died->in_iut;
  if (slot.limit->passed()) {
    return outcome_without_evidence(
        in_iut ? cases::Verdict::fail : cases::Verdict::error,
        fmt::format("no verdict within {:.1f} s{}", limit,
                    in_iut ? ": the IUT's code did not return" : "; the worker was ended"));
  }
  if (slot.state == Slot::State::leaving) {
    return outcome_without_evidence(cases::Verdict::error,
                                    fmt::format("{}: {}", cannot_be_reached, last_complaint_));
  }
  if (slot.worker->spoke_nonsense()) {
    return outcome_without_evidence(cases::Verdict::error,
                                    "the worker said something that is no word");
  }
  const std::string name = base::text(how);
  if (in_iut)
    return outcome_without_evidence(cases::Verdict::fail,
                                    fmt::format("{} in the IUT's code", name));
  return outcome_without_evidence(
      cases::Verdict::error, fmt::format("the worker ended by {} outside the IUT's code", name));
}

std::vector<const Attempt*> WorkerPool::running() const {
  std::vector<const Attempt*> list;
  for (const auto& slot : slots_) {
    if (slot->attempt) list.push_back(&*slot->attempt);
  }
  return list;
}

void WorkerPool::dismiss(bool at_once) {
  dismissed_ = true;
  for (const auto& slot : slots_) {
    if (at_once) slot->worker->kill();
  }
  slots_.clear();
}

WorkerPool::Slot& WorkerPool::slot_of(const WorkerProcess& worker) {
  const auto found =
      std::ranges::find_if(slots_, [&](const auto& slot) { return slot->worker.get() == &worker; });
  assert(found != slots_.end());
  return **found;
}

}  // namespace suite::runner
