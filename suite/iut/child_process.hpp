// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A child process that ends with us: reached over a socket, with its stderr separate.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/exit_status.hpp"
#include "base/file_descriptor.hpp"
#include "base/process.hpp"

namespace suite::iut {

class ChildProcess {
 public:
  /// Starts `argv` (found in PATH, no shell), its standard input and output being one socket. The
  /// kernel kills it when the calling thread ends. The error is one line.
  [[nodiscard]] static std::expected<ChildProcess, std::string> start(
      const std::vector<std::string>& argv);

  ChildProcess(ChildProcess&&) = default;
  ChildProcess& operator=(ChildProcess&&) = delete;
  /// Hangs up, gives it a moment to release what it holds, then kills it.
  ~ChildProcess();

  [[nodiscard]] int channel() const { return channel_.get(); }  ///< non-blocking, both ways
  [[nodiscard]] int errors() const { return errors_.get(); }    ///< non-blocking, its stderr
  [[nodiscard]] int exited() const {
    return process_.exited();
  }  ///< polls readable when it has ended

  /// Reaps it without waiting; nothing while it runs.
  [[nodiscard]] std::optional<base::ExitStatus> reap() { return process_.reap(); }
  void kill() { process_.kill(); }

 private:
  ChildProcess(base::Process process, base::FileDescriptor channel, base::FileDescriptor errors)
      : process_(std::move(process)), channel_(std::move(channel)), errors_(std::move(errors)) {}

  base::Process process_;
  base::FileDescriptor channel_, errors_;
};

}  // namespace suite::iut
