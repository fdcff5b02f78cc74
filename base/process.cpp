// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/pipe.hpp"

namespace base {
namespace {

constexpr int could_not_start = 127;

std::string failed(const char* call) { return std::string(call) + ": " + std::strerror(errno); }

/// The arguments of exec, made before the fork: nothing may allocate after it.
class Words {
 public:
  explicit Words(std::vector<std::string> words) : words_(std::move(words)) {
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  [[nodiscard]] char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> all;
  for (char** each = ::environ; each != nullptr && *each != nullptr; ++each) {
    const std::string entry = *each;
    bool replaced = false;
    for (const auto& [name, value] : more) replaced |= entry.rfind(name + "=", 0) == 0;
    if (!replaced) all.push_back(entry);
  }
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  return all;
}

bool becomes(int fd, int standard) { return fd < 0 || ::dup2(fd, standard) >= 0; }

/// In the child, before the program or the work: only calls that are safe between fork and exec.
/// False: errno says what failed.
bool settle(const ProcessSetup& setup, pid_t parent) {
  if (setup.group == ProcessSetup::Group::own) ::setpgid(0, 0);
  if (setup.group == ProcessSetup::Group::session) ::setsid();
  if (setup.fresh_signals) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
  }
  if (setup.dies_with_us) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Otherwise it ended before we asked to end with it.
    if (::getppid() != parent) ::_exit(could_not_start);
  }
  for (const int fd : setup.inherited)
    if (::fcntl(fd, F_SETFD, 0) != 0) return false;
  const bool has_streams = becomes(setup.input, STDIN_FILENO) &&
                           becomes(setup.output, STDOUT_FILENO) &&
                           becomes(setup.errors, STDERR_FILENO);
  if (setup.group == ProcessSetup::Group::session) ::ioctl(STDERR_FILENO, TIOCSCTTY, 0);
  return has_streams && (setup.folder.empty() || ::chdir(setup.folder.c_str()) == 0) &&
         (setup.network_namespace < 0 || ::setns(setup.network_namespace, CLONE_NEWNET) == 0);
}

FileDescriptor open_pidfd([[maybe_unused]] pid_t pid) {
#ifdef SYS_pidfd_open
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
#else
  return {};
#endif
}

ExitStatus status_of(int wait_status) {
  ExitStatus status;
  if (WIFEXITED(wait_status)) status.code = WEXITSTATUS(wait_status);
  if (WIFSIGNALED(wait_status)) status.signal = WTERMSIG(wait_status);
  return status;
}

/// The life of a copy of this process. It never returns to our caller, and no exception leaves it.
[[noreturn]] void live(const std::function<int()>& work, const ProcessSetup& setup,
                       pid_t parent) noexcept {
  ::_exit(settle(setup, parent) ? work() : could_not_start);
}

}  // namespace

std::optional<Process> Process::start(const std::vector<std::string>& argv,
                                      const ProcessSetup& setup, std::string& error) {
  if (argv.empty()) {
    error = "the command line is empty";
    return std::nullopt;
  }
  const Words words(argv), environment(environment_with(setup.environment));
  auto report = make_pipe();
  if (!report) {
    error = failed("pipe2");
    return std::nullopt;
  }
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (settle(setup, parent)) ::execvpe(words.data()[0], words.data(), environment.data());
    const int why = errno;
    [[maybe_unused]] const ssize_t told = ::write(report->write_end.get(), &why, sizeof why);
    ::_exit(could_not_start);
  }
  if (pid < 0) {
    error = failed("fork");
    return std::nullopt;
  }
  Process process(pid, setup.group);
  report->write_end.close();
  int why = 0;  // the report ends without a word when exec has succeeded
  ssize_t count = 0;
  while ((count = ::read(report->read_end.get(), &why, sizeof why)) < 0 && errno == EINTR) {
  }
  if (count != sizeof why) return process;
  error = "cannot run " + argv.front() + ": " + std::strerror(why);
  return std::nullopt;
}

std::optional<Process> Process::fork(const std::function<int()>& work, const ProcessSetup& setup,
                                     std::string& error) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) live(work, setup, parent);
  if (pid > 0) return Process(pid, setup.group);
  error = failed("fork");
  return std::nullopt;
}

Process::Process(pid_t pid, ProcessSetup::Group group)
    : pid_(pid), own_group_(group != ProcessSetup::Group::ours), exited_(open_pidfd(pid)) {
  // Both sides do it, since either may be first.
  if (group == ProcessSetup::Group::own) ::setpgid(pid, pid);
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      own_group_(other.own_group_),
      exited_(std::move(other.exited_)),
      ended_(other.ended_) {}

Process::~Process() {
  if (pid_ < 0 || ended_) return;
  kill();
  wait();
}

std::optional<ExitStatus> Process::collect(int options) {
  if (ended_ || pid_ < 0) return ended_;
  int status = 0;
  pid_t found = 0;
  while ((found = ::waitpid(pid_, &status, options)) < 0 && errno == EINTR) {
  }
  if (found == 0) return std::nullopt;
  // The status was collected elsewhere: it is only known that the process ended.
  ended_ = found == pid_ ? status_of(status) : ExitStatus{};
  return ended_;
}

std::optional<ExitStatus> Process::reap() { return collect(WNOHANG); }

std::optional<ExitStatus> Process::wait_for(std::chrono::milliseconds limit) {
  if (ended_) return ended_;
  pollfd exited{exited_.get(), POLLIN, 0};
  if (exited_) ::poll(&exited, 1, static_cast<int>(limit.count()));
  return reap();
}

ExitStatus Process::wait() { return collect(0).value_or(ExitStatus{}); }

void Process::signal(int number) const {
  if (pid_ >= 0 && !ended_) ::kill(pid_, number);
}

void Process::kill() const {
  if (pid_ >= 0 && !ended_) ::kill(own_group_ ? -pid_ : pid_, SIGKILL);
}

}  // namespace base
