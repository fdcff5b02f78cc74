// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A child process: started without a shell, awaited, ended. C++17, for the agent's own build.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/exit_status.hpp"
#include "base/file_descriptor.hpp"

namespace base {

struct ProcessSetup {
  /// A process with its own session has no terminal, unless its standard error is one.
  enum class Group : unsigned char { ours, own, session };

  /// Descriptors that become its standard input, output and error; -1: it has ours.
  int input = -1, output = -1, errors = -1;
  /// These stay open under their own numbers; the others follow their close-on-exec flags.
  std::vector<int> inherited{};
  /// Set in addition to our own variables.
  std::vector<std::pair<std::string, std::string>> environment{};
  /// Its working folder; empty: ours.
  std::string folder{};
  /// A group of its own can be ended together with everything that the process has started.
  Group group = Group::ours;
  /// The kernel kills it when the calling thread ends.
  bool dies_with_us = true;
  /// No signal blocked, and SIGPIPE with its default action; otherwise both as in this process.
  bool fresh_signals = false;
  /// An open descriptor of a network namespace to run in; -1: ours.
  int network_namespace = -1;
};

class Process {
 public:
  /// Runs `argv`, whose first word is searched in PATH. Returns once the program runs; `error` is
  /// one line if it cannot.
  [[nodiscard]] static std::optional<Process> start(const std::vector<std::string>& argv,
                                                    const ProcessSetup& setup, std::string& error);
  /// Runs `work` in a copy of this process, whose exit status it returns; an uncaught exception
  /// aborts the copy. To be called while the process has one thread.
  [[nodiscard]] static std::optional<Process> fork(const std::function<int()>& work,
                                                   const ProcessSetup& setup, std::string& error);

  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();  ///< kills it if it still runs

  /// Of the process, or of its own group.
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Polls readable once it has ended; -1 on kernels before 5.3.
  [[nodiscard]] int exited() const { return exited_.get(); }

  /// Set once one of the following functions has collected it.
  [[nodiscard]] const std::optional<ExitStatus>& ended() const { return ended_; }
  /// Collects its end without waiting; nothing while it runs.
  [[nodiscard]] std::optional<ExitStatus> reap();
  /// Waits that long for its end, which needs exited(); nothing if it still runs.
  [[nodiscard]] std::optional<ExitStatus> wait_for(std::chrono::milliseconds limit);
  ExitStatus wait();
  /// Sends a signal to the process only.
  void signal(int number) const;
  /// Kills it, together with its group if it has its own.
  void kill() const;

 private:
  Process(pid_t pid, ProcessSetup::Group group);
  std::optional<ExitStatus> collect(int options);

  pid_t pid_ = -1;
  bool own_group_ = false;
  FileDescriptor exited_;
  std::optional<ExitStatus> ended_;
};

}  // namespace base
