// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/process.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <string>

#include "base/pipe.hpp"

using base::ExitStatus;
using base::Process;
using base::ProcessSetup;
using namespace std::chrono_literals;

namespace {

Process started(const std::vector<std::string>& argv, const ProcessSetup& setup = {}) {
  std::string error;
  auto process = Process::start(argv, setup, error);
  BOOST_REQUIRE_MESSAGE(process.has_value(), error);
  return std::move(*process);
}

/// What it writes until all that hold the other end have closed it.
std::string all_of(base::Pipe& pipe) {
  pipe.write_end.close();
  std::string text;
  std::array<char, 256> chunk{};
  for (ssize_t count = 0; (count = ::read(pipe.read_end.get(), chunk.data(), chunk.size())) > 0;)
    text.append(chunk.data(), static_cast<std::size_t>(count));
  return text;
}

base::Pipe made_pipe() {
  auto pipe = base::make_pipe();
  BOOST_REQUIRE(pipe.has_value());
  return std::move(*pipe);
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_exit_status_is_reported) {
  auto process = started({"sh", "-c", "exit 7"});
  const ExitStatus ended = process.wait();
  BOOST_TEST(ended.code == 7);
  BOOST_TEST(!ended.good());
  BOOST_TEST(base::text(ended) == "exit status 7");
  BOOST_TEST(process.wait().code == 7);  // asked again
}

BOOST_AUTO_TEST_CASE(a_signal_is_reported_by_its_name) {
  auto process = started({"sh", "-c", "kill -SEGV $$"});
  const ExitStatus ended = process.wait();
  BOOST_TEST(ended.code == -1);
  BOOST_TEST(base::text(ended) == "SIGSEGV");
  BOOST_TEST(base::signal_name(12345) == "signal 12345");
}

BOOST_AUTO_TEST_CASE(a_program_that_is_not_there_is_named) {
  std::string error;
  BOOST_TEST(!Process::start({"/nowhere/program"}, {}, error).has_value());
  BOOST_TEST(error == "cannot run /nowhere/program: No such file or directory");
  BOOST_TEST(!Process::start({}, {}, error).has_value());
  BOOST_TEST(!error.empty());
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_not_there_is_no_start) {
  std::string error;
  ProcessSetup setup;
  setup.folder = "/nowhere";
  BOOST_TEST(!Process::start({"true"}, setup, error).has_value());
}

BOOST_AUTO_TEST_CASE(streams_environment_and_folder_are_as_set_up) {
  auto out = made_pipe();
  ProcessSetup setup;
  setup.output = setup.errors = out.write_end.get();
  setup.environment = {{"BASE_TEST_WORD", "new"}, {"HOME", "/elsewhere"}};
  setup.folder = "/";
  auto process = started({"sh", "-c", "echo $BASE_TEST_WORD $HOME; pwd >&2"}, setup);
  BOOST_TEST(all_of(out) == "new /elsewhere\n/\n");
  BOOST_TEST(process.wait().good());
}

BOOST_AUTO_TEST_CASE(an_inherited_descriptor_keeps_its_number_and_others_are_closed) {
  auto out = made_pipe(), kept = made_pipe(), other = made_pipe();
  ProcessSetup setup;
  setup.output = out.write_end.get();
  setup.inherited = {kept.write_end.get()};
  const auto open = [](const base::FileDescriptor& fd) {
    const std::string number = std::to_string(fd.get());
    return "[ -e /proc/self/fd/" + number + " ] && echo " + number + ";";
  };
  auto process =
      started({"sh", "-c", open(kept.write_end) + open(other.write_end) + "true"}, setup);
  BOOST_TEST(all_of(out) == std::to_string(kept.write_end.get()) + "\n");
}

BOOST_AUTO_TEST_CASE(killing_its_own_group_ends_what_it_started) {
  auto out = made_pipe(), never = made_pipe();
  ProcessSetup setup;
  setup.output = out.write_end.get();
  setup.inherited = {never.read_end.get()};
  setup.group = ProcessSetup::Group::own;
  const std::string helper =
      "(echo ready; exec cat <&" + std::to_string(never.read_end.get()) + ") & wait";
  auto process = started({"sh", "-c", helper}, setup);
  std::array<char, 6> ready{};
  BOOST_REQUIRE(::read(out.read_end.get(), ready.data(), ready.size()) > 0);
  process.kill();
  BOOST_TEST(process.wait().signal == SIGKILL);
  BOOST_TEST(all_of(out).empty());  // would wait for the helper if it lived
}

BOOST_AUTO_TEST_CASE(one_that_runs_is_not_collected_and_dies_with_its_owner) {
  auto in = made_pipe(), out = made_pipe();
  ProcessSetup setup;
  setup.input = in.read_end.get();
  setup.output = out.write_end.get();
  {
    auto process = started({"cat"}, setup);
    BOOST_TEST(!process.reap().has_value());
    BOOST_TEST(!process.wait_for(1ms).has_value());
    pollfd exited{process.exited(), POLLIN, 0};
    BOOST_TEST(::poll(&exited, 1, 0) == 0);
  }
  BOOST_TEST(all_of(out).empty());
}

BOOST_AUTO_TEST_CASE(its_end_can_be_awaited_with_a_limit) {
  auto in = made_pipe();
  ProcessSetup setup;
  setup.input = in.read_end.get();
  auto process = started({"cat"}, setup);
  in.write_end.close();
  const auto ended = process.wait_for(60s);
  BOOST_REQUIRE(ended.has_value());
  BOOST_TEST(ended->good());
  BOOST_TEST(process.ended().has_value());
}

BOOST_AUTO_TEST_CASE(fresh_signals_are_those_of_a_new_program) {
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, &before);
  ProcessSetup setup;
  setup.fresh_signals = true;
  auto dies = started({"sh", "-c", "kill -TERM $$; exit 3"}, setup);
  auto lives = started({"sh", "-c", "kill -TERM $$; exit 3"});
  sigprocmask(SIG_SETMASK, &before, nullptr);
  BOOST_TEST(dies.wait().signal == SIGTERM);
  BOOST_TEST(lives.wait().code == 3);
}

BOOST_AUTO_TEST_CASE(work_runs_in_a_copy) {
  auto out = made_pipe();
  std::string error;
  int changed = 0;
  auto process = Process::fork(
      [&] {
        changed = 1;
        return ::write(out.write_end.get(), "done", 4) == 4 ? 5 : 6;
      },
      {}, error);
  BOOST_REQUIRE_MESSAGE(process.has_value(), error);
  BOOST_TEST(all_of(out) == "done");
  BOOST_TEST(process->wait().code == 5);
  BOOST_TEST(changed == 0);
}
