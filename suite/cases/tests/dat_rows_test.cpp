// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The table of the cases of the DAT API, against the table of renamed cases.
#include <boost/test/unit_test.hpp>

#include <set>

#include "suite/cases/dat/framework/dat_process.hpp"
#include "suite/cases/renamed_cases.hpp"

using namespace suite::cases;

BOOST_AUTO_TEST_CASE(no_old_id_is_that_of_a_case_and_each_new_one_is) {
  std::set<std::string> living;
  for (const Case& one : dat::dat_rows()) living.insert(one.id);
  for (const RenamedCase& one : renamed_cases()) {
    if (!one.old_id.starts_with("dat.")) continue;
    BOOST_TEST(!living.contains(std::string(one.old_id)), one.old_id << " is the id of a case");
    BOOST_TEST(living.contains(std::string(one.id)), "there is no case " << one.id);
  }
}
