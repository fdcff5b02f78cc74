// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/exit_status.hpp"

#include <csignal>
#include <cstring>

namespace base {

std::string signal_name(int signal) {
  const char* abbreviation = ::sigabbrev_np(signal);
  if (abbreviation == nullptr) return "signal " + std::to_string(signal);
  return std::string("SIG") + abbreviation;
}

bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS || signal == SIGILL ||
         signal == SIGFPE;
}

std::string ended_by(int signal) { return "ended by " + signal_name(signal); }

std::string text(const ExitStatus& status) {
  return status.signal != 0 ? signal_name(status.signal)
                            : "exit status " + std::to_string(status.code);
}

}  // namespace base
