// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The macros for a file of cases. It includes this header, defines its cases, and ends with
// CASES_OF_FILE.
//
//   CONFORMANCE_CASE(write_beyond_bounds_is_rejected,
//                    rules("ddp.tagged.check-end-in-range",
//                          "ddp.terminate.tagged-base-or-bounds")) {
//     const Region region = iut.register_memory(4096, access::remote_write);
//     peer.send(rdma_write(region.stag, region.base + 4090, payload(16)));
//     expect_rejection({cause::ddp_tagged_base_or_bounds}, "ddp.tagged.check-end-in-range",
//                      "ddp.terminate.tagged-base-or-bounds");
//     expect(region, unchanged);
//   }
//
//   CASES_OF_FILE(ddp, tagged_validation)
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "suite/cases/framework/body.hpp"
#include "suite/cases/framework/case_table.hpp"

namespace suite::cases {

/// Appends the rows of one case: one per role, one more for IPv6.
void append_case(std::vector<Case>& table, Case row, const CaseOptions& options);

namespace {  // each file counts its own cases
constexpr int counter_before_cases = __COUNTER__;
template <int Number>
struct NumberedCase;  // specialised by CONFORMANCE_CASE

struct AppendCase {
  std::vector<Case>& table;
  std::string_view folder, file;
  template <typename Type>
  void operator()() const {
    const CaseOptions options = Type::options();
    Case row = make_row(folder, file, Type::slug, Type::source_file, Type::line, options);
    row.make = [](const Case& a_case, Environment& environment, lower_tester::Context& context,
                  CaseOutcome& outcome) -> std::unique_ptr<Body> {
      return std::make_unique<Type>(a_case, environment, context, outcome);
    };
    append_case(table, std::move(row), options);
  }
};
}  // namespace

}  // namespace suite::cases

/// One case. The arguments after the slug are options: rules(...) always, needs(...),
/// configured(...), in_both_roles, ... (case_options.hpp).
#define CONFORMANCE_CASE(name, ...) RNIC_CASE(Body, name, __VA_ARGS__)

/// The last line of a file: defines `<folder>_<file>_cases()`, which all_cases.cpp lists.
#define CASES_OF_FILE(folder, file)                                                 \
  std::vector<Case> RNIC_CASE_JOIN(folder, file)() {                                \
    std::vector<Case> table;                                                        \
    for_each_case<NumberedCase, counter_before_cases + 1>(                          \
        AppendCase{table, #folder, #file},                                          \
        std::make_integer_sequence<int, __COUNTER__ - counter_before_cases - 1>{}); \
    return table;                                                                   \
  }
