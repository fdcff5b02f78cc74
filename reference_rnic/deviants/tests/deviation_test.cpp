// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Every deviation of a stream shows: some run differs, in octets, events or memory, from the same
// run of a conforming stream.
#include <boost/test/unit_test.hpp>

#include <set>

#include "reference_rnic/deviants/stream_decisions.hpp"
#include "reference_rnic/deviants/tests/scenarios.hpp"
#include "rules/catalogue.hpp"

namespace rnic::deviants::test {
namespace {

/// The deviations before this one are those that the stream itself asks for; the components above have
/// the others.
constexpr auto first_of_verbs = Deviation::process_write_right_unchecked;

using Chosen = std::vector<Deviation>;

Decide decided_by(const Chosen& chosen) {
  return [chosen] { return stream_decisions(chosen); };
}

std::vector<std::string> run_all(const std::vector<Scenario>& list, const Chosen& chosen) {
  std::vector<std::string> transcripts;
  for (const Scenario& scenario : list) transcripts.push_back(scenario.run(decided_by(chosen)));
  return transcripts;
}

BOOST_AUTO_TEST_CASE(every_deviation_shows_and_leaves_something_right) {
  const auto list = scenarios();
  const auto conforming = run_all(list, Chosen());
  for (const DeviationInfo& info : deviations()) {
    if (info.deviation >= first_of_verbs) break;
    const auto deviating = run_all(list, Chosen{info.deviation});
    std::size_t different = 0;
    for (std::size_t i = 0; i < list.size(); ++i)
      different += deviating[i] != conforming[i] ? 1 : 0;
    BOOST_TEST(different != 0U, info.name << " changes nothing");
    BOOST_TEST(different != list.size(), info.name << " changes everything");
  }
}

BOOST_AUTO_TEST_CASE(conforming_pairs_do_all_their_work) {
  for (const Scenario& scenario : scenarios()) {
    if (!scenario.name.starts_with("pair")) continue;
    const std::string text = scenario.run(decided_by({}));
    for (const char* fault : {"failed", "terminate received"}) {
      const std::size_t at = text.find(fault);
      BOOST_TEST(at == std::string::npos,
                 scenario.name << ": " << text.substr(std::min(at, text.size()), 100));
    }
  }
}

BOOST_AUTO_TEST_CASE(runs_are_repeatable) {
  const auto list = scenarios();
  BOOST_TEST((run_all(list, Chosen()) == run_all(list, Chosen())));
}

BOOST_AUTO_TEST_CASE(pairs_of_deviations_do_not_break_the_machine) {
  // Nothing to compare: the run must end, within the bounds that the sanitizers watch.
  const auto list = scenarios();
  const auto count = static_cast<unsigned>(first_of_verbs);
  for (unsigned i = 0; i < count; i += 7) {
    const Chosen chosen{static_cast<Deviation>(i), static_cast<Deviation>((i * 31 + 11) % count)};
    BOOST_TEST(run_all(list, chosen).size() == list.size());
  }
}

BOOST_AUTO_TEST_CASE(the_table_is_in_order_and_names_rules) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < deviations().size(); ++i) {
    const DeviationInfo& entry = deviations()[i];
    BOOST_TEST(static_cast<std::size_t>(entry.deviation) == i);
    BOOST_TEST(names.insert(entry.name).second, entry.name << " stands twice");
    BOOST_TEST((find_deviation(entry.name) == entry.deviation));
    BOOST_TEST(rules::find(entry.rule) != nullptr, entry.rule);
    BOOST_TEST(info(entry.deviation).text == entry.text);
    BOOST_TEST(!entry.text.empty());
  }
  BOOST_TEST(!find_deviation("no_such_deviation"));
}

}  // namespace
}  // namespace rnic::deviants::test
