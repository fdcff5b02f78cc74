// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/tests/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <boost/test/unit_test.hpp>

#include "base/pipe.hpp"

namespace suite::runner::tests {

namespace fs = std::filesystem;
using base::FileDescriptor;
using std::chrono::steady_clock;

namespace {

base::Pipe make_pipe() {
  auto made = base::make_pipe();
  BOOST_REQUIRE(made.has_value());
  return std::move(*made);
}

// Takes what is there; false at the end.
bool take(const FileDescriptor& from, std::string& text) {
  std::array<char, 65536> chunk;
  const ssize_t count = ::read(from.get(), chunk.data(), chunk.size());
  if (count > 0) text.append(chunk.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

}  // namespace

Scratch::Scratch() {
  std::string pattern = (fs::temp_directory_path() / "program_test.XXXXXX").string();
  BOOST_REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  path = pattern;
}
Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}
Words Scratch::names() const {
  Words list;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    list.push_back(entry.path().lexically_relative(path));
  std::ranges::sort(list);
  return list;
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  BOOST_REQUIRE(stream << text << std::flush);
}

void write_script(const fs::path& file, const std::string& body) {
  write(file, "#!/bin/sh\n" + body);
  fs::permissions(file, fs::perms::owner_all);
}

Words lines_of(const std::string& text) {
  Words list;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) list.push_back(line);
  return list;
}

Program::Program(const Words& words, const Setting& setting) {
  base::Pipe in = make_pipe(), out = make_pipe(), err = make_pipe();
  if (setting.terminal) {
    int master = -1, slave = -1;
    BOOST_REQUIRE(::openpty(&master, &slave, nullptr, nullptr, nullptr) == 0);
    ::fcntl(master, F_SETFD, FD_CLOEXEC);
    ::fcntl(slave, F_SETFD, FD_CLOEXEC);
    err.read_end = FileDescriptor(master);
    err.write_end = FileDescriptor(slave);
  }
  base::ProcessSetup child;
  child.input = in.read_end.get();
  child.output = setting.terminal ? err.write_end.get() : out.write_end.get();
  child.errors = err.write_end.get();
  if (setting.out_to >= 0) child.output = setting.out_to;
  if (setting.err_to >= 0) child.errors = setting.err_to;
  child.environment.assign(setting.environment.begin(), setting.environment.end());
  child.folder = setting.folder;
  child.group =
      setting.terminal ? base::ProcessSetup::Group::session : base::ProcessSetup::Group::own;
  child.dies_with_us = false;
  std::string error;
  auto started = base::Process::start(words, child, error);
  BOOST_REQUIRE_MESSAGE(started.has_value(), error);
  process_.emplace(std::move(*started));
  out_ = std::move(out.read_end);
  err_ = std::move(err.read_end);
  in.read_end.close();
  // Short enough for a pipe to hold.
  if (!setting.input.empty())
    BOOST_REQUIRE(::write(in.write_end.get(), setting.input.data(), setting.input.size()) ==
                  static_cast<ssize_t>(setting.input.size()));
}

void Program::pump_until(const std::function<bool()>& done, const std::string& what, int also) {
  const auto end = steady_clock::now() + time_limit_;
  while (!done()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - steady_clock::now()).count();
    std::array<pollfd, 4> watched{{{out_ ? out_.get() : -1, POLLIN, 0},
                                   {err_ ? err_.get() : -1, POLLIN, 0},
                                   {process_->exited(), POLLIN, 0},
                                   {also, POLLIN, 0}}};
    const bool in_time =
        left > 0 && ::poll(watched.data(), watched.size(), static_cast<int>(left)) > 0;
    BOOST_REQUIRE_MESSAGE(in_time, "waited in vain for " << what << "; it said: " << said_.err);
    if (watched[0].revents != 0 && !take(out_, said_.out)) out_.close();
    if (watched[1].revents != 0 && !take(err_, said_.err)) err_.close();
    const bool silent = watched[0].revents == 0 && watched[1].revents == 0;
    if (watched[2].revents != 0 && silent) {
      BOOST_REQUIRE_MESSAGE(done(), "it ended without " << what << "; it said: " << said_.err);
      return;
    }
    if (watched[3].revents != 0) {
      std::array<char, 4096> events;
      BOOST_REQUIRE(::read(also, events.data(), events.size()) > 0);
    }
  }
}

void Program::wait_for(const std::string& words) {
  pump_until([&] { return said_.err.find(words) != std::string::npos; }, "'" + words + "'");
}

void Program::wait_for_file(const fs::path& file) {
  const FileDescriptor changes(::inotify_init1(IN_CLOEXEC));
  BOOST_REQUIRE(
      ::inotify_add_watch(changes.get(), file.parent_path().c_str(), IN_CREATE | IN_MOVED_TO) >= 0);
  pump_until([&] { return fs::exists(file); }, file.string(), changes.get());
}

void Program::goes_on_for(std::chrono::milliseconds time) {
  const auto ended = process_->wait_for(time);
  BOOST_REQUIRE_MESSAGE(!ended, "it ended; it said: " << said_.err);
}

void Program::stop_reading() {
  out_.close();
  err_.close();
}

void Program::signal(int number) const { process_->signal(number); }
void Program::signal_group(int number) const { ::kill(-process_->pid(), number); }

Finished Program::finish() {
  pump_until([&] { return process_->reap().has_value(); }, "its end");
  for (auto* stream : {&out_, &err_}) {
    if (!*stream) continue;
    ::fcntl(stream->get(), F_SETFL, O_NONBLOCK);  // other processes may keep the far end open
    while (take(*stream, stream == &out_ ? said_.out : said_.err)) {
    }
  }
  const base::ExitStatus ended = process_->wait();
  said_.status = ended.signal != 0 ? -ended.signal : ended.code;
  return said_;
}

FileDescriptor opened(const fs::path& file, int flags) {
  FileDescriptor fd(::open(file.c_str(), flags | O_CLOEXEC, 0666));
  BOOST_REQUIRE(fd);
  return fd;
}

Finished run(const Words& words, const Program::Setting& setting) {
  return Program(words, setting).finish();
}

void adopt_orphans() { BOOST_REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0); }

bool nobody_left() {
  const pid_t found = ::waitpid(-1, nullptr, WNOHANG);
  if (found == 0) BOOST_TEST_MESSAGE("a process that came of the program still runs");
  if (found > 0) BOOST_TEST_MESSAGE("process " << found << " was left behind as a zombie");
  return found < 0 && errno == ECHILD;
}

bool everybody_leaves() {
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  sigset_t before;
  sigprocmask(SIG_BLOCK, &child_ended, &before);
  const auto end = steady_clock::now() + usual_time_limit;
  pid_t found = 0;
  while (found >= 0 && steady_clock::now() < end) {
    while ((found = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    const timespec limit{.tv_sec = 1, .tv_nsec = 0};
    if (found == 0) ::sigtimedwait(&child_ended, nullptr, &limit);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return found < 0;
}

}  // namespace suite::runner::tests
