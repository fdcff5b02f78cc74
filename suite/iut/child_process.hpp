// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A program of ours that dies with us: spoken to over a socket, its stderr kept apart.
#pragma once

#include <sys/types.h>

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"

namespace suite::iut {

/// How a process ended.
struct Ended {
  int exit_status = -1;  ///< -1 if a signal ended it
  int signal = 0;
};

/// `SIGSEGV`, or `signal 42` where it has no name.
[[nodiscard]] std::string signal_name(int signal);

class ChildProcess {
 public:
  /// Starts `argv` (found in PATH, no shell), its standard input and output being one socket. The
  /// kernel kills it when the calling thread ends. The error is one line.
  [[nodiscard]] static std::expected<ChildProcess, std::string> start(
      const std::vector<std::string>& argv);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  /// Hangs up, gives it a moment to release what it holds, then kills it.
  ~ChildProcess();

  [[nodiscard]] int words() const { return words_.get(); }    ///< non-blocking, both ways
  [[nodiscard]] int errors() const { return errors_.get(); }  ///< non-blocking, its stderr
  [[nodiscard]] int exited() const { return exited_.get(); }  ///< polls readable when it has ended

  /// Collects its end without waiting; nothing while it runs.
  [[nodiscard]] std::optional<Ended> reap();
  void kill();

 private:
  ChildProcess() = default;

  base::FileDescriptor words_, errors_, exited_;
  pid_t pid_ = -1;
  std::optional<Ended> ended_;
};

}  // namespace suite::iut
