// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The explicit case table. A new file of cases is declared and listed here;
// `tools/new_case` does both.
#include <iterator>

#include "suite/cases/framework/case.hpp"

namespace suite::cases {

// Each is defined by CASES_OF_FILE at the end of suite/cases/<folder>/<file>.cpp.
#define RNIC_CASE_FILE(folder, file) std::vector<Case> folder##_##file();
#include "suite/cases/case_files.def"
#undef RNIC_CASE_FILE

std::vector<Case> all_cases() {
  std::vector<Case> table;
  const auto append = [&table](std::vector<Case> more) {
    table.insert(table.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  };
#define RNIC_CASE_FILE(folder, file) append(folder##_##file());
#include "suite/cases/case_files.def"
#undef RNIC_CASE_FILE
  return table;
}

}  // namespace suite::cases
