// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// All checks together cover every rule that, according to the catalogue, a trace can show.
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "dissectors/analyzer/checked_rules.hpp"
#include "rules/catalogue.hpp"

namespace dissectors::analyzer::tests {

BOOST_AUTO_TEST_SUITE(checks)

BOOST_AUTO_TEST_CASE(each_rule_that_a_trace_shows_is_checked) {
  const auto checked = [](std::string_view id) {
    return std::ranges::binary_search(checked_rules(), id, {}, &rules::RuleId::id);
  };
  for (const rules::Rule& rule : rules::all())
    if (rule.check == rules::Check::passive && rule.needs.empty())
      BOOST_TEST(checked(rule.id), rule.id);
}

BOOST_AUTO_TEST_CASE(no_rule_is_checked_that_the_catalogue_calls_out_of_sight) {
  for (const rules::RuleId checked : checked_rules()) {
    const rules::Check how = rules::find(checked.id)->check;
    BOOST_TEST((how == rules::Check::passive || how == rules::Check::active), checked.id);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace dissectors::analyzer::tests
