// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file_descriptor.hpp"
#include "base/pipe.hpp"
#include "base/process.hpp"

namespace suite::lab {
namespace {

using Clock = std::chrono::steady_clock;

struct Running {
  base::Process process;
  base::FileDescriptor out, err;
};

std::expected<Running, std::string> start(const std::vector<std::string>& argv,
                                          const CommandOptions& options) {
  const std::string program = find_program(argv.front());
  if (program.empty())
    return std::unexpected(
        fmt::format("the program '{}' is missing: install its package", argv.front()));
  // A pipe whose other end is closed, not /dev/null: a program may watch its input with epoll,
  // which refuses files.
  auto in = base::make_pipe(), out = base::make_pipe(), err = base::make_pipe();
  if (!in || !out || !err) return std::unexpected(fmt::format("no pipe: {}", std::strerror(errno)));
  in->write_end.close();
  base::ProcessSetup setup;
  setup.input = in->read_end.get();
  setup.output = out->write_end.get();
  setup.errors = err->write_end.get();
  setup.network_namespace = options.network_namespace;
  setup.fresh_signals = true;
  std::vector<std::string> words = argv;
  words.front() = program;
  std::string error;
  auto process = base::Process::start(words, setup, error);
  if (!process) return std::unexpected(error);
  return Running{std::move(*process), std::move(out->read_end), std::move(err->read_end)};
}

/// Appends what is there; closes the descriptor at the end of the stream.
void drain(base::FileDescriptor& from, std::string& into) {
  std::array<char, 16384> chunk{};
  const ssize_t count = ::read(from.get(), chunk.data(), chunk.size());
  if (count > 0)
    into.append(chunk.data(), static_cast<std::size_t>(count));
  else if (count == 0 || errno != EINTR)
    from.close();
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
  if (!in_time) running->process.kill();
  const base::ExitStatus ended = running->process.wait();
  const std::string said = fmt::format("`{}`", fmt::join(argv, " "));
  if (!in_time)
    return std::unexpected(fmt::format("{} did not end within {} ms and was stopped", said,
                                       options.time_limit.count()));
  if (ended.signal != 0)
    return std::unexpected(fmt::format("{} died by signal {}", said, ended.signal));
  if (!ended.good())
    return std::unexpected(
        fmt::format("{} failed (status {}): {}", said, ended.code, last_line(err)));
  return out;
}

}  // namespace suite::lab
