// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/standard_streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace base {

void keep_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is `fd`, since those below it are open by now.
    if (::open("/dev/null", O_RDWR) < 0) return;
  }
}

void outlive_the_terminal() { std::signal(SIGHUP, SIG_IGN); }

void say(std::FILE* stream, std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

bool takes_a_line(std::FILE* stream) {
  pollfd one{.fd = ::fileno(stream), .events = POLLOUT, .revents = 0};
  return ::poll(&one, 1, 0) != 0;  // an error is for the write to meet
}

std::optional<std::string> unwritten_output() {
  const bool flushed = std::fflush(stdout) == 0;
  const int code = errno;
  if (flushed && std::ferror(stdout) == 0) return std::nullopt;
  std::string line = "cannot write all of standard output";
  if (!flushed) line += ": " + std::generic_category().message(code);
  return line;
}

}  // namespace base
