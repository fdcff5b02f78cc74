// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The schedule of jobs that occupy two hosts each, also at the size of the largest event.
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <random>

#include "suite/jobs/schedule.hpp"

using namespace suite::jobs;

namespace {

Job job(std::size_t number, std::size_t one, std::size_t other, double length) {
  return {.number = number, .hosts = Job::Hosts(one, other), .length = length};
}

std::optional<std::size_t> next(Schedule& schedule) {
  const auto started = schedule.next();
  return started ? std::optional(started->number) : std::nullopt;
}

/// Every ordered pair of so many hosts.
std::vector<Job> all_pairs(std::size_t hosts, const std::function<double()>& length) {
  std::vector<Job> jobs;
  for (std::size_t one = 0; one < hosts; ++one)
    for (std::size_t other = 0; other < hosts; ++other)
      if (one != other) jobs.push_back(job(jobs.size(), one, other, length()));
  return jobs;
}

void expect_near_the_bound(std::size_t slots, const std::function<double()>& length) {
  constexpr std::size_t hosts = 200;
  const auto begun = std::chrono::steady_clock::now();
  const auto jobs = all_pairs(hosts, length);
  BOOST_REQUIRE(jobs.size() == 39'800);
  const Simulated result = simulate(jobs, {.capacity = std::vector<int>(hosts, 1), .slots = slots});
  const auto took = std::chrono::steady_clock::now() - begun;
  BOOST_TEST_MESSAGE("slots " << slots << ": " << result.makespan / result.bound
                              << " of the bound, " << std::chrono::duration<double>(took).count()
                              << " s");
  BOOST_TEST(result.makespan >= result.bound * 0.999);
  BOOST_TEST(result.makespan <= result.bound * 1.1);
  BOOST_TEST(std::chrono::duration<double>(took).count() < 10);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(schedule_of_hosts)

BOOST_AUTO_TEST_CASE(no_host_is_in_more_cells_than_it_allows) {
  std::mt19937 numbers(3);
  const std::vector<int> capacity{1, 2, 1, 3, 1};
  auto jobs = all_pairs(5, [&] { return 1 + static_cast<double>(numbers() % 5); });
  Schedule schedule(jobs, {.capacity = capacity, .slots = 3});
  std::vector<std::size_t> running;
  std::vector<int> used(5, 0), times(jobs.size(), 0);
  for (std::size_t ended = 0; ended < jobs.size(); ++ended) {
    while (const auto job = next(schedule)) {
      running.push_back(*job);
      ++times[*job];
      ++used[jobs[*job].hosts->first];
      ++used[jobs[*job].hosts->second];
    }
    BOOST_REQUIRE(!running.empty());
    BOOST_TEST(running.size() <= 3);
    for (std::size_t host = 0; host < 5; ++host) BOOST_TEST(used[host] <= capacity[host]);
    const std::size_t which = numbers() % running.size(), job = running[which];
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
    --used[jobs[job].hosts->first];
    --used[jobs[job].hosts->second];
    schedule.ended(jobs[job]);
  }
  BOOST_TEST(schedule.waiting() == 0);
  BOOST_TEST(schedule.bound() == 0);
  BOOST_TEST(times == std::vector<int>(jobs.size(), 1), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(who_is_away_starts_nothing) {
  const std::vector<Job> jobs{job(0, 0, 1, 9), job(1, 2, 3, 1), job(2, 2, 1, 5)};
  Schedule schedule(jobs, {.capacity = {1, 1, 1, 1}, .slots = 3});
  schedule.set_away(0, true);
  const auto first = next(schedule);
  BOOST_REQUIRE(first);
  BOOST_TEST(*first == 2);
  BOOST_TEST(!next(schedule));
  BOOST_TEST(!schedule.idle(2));
  BOOST_TEST(schedule.idle(3));
  schedule.ended(jobs[*first]);
  BOOST_TEST(schedule.idle(2));
  const auto second = next(schedule);
  BOOST_REQUIRE(second);
  BOOST_TEST(*second == 1);
  BOOST_TEST(!schedule.has_waiting(2));
  BOOST_TEST(schedule.has_waiting(0));
  BOOST_TEST(!next(schedule));
  schedule.set_away(0, false);
  BOOST_TEST((next(schedule) == std::optional<std::size_t>(0)));
}

BOOST_AUTO_TEST_CASE(the_longest_comes_first) {
  const std::vector<Job> jobs{job(0, 0, 1, 1), job(1, 1, 0, 9), job(2, 0, 1, 5)};
  Schedule schedule(jobs, {.capacity = {1, 1}, .slots = 1});
  for (const std::size_t expected : {1, 2, 0}) {
    const auto job = next(schedule);
    BOOST_REQUIRE(job);
    BOOST_TEST(*job == expected);
    BOOST_TEST(!next(schedule));
    schedule.ended(jobs[*job]);
  }
}

BOOST_AUTO_TEST_CASE(a_job_that_is_repeated_last_waits_until_all_others_have_been_started) {
  const std::vector<Job> jobs{job(0, 0, 1, 9), job(1, 0, 1, 1)};
  Schedule schedule(jobs, {.capacity = {1, 1}, .slots = 1});
  for (const std::size_t expected : {0, 1, 0, 0}) {
    BOOST_TEST((next(schedule) == std::optional(expected)));
    schedule.ended(jobs[expected]);
    if (expected == 0) schedule.repeat_last(jobs[0]);
  }
  BOOST_TEST(schedule.waiting() == 1);
}

BOOST_AUTO_TEST_CASE(two_hundred_hosts_all_cells_equal) {
  expect_near_the_bound(100, [] { return 1.0; });
}

BOOST_AUTO_TEST_CASE(two_hundred_hosts_cells_of_any_length) {
  std::mt19937 numbers(11);
  std::uniform_real_distribution<double> length(1, 60);
  expect_near_the_bound(100, [&] { return length(numbers); });
}

BOOST_AUTO_TEST_CASE(two_hundred_hosts_few_slots) {
  std::mt19937 numbers(12);
  std::uniform_real_distribution<double> length(1, 60);
  expect_near_the_bound(40, [&] { return length(numbers); });
}

BOOST_AUTO_TEST_CASE(two_hundred_hosts_some_slow) {
  std::mt19937 numbers(13);
  std::exponential_distribution<double> length(0.1);
  expect_near_the_bound(100, [&] { return 1 + length(numbers); });
}

BOOST_AUTO_TEST_SUITE_END()
