// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/script.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/pipe.hpp"
#include "base/process.hpp"

namespace suite::upper_tester {
namespace {

constexpr std::size_t kept = 4096;

/// Collects the script's output until it and all that it started have closed it. True if the client
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
  auto said = base::make_pipe();
  const base::FileDescriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!said) {
    result.text = std::string("pipe2: ") + std::strerror(errno);
    return result;
  }
  // A name without a slash is a file here, not one of PATH.
  std::vector<std::string> argv{path.find('/') == std::string::npos ? "./" + path : path};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  base::ProcessSetup setup;
  setup.input = nothing.get();
  setup.output = setup.errors = said->write_end.get();
  setup.group = base::ProcessSetup::Group::own;  // so that its helpers can be ended with it
  setup.dies_with_us = false;
  setup.fresh_signals = true;
  auto process = base::Process::start(argv, setup, result.text);
  if (!process) return result;
  said->write_end.close();
  result.ran = true;
  result.abandoned = collect(said->read_end.get(), client, result.text);
  if (result.abandoned) process->kill();
  const base::ExitStatus ended = process->wait();
  result.exit_status = ended.code;
  result.signal = ended.signal;
  return result;
}

}  // namespace suite::upper_tester
