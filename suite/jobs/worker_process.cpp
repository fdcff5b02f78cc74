// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/jobs/worker_process.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace suite::jobs {

namespace {

constexpr std::size_t kept_stderr = 8192;
constexpr auto time_to_abort = std::chrono::seconds(2);

// Reads what is there; false at the end of the file.
template <typename Take>
bool read_available(int fd, Take take) {
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count > 0) {
      take(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      return false;
    } else if (errno == EAGAIN) {
      return true;
    }
  }
}

}  // namespace

std::expected<std::unique_ptr<WorkerProcess>, std::string> WorkerProcess::start(
    base::EpollLoop& loop, std::uint32_t number, Observer& observer) {
  auto child = iut::ChildProcess::start({"/proc/self/exe", worker_argument});
  if (!child) return std::unexpected(child.error());
  return std::unique_ptr<WorkerProcess>(
      new WorkerProcess(loop, number, std::move(*child), observer));
}

WorkerProcess::WorkerProcess(base::EpollLoop& loop, std::uint32_t number, iut::ChildProcess child,
                             Observer& observer)
    : loop_(loop), number_(number), child_(std::move(child)), observer_(observer) {
  loop_.watch(child_.channel(), EPOLLIN, [this](std::uint32_t events) {
    if ((events & EPOLLOUT) != 0) write_messages();
    if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) read_messages();
  });
  loop_.watch(child_.errors(), EPOLLIN, [this](std::uint32_t) { read_stderr(); });
  loop_.watch(child_.exited(), EPOLLIN, [this](std::uint32_t) { finish(); });
}

WorkerProcess::~WorkerProcess() {
  if (kill_timer_) loop_.cancel(*kill_timer_);
  if (!messages_ended_) loop_.unwatch(child_.channel());
  if (!stderr_ended_) loop_.unwatch(child_.errors());
  loop_.unwatch(child_.exited());
}

void WorkerProcess::send(const Message& message) {
  output_ += message.on_the_pipe();
  write_messages();
}

void WorkerProcess::write_messages() {
  while (!output_.empty()) {
    const ssize_t count = ::send(child_.channel(), output_.data(), output_.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN) output_.clear();  // it is dying; finish() reports that
    if (count < 0) break;
    output_.erase(0, static_cast<std::size_t>(count));
  }
  if (!messages_ended_)
    loop_.change(child_.channel(), output_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

bool WorkerProcess::read_messages() {
  bool arrived = false;
  const bool more = read_available(child_.channel(), [&](std::string_view text) {
    input_.append(text);
    arrived = true;
  });
  if (!more && !messages_ended_) {
    messages_ended_ = true;
    loop_.unwatch(child_.channel());
  }
  // Messages after one that cannot be read are ignored: after a "ready", the worker would get a job
  // that is lost when the process ends.
  while (!broke_protocol_) {
    const auto message = input_.next();
    if (!message) break;
    broke_protocol_ = !observer_.message(*this, *message);
    if (broke_protocol_) kill();
  }
  return arrived && !broke_protocol_ && input_.in_message();
}

void WorkerProcess::read_stderr() {
  const bool more = read_available(child_.errors(), [this](std::string_view text) {
    stderr_.append(text);
    if (stderr_.size() > 2 * kept_stderr) stderr_.erase(0, stderr_.size() - kept_stderr);
  });
  if (more || stderr_ended_) return;
  stderr_ended_ = true;
  loop_.unwatch(child_.errors());
}

std::string WorkerProcess::take_stderr() {
  if (!stderr_ended_) read_stderr();
  if (stderr_.size() > kept_stderr) stderr_.erase(0, stderr_.size() - kept_stderr);
  return std::exchange(stderr_, {});
}

void WorkerProcess::abort() {
  ::syscall(SYS_pidfd_send_signal, child_.exited(), SIGABRT, nullptr, 0);
  if (kill_timer_) return;
  kill_timer_ = loop_.schedule(loop_.now() + time_to_abort, [this] {
    kill_timer_.reset();
    kill();
  });
}

void WorkerProcess::finish() {
  if (!messages_ended_) read_messages();
  if (!stderr_ended_) read_stderr();
  if (const auto how = child_.reap()) observer_.ended(*this, *how);
}

}  // namespace suite::jobs
