// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/crew.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "suite/runner/case_record.hpp"

namespace suite::runner {

namespace {

constexpr unsigned most_fruitless = 3;

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const auto begin = text.rfind('\n', end);
  return text.substr(begin + 1, end - begin);
}

}  // namespace

Crew::Crew(base::EpollLoop& loop, Site& site, Schedule& schedule,
           std::vector<const cases::Case*> list, unsigned jobs, double deadline_scale,
           Observer& observer)
    : loop_(loop),
      site_(site),
      schedule_(schedule),
      list_(std::move(list)),
      jobs_(jobs),
      deadline_scale_(deadline_scale),
      observer_(observer) {}

Crew::~Crew() { dismiss(true); }

void Crew::pump() {
  if (dismissed_) return;
  while (schedule_.waiting() > 0) {
    const auto idle =
        std::ranges::find(seats_, Seat::State::idle, [](const auto& seat) { return seat->state; });
    if (idle == seats_.end()) break;
    const auto job = schedule_.next();
    if (!job) return;
    begin(**idle, *job);
  }
  // Workers start while others work: not more of them than there is work left.
  const auto starting = static_cast<std::size_t>(std::ranges::count(
      seats_, Seat::State::starting, [](const auto& seat) { return seat->state; }));
  for (std::size_t more = starting; seats_.size() < jobs_ && more < schedule_.waiting(); ++more)
    open_seat();
}

void Crew::open_seat() {
  auto seat = std::make_unique<Seat>();
  std::uint32_t number = 0;
  while (std::ranges::any_of(seats_,
                             [&](const auto& other) { return other->worker->number() == number; }))
    ++number;
  auto started = WorkerProcess::start(loop_, number, site_.setup(number), *this);
  if (!started) {
    observer_.crew_lost("cannot start a worker: " + started.error());
    return;
  }
  seat->worker = std::move(*started);
  seat->limit.emplace(loop_, [worker = seat->worker.get()] { worker->abort(); });
  seat->limit->set(time_to_start, time_to_start);
  seats_.push_back(std::move(seat));
}

void Crew::begin(Seat& seat, const Job& job) {
  const cases::Case* one = list_.at(job.number);
  seat.state = Seat::State::busy;
  seat.attempt.emplace(Attempt{.job = job,
                               .one = one,
                               .worker = seat.worker->number(),
                               .wall_start = std::chrono::system_clock::now(),
                               .start = loop_.now(),
                               .stderr_text = {},
                               .died = false});
  static_cast<void>(seat.worker->take_stderr());
  seat.worker->send(RunWord{one->id, job.attempt, job.group,
                            job.known_to_hang ? site_.scale_of_known_hang() : deadline_scale_});
  const auto silence = tolerated_silence(*one, deadline_scale_);
  seat.limit->set(silence, silence * most_rows);
  observer_.attempt_started(*seat.attempt);
}

void Crew::word(WorkerProcess& worker, WorkerWord word) {
  Seat& seat = seat_of(worker);
  if (auto* ready = std::get_if<ReadyWord>(&word)) {
    seat.limit->lift();
    seat.state = Seat::State::idle;
    fruitless_ = 0;
    if (!hello_) hello_ = std::move(ready->hello);
    observer_.crew_changed();
  } else if (const auto* why = std::get_if<UnreachableWord>(&word)) {
    unreachable(seat, why->why);
  } else if (std::holds_alternative<AliveWord>(word)) {
    if (seat.attempt) seat.limit->alive();
  } else if (const auto* died = std::get_if<DiedWord>(&word)) {
    seat.died = *died;
  } else if (auto* outcome = std::get_if<OutcomeWord>(&word)) {
    if (!seat.attempt) return;
    seat.attempt->stderr_text = std::move(outcome->stderr_text);
    seat.state =
        Seat::State::starting;  // until it is ready again: its agent may have to be restarted
    conclude(seat, std::move(outcome->outcome));
    seat.limit->set(time_to_start, time_to_start);
  }
}

void Crew::conclude(Seat& seat, cases::CaseOutcome outcome) {
  Attempt attempt = std::move(*seat.attempt);
  seat.attempt.reset();
  attempt.stderr_text += seat.worker->take_stderr();
  schedule_.ended();
  observer_.attempt_ended(std::move(attempt), std::move(outcome));
}

void Crew::unreachable(Seat& seat, const std::string& why) {
  seat.state = Seat::State::leaving;
  ++fruitless_;
  last_complaint_ = why;
  std::ranges::replace(last_complaint_, '\n', ' ');
}

void Crew::renew() {
  fruitless_ = 0;
  for (const auto& seat : seats_) {
    if (seat->state == Seat::State::busy) continue;
    seat->state = Seat::State::leaving;
    seat->worker->kill();
  }
}

void Crew::ended(WorkerProcess& worker, base::ExitStatus how) {
  Seat& seat = seat_of(worker);
  seat.limit->lift();
  if (seat.attempt) {
    seat.attempt->died = true;
    auto outcome = outcome_of_death(seat, how);
    outcome.duration = loop_.now() - seat.attempt->start;
    conclude(seat, std::move(outcome));
  } else if (seat.state == Seat::State::starting) {
    ++fruitless_;
    last_complaint_ = last_line(worker.take_stderr());
  }
  // The process object is in the middle of telling us: it goes when that is over.
  const auto found =
      std::ranges::find_if(seats_, [&](const auto& one) { return one.get() == &seat; });
  loop_.defer([kept = std::shared_ptr<Seat>(std::move(*found))] {});
  seats_.erase(found);
  check_for_loss();
}

// The run goes on as long as somebody can take cases, or the IUT's host can be brought up again.
void Crew::check_for_loss() {
  if (dismissed_) return;
  const bool never_met = !hello_ && seats_.empty();
  if (never_met || (fruitless_ >= most_fruitless && seats_.empty() && site_.up())) {
    observer_.crew_lost(last_complaint_.empty() ? "workers end before they can take a case"
                                                : last_complaint_);
  } else {
    observer_.crew_changed();
  }
}

cases::CaseOutcome Crew::outcome_of_death(const Seat& seat, base::ExitStatus how) const {
  const double limit = std::chrono::duration<double>(loop_.now() - seat.attempt->start).count();
  const bool in_iut = seat.died && seat.died->in_iut;
  if (seat.limit->passed()) {
    return outcome_without_evidence(
        in_iut ? cases::Verdict::fail : cases::Verdict::error,
        fmt::format("no verdict within {:.1f} s{}", limit,
                    in_iut ? ": the IUT's code did not return" : "; the worker was ended"));
  }
  if (seat.state == Seat::State::leaving) {
    return outcome_without_evidence(cases::Verdict::error,
                                    "the IUT cannot be reached: " + last_complaint_);
  }
  if (seat.worker->spoke_nonsense()) {
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

std::vector<const Attempt*> Crew::running() const {
  std::vector<const Attempt*> list;
  for (const auto& seat : seats_) {
    if (seat->attempt) list.push_back(&*seat->attempt);
  }
  return list;
}

void Crew::dismiss(bool at_once) {
  dismissed_ = true;
  for (const auto& seat : seats_) {
    if (at_once) seat->worker->kill();
  }
  seats_.clear();
}

Crew::Seat& Crew::seat_of(const WorkerProcess& worker) {
  const auto found =
      std::ranges::find_if(seats_, [&](const auto& seat) { return seat->worker.get() == &worker; });
  assert(found != seats_.end());
  return **found;
}

}  // namespace suite::runner
