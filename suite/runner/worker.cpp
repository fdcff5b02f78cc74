// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/worker.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/file_descriptor.hpp"
#include "base/standard_streams.hpp"
#include "suite/runner/iut_guard.hpp"
#include "suite/runner/message_reader.hpp"
#include "suite/runner/test_bed.hpp"
#include "suite/runner/worker_messages.hpp"

namespace suite::runner {

namespace {

using base::FileDescriptor;

constexpr int exit_bad_words = 70;  // the parent spoke nonsense: a fault of the harness

// Beats from the event loop: a case that waits is alive, one that spins is not.
class Pulse {
 public:
  Pulse(base::EventLoop& loop, std::function<void()> beat) : loop_(loop), beat_(std::move(beat)) {
    schedule();
  }
  ~Pulse() { loop_.cancel(timer_); }
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

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
  Worker(const SuiteParts& parts, FileDescriptor words) : parts_(parts), words_(std::move(words)) {}

  int serve() {
    const auto first = next();
    if (!first) return 0;
    const auto* setup = std::get_if<WorkerSetup>(&*first);
    if (setup == nullptr) return exit_bad_words;
    auto test_bed = make_test_bed(*setup, parts_);
    if (!test_bed) return unreachable(test_bed.error());
    while (true) {
      if (auto alive = (*test_bed)->revive(); !alive) return unreachable(alive.error());
      say(ReadyMessage{(*test_bed)->environment().iut.hello()});
      const auto word = next();
      if (!word) return 0;
      const auto* run = std::get_if<RunMessage>(&*word);
      const cases::Case* one = run == nullptr ? nullptr : parts_.find(run->id);
      if (one == nullptr) return exit_bad_words;
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
    OutcomeMessage word;
    {
      const Pulse pulse(environment.loop, [this] { say(AliveMessage{}); });
      word.outcome = parts_.execute(one, environment);
    }
    word.stderr_text = test_bed.take_diagnostics();
    say(word);
  }

  int unreachable(const std::string& why) {
    say(UnreachableMessage{why});
    return 0;
  }

  // The parent's next word; nothing when it has hung up or spoke nonsense.
  std::optional<ParentMessage> next() {
    while (true) {
      if (const auto message = input_.next()) return parse_parent_message(*message);
      std::array<char, 65536> buffer;
      const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return std::nullopt;
      input_.append({buffer.data(), static_cast<std::size_t>(count)});
    }
  }

  // A parent that is gone is noticed by next().
  void say(const WorkerMessage& word) {
    const std::string text = format(word).on_the_pipe();
    std::string_view rest = text;
    while (!rest.empty()) {
      const ssize_t count = ::write(words_.get(), rest.data(), rest.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return;
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  const SuiteParts& parts_;
  FileDescriptor words_;
  MessageReader input_;
  std::uint64_t group_ = 0;
};

}  // namespace

int run_worker(const SuiteParts& parts) {
  // Ctrl-C reaches the whole process group; the parent decides what becomes of us.
  std::signal(SIGINT, SIG_IGN);
  base::keep_standard_streams();
  FileDescriptor words(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  report_fatal_signals(words.get());
  return Worker(parts, std::move(words)).serve();
}

}  // namespace suite::runner
