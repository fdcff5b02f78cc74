// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/cell_process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "base/pipe.hpp"

namespace plugfest {

namespace {

constexpr int worked = 0, threw = 4;

/// The child's life; its exit status.
int live(const std::function<std::string()>& work, int words) {
  ::signal(SIGINT, SIG_IGN);  // the parent decides what becomes of us
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
    if (written <= 0) return threw;
    done += static_cast<std::size_t>(written);
  }
  return status;
}

}  // namespace

std::expected<CellProcess, std::string> CellProcess::start(
    const std::function<std::string()>& work) {
  auto words = base::make_pipe();
  if (!words) return std::unexpected(fmt::format("pipe2: {}", std::strerror(errno)));
  ::fcntl(words->read_end.get(), F_SETFL, O_NONBLOCK);
  std::string error;
  auto process = base::Process::fork([&] { return live(work, words->write_end.get()); },
                                     base::ProcessSetup{}, error);
  if (!process) return std::unexpected(error);
  return CellProcess(std::move(*process), std::move(words->read_end));
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
  const base::ExitStatus ended = process_.wait();
  if (ended.signal != 0)
    return std::unexpected(fmt::format("the cell's process was ended by signal {}", ended.signal));
  if (ended.code != worked) return std::unexpected("the cell's process failed: " + text_);
  return std::move(text_);
}

}  // namespace plugfest
