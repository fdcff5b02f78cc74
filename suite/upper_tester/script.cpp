// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/script.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace suite::upper_tester {
namespace {

constexpr std::size_t kept = 4096;

struct Spawned {
  pid_t pid = -1;
  int error = 0;
};

/// In a process group of its own, so that its helpers can be ended with it.
Spawned spawn(const std::string& path, const std::vector<std::string>& arguments, int output) {
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const std::string& each : arguments) argv.push_back(const_cast<char*>(each.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, 1);
  posix_spawn_file_actions_adddup2(&files, output, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  Spawned spawned;
  spawned.error =
      posix_spawn(&spawned.pid, path.c_str(), &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return spawned;
}

/// Collects what it says until it and all it started have closed their output. True if the client
/// hung up first.
bool collect(int output, int client, std::string& text) {
  while (true) {
    std::array<pollfd, 2> ready{{{output, POLLIN, 0}, {client, 0, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;
    if ((ready[1].revents & (POLLHUP | POLLERR)) != 0) return true;
    if (ready[0].revents == 0) continue;
    std::array<char, 1024> octets;
    const ssize_t count = ::read(output, octets.data(), octets.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.append(octets.data(), static_cast<std::size_t>(count));
    if (text.size() > kept) text.erase(0, text.size() - kept);
  }
}

}  // namespace

ScriptResult run_script(const std::string& path, const std::vector<std::string>& arguments,
                        int client) {
  ScriptResult result;
  std::array<int, 2> pipe_ends;
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    result.text = std::string("pipe2: ") + std::strerror(errno);
    return result;
  }
  const Spawned spawned = spawn(path, arguments, pipe_ends[1]);
  ::close(pipe_ends[1]);
  if (spawned.error != 0) {
    ::close(pipe_ends[0]);
    result.text = "cannot run " + path + ": " + std::strerror(spawned.error);
    return result;
  }
  result.ran = true;
  result.abandoned = collect(pipe_ends[0], client, result.text);
  ::close(pipe_ends[0]);
  if (result.abandoned) ::kill(-spawned.pid, SIGKILL);
  int status = 0;
  while (::waitpid(spawned.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace suite::upper_tester
