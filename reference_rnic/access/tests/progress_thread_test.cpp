// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Threads that wait, poll and wake each other. A deadline is reached only if a wake-up is lost.
#include "reference_rnic/access/progress_thread.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <future>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace rnic::access::tests {

namespace {

using Lock = ProgressThread::Lock;
using Waited = ProgressThread::Waited;

/// A thread that waits until it may go on.
class Waiter {
 public:
  explicit Waiter(ProgressThread& shared) : shared_(shared), thread_([this] { wait(); }) {
    for (bool inside = false; !inside; std::this_thread::yield()) {
      const Lock lock = shared_.lock();
      inside = inside_;
    }
  }
  ~Waiter() {
    if (thread_.joinable()) thread_.join();
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  /// With the lock held.
  void wake() {
    may_go_on_ = true;
    wakeup_.wake_all();
  }
  /// Again and again, since a signal that comes before the thread sleeps ends no wait.
  void interrupt() {
    for (; !ended_; std::this_thread::yield()) pthread_kill(thread_.native_handle(), SIGUSR1);
  }
  Waited result() {
    thread_.join();
    return how_;
  }

 private:
  void wait() {
    Lock lock = shared_.lock();
    inside_ = true;
    how_ = shared_.wait(lock, wakeup_, shared_.loop().now() + 20s, [this] { return may_go_on_; });
    shared_.nudge();
    ended_ = true;
  }

  ProgressThread& shared_;
  Wakeup wakeup_;
  bool inside_ = false, may_go_on_ = false;
  std::atomic<bool> ended_ = false;
  Waited how_ = Waited::timed_out;
  std::thread thread_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(progress)

BOOST_AUTO_TEST_CASE(who_polls_leaves_the_wake_up_to_the_one_who_waits) {
  ProgressThread shared;
  for (int i = 0; i < 300; ++i) {
    Waiter waiter(shared);
    {
      const Lock lock = shared.lock();
      waiter.wake();
      shared.poll();  // most often before the waiter is awake
    }
    BOOST_REQUIRE((waiter.result() == Waited::done));
  }
}

// Unless it may be waiting elsewhere for a descriptor: then the thread drives.
BOOST_AUTO_TEST_CASE(who_always_finds_something_dispatches_now_and_then) {
  ProgressThread shared;  // its thread does not run: nobody else drives
  const Lock lock = shared.lock();
  const base::FileDescriptor ready(eventfd(1, EFD_CLOEXEC));
  unsigned dispatched = 0;
  shared.loop().watch(ready.get(), EPOLLIN, [&](std::uint32_t) { ++dispatched; });
  {
    PromptProgress elsewhere(shared);
    elsewhere.set(true);
    const auto end = shared.loop().now() + 3ms;
    while (shared.loop().now() < end) shared.keep_polling();
    BOOST_TEST(dispatched == 0U);
  }
  const auto end = shared.loop().now() + 20s;
  while (dispatched < 3 && shared.loop().now() < end) shared.keep_polling();
  BOOST_TEST(dispatched == 3U);
  shared.loop().unwatch(ready.get());
}

BOOST_AUTO_TEST_CASE(who_waits_beside_drives_when_the_driver_has_left) {
  ProgressThread shared;  // its thread does not run: nobody else drives
  Waiter first(shared), second(shared), third(shared);
  {
    const Lock lock = shared.lock();
    first.wake();
  }
  BOOST_TEST((first.result() == Waited::done));
  {
    const Lock lock = shared.lock();
    shared.loop().schedule(shared.loop().now() + 5ms, [&] {
      second.wake();
      third.wake();
    });
    shared.nudge();
  }
  BOOST_TEST((second.result() == Waited::done));
  BOOST_TEST((third.result() == Waited::done));
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_wait_of_the_driver_and_of_those_beside) {
  struct sigaction handled{}, before{};
  handled.sa_handler = [](int) {};
  handled.sa_flags = SA_RESTART;
  BOOST_REQUIRE(sigaction(SIGUSR1, &handled, &before) == 0);
  ProgressThread shared;
  Waiter first(shared), second(shared);
  second.interrupt();
  first.interrupt();
  BOOST_TEST((first.result() == Waited::signaled));
  BOOST_TEST((second.result() == Waited::signaled));
  sigaction(SIGUSR1, &before, nullptr);
}

BOOST_AUTO_TEST_CASE(what_runs_before_a_wait_may_end_it) {
  ProgressThread shared;
  Wakeup wakeup;
  bool ran = false;
  Lock lock = shared.lock();
  shared.loop().schedule_before_wait(shared.loop().now() + 30s, [&] {
    ran = true;
    wakeup.wake_all();
  });
  BOOST_TEST(
      (shared.wait(lock, wakeup, shared.loop().now() + 20s, [&] { return ran; }) == Waited::done));
}

BOOST_AUTO_TEST_CASE(what_runs_before_a_wait_runs_though_nobody_waits) {
  ProgressThread shared;
  {
    const Lock lock = shared.lock();
    shared.enter();
  }
  for (const bool polled : {false, true}) {
    std::promise<void> ran;
    {
      const Lock lock = shared.lock();
      if (polled) shared.poll();
      shared.loop().schedule_before_wait(shared.loop().now() + 1ms, [&] { ran.set_value(); });
      shared.nudge();
    }
    BOOST_TEST((ran.get_future().wait_for(20s) == std::future_status::ready));
  }
  Lock lock = shared.lock();
  shared.leave(lock);
}

BOOST_AUTO_TEST_CASE(functions_are_called_while_a_consumer_drives) {
  ProgressThread shared;
  {
    const Lock lock = shared.lock();
    shared.enter();
  }
  Waiter waiter(shared);
  {
    const Lock lock = shared.lock();
    shared.loop().schedule(shared.loop().now() + 5ms, [&] {
      shared.call_unlocked([&] {
        const Lock inner = shared.lock();
        waiter.wake();
      });
    });
    shared.nudge();
  }
  BOOST_TEST((waiter.result() == Waited::done));
  Lock lock = shared.lock();
  shared.leave(lock);
}

BOOST_AUTO_TEST_CASE(no_wake_up_is_lost_among_threads_that_wait_poll_and_wake) {
  ProgressThread shared;
  {
    const Lock lock = shared.lock();
    shared.enter();
  }
  constexpr std::size_t threads = 4;
  constexpr int rounds = 500;
  std::array<Wakeup, threads> wakeups;
  std::array<int, threads> tokens{1};
  std::array<bool, threads> lost{};
  std::vector<std::thread> running;
  // A ring: each passes on the token, by itself or from the loop.
  for (std::size_t mine = 0; mine < threads; ++mine)
    running.emplace_back([&, mine] {
      const std::size_t next = (mine + 1) % threads;
      const auto pass = [&, next] {
        ++tokens[next];
        wakeups[next].wake_all();
      };
      Lock lock = shared.lock();
      for (int round = 0; round < rounds && !lost[mine]; ++round) {
        lost[mine] = shared.wait(lock, wakeups[mine], shared.loop().now() + 20s,
                                 [&] { return tokens[mine] > 0; }) != Waited::done;
        --tokens[mine];
        if (round % 3 == 0)
          pass();
        else
          shared.loop().schedule(shared.loop().now() + std::chrono::microseconds(round % 3 * 20),
                                 pass);
        if (round % 5 == 0) shared.poll();
        shared.nudge();
      }
      // The last timer is the loop's.
      lost[mine] = lost[mine] || shared.wait(lock, wakeups[mine], shared.loop().now() + 20s, [&] {
        return !shared.loop().next_timer();
      }) != Waited::done;
    });
  for (std::thread& each : running) each.join();
  BOOST_TEST(lost == (std::array<bool, threads>{}), boost::test_tools::per_element());
  Lock lock = shared.lock();
  shared.leave(lock);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace rnic::access::tests
