// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The explicit table of DAT cases. A new file of cases is listed in dat_files.def.
#include <iterator>

#include "suite/cases/dat/framework/dat_case.hpp"

namespace suite::cases::dat {

// Each is defined by DAT_CASES_OF_FILE or DAT_CASES_OF_PART at the end of suite/cases/dat/<file>.cpp.
#define DAT_CASE_FILE(file) std::vector<DatCase> dat_##file();
#define KDAT_CASE_FILE(file) std::vector<DatCase> kdat_##file();
#include "suite/cases/dat/dat_files.def"
#undef DAT_CASE_FILE
#undef KDAT_CASE_FILE

std::vector<DatCase> all_dat_cases() {
  std::vector<DatCase> table;
  const auto append = [&table](std::vector<DatCase> more) {
    table.insert(table.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  };
#define DAT_CASE_FILE(file) append(dat_##file());
#define KDAT_CASE_FILE(file) append(kdat_##file());
#include "suite/cases/dat/dat_files.def"
#undef DAT_CASE_FILE
#undef KDAT_CASE_FILE
  return table;
}

void append_calls(CaseOptions& options, std::string_view names) {
  while (!names.empty()) {
    const std::size_t comma = names.find(',');
    options.calls.push_back(names.substr(0, comma));
    names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
    while (names.starts_with(' ')) names.remove_prefix(1);
  }
}

}  // namespace suite::cases::dat
