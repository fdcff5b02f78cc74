// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One QEMU process: started with descriptors that it inherits, watched, ended.
#pragma once

#include <chrono>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/process.hpp"

namespace suite::lab {

class QemuProcess {
 public:
  /// Runs argv with these descriptors under their own numbers; everything else is closed on exec.
  /// Its stdout is the console. It is killed when the calling thread ends, or its
  /// owner is destroyed.
  [[nodiscard]] static std::expected<QemuProcess, std::string> start(
      const std::vector<std::string>& argv, const std::vector<int>& inherited);

  [[nodiscard]] bool running();
  /// Waits for its end; false if it still runs after the limit.
  bool wait(std::chrono::milliseconds time_limit);
  void kill();
  /// How it ended, and the last line of its own complaints; for people.
  [[nodiscard]] std::string ending() const;
  /// Readable when it has ended.
  [[nodiscard]] int ended_fd() const { return process_.exited(); }
  /// Returns the reading end of its console, and its ownership.
  [[nodiscard]] base::FileDescriptor take_console() { return std::move(console_); }

 private:
  QemuProcess(base::Process process, base::FileDescriptor console, base::FileDescriptor complaints)
      : process_(std::move(process)),
        console_(std::move(console)),
        complaints_(std::move(complaints)) {}

  base::Process process_;
  base::FileDescriptor console_, complaints_;
};

}  // namespace suite::lab
