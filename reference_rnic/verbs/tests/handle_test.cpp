// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Handles: stale, foreign and made-up ones find nothing.
#include <boost/test/unit_test.hpp>
#include <limits>

#include "reference_rnic/verbs/handle.hpp"

using namespace rnic::verbs;

namespace {
using Table = HandleTable<int, Kind::domain>;
Handle<Kind::domain> insert(Table& table, int value) {
  return table.insert([&](auto) { return std::make_unique<int>(value); });
}
}  // namespace

BOOST_AUTO_TEST_SUITE(handles)

BOOST_AUTO_TEST_CASE(a_removed_handle_does_not_find_the_next_object_in_its_place) {
  Table table;
  const auto first = insert(table, 1);
  BOOST_TEST(*table.find(first) == 1);
  BOOST_TEST((table.remove(first) != nullptr));
  const auto second = insert(table, 2);
  BOOST_TEST((table.find(first) == nullptr));
  BOOST_TEST((table.remove(first) == nullptr));
  BOOST_TEST(*table.find(second) == 2);
  BOOST_TEST(table.size() == 1U);
}

BOOST_AUTO_TEST_CASE(made_up_values_find_nothing) {
  Table table;
  const auto real = insert(table, 1);
  for (const std::uint64_t value :
       {std::uint64_t{0}, real.value + 1, real.value - 1, real.value ^ (std::uint64_t{3} << 56),
        std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()})
    BOOST_TEST((table.find({value}) == nullptr));
}

BOOST_AUTO_TEST_SUITE_END()
