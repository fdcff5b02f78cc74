// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/cell_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <utility>

#include <fmt/format.h>

namespace plugfest {

namespace {

constexpr int worked = 0, threw = 4;

/// The child's life. It never returns to the parent's code.
[[noreturn]] void live(const std::function<std::string()>& work, int words, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGINT, SIG_IGN);  // the parent decides what becomes of us
  if (::getppid() != parent) ::_exit(threw);
  int status = worked;
  std::string text;
  try {
    text = work();
  } catch (const std::exception& error) {
    text = error.what();
    status = threw;
  }
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(words, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(threw);
    done += static_cast<std::size_t>(written);
  }
  ::_exit(status);
}

}  // namespace

std::expected<CellProcess, std::string> CellProcess::start(
    const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return std::unexpected(fmt::format("pipe2: {}", std::strerror(errno)));
  CellProcess made;
  made.words_ = base::FileDescriptor(ends[0]);
  const base::FileDescriptor child_end(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const pid_t parent = ::getpid();
  made.pid_ = ::fork();
  if (made.pid_ < 0) return std::unexpected(fmt::format("fork: {}", std::strerror(errno)));
  if (made.pid_ == 0) live(work, ends[1], parent);
  return made;
}

CellProcess::CellProcess(CellProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      words_(std::move(other.words_)),
      text_(std::move(other.text_)) {}

CellProcess::~CellProcess() {
  if (pid_ < 0) return;
  kill();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void CellProcess::kill() {
  if (pid_ >= 0) ::kill(pid_, SIGKILL);
}

bool CellProcess::take() {
  std::array<char, 65536> part;
  for (;;) {
    const ssize_t count = ::read(words_.get(), part.data(), part.size());
    if (count > 0) {
      text_.append(part.data(), static_cast<std::size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    return count == 0 || errno != EAGAIN;
  }
}

std::expected<std::string, std::string> CellProcess::result() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFSIGNALED(status))
    return std::unexpected(
        fmt::format("the cell's process was ended by signal {}", WTERMSIG(status)));
  if (WEXITSTATUS(status) != worked) return std::unexpected("the cell's process failed: " + text_);
  return std::move(text_);
}

}  // namespace plugfest
