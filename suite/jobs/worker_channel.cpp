// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/jobs/worker_channel.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/line_file.hpp"
#include "base/standard_streams.hpp"

namespace suite::jobs {

WorkerChannel::WorkerChannel() {
  std::signal(SIGINT, SIG_IGN);
  base::keep_standard_streams();
  output_ = base::FileDescriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

std::optional<Message> WorkerChannel::next() {
  while (true) {
    if (auto message = input_.next()) return message;
    std::array<char, 65536> buffer;
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    input_.append({buffer.data(), static_cast<std::size_t>(count)});
  }
}

void WorkerChannel::send(const Message& message) {
  static_cast<void>(base::write_all(output_.get(), message.on_the_pipe()));
}

}  // namespace suite::jobs
