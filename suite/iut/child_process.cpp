// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/iut/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

namespace suite::iut {
namespace {

using base::FileDescriptor;

/// An agent on hardware may need a while to let go of all it holds.
constexpr std::chrono::milliseconds farewell{5000};

std::string failed(const char* call) { return std::string(call) + ": " + std::strerror(errno); }

/// What the child does between fork and exec: only calls that are safe there.
[[noreturn]] void become(char* const* argv, pid_t parent, int words, int errors, int report) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent) {  // else it died before we asked to die with it
    ::dup2(words, 0);
    ::dup2(words, 1);
    ::dup2(errors, 2);
    ::execvp(argv[0], argv);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t told = ::write(report, &error, sizeof error);
  ::_exit(127);
}

void make_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

/// The child's own ends must survive no exec but the child's, which dups them; so all are CLOEXEC.
struct Ends {
  FileDescriptor words, child_words, errors, child_errors, report, child_report;
};

std::expected<Ends, std::string> make_ends() {
  Ends ends;
  std::array<int, 2> pair;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
    return std::unexpected(failed("socketpair"));
  ends.words = FileDescriptor(pair[0]);
  ends.child_words = FileDescriptor(pair[1]);
  if (::pipe2(pair.data(), O_CLOEXEC) != 0) return std::unexpected(failed("pipe2"));
  ends.errors = FileDescriptor(pair[0]);
  ends.child_errors = FileDescriptor(pair[1]);
  if (::pipe2(pair.data(), O_CLOEXEC) != 0) return std::unexpected(failed("pipe2"));
  ends.report = FileDescriptor(pair[0]);
  ends.child_report = FileDescriptor(pair[1]);
  make_nonblocking(ends.words.get());
  make_nonblocking(ends.errors.get());
  return ends;
}

}  // namespace

std::string signal_name(int signal) {
  const char* abbreviation = ::sigabbrev_np(signal);
  if (abbreviation == nullptr) return "signal " + std::to_string(signal);
  return std::string("SIG") + abbreviation;
}

std::expected<ChildProcess, std::string> ChildProcess::start(const std::vector<std::string>& argv) {
  if (argv.empty()) return std::unexpected("the agent's command line is empty");
  std::vector<char*> arguments;
  for (const std::string& each : argv) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  auto ends = make_ends();
  if (!ends) return std::unexpected(ends.error());

  ChildProcess child;
  const pid_t parent = ::getpid();
  child.pid_ = ::fork();
  if (child.pid_ == 0)
    become(arguments.data(), parent, ends->child_words.get(), ends->child_errors.get(),
           ends->child_report.get());
  if (child.pid_ < 0) return std::unexpected(failed("fork"));
  child.words_ = std::move(ends->words);
  child.errors_ = std::move(ends->errors);
  child.exited_ = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, child.pid_, 0)));
  if (!child.exited_) return std::unexpected(failed("pidfd_open"));

  ends->child_report.close();
  int error = 0;  // the report ends without a word when exec has succeeded
  if (::read(ends->report.get(), &error, sizeof error) == sizeof error)
    return std::unexpected("cannot run " + argv[0] + ": " + std::strerror(error));
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : words_(std::move(other.words_)),
      errors_(std::move(other.errors_)),
      exited_(std::move(other.exited_)),
      pid_(std::exchange(other.pid_, -1)),
      ended_(other.ended_) {}

ChildProcess::~ChildProcess() {
  if (pid_ < 0 || ended_) return;
  words_.close();
  errors_.close();
  pollfd exited{exited_.get(), POLLIN, 0};
  if (exited_) ::poll(&exited, 1, static_cast<int>(farewell.count()));
  if (reap()) return;
  kill();
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

std::optional<Ended> ChildProcess::reap() {
  if (ended_ || pid_ < 0) return ended_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  ended_.emplace();
  if (WIFEXITED(status)) ended_->exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended_->signal = WTERMSIG(status);
  return ended_;
}

void ChildProcess::kill() {
  if (pid_ >= 0 && !ended_) ::kill(pid_, SIGKILL);
}

}  // namespace suite::iut
