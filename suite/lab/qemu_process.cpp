// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/qemu_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/pipe.hpp"
#include "suite/lab/command.hpp"

namespace suite::lab {

std::expected<QemuProcess, std::string> QemuProcess::start(const std::vector<std::string>& argv,
                                                           const std::vector<int>& inherited) {
  const std::string program = find_program(argv.front());
  if (program.empty())
    return std::unexpected(
        fmt::format("'{}' is missing: install the package qemu-system-x86", argv.front()));
  auto console = base::make_pipe();
  if (!console) return std::unexpected(fmt::format("no pipe: {}", std::strerror(errno)));
  base::FileDescriptor complaints(::memfd_create("qemu-stderr", MFD_CLOEXEC));
  const base::FileDescriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  base::ProcessSetup setup;
  setup.input = nothing.get();
  setup.output = console->write_end.get();
  setup.errors = complaints.get();
  setup.inherited = inherited;
  // Signals of the terminal to the run (Ctrl-C, hangup) are not for the machine.
  setup.group = base::ProcessSetup::Group::session;
  std::vector<std::string> words = argv;
  words.front() = program;
  std::string error;
  auto process = base::Process::start(words, setup, error);
  if (!process) return std::unexpected(error);
  return QemuProcess(std::move(*process), std::move(console->read_end), std::move(complaints));
}

bool QemuProcess::running() { return !wait(std::chrono::milliseconds(0)); }

bool QemuProcess::wait(std::chrono::milliseconds time_limit) {
  return process_.wait_for(time_limit).has_value();
}

void QemuProcess::kill() {
  process_.kill();
  process_.wait();
}

std::string QemuProcess::ending() const {
  std::array<char, 2048> text{};
  const ssize_t count = ::pread(complaints_.get(), text.data(), text.size(), 0);
  std::string said(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  while (said.ends_with('\n')) said.pop_back();
  said = said.substr(said.rfind('\n') + 1);
  const base::ExitStatus ended = process_.ended().value_or(base::ExitStatus{0, 0});
  const std::string how = ended.signal != 0 ? fmt::format("QEMU died by signal {}", ended.signal)
                                            : fmt::format("QEMU ended with status {}", ended.code);
  return said.empty() ? how : how + ": " + said;
}

}  // namespace suite::lab
