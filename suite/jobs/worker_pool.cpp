// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/jobs/worker_pool.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace suite::jobs {

namespace {

constexpr unsigned most_failed_starts = 3;

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const auto begin = text.rfind('\n', end);
  return text.substr(begin + 1, end - begin);
}

}  // namespace

WorkerPool::WorkerPool(base::EpollLoop& loop, Schedule& schedule, unsigned workers, Client& client)
    : loop_(loop), schedule_(schedule), workers_(workers), client_(client) {}

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
  auto started = WorkerProcess::start(loop_, number, *this);
  if (!started) return client_.pool_lost("cannot start a worker: " + started.error());
  slot->worker = std::move(*started);
  slot->limit.emplace(loop_, [this, kept = slot.get()] { check_for_hang(*kept); });
  slot->limit->set(time_to_start, time_to_start);
  if (const auto setup = client_.setup(number)) slot->worker->send(*setup);
  slots_.push_back(std::move(slot));
}

// Where this process was busy, what the worker sent in time has only not been read yet, and of what
// is longer than the pipe holds, the worker could not send the rest.
void WorkerPool::check_for_hang(Slot& slot) {
  slot.in_time = false;
  const bool in_the_middle = slot.worker->read_messages();
  if (slot.in_time) return;
  if (in_the_middle) return slot.limit->set(time_for_the_rest, time_for_the_rest);
  slot.hung = true;
  slot.worker->abort();
}

void WorkerPool::begin(Slot& slot, const Job& job) {
  slot.state = Slot::State::busy;
  slot.attempt.emplace(Attempt{.job = job,
                               .worker = slot.worker->number(),
                               .wall_start = std::chrono::system_clock::now(),
                               .start = loop_.now(),
                               .stderr_text = {},
                               .died = false});
  static_cast<void>(slot.worker->take_stderr());
  const Order order = client_.order(*slot.attempt);
  slot.worker->send(order.message);
  slot.limit->set(order.silence, order.total);
  client_.attempt_started(*slot.attempt);
}

bool WorkerPool::message(WorkerProcess& worker, const Message& message) {
  auto report = client_.read(message);
  if (report) take(slot_of(worker), std::move(*report));
  return report.has_value();
}

void WorkerPool::take(Slot& slot, WorkerReport report) {
  // The worker sent this before it noticed that it was being ended.
  const bool killed = slot.state == Slot::State::leaving || slot.hung;
  if (killed && !std::holds_alternative<Dying>(report)) return;
  if (std::holds_alternative<Ready>(report)) {
    slot.in_time = true;
    slot.limit->lift();
    slot.state = Slot::State::idle;
    failed_starts_ = 0;
    was_ready_ = true;
    client_.pool_changed();
  } else if (const auto* why = std::get_if<Unreachable>(&report)) {
    unreachable(slot, why->why);
  } else if (std::holds_alternative<Alive>(report)) {
    if (slot.attempt) slot.limit->alive();
  } else if (const auto* dying = std::get_if<Dying>(&report)) {
    slot.dying = *dying;
  } else if (auto* result = std::get_if<Done>(&report)) {
    if (slot.attempt) done(slot, std::move(*result));
  }
}

void WorkerPool::done(Slot& slot, Done done) {
  slot.in_time = true;
  slot.attempt->stderr_text = std::move(done.stderr_text);
  // Until it is ready again: its agent may have to be restarted.
  slot.state = Slot::State::starting;
  slot.limit->set(time_to_start, time_to_start);
  client_.attempt_ended(end_attempt(slot), std::move(done.result));
}

Attempt WorkerPool::end_attempt(Slot& slot) {
  Attempt attempt = std::move(*slot.attempt);
  slot.attempt.reset();
  attempt.stderr_text += slot.worker->take_stderr();
  schedule_.ended(attempt.job);
  return attempt;
}

void WorkerPool::unreachable(Slot& slot, const std::string& why) {
  slot.state = Slot::State::leaving;
  slot.failed = !slot.attempt;
  ++failed_starts_;
  last_failure_ = why;
  std::ranges::replace(last_failure_, '\n', ' ');
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
    const WorkerDeath death = death_of(slot, how);
    client_.worker_died(end_attempt(slot), death);
  } else if (slot.state == Slot::State::starting) {
    slot.failed = true;
    ++failed_starts_;
    last_failure_ = last_line(worker.take_stderr());
  }
  const bool failed = slot.failed;
  // This is called by the process object: it goes when that call is over.
  const auto found =
      std::ranges::find_if(slots_, [&](const auto& one) { return one.get() == &slot; });
  loop_.defer([kept = std::shared_ptr<Slot>(std::move(*found))] {});
  slots_.erase(found);
  check_for_loss(failed);
}

// The run goes on as long as some worker can take jobs, or the host can be brought up again.
void WorkerPool::check_for_loss(bool failed) {
  if (dismissed_) return;
  const bool never_ready = !was_ready_ && slots_.empty();
  if (!never_ready && failed && client_.start_failed(last_failure_)) return;
  const bool none_starts = failed && failed_starts_ >= most_failed_starts && slots_.empty();
  if (never_ready || (none_starts && client_.host_is_up())) {
    client_.pool_lost(last_failure_.empty() ? "workers end before they can take a job"
                                            : last_failure_);
  } else {
    client_.pool_changed();
  }
}

WorkerDeath WorkerPool::death_of(const Slot& slot, base::ExitStatus how) const {
  WorkerDeath death{.cause = WorkerDeath::Cause::ended,
                    .how = how,
                    .in_iut = slot.dying && slot.dying->in_iut,
                    .after = loop_.now() - slot.attempt->start,
                    .why = ""};
  if (slot.hung) {
    death.cause = WorkerDeath::Cause::hung;
  } else if (slot.state == Slot::State::leaving) {
    death.cause = WorkerDeath::Cause::unreachable;
    death.why = last_failure_;
  } else if (slot.worker->broke_protocol()) {
    death.cause = WorkerDeath::Cause::broke_protocol;
  }
  return death;
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

}  // namespace suite::jobs
