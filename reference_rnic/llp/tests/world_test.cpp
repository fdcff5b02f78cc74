// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "reference_rnic/llp/file_descriptor.hpp"
#include "reference_rnic/llp/real_world.hpp"
#include "reference_rnic/llp/simulated_world.hpp"

using namespace rnic::llp;
using namespace std::chrono_literals;

namespace {
const auto never = [] { return false; };
}  // namespace

BOOST_AUTO_TEST_SUITE(world)

BOOST_AUTO_TEST_CASE(simulated_time_jumps_to_timers_in_order) {
  SimulatedWorld world;
  const TimePoint start = world.now();
  std::vector<int> order;
  world.schedule(start + 60s, [&] { order.push_back(3); });
  world.schedule(start + 1s, [&] {
    order.push_back(1);
    world.defer([&] { order.push_back(2); });
  });
  world.schedule(start + 60s, [&] { order.push_back(4); });  // equal times: as scheduled
  const TimerId cancelled = world.schedule(start + 2s, [&] { order.push_back(99); });
  world.cancel(cancelled);
  BOOST_TEST(world.run_until(start + 90s, [&] { return order.size() == 4; }));
  BOOST_TEST(order == (std::vector{1, 2, 3, 4}), boost::test_tools::per_element());
  BOOST_TEST((world.now() == start + 60s));
  BOOST_TEST(!world.run_until(start + 90s, never));
  BOOST_TEST((world.now() == start + 90s));
}

BOOST_AUTO_TEST_CASE(a_timer_at_the_deadline_still_runs) {
  SimulatedWorld world;
  bool ran = false;
  world.schedule(world.now() + 5s, [&] { ran = true; });
  BOOST_TEST(world.run_until(world.now() + 5s, [&] { return ran; }));
}

BOOST_AUTO_TEST_CASE(an_endless_deadline_with_nothing_left_returns) {
  SimulatedWorld world;
  const TimePoint start = world.now();
  BOOST_TEST(!world.run_until(TimePoint::max(), never));
  BOOST_TEST((world.now() == start));
}

BOOST_AUTO_TEST_CASE(an_exception_leaves_the_world_usable) {
  SimulatedWorld world;
  world.defer([] { throw std::runtime_error("out of a callback"); });
  BOOST_CHECK_THROW(world.run_until(world.now() + 1s, never), std::runtime_error);
  BOOST_TEST(!world.run_until(world.now() + 1s, never));
}

BOOST_AUTO_TEST_CASE(real_time_waits_for_timer_and_deadline) {
  RealWorld world;
  bool ran = false;
  const TimePoint start = world.now();
  world.schedule(start + 20ms, [&] { ran = true; });
  BOOST_TEST(!world.run_until(start + 5ms, [&] { return ran; }));
  BOOST_TEST(world.run_until(start + 5s, [&] { return ran; }));
  BOOST_TEST((world.now() - start >= 20ms));
  BOOST_TEST((world.now() - start < 2s));
}

BOOST_AUTO_TEST_CASE(deferred_callbacks_do_not_starve_io) {
  RealWorld world;
  std::array<int, 2> ends{};
  BOOST_REQUIRE(pipe(ends.data()) == 0);
  const FileDescriptor read_end(ends[0]), write_end(ends[1]);
  bool readable = false, stop = false;
  std::function<void()> again = [&] {
    if (!stop) world.defer(again);
  };
  world.defer(again);
  world.watch(read_end.get(), EPOLLIN, [&](std::uint32_t) { readable = true; });
  BOOST_REQUIRE(write(write_end.get(), "x", 1) == 1);
  BOOST_TEST(world.run_until(world.now() + 5s, [&] { return readable; }));
  stop = true;
  world.unwatch(read_end.get());
}

BOOST_AUTO_TEST_CASE(a_watch_may_remove_itself_and_others_while_called) {
  RealWorld world;
  std::array<int, 2> first{}, second{};
  BOOST_REQUIRE((pipe(first.data()) == 0 && pipe(second.data()) == 0));
  const FileDescriptor a(first[0]), b(first[1]), c(second[0]), d(second[1]);
  int calls = 0;
  const auto once = [&](std::uint32_t) {
    ++calls;
    world.unwatch(a.get());
    world.unwatch(c.get());
  };
  world.watch(a.get(), EPOLLIN, once);
  world.watch(c.get(), EPOLLIN, once);
  BOOST_REQUIRE((write(b.get(), "x", 1) == 1 && write(d.get(), "x", 1) == 1));
  BOOST_TEST(!world.run_until(world.now() + 20ms, never));
  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(a_deadline_of_now_dispatches_what_is_ready) {
  RealWorld world;
  int ran = 0;
  world.defer([&] { ++ran; });
  BOOST_TEST(!world.run_until(world.now(), never));
  BOOST_TEST(ran == 1);
}

BOOST_AUTO_TEST_SUITE_END()
