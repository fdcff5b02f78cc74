// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/fifo.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace {

std::vector<int> contents(const base::Fifo<int>& fifo) { return {fifo.begin(), fifo.end()}; }

BOOST_AUTO_TEST_SUITE(fifo)

BOOST_AUTO_TEST_CASE(elements_leave_in_the_order_in_which_they_came) {
  base::Fifo<int> fifo;
  int expected = 0;
  for (int i = 0; i < 1000; ++i) {
    fifo.push_back(i);
    if (i % 3 == 0) {
      BOOST_TEST_REQUIRE(fifo.front() == expected++);
      fifo.pop_front();
    }
  }
  BOOST_TEST(fifo.size() == 666);
  for (; !fifo.empty(); fifo.pop_front()) BOOST_TEST_REQUIRE(fifo.front() == expected++);
  BOOST_TEST(expected == 1000);
}

BOOST_AUTO_TEST_CASE(one_may_come_to_the_front_and_one_may_leave_from_within) {
  base::Fifo<int> fifo;
  for (int i = 0; i < 6; ++i) fifo.push_back(i);
  fifo.push_front(-1);
  fifo.erase(fifo.begin() + 2);
  fifo.erase(fifo.begin() + 4);
  fifo.erase(fifo.begin());
  BOOST_TEST(contents(fifo) == (std::vector{0, 2, 3, 5}), boost::test_tools::per_element());
  fifo.pop_back();
  BOOST_TEST(fifo.back() == 3);
  BOOST_TEST(fifo[1] == 2);
}

BOOST_AUTO_TEST_CASE(elements_end_when_they_leave) {
  const auto watched = std::make_shared<int>();
  base::Fifo<std::shared_ptr<int>> fifo;
  for (int i = 0; i < 9; ++i) fifo.emplace_back(watched);
  BOOST_TEST(watched.use_count() == 10);
  fifo.pop_front();
  BOOST_TEST(watched.use_count() == 9);
  fifo.clear();
  BOOST_TEST(watched.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(it_holds_what_cannot_be_copied) {
  base::Fifo<std::unique_ptr<int>> fifo;
  for (int i = 0; i < 20; ++i) fifo.push_back(std::make_unique<int>(i));
  BOOST_TEST(*fifo.front() == 0);
  BOOST_TEST(*fifo.back() == 19);
}

BOOST_AUTO_TEST_CASE(one_of_its_own_elements_may_be_added_again) {
  base::Fifo<std::vector<int>> fifo;
  fifo.push_back({1, 2, 3});
  for (int i = 0; i < 20; ++i) fifo.push_back(fifo.front());
  for (const std::vector<int>& each : fifo)
    BOOST_TEST(each == (std::vector{1, 2, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_is_sought_is_found_across_the_end_of_the_memory) {
  base::Fifo<int> fifo;
  for (int i = 0; i < 12; ++i) fifo.push_back(i);
  for (int i = 0; i < 10; ++i) fifo.pop_front();
  for (int i = 12; i < 20; ++i) fifo.push_back(i);
  BOOST_TEST((std::ranges::lower_bound(fifo, 17) - fifo.begin()) == 7);
  BOOST_TEST((std::ranges::find(std::as_const(fifo), 20) == std::as_const(fifo).end()));
  BOOST_TEST(*(fifo.end() - 1) == *fifo.rbegin());
  fifo.erase(std::ranges::find(fifo, 13));
  fifo.erase(std::ranges::find(fifo, 18));
  BOOST_TEST(contents(fifo) == (std::vector{10, 11, 12, 14, 15, 16, 17, 19}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(memory_is_given_back_only_if_nothing_is_in_it) {
  base::Fifo<int> fifo;
  fifo.push_back(1);
  fifo.release();
  BOOST_TEST(fifo.front() == 1);
  base::Fifo<int> moved = std::move(fifo);
  moved.pop_front();
  moved.release();
  moved.push_back(2);
  BOOST_TEST(contents(moved) == std::vector{2}, boost::test_tools::per_element());
}

/// Its copy has memory of its own, and its move might throw.
struct Owner {
  Owner() = default;
  Owner(const Owner& other) : owned(other.owned) {}
  Owner(Owner&& other) noexcept(false) : owned(std::move(other.owned)) {}
  Owner& operator=(const Owner&) = default;
  std::vector<int> owned{1, 2, 3};
};

BOOST_AUTO_TEST_CASE(growing_leaves_what_elements_own_where_it_is) {
  base::Fifo<Owner> fifo;
  fifo.push_back(Owner{});
  const int* const before = fifo.front().owned.data();
  for (int i = 0; i < 100; ++i) fifo.push_back(Owner{});
  BOOST_TEST(fifo.front().owned.data() == before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
