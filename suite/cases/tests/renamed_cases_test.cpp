// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Old ids of cases still select them, and the table of them remains right when cases are added and
// removed.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <set>

#include "suite/cases/renamed_cases.hpp"

using namespace suite::cases;

namespace {

// The cases of the DAT API have a table of their own; test programs without libdat2 lack it.
bool is_of_the_dat_api(std::string_view id) { return id.starts_with("dat."); }

}  // namespace

BOOST_AUTO_TEST_SUITE(renamed)

BOOST_AUTO_TEST_CASE(no_old_id_is_that_of_a_case_and_each_new_one_is) {
  std::set<std::string> living;
  for (const Case& one : all_cases()) living.insert(one.id.substr(0, one.id.find('@')));
  for (const RenamedCase& one : renamed_cases()) {
    if (is_of_the_dat_api(one.old_id)) continue;
    BOOST_TEST(!living.contains(std::string(one.old_id)), one.old_id << " is the id of a case");
    BOOST_TEST(living.contains(std::string(one.id)), "there is no case " << one.id);
  }
}

BOOST_AUTO_TEST_CASE(each_old_id_stands_there_once_and_leads_to_a_current_one) {
  std::set<std::string_view> old_ids;
  for (const RenamedCase& one : renamed_cases())
    BOOST_TEST(old_ids.insert(one.old_id).second, one.old_id << " stands there twice");
  for (const RenamedCase& one : renamed_cases())
    BOOST_TEST(!old_ids.contains(one.id), one.id << " is an old id itself");
}

BOOST_AUTO_TEST_CASE(an_old_id_leads_to_the_current_one_with_its_variant) {
  const RenamedCase& first = renamed_cases().front();
  BOOST_TEST(current_id(first.old_id) == first.id);
  BOOST_TEST(current_id(std::string(first.old_id) + "@initiator") ==
             std::string(first.id) + "@initiator");
  BOOST_TEST(current_id("mpa.crc.bad_crc_is_reported_as_such") ==
             "mpa.crc.bad_crc_is_reported_as_such");
}

BOOST_AUTO_TEST_CASE(a_pattern_of_old_ids_selects_the_cases_of_today) {
  const std::vector<Case> table = all_cases();
  const auto of = [&](const char* pattern) { return current_patterns(pattern, table); };
  const std::vector<std::string> both{"sec.bounds.empty_region_refuses_writes",
                                      "sec.bounds.empty_region_refuses_writes@initiator"};
  BOOST_TEST((of("sec.buffer.empty_region_takes_no_write*") == both));
  BOOST_TEST((of("sec.buffer.empty_region_takes_no_write") == std::vector{both.front()}));
}

BOOST_AUTO_TEST_CASE(a_pattern_that_fits_a_case_or_nothing_is_left_as_it_is) {
  const std::vector<Case> table = all_cases();
  BOOST_TEST((current_patterns("ddp.*", table) == std::vector<std::string>{"ddp.*"}));
  BOOST_TEST((current_patterns("no.such.case", table) == std::vector<std::string>{"no.such.case"}));
}

BOOST_AUTO_TEST_SUITE_END()
