// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One QEMU process: started with descriptors it inherits, watched, ended.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <expected>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"

namespace suite::lab {

class Machine {
 public:
  /// Runs argv with these descriptors under their own numbers; everything else is closed on exec.
  /// Its stdout is the console. It is killed when the calling thread ends.
  [[nodiscard]] static std::expected<Machine, std::string> start(
      const std::vector<std::string>& argv, const std::vector<int>& inherited);

  Machine(Machine&& other) noexcept;
  Machine& operator=(Machine&&) = delete;
  ~Machine();  ///< ends it

  [[nodiscard]] bool running();
  /// Waits for its end; false if it still runs after the limit.
  bool wait(std::chrono::milliseconds time_limit);
  void kill();
  /// How it ended, and the last line of its own complaints; for people.
  [[nodiscard]] std::string ending() const;
  /// Readable when it has ended.
  [[nodiscard]] int ended_fd() const { return pidfd_.get(); }
  /// Hands over the reading end of its console.
  [[nodiscard]] base::FileDescriptor take_console() { return std::move(console_); }

 private:
  Machine() = default;

  pid_t pid_ = -1;
  int status_ = 0;
  base::FileDescriptor pidfd_, console_, complaints_;
};

}  // namespace suite::lab
