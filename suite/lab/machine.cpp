// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/machine.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "suite/lab/command.hpp"

namespace suite::lab {
namespace {

/// Between fork and exec: only calls that are safe there.
[[noreturn]] void become(const char* program, char* const* argv, const std::vector<int>& inherited,
                         pid_t parent, int console, int complaints) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it died before it could be watched
  ::setsid();  // what a terminal says to the run (Ctrl-C, hanging up) is not for the machine
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(console, STDOUT_FILENO);
  ::dup2(complaints, STDERR_FILENO);
  for (const int fd : inherited) ::fcntl(fd, F_SETFD, 0);
  ::execv(program, argv);
  ::_exit(127);
}

}  // namespace

std::expected<Machine, std::string> Machine::start(const std::vector<std::string>& argv,
                                                   const std::vector<int>& inherited) {
  const std::string program = find_program(argv.front());
  if (program.empty())
    return std::unexpected(
        fmt::format("'{}' is missing: install the package qemu-system-x86", argv.front()));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return std::unexpected(fmt::format("no pipe: {}", std::strerror(errno)));
  Machine machine;
  machine.console_ = Descriptor(ends[0]);
  const Descriptor console(ends[1]);
  machine.complaints_ = Descriptor(::memfd_create("qemu-stderr", MFD_CLOEXEC));
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t parent = ::getpid();
  machine.pid_ = ::fork();
  if (machine.pid_ < 0)
    return std::unexpected(fmt::format("no new process: {}", std::strerror(errno)));
  if (machine.pid_ == 0)
    become(program.c_str(), words.data(), inherited, parent, console.get(),
           machine.complaints_.get());
  machine.pidfd_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, machine.pid_, 0)));
  return machine;
}

Machine::Machine(Machine&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      status_(other.status_),
      pidfd_(std::move(other.pidfd_)),
      console_(std::move(other.console_)),
      complaints_(std::move(other.complaints_)) {}

Machine::~Machine() { kill(); }

bool Machine::running() { return !wait(std::chrono::milliseconds(0)); }

bool Machine::wait(std::chrono::milliseconds time_limit) {
  if (pid_ < 0) return true;
  pollfd ended{pidfd_.get(), POLLIN, 0};
  if (::poll(&ended, 1, static_cast<int>(time_limit.count())) <= 0) return false;
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return true;
}

void Machine::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::string Machine::ending() const {
  std::array<char, 2048> text{};
  const ssize_t count = ::pread(complaints_.get(), text.data(), text.size(), 0);
  std::string said(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  while (said.ends_with('\n')) said.pop_back();
  said = said.substr(said.rfind('\n') + 1);
  const std::string how = WIFSIGNALED(status_)
                              ? fmt::format("QEMU died by signal {}", WTERMSIG(status_))
                              : fmt::format("QEMU ended with status {}", WEXITSTATUS(status_));
  return said.empty() ? how : how + ": " + said;
}

}  // namespace suite::lab
