// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a process ended. C++17, for the agent's own build.
#pragma once

#include <string>
#include <string_view>

namespace base {

struct ExitStatus {
  int code = -1;   ///< -1: a signal ended it
  int signal = 0;  ///< 0: no signal

  [[nodiscard]] bool good() const { return code == 0; }
};

/// `SIGSEGV`, or `signal 42` if it has no name.
[[nodiscard]] std::string signal_name(int signal);
/// Whether this signal shows a fault of the program that it ended.
[[nodiscard]] bool is_crash(int signal);
/// `ended by SIGSEGV`: the words for a crash in the outcomes of cases, which known issues quote.
[[nodiscard]] std::string ended_by(int signal);
/// Every text of a crash contains this.
inline constexpr std::string_view words_for_crash = "ended by SIG";
/// `SIGSEGV` or `exit status 3`.
[[nodiscard]] std::string text(const ExitStatus& status);

}  // namespace base
