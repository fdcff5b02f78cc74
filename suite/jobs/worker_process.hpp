// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The parent's end of a worker: starts it, reads its messages, and notices its end.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "base/epoll_loop.hpp"
#include "suite/iut/child_process.hpp"
#include "suite/jobs/message.hpp"

namespace suite::jobs {

/// The argument with which a program that has workers starts itself as one.
inline constexpr const char* worker_argument = "--worker";

class WorkerProcess {
 public:
  /// Called from the event loop. The process object must not be destroyed in message(), but may be
  /// in ended().
  class Observer {
   public:
    virtual ~Observer() = default;
    /// False: it is not a message of a worker, and the worker is killed.
    [[nodiscard]] virtual bool message(WorkerProcess& worker, const Message& message) = 0;
    /// Its process has ended; all its messages were delivered.
    virtual void ended(WorkerProcess& worker, base::ExitStatus how) = 0;
  };

  [[nodiscard]] static std::expected<std::unique_ptr<WorkerProcess>, std::string> start(
      base::EpollLoop& loop, std::uint32_t number, Observer& observer);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  void send(const Message& message);
  /// Delivers the messages that have arrived, without waiting for the event loop's turn. True: a
  /// part of another one has arrived since the last call.
  bool read_messages();
  /// Ends it by SIGABRT, so that it can still report where it was; a worker that continues is
  /// killed soon after.
  void abort();
  void kill() { child_.kill(); }

  [[nodiscard]] std::uint32_t number() const { return number_; }
  /// The end of what it wrote to its stderr since the last call.
  [[nodiscard]] std::string take_stderr();
  /// It sent something that is not a message of a worker, and was killed.
  [[nodiscard]] bool broke_protocol() const { return broke_protocol_; }

 private:
  WorkerProcess(base::EpollLoop& loop, std::uint32_t number, iut::ChildProcess child,
                Observer& observer);
  void read_stderr();
  void write_messages();
  void finish();

  base::EpollLoop& loop_;
  std::uint32_t number_;
  iut::ChildProcess child_;
  Observer& observer_;
  MessageReader input_;
  /// Output that its end has not accepted yet.
  std::string output_;
  std::string stderr_;
  bool messages_ended_ = false, stderr_ended_ = false, broke_protocol_ = false;
  std::optional<base::TimerId> kill_timer_;
};

}  // namespace suite::jobs
