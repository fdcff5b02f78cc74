// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/iut/child_process.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/pipe.hpp"

namespace suite::iut {
namespace {

/// An agent on hardware may need a while to release all that it holds.
constexpr std::chrono::milliseconds farewell{5000};

std::string failed(const char* call) { return std::string(call) + ": " + std::strerror(errno); }

void make_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

std::expected<ChildProcess, std::string> ChildProcess::start(const std::vector<std::string>& argv) {
  if (argv.empty()) return std::unexpected("the agent's command line is empty");
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
    return std::unexpected(failed("socketpair"));
  base::FileDescriptor channel(pair[0]);
  const base::FileDescriptor child_words(pair[1]);
  auto errors = base::make_pipe();
  if (!errors) return std::unexpected(failed("pipe2"));
  make_nonblocking(channel.get());
  make_nonblocking(errors->read_end.get());

  base::ProcessSetup setup;
  setup.input = setup.output = child_words.get();
  setup.errors = errors->write_end.get();
  setup.fresh_signals = true;
  std::string error;
  auto process = base::Process::start(argv, setup, error);
  if (!process) return std::unexpected(error);
  if (process->exited() < 0) return std::unexpected(failed("pidfd_open"));
  return ChildProcess(std::move(*process), std::move(channel), std::move(errors->read_end));
}

ChildProcess::~ChildProcess() {
  channel_.close();
  errors_.close();
  (void)process_.wait_for(farewell);
}

}  // namespace suite::iut
