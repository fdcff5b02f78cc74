// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The workers of a run: keeps them busy with what the schedule gives, replaces those that die or
// hang, and says how each attempt ended.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/epoll_loop.hpp"
#include "suite/runner/hang_limit.hpp"
#include "suite/runner/schedule.hpp"
#include "suite/runner/suite_parts.hpp"
#include "suite/runner/test_network.hpp"
#include "suite/runner/worker_process.hpp"

namespace suite::runner {

/// One attempt at a case while it runs and until it is judged.
struct Attempt {
  Job job;
  const cases::Case* one = nullptr;
  std::uint32_t worker = 0;
  std::chrono::system_clock::time_point wall_start;
  base::TimePoint start;
  std::string stderr_text;  ///< of agent and worker
  bool died = false;        ///< its worker did not survive it, and so told nothing of what it saw
};

class WorkerPool final : WorkerProcess::Observer {
 public:
  /// Called from the event loop.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void attempt_started(const Attempt& attempt) = 0;
    virtual void attempt_ended(Attempt attempt, cases::CaseOutcome outcome) = 0;
    /// A worker is free, or one is no more: time for pump().
    virtual void pool_changed() = 0;
    /// A worker could not start, since its agent could not; `why` in one line. True: the observer
    /// sees to it that the run ends some time, and calls pump().
    [[nodiscard]] virtual bool start_failed(const std::string& why) = 0;
    /// The IUT cannot be reached or workers cannot live: the run cannot go on. One line.
    virtual void pool_lost(const std::string& why) = 0;
  };
  /// `list[n]` is the case of the job with number n.
  WorkerPool(base::EpollLoop& loop, TestNetwork& network, Schedule& schedule,
             std::vector<const cases::Case*> list, unsigned jobs, double deadline_scale,
             Observer& observer);
  ~WorkerPool() override;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Starts one worker, so that the IUT says who it is before any case runs.
  void open_first_slot() { open_slot(); }
  /// What the IUT said of itself, once it did.
  [[nodiscard]] const std::optional<iut::Hello>& hello() const { return hello_; }
  /// Gives what can start now to those who are free; starts more of them, up to `most`.
  void pump(unsigned most);
  void pump() { pump(jobs_); }
  /// Replaces all workers that are not busy: the IUT's host
  /// was started afresh, their agents are gone.
  void renew();
  /// The attempts that run now.
  [[nodiscard]] std::vector<const Attempt*> running() const;
  /// Ends all workers, at once or after a farewell to their agents; what runs has no outcome then.
  void dismiss(bool at_once);

 private:
  struct Slot {
    std::unique_ptr<WorkerProcess> worker;
    enum class State : std::uint8_t { starting, idle, busy, leaving } state = State::starting;
    std::optional<Attempt> attempt;
    std::optional<DiedMessage> died;
    std::optional<HangLimit> limit;  ///< of what it does now
    bool failed = false;             ///< it never could take a case
  };
  void word(WorkerProcess& worker, WorkerMessage word) override;
  void ended(WorkerProcess& worker, base::ExitStatus how) override;

  void open_slot();
  void begin(Slot& slot, const Job& job);
  void conclude(Slot& slot, cases::CaseOutcome outcome);
  void unreachable(Slot& slot, const std::string& why);
  void check_for_loss(bool failed);
  [[nodiscard]] cases::CaseOutcome outcome_of_death(const Slot& slot, base::ExitStatus how) const;
  [[nodiscard]] Slot& slot_of(const WorkerProcess& worker);

  base::EpollLoop& loop_;
  TestNetwork& network_;
  Schedule& schedule_;
  std::vector<const cases::Case*> list_;
  unsigned jobs_;
  double deadline_scale_;
  Observer& observer_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::optional<iut::Hello> hello_;
  std::string last_complaint_;
  unsigned failed_starts_ = 0;  ///< workers in a row that ended before they could take a case
  bool dismissed_ = false;
};

}  // namespace suite::runner
