// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/fifo.hpp"

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
