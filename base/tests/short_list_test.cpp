// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/short_list.hpp"

#include <boost/test/unit_test.hpp>
#include <utility>
#include <vector>

namespace {

using List = base::ShortList<int, 2>;

std::vector<int> contents(const List& list) { return {list.begin(), list.end()}; }

BOOST_AUTO_TEST_SUITE(short_list)

/// Of each length that fits, and of one that does not.
const std::vector<std::vector<int>> of_each_kind{{}, {1}, {1, 2}, {1, 2, 3, 4, 5}};

BOOST_AUTO_TEST_CASE(a_copy_has_the_same_elements_and_leaves_the_original_alone) {
  for (const auto& expected : of_each_kind) {
    const List original(expected.begin(), expected.end());
    List copy(original);
    BOOST_TEST(contents(copy) == expected, boost::test_tools::per_element());
    copy.push_back(6);
    BOOST_TEST(contents(original) == expected, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_move_takes_the_elements) {
  for (const auto& expected : of_each_kind) {
    List original(expected.begin(), expected.end());
    const List moved(std::move(original));
    BOOST_TEST(contents(moved) == expected, boost::test_tools::per_element());
    original.push_back(7);  // NOLINT(bugprone-use-after-move): it is empty, and may be used again
    BOOST_TEST(contents(original) == std::vector{7}, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(an_assignment_replaces_what_was_there) {
  for (const auto& before : of_each_kind)
    for (const auto& expected : of_each_kind) {
      const List source(expected.begin(), expected.end());
      List copied(before.begin(), before.end()), moved(before.begin(), before.end());
      copied = source;
      moved = List(source);
      BOOST_TEST(contents(copied) == expected, boost::test_tools::per_element());
      BOOST_TEST(contents(moved) == expected, boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(a_long_one_is_moved_with_its_memory) {
  List original{1, 2, 3};
  const int* const before = original.data();
  const List moved(std::move(original));
  BOOST_TEST(moved.data() == before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
