// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "base/epoll_loop.hpp"
#include "base/file_descriptor.hpp"
#include "base/simulated_loop.hpp"

using namespace base;
using namespace std::chrono_literals;

namespace {
const auto never = [] { return false; };
}  // namespace

BOOST_AUTO_TEST_SUITE(loop)

BOOST_AUTO_TEST_CASE(simulated_time_jumps_to_timers_in_order) {
  SimulatedLoop loop;
  const TimePoint start = loop.now();
  std::vector<int> order;
  loop.schedule(start + 60s, [&] { order.push_back(3); });
  loop.schedule(start + 1s, [&] {
    order.push_back(1);
    loop.defer([&] { order.push_back(2); });
  });
  loop.schedule(start + 60s, [&] { order.push_back(4); });  // equal times: as scheduled
  const TimerId cancelled = loop.schedule(start + 2s, [&] { order.push_back(99); });
  loop.cancel(cancelled);
  BOOST_TEST(loop.run_until(start + 90s, [&] { return order.size() == 4; }));
  BOOST_TEST(order == (std::vector{1, 2, 3, 4}), boost::test_tools::per_element());
  BOOST_TEST((loop.now() == start + 60s));
  BOOST_TEST(!loop.run_until(start + 90s, never));
  BOOST_TEST((loop.now() == start + 90s));
}

BOOST_AUTO_TEST_CASE(a_timer_at_the_deadline_still_runs) {
  SimulatedLoop loop;
  bool ran = false;
  loop.schedule(loop.now() + 5s, [&] { ran = true; });
  BOOST_TEST(loop.run_until(loop.now() + 5s, [&] { return ran; }));
}

BOOST_AUTO_TEST_CASE(an_endless_deadline_with_nothing_left_returns) {
  SimulatedLoop loop;
  const TimePoint start = loop.now();
  BOOST_TEST(!loop.run_until(TimePoint::max(), never));
  BOOST_TEST((loop.now() == start));
}

BOOST_AUTO_TEST_CASE(an_exception_leaves_the_loop_usable) {
  SimulatedLoop loop;
  loop.defer([] { throw std::runtime_error("out of a callback"); });
  BOOST_CHECK_THROW(loop.run_until(loop.now() + 1s, never), std::runtime_error);
  BOOST_TEST(!loop.run_until(loop.now() + 1s, never));
}

BOOST_AUTO_TEST_CASE(real_time_waits_for_timer_and_deadline) {
  EpollLoop loop;
  bool ran = false;
  const TimePoint start = loop.now();
  loop.schedule(start + 20ms, [&] { ran = true; });
  BOOST_TEST(!loop.run_until(start + 5ms, [&] { return ran; }));
  BOOST_TEST(loop.run_until(start + 5s, [&] { return ran; }));
  BOOST_TEST((loop.now() - start >= 20ms));
  BOOST_TEST((loop.now() - start < 2s));
}

