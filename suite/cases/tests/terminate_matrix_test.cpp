// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The Terminate matrix is complete: every registered cause is in it once, with a case that exists
// or a reason.
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "suite/cases/framework/case.hpp"
#include "suite/cases/rdmap/terminate_matrix.hpp"

using namespace suite::cases;
using rnic::wire::TerminateCause;

namespace {

bool covers(const MatrixEntry& entry, TerminateCause cause) {
  return entry.cause.layer == cause.layer && entry.cause.type == cause.type &&
         (entry.any_code || entry.cause.code == cause.code);
}

std::ptrdiff_t entries_for(TerminateCause cause) {
  return std::ranges::count_if(terminate_matrix(),
                               [&](const MatrixEntry& entry) { return covers(entry, cause); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_terminate_matrix)

BOOST_AUTO_TEST_CASE(holds_each_registered_cause_once_and_no_other) {
  for (unsigned layer = 0; layer < 16; ++layer)
    for (unsigned type = 0; type < 16; ++type)
      for (unsigned code = 0; code < 256; ++code) {
        const TerminateCause cause{static_cast<std::uint8_t>(layer),
                                   static_cast<std::uint8_t>(type),
                                   static_cast<std::uint8_t>(code)};
        const int wanted = rnic::wire::is_registered(cause) ? 1 : 0;
        BOOST_TEST(entries_for(cause) == wanted, rnic::wire::describe(cause));
      }
}

BOOST_AUTO_TEST_CASE(names_cases_that_exist_or_says_why_there_is_none) {
  const std::vector<Case> table = all_cases();
  for (const MatrixEntry& entry : terminate_matrix()) {
    const bool exists = std::ranges::any_of(
        table, [&](const Case& one) { return one.id == entry.case_id && one.variant.empty(); });
    const bool initiator_only = std::ranges::any_of(table, [&](const Case& one) {
      return one.id == std::string(entry.case_id) + "@initiator" || one.id == entry.case_id;
    });
    BOOST_TEST((entry.case_id.empty() ? !entry.note.empty() : exists || initiator_only),
               rnic::wire::describe(entry.cause));
  }
}

BOOST_AUTO_TEST_SUITE_END()
