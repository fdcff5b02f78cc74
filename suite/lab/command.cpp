// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "suite/lab/descriptor.hpp"

namespace suite::lab {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  Descriptor read_end, write_end;
};

std::expected<Pipe, std::string> make_pipe() {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0)
    return std::unexpected(fmt::format("no pipe: {}", std::strerror(errno)));
  return Pipe{Descriptor(fds[0]), Descriptor(fds[1])};
}

/// Between fork and exec: only calls that are safe there.
[[noreturn]] void become(const char* program, char* const* argv, int network_namespace, int out,
                         int err) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_DFL);
  // A pipe at its end, not /dev/null: a program may watch its input with epoll, which takes no files.
  std::array<int, 2> nothing{-1, -1};
  (void)::pipe2(nothing.data(), O_CLOEXEC);
  ::close(nothing[1]);
  const bool ready = ::dup2(nothing[0], STDIN_FILENO) >= 0 && ::dup2(out, STDOUT_FILENO) >= 0 &&
                     ::dup2(err, STDERR_FILENO) >= 0 &&
                     (network_namespace < 0 || ::setns(network_namespace, CLONE_NEWNET) == 0);
  if (ready) ::execv(program, argv);
  const char* why = std::strerror(errno);
  (void)!::write(STDERR_FILENO, why, std::strlen(why));
  ::_exit(127);
}

struct Running {
  pid_t pid = -1;
  Descriptor out, err;
};

std::expected<Running, std::string> start(const std::vector<std::string>& argv,
                                          const CommandOptions& options) {
  const std::string program = find_program(argv.front());
  if (program.empty())
    return std::unexpected(
        fmt::format("the program '{}' is missing: install its package", argv.front()));
  auto out = make_pipe();
  auto err = make_pipe();
  if (!out || !err) return std::unexpected(out ? err.error() : out.error());
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) return std::unexpected(fmt::format("no new process: {}", std::strerror(errno)));
  if (pid == 0)
    become(program.c_str(), words.data(), options.network_namespace, out->write_end.get(),
           err->write_end.get());
  return Running{pid, std::move(out->read_end), std::move(err->read_end)};
}

/// Appends what is there; closes the descriptor at the end of the stream.
void drain(Descriptor& from, std::string& into) {
  std::array<char, 16384> chunk{};
  const ssize_t count = ::read(from.get(), chunk.data(), chunk.size());
  if (count > 0)
    into.append(chunk.data(), static_cast<std::size_t>(count));
  else if (count == 0 || errno != EINTR)
    from.reset();
}

void report_lines(const std::string& text, std::size_t& reported, const CommandOptions& options) {
  if (!options.progress) return;
  for (auto end = text.find('\n', reported); end != std::string::npos;
       end = text.find('\n', reported)) {
    options.progress(std::string_view(text).substr(reported, end - reported));
    reported = end + 1;
  }
}

/// Reads both streams to their ends; false if time ran out first.
bool collect(Running& running, const CommandOptions& options, std::string& out, std::string& err) {
  const auto deadline = Clock::now() + options.time_limit;
  std::size_t reported = 0;
  while (running.out || running.err) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    std::array<pollfd, 2> watched{pollfd{running.out.get(), POLLIN, 0},
                                  pollfd{running.err.get(), POLLIN, 0}};
    if (::poll(watched.data(), watched.size(), static_cast<int>(left)) < 0 && errno != EINTR)
      return false;
    if (watched[0].revents != 0) drain(running.out, out);
    if (watched[1].revents != 0) drain(running.err, err);
    report_lines(err, reported, options);
  }
  return true;
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const auto start = text.rfind('\n');
  return std::string(start == std::string_view::npos ? text : text.substr(start + 1));
}

}  // namespace

std::string find_program(std::string_view name) {
  if (name.find('/') != std::string_view::npos)
    return ::access(std::string(name).c_str(), X_OK) == 0 ? std::string(name) : std::string();
  const char* path = std::getenv("PATH");
  std::string folders =
      std::string(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin") + ":/usr/sbin:/sbin";
  for (std::size_t start = 0; start <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', start), folders.size());
    const std::string candidate = fmt::format("{}/{}", folders.substr(start, end - start), name);
    if (end > start && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    start = end + 1;
  }
  return {};
}

std::expected<std::string, std::string> run_command(const std::vector<std::string>& argv,
                                                    const CommandOptions& options) {
  auto running = start(argv, options);
  if (!running) return std::unexpected(running.error());
  std::string out, err;
  const bool in_time = collect(*running, options, out, err);
  if (!in_time) ::kill(running->pid, SIGKILL);
  int status = 0;
  while (::waitpid(running->pid, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string said = fmt::format("`{}`", fmt::join(argv, " "));
  if (!in_time)
    return std::unexpected(fmt::format("{} did not end within {} ms and was stopped", said,
                                       options.time_limit.count()));
  if (WIFSIGNALED(status))
    return std::unexpected(fmt::format("{} died by signal {}", said, WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    return std::unexpected(
        fmt::format("{} failed (status {}): {}", said, WEXITSTATUS(status), last_line(err)));
  return out;
}

}  // namespace suite::lab
