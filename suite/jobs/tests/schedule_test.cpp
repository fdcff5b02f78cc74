// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The order in which cases start, and what may run beside what.
#include <boost/test/unit_test.hpp>

#include "suite/jobs/exit_code.hpp"
#include "suite/jobs/schedule.hpp"

using namespace suite::jobs;

namespace {

Job job(std::size_t number, std::size_t group, bool alone = false) {
  return {.number = number, .attempt = 1, .group = group, .alone = alone};
}

// Numbers of all jobs that can start now.
std::vector<std::size_t> start_all(Schedule& schedule) {
  std::vector<std::size_t> numbers;
  while (const auto next = schedule.next()) numbers.push_back(next->number);
  return numbers;
}

void end(Schedule& schedule, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) schedule.ended({});
}

using Numbers = std::vector<std::size_t>;

}  // namespace

BOOST_AUTO_TEST_CASE(sentinels_run_alone_first_and_last) {
  Schedule schedule({job(0, 0, true), job(1, 0), job(2, 0), job(3, 0, true)}, {});
  BOOST_TEST(start_all(schedule) == Numbers{0}, boost::test_tools::per_element());
  end(schedule, 1);
  BOOST_TEST(start_all(schedule) == (Numbers{1, 2}), boost::test_tools::per_element());
  end(schedule, 1);
  BOOST_TEST(start_all(schedule).empty());
  end(schedule, 1);
  BOOST_TEST(start_all(schedule) == Numbers{3}, boost::test_tools::per_element());
  BOOST_TEST(!schedule.done());
  end(schedule, 1);
  BOOST_TEST(schedule.done());
}

BOOST_AUTO_TEST_CASE(without_a_barrier_groups_only_give_the_order) {
  Schedule schedule({job(1, 0), job(2, 1), job(3, 0), job(4, 1)}, {});
  BOOST_TEST(start_all(schedule) == (Numbers{1, 3, 2, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(with_a_barrier_a_group_begins_when_the_last_one_has_ended) {
  Schedule schedule({job(1, 0), job(2, 1), job(3, 0), job(4, 1)}, {.barrier = true});
  BOOST_TEST(start_all(schedule) == (Numbers{1, 3}), boost::test_tools::per_element());
  end(schedule, 1);
  BOOST_TEST(start_all(schedule).empty());
  end(schedule, 1);
  BOOST_TEST(start_all(schedule) == (Numbers{2, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_job_may_be_repeated_beside_others) {
  Schedule schedule({job(1, 0), job(2, 0)}, {});
  BOOST_TEST(schedule.next()->number == 1U);
  schedule.ended({});
  schedule.repeat(job(1, 0));
  BOOST_TEST(start_all(schedule) == (Numbers{1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(repetitions_run_before_all_else_one_at_a_time) {
  Schedule schedule({job(1, 0), job(2, 0), job(3, 0)}, {});
  BOOST_TEST(schedule.next()->number == 1U);
  BOOST_TEST(schedule.next()->number == 2U);
  end(schedule, 2);
  schedule.repeat_alone({job(1, 0), job(2, 0)});
  BOOST_TEST(start_all(schedule) == Numbers{1}, boost::test_tools::per_element());
  end(schedule, 1);
  BOOST_TEST(start_all(schedule) == Numbers{2}, boost::test_tools::per_element());
  end(schedule, 1);
  BOOST_TEST(start_all(schedule) == Numbers{3}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_is_given_up_never_starts) {
  Schedule schedule({job(1, 0), job(2, 0, true)}, {});
  BOOST_TEST(schedule.next()->number == 1U);
  schedule.give_up();
  BOOST_TEST(!schedule.done());
  end(schedule, 1);
  BOOST_TEST(schedule.done());
}

BOOST_AUTO_TEST_CASE(the_exit_code_is_3_before_1_before_4) {
  const auto code = [](bool harness, bool failure, bool stale) {
    return static_cast<int>(
        exit_code({.harness = harness, .new_failure = failure, .stale = stale}));
  };
  BOOST_TEST(code(false, false, false) == 0);
  BOOST_TEST(code(false, false, true) == 4);
  BOOST_TEST(code(false, true, true) == 1);
  BOOST_TEST(code(true, true, true) == 3);
}
