// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/worker.hpp"

#include <optional>

#include "suite/jobs/worker_channel.hpp"
#include "suite/runner/case_record.hpp"
#include "suite/runner/iut_guard.hpp"
#include "suite/runner/session_cases.hpp"
#include "suite/runner/test_bed.hpp"
#include "suite/runner/worker_messages.hpp"

namespace suite::runner {

namespace {

// The parent sent something that is not a message: a fault of the harness.
constexpr int exit_bad_message = 70;

// Sends `alive` messages from the event loop: a case that waits sends them, one that spins does
// not.
class Heartbeat {
 public:
  Heartbeat(base::EventLoop& loop, std::function<void()> beat)
      : loop_(loop), beat_(std::move(beat)) {
    schedule();
  }
  ~Heartbeat() { loop_.cancel(timer_); }
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void schedule() {
    timer_ = loop_.schedule(loop_.now() + interval, [this] {
      const auto now = std::chrono::steady_clock::now();
      if (now - last_ >= interval) {  // simulated time may pass much faster
        last_ = now;
        beat_();
      }
      schedule();
    });
  }

  static constexpr auto interval = std::chrono::milliseconds(500);
  base::EventLoop& loop_;
  std::function<void()> beat_;
  base::TimerId timer_{};
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

class Worker {
 public:
  Worker(const SuiteParts& parts, jobs::WorkerChannel& parent) : parts_(parts), parent_(parent) {}

  int serve() {
    const auto first = next();
    if (!first) return 0;
    const auto* setup = std::get_if<WorkerSetup>(&*first);
    if (setup == nullptr) return exit_bad_message;
    auto test_bed = make_test_bed(*setup, parts_);
    if (!test_bed) return unreachable(test_bed.error());
    while (true) {
      if (auto alive = (*test_bed)->revive(); !alive) return unreachable(alive.error());
      send(ReadyMessage{(*test_bed)->environment().iut.hello()});
      const auto message = next();
      if (!message) return 0;
      const auto* run = std::get_if<RunMessage>(&*message);
      const cases::Case* one = run == nullptr ? nullptr : find(run->id);
      if (one == nullptr) return exit_bad_message;
      if (auto alive = (*test_bed)->revive(); !alive) return unreachable(alive.error());
      execute(*one, *run, **test_bed);
    }
  }

 private:
  void execute(const cases::Case& one, const RunMessage& run, TestBed& test_bed) {
    cases::Environment& environment = test_bed.environment();
    if (run.group != group_) environment.current_configuration.reset();
    group_ = run.group;
    environment.deadline_scale = run.deadline_scale;
    environment.controls = run.controls;
    OutcomeMessage message;
    {
      const Heartbeat heartbeat(environment.loop, [this] { send(AliveMessage{}); });
      message.outcome =
          is_session(one) ? play_session(one, environment) : parts_.execute(one, environment);
    }
    keep_digits_alone(message.outcome);
    message.stderr_text = test_bed.take_diagnostics();
    send(message);
  }

  /// Sessions are not in the table: there is one for each seed.
  const cases::Case* find(const std::string& id) {
    session_ = session_case(parts_, id);
    return session_ ? &*session_ : parts_.find(id);
  }

  int unreachable(const std::string& why) {
    send(UnreachableMessage{why});
    return 0;
  }

  // The parent's next message; nothing if it has closed the pipe, or sent something else.
  std::optional<ParentMessage> next() {
    const auto message = parent_.next();
    return message ? parse_parent_message(*message) : std::nullopt;
  }

  void send(const WorkerMessage& message) { parent_.send(format(message)); }

  const SuiteParts& parts_;
  jobs::WorkerChannel& parent_;
  std::uint64_t group_ = 0;
  std::optional<cases::Case> session_;
};

}  // namespace

int run_worker(const SuiteParts& parts) {
  jobs::WorkerChannel parent;
  report_fatal_signals(parent.output());
  return Worker(parts, parent).serve();
}

}  // namespace suite::runner
