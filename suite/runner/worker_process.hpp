// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The parent's end of a worker: starts it, reads its words, and notices its death.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "base/epoll_loop.hpp"
#include "suite/iut/child_process.hpp"
#include "suite/runner/message_reader.hpp"
#include "suite/runner/worker_messages.hpp"

namespace suite::runner {

class WorkerProcess {
 public:
  /// Called from the event loop. The process object must not be destroyed in word(), but
  /// may be in ended().
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void word(WorkerProcess& worker, WorkerMessage word) = 0;
    /// It is no more; all its words were delivered.
    virtual void ended(WorkerProcess& worker, base::ExitStatus how) = 0;
  };

  [[nodiscard]] static std::expected<std::unique_ptr<WorkerProcess>, std::string> start(
      base::EpollLoop& loop, std::uint32_t number, const WorkerSetup& setup, Observer& observer);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  void send(const ParentMessage& word);
  /// Ends it by SIGABRT, so that it can still say where it was; a worker that does not heed that is
  /// killed soon after.
  void abort();
  void kill() { child_.kill(); }

  [[nodiscard]] std::uint32_t number() const { return number_; }
  /// The end of what it wrote to its stderr since this was last asked.
  [[nodiscard]] std::string take_stderr();
  /// It said something that is no word, and was killed for it.
  [[nodiscard]] bool spoke_nonsense() const { return nonsense_; }

 private:
  WorkerProcess(base::EpollLoop& loop, std::uint32_t number, iut::ChildProcess child,
                Observer& observer);
  void read_words();
  void read_stderr();
  void write_words();
  void finish();

  base::EpollLoop& loop_;
  std::uint32_t number_;
  iut::ChildProcess child_;
  Observer& observer_;
  MessageReader input_;
  std::string output_;  ///< what its end would not take yet
  std::string stderr_;
  bool words_ended_ = false, stderr_ended_ = false, nonsense_ = false;
  std::optional<base::TimerId> kill_timer_;
};

}  // namespace suite::runner
