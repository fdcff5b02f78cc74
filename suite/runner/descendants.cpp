// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/descendants.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/timespec.hpp"

namespace suite::runner {

namespace {

using std::chrono::steady_clock;
constexpr auto farewell = std::chrono::seconds(2);

struct Process {
  char state = 0;
  pid_t parent = 0, session = 0;
};

Process process_of(const std::filesystem::path& folder) {
  std::ifstream file(folder / "stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(')');  // the name may hold anything
  Process process;
  pid_t group = 0;
  if (name_end != std::string::npos)
    std::istringstream(text.substr(name_end + 1)) >> process.state >> process.parent >> group >>
        process.session;
  return process;
}

// Our living children, of our own session.
std::vector<pid_t> children() {
  const pid_t self = ::getpid(), session = ::getsid(0);
  std::vector<pid_t> list;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const Process process = process_of(entry.path());
    if (process.parent == self && process.session == session && process.state != 'Z')
      list.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return list;
}

void reap() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

void wait_for_child(const sigset_t& child_ended, steady_clock::time_point until) {
  const auto left =
      std::chrono::duration_cast<std::chrono::nanoseconds>(until - steady_clock::now());
  if (left.count() <= 0) return;
  const timespec limit = base::timespec_of(left);
  ::sigtimedwait(&child_ended, nullptr, &limit);
}

}  // namespace

Descendants::Descendants() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

Descendants::~Descendants() {
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  sigset_t before;
  sigprocmask(SIG_BLOCK, &child_ended, &before);
  const auto begin = steady_clock::now();
  while (true) {
    reap();
    const auto left = children();
    const auto now = steady_clock::now();
    if (left.empty() || now >= begin + 2 * farewell) break;
    const bool patient = now < begin + farewell;
    if (!patient) {
      for (const pid_t pid : left) ::kill(pid, SIGKILL);
    }
    wait_for_child(child_ended, begin + (patient ? 1 : 2) * farewell);
  }
  reap();  // those that ended while they were being counted
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace suite::runner