BOOST_AUTO_TEST_CASE(deferred_callbacks_and_timers_run_in_the_order_of_their_times) {
  EpollLoop loop;
  std::vector<int> order;
  const auto note = [&](int number) { return [&order, number] { order.push_back(number); }; };
  loop.defer(note(1));
  loop.schedule(loop.now() + 1h, note(99));
  const TimerId cancelled = loop.defer(note(98));
  loop.defer(note(2));
  loop.schedule(loop.now() - 1s, note(0));
  loop.cancel(cancelled);
  loop.schedule(loop.now(), note(3));
  loop.defer(note(4));
  loop.run_until(loop.now() + 5s, [&] { return order.size() == 5; });
  loop.cancel(cancelled);
  BOOST_TEST(order == (std::vector{0, 1, 2, 3, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(deferred_callbacks_do_not_starve_io) {
  EpollLoop loop;
  std::array<int, 2> ends{};
  BOOST_REQUIRE(pipe(ends.data()) == 0);
  const FileDescriptor read_end(ends[0]), write_end(ends[1]);
  bool readable = false, stop = false;
  std::function<void()> again = [&] {
    if (!stop) loop.defer(again);
  };
  loop.defer(again);
  loop.watch(read_end.get(), EPOLLIN, [&](std::uint32_t) { readable = true; });
  BOOST_REQUIRE(write(write_end.get(), "x", 1) == 1);
  BOOST_TEST(loop.run_until(loop.now() + 5s, [&] { return readable; }));
  stop = true;
  loop.unwatch(read_end.get());
}

BOOST_AUTO_TEST_CASE(a_watch_may_remove_itself_and_others_while_called) {
  EpollLoop loop;
  std::array<int, 2> first{}, second{};
  BOOST_REQUIRE((pipe(first.data()) == 0 && pipe(second.data()) == 0));
  const FileDescriptor a(first[0]), b(first[1]), c(second[0]), d(second[1]);
  int calls = 0;
  const auto once = [&](std::uint32_t) {
    ++calls;
    loop.unwatch(a.get());
    loop.unwatch(c.get());
  };
  loop.watch(a.get(), EPOLLIN, once);
  loop.watch(c.get(), EPOLLIN, once);
  BOOST_REQUIRE((write(b.get(), "x", 1) == 1 && write(d.get(), "x", 1) == 1));
  BOOST_TEST(!loop.run_until(loop.now() + 20ms, never));
  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(a_deadline_of_now_dispatches_what_is_ready) {
  EpollLoop loop;
  int ran = 0;
  loop.defer([&] { ++ran; });
  BOOST_TEST(!loop.run_until(loop.now(), never));
  BOOST_TEST(ran == 1);
}

BOOST_AUTO_TEST_CASE(an_owner_that_waits_by_itself_dispatches_what_is_ready_and_due) {
  EpollLoop loop;
  std::array<int, 2> ends{};
  BOOST_REQUIRE(pipe(ends.data()) == 0);
  const FileDescriptor read_end(ends[0]), write_end(ends[1]);
  int readable = 0, due = 0;
  loop.watch(read_end.get(), EPOLLIN, [&](std::uint32_t) {
    ++readable;
    loop.defer([&] { ++due; });
  });
  EpollLoop::Ready ready;
  BOOST_TEST(loop.await(ready, 0s));
  loop.dispatch(ready);
  BOOST_TEST(readable == 0);
  BOOST_REQUIRE(write(write_end.get(), "x", 1) == 1);
  BOOST_TEST(loop.await(ready, 60s));
  loop.dispatch(ready);
  BOOST_TEST(readable == 1);
  BOOST_TEST(due == 1);
}

BOOST_AUTO_TEST_CASE(what_is_scheduled_before_a_wait_is_not_waited_for) {
  EpollLoop loop;
  int ran = 0;
  const TimePoint later = loop.now() + 30s;
  loop.schedule_before_wait(later, [&] { ++ran; });
  loop.cancel(loop.schedule_before_wait(later, [&] { ran = 99; }));
  loop.dispatch_timers();  // nobody waits yet
  BOOST_TEST(ran == 0);
  const std::uint64_t waits = loop.waits();
  BOOST_TEST(loop.run_until(later, [&] { return ran != 0; }));
  BOOST_TEST(loop.waits() > waits);
  loop.schedule_before_wait(later, [&] { ++ran; });
  BOOST_TEST(loop.before_wait());
  BOOST_TEST(!loop.before_wait());
  BOOST_TEST(ran == 2);
  BOOST_TEST((loop.now() < later));
  loop.schedule_before_wait(loop.now(), [&] { ++ran; });
  loop.dispatch_timers();  // but its time has come
  BOOST_TEST(ran == 3);
}

BOOST_AUTO_TEST_CASE(timers_that_add_timers_do_not_keep_their_owner_for_ever) {
  EpollLoop loop;
  int ran = 0;
  std::function<void()> again = [&] {
    ++ran;
    loop.defer(again);
  };
  loop.defer(again);
  loop.dispatch_timers();
  BOOST_TEST(ran > 1);
  BOOST_TEST(loop.next_timer().has_value());
}

BOOST_AUTO_TEST_SUITE_END()
