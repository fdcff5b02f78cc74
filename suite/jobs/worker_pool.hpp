// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The worker processes of a run: gives each the next job of the schedule, replaces those that crash
// or hang, and reports how each attempt ended. Only the pool's client knows what a job is, and what
// a worker's messages mean: a case with one IUT, or a cell of a plugfest with two agents.
#pragma once

#include <any>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/epoll_loop.hpp"
#include "suite/jobs/hang_limit.hpp"
#include "suite/jobs/schedule.hpp"
#include "suite/jobs/worker_process.hpp"

namespace suite::jobs {

/// One attempt at a job while it runs and until it is judged.
struct Attempt {
  Job job;
  std::uint32_t worker = 0;
  std::chrono::system_clock::time_point wall_start;
  base::TimePoint start;
  /// Of agent and worker.
  std::string stderr_text;
  /// Its worker did not survive it, and so did not report what it saw.
  bool died = false;
};

/// What starts a job in a worker, how long the worker may then be silent, and how long it may take
/// in all.
struct Order {
  Message message;
  std::chrono::nanoseconds silence, total;
};

/// A message of a worker, as its client understands it.
struct Ready {};
struct Unreachable {
  std::string why;
};
struct Alive {};
struct Dying {
  bool in_iut = false;
};
/// The attempt is over; the client defines `result`.
struct Done {
  std::any result;
  std::string stderr_text;
};
using WorkerReport = std::variant<Ready, Unreachable, Alive, Dying, Done>;

/// How a worker ended during an attempt.
struct WorkerDeath {
  enum class Cause : std::uint8_t {
    /// It passed a limit of its order, and was ended.
    hung,
    /// Its agent could not be started again.
    unreachable,
    /// It sent something that is not a message, and was ended.
    broke_protocol,
    /// By itself, or by a signal.
    ended,
  };
  Cause cause = Cause::ended;
  base::ExitStatus how{};
  bool in_iut = false;
  /// After the attempt's start.
  base::Duration after{};
  /// Of an unreachable one, in one line.
  std::string why{};
};

class WorkerPool final : WorkerProcess::Observer {
 public:
  /// Called from the event loop.
  class Client {
   public:
    virtual ~Client() = default;
    /// The first message to worker number `worker`, counted from 0; nothing: it needs none.
    [[nodiscard]] virtual std::optional<Message> setup(std::uint32_t worker) = 0;
    [[nodiscard]] virtual Order order(const Attempt& attempt) = 0;
    /// Nothing: it is not a message of a worker.
    [[nodiscard]] virtual std::optional<WorkerReport> read(const Message& message) = 0;

    virtual void attempt_started(const Attempt& attempt) = 0;
    virtual void attempt_ended(Attempt attempt, std::any result) = 0;
    virtual void worker_died(Attempt attempt, const WorkerDeath& death) = 0;
    /// A worker is free, or has ended: time for pump().
    virtual void pool_changed() = 0;
    /// A worker could not start, since its agent could not; `why` in one line. True: the client
    /// makes sure that the run ends at some time, and calls pump().
    [[nodiscard]] virtual bool start_failed(const std::string& why) = 0;
    /// Workers cannot start: the run cannot continue. One line.
    virtual void pool_lost(const std::string& why) = 0;
    /// Whether the host of the agents can be brought up again if it is down: then it is not the
    /// workers' fault that none can start.
    [[nodiscard]] virtual bool host_is_up() { return true; }
  };
  WorkerPool(base::EpollLoop& loop, Schedule& schedule, unsigned workers, Client& client);
  ~WorkerPool() override;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Starts one worker, so that the IUT reports what it is before any case runs.
  void open_first_slot() { open_slot(); }
  /// Gives the jobs that can start to free workers; starts more workers, up to `most`.
  void pump(unsigned most);
  void pump() { pump(workers_); }
  /// Replaces all idle workers: the IUT's host was restarted, and their agents are gone.
  void renew();
  /// The attempts that run now.
  [[nodiscard]] std::vector<const Attempt*> running() const;
  /// Ends all workers, either immediately or after they have ended their agents; running attempts
  /// then have no outcome.
  void dismiss(bool at_once);

 private:
  struct Slot {
    std::unique_ptr<WorkerProcess> worker;
    enum class State : std::uint8_t { starting, idle, busy, leaving } state = State::starting;
    std::optional<Attempt> attempt;
    std::optional<Dying> dying;
    /// Of what it does now.
    std::optional<HangLimit> limit;
    bool hung = false;
    /// It ended what its limit was about.
    bool in_time = false;
    /// It never could take a job.
    bool failed = false;
  };
  bool message(WorkerProcess& worker, const Message& message) override;
  void ended(WorkerProcess& worker, base::ExitStatus how) override;

  void open_slot();
  void begin(Slot& slot, const Job& job);
  void take(Slot& slot, WorkerReport report);
  void done(Slot& slot, Done done);
  void check_for_hang(Slot& slot);
  [[nodiscard]] Attempt end_attempt(Slot& slot);
  void unreachable(Slot& slot, const std::string& why);
  void check_for_loss(bool failed);
  [[nodiscard]] WorkerDeath death_of(const Slot& slot, base::ExitStatus how) const;
  [[nodiscard]] Slot& slot_of(const WorkerProcess& worker);

  base::EpollLoop& loop_;
  Schedule& schedule_;
  unsigned workers_;
  Client& client_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::string last_failure_;
  /// Workers in a row that ended before they could take a job.
  unsigned failed_starts_ = 0;
  /// One could.
  bool was_ready_ = false;
  bool dismissed_ = false;
};

}  // namespace suite::jobs
