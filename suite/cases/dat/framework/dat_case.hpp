// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a case of the DAT API is written, and the table of these cases.
//
//   DAT_CASE(free_of_a_null_handle_is_refused, calls(dat_pz_free),
//            rules("dat.pz-free.invalid-handle")) {
//     expect(CALL(dat_pz_free, DAT_HANDLE_NULL), returns(DAT_INVALID_HANDLE));
//   }
//
//   DAT_CASES_OF_FILE(pz)
//
// Its id is `dat.<file>.<slug>`; several files may have one prefix (DAT_CASES_OF_PART). Every case runs in a process of its own (rnic-dat-cases), since
// libdat2 follows bad handles and a provider may crash or hang.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "suite/cases/dat/framework/dat_body.hpp"
#include "suite/cases/framework/case_table.hpp"

namespace suite::cases::dat {

struct DatCase {
  /// The row of the case table, without its body.
  Case row;
  /// `dat_ep_connect`: those whose behaviour it judges.
  std::vector<std::string_view> calls;
  /// Calls are given handles that no consumer may give: then a crash in the provider is an
  /// advisory.
  bool hostile = false;
  /// It is of kDAPL, and makes its calls in the kernel.
  bool in_kernel = false;
  std::function<void(DatContext&)> run;
};

/// Every case of the DAT API, in the order of the files.
[[nodiscard]] std::vector<DatCase> all_dat_cases();

// ---------------------------------------------------------------- options of a case

inline const CaseOption with_hostile_handles = [](CaseOptions& options) { options.hostile = true; };

#define calls(...)                                                      \
  ::suite::cases::CaseOption([](::suite::cases::CaseOptions& options) { \
    ::suite::cases::dat::append_calls(options, #__VA_ARGS__);           \
  })

/// `names`: separated by commas.
void append_calls(CaseOptions& options, std::string_view names);

// ---------------------------------------------------------------- the table of one file

namespace {  // each file counts its own cases
constexpr int counter_before_cases = __COUNTER__;
template <int Number>
struct NumberedCase;  // specialised by DAT_CASE

struct AppendCase {
  std::vector<DatCase>& table;
  std::string_view folder, file;
  template <typename Type>
  void operator()() const {
    CaseOptions options = Type::options();
    table.push_back(
        {.row = make_row(folder, file, Type::slug, Type::source_file, Type::line, options),
         .calls = std::move(options.calls),
         .hostile = options.hostile,
         .in_kernel = folder == "kdat",
         .run = [](DatContext& context) { Type(context).body(); }});
  }
};
}  // namespace

}  // namespace suite::cases::dat

/// One case. The arguments after the slug are options: calls(...), rules(...) always,
/// deadline_of(...), with_hostile_handles.
#define DAT_CASE(name, ...) RNIC_CASE(DatBody, name, __VA_ARGS__)

/// The last line of a file: defines `dat_<file>()`, which dat_table.cpp lists.
#define DAT_CASES_OF_FILE(file) DAT_CASE_TABLE(dat_##file, "dat", #file)

/// The same for a file that holds part of the cases of `group`: <group>_<part>.cpp. Their ids are
/// `dat.<group>.<slug>`.
#define DAT_CASES_OF_PART(group, part) DAT_CASE_TABLE(dat_##group##_##part, "dat", #group)

#define DAT_CASE_TABLE(function, folder, prefix)                                    \
  std::vector<DatCase> function() {                                                 \
    std::vector<DatCase> table;                                                     \
    for_each_case<NumberedCase, counter_before_cases + 1>(                          \
        AppendCase{table, folder, prefix},                                          \
        std::make_integer_sequence<int, __COUNTER__ - counter_before_cases - 1>{}); \
    return table;                                                                   \
  }
