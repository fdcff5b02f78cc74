// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/tests/synthetic_cells.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>

#include "base/epoll_loop.hpp"
#include "base/line_file.hpp"

namespace plugfest {

namespace {

namespace fs = std::filesystem;

int channel_to_run = -1;

void wait_for(std::chrono::microseconds time) {
  base::EpollLoop loop;
  loop.run_until(loop.now() + time, [] { return false; });
}

/// Appends a line in one write, so that processes may share the file.
void say(const fs::path& file, const std::string& line) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const std::string text = line + '\n';
  if (::write(fd, text.data(), text.size()) < 0) ::abort();
  ::close(fd);
}

Outcome outcome_of(Verdict verdict, std::string reason = "") {
  Outcome outcome;
  outcome.verdict = verdict;
  outcome.reason = std::move(reason);
  return outcome;
}

/// The same verdict in every run.
Outcome play_timed(const std::string& cell, const fs::path& folder) {
  say(folder / "starts", cell);
  const std::size_t hash = std::hash<std::string>()(cell);
  wait_for(std::chrono::microseconds(1000 + hash % 8000));
  Outcome outcome = outcome_of(hash % 5 == 0 ? Verdict::fail : Verdict::pass);
  outcome.capture_trouble = std::string(20'000, 'x');  // a long line
  return outcome;
}

/// In addition to the lines of the worker itself.
Outcome say_rubbish() {
  const std::string rubbish =
      suite::jobs::Message{.line = "rubbish", .attachment = ""}.on_the_pipe();
  if (base::write_all(channel_to_run, rubbish) != 0) ::abort();
  return outcome_of(Verdict::pass);
}

Outcome play_faulty(const std::string& cell) {
  if (cell == "0/1/x#1") wait_for(std::chrono::hours(1));
  if (cell == "1/2/x#1") ::raise(SIGSEGV);
  if (cell == "2/3/x#1") throw std::runtime_error("no such thing");
  if (cell == "3/4/x#1") ::_exit(0);
  if (cell == "4/5/x#1") return outcome_of(Verdict::pass, "\xFF\xFE");
  if (cell == "5/0/x#1") return say_rubbish();
  return outcome_of(Verdict::pass);
}

}  // namespace

// An order has no place for these but its own: the behaviour is its scenario, the cell its pcap, and
// the attempt its capture's interface.
Task synthetic_task(const std::string& behaviour, const Cell& cell, int attempt,
                    const std::string& folder) {
  CellOrder order;
  order.scenario = behaviour;
  order.pcap = cell.id;
  order.captures = {{.interface = std::to_string(attempt)}};
  order.folder = folder;
  return order;
}

void keep_channel_to_run() { channel_to_run = ::dup(STDOUT_FILENO); }

Outcome play_synthetic(const Task& task) {
  const auto& order = std::get<CellOrder>(task);
  const std::string &behaviour = order.scenario, &cell = order.pcap;
  if (behaviour == "timed") return play_timed(cell, order.folder);
  if (behaviour == "things go wrong") return play_faulty(cell);
  if (behaviour == "host 0 is slow" && cell.starts_with("0/"))
    wait_for(std::chrono::milliseconds(1500));
  if (behaviour == "rubbish of initiator 5" && cell.starts_with("5/")) return say_rubbish();
  if (behaviour == "says its attempt")
    return outcome_of(Verdict::pass, "attempt " + order.captures.front().interface);
  return outcome_of(Verdict::pass);
}

}  // namespace plugfest
