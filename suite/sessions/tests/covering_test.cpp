// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "suite/sessions/covering_sessions.hpp"
#include "suite/sessions/drawing.hpp"

using namespace suite::sessions;

namespace {

constexpr std::array<std::uint32_t, 6> sizes{7, 1, 3, 5, 2, 4};

/// How many different combinations of values of the three factors stand in the rows.
std::size_t triples(const std::vector<CoveringRow>& rows, std::size_t a, std::size_t b,
                    std::size_t c) {
  std::set<std::array<std::uint32_t, 3>> seen;
  for (const CoveringRow& row : rows) seen.insert({row[a], row[b], row[c]});
  return seen.size();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(covering)

BOOST_AUTO_TEST_CASE(all_pairs_stand_in_few_rows) {
  const auto rows = covering_array(sizes, 2);
  for (std::size_t a = 0; a < sizes.size(); ++a)
    for (std::size_t b = a + 1; b < sizes.size(); ++b)
      BOOST_TEST(triples(rows, a, b, b) == sizes[a] * sizes[b], a << " and " << b);
  BOOST_TEST(rows.size() >= 7U * 5U);  // no fewer are possible
  BOOST_TEST(rows.size() <= 7U * 5U * 3U / 2U);
}

BOOST_AUTO_TEST_CASE(all_triples_stand_in_rows) {
  const auto rows = covering_array(sizes, 3);
  for (std::size_t a = 0; a < sizes.size(); ++a)
    for (std::size_t b = a + 1; b < sizes.size(); ++b)
      for (std::size_t c = b + 1; c < sizes.size(); ++c)
        BOOST_TEST(triples(rows, a, b, c) == sizes[a] * sizes[b] * sizes[c]);
  BOOST_TEST(rows.size() <= 7U * 5U * 4U * 3U / 2U);
}

BOOST_AUTO_TEST_CASE(the_values_of_the_dimensions_stand_in_the_sessions) {
  const CoveringSessions sessions(2);
  std::set<std::pair<Action, Wrong>> subjects;
  std::set<StartupFault> faults;
  std::set<std::uint64_t> lengths;
  std::set<std::size_t> counts;
  for (std::size_t row = 0; row < sessions.size(); ++row) {
    const Session session = sessions.session(row, row);
    faults.insert(session.streams.front().fault);
    counts.insert(session.streams.size());
    for (const Step& step : session.steps) {
      subjects.emplace(step.action, step.wrong);
      lengths.insert(step.length);
    }
  }
  for (std::size_t i = 0; i < names_of(Action{}).size(); ++i)
    for (const Wrong wrong : wrongs_of(static_cast<Action>(i)))
      BOOST_TEST(subjects.contains({static_cast<Action>(i), wrong}));
  BOOST_TEST(faults.size() == names_of(StartupFault{}).size());
  BOOST_TEST(counts == (std::set<std::size_t>{1, 2, 3}), boost::test_tools::per_element());
  BOOST_TEST(lengths.contains(65536));
}

BOOST_AUTO_TEST_CASE(a_row_and_a_seed_give_one_session) {
  const CoveringSessions sessions(2), again(2);
  BOOST_TEST(sessions.size() == again.size());
  BOOST_TEST((sessions.session(17, 3) == again.session(17, 3)));
  BOOST_TEST((sessions.session(17, 3) != sessions.session(18, 3)));
}

BOOST_AUTO_TEST_SUITE_END()
