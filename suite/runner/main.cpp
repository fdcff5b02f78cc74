// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-suite: the conformance suite's program.
#include "suite/cases/framework/boost_executor.hpp"
#include "suite/runner/sentinel.hpp"
#include "suite/runner/suite_parts.hpp"
#include "suite/upper_tester/reference/reference_iut.hpp"

int main(int argc, char** argv) {
  using namespace suite;
  std::unique_ptr<cases::BoostExecutor> executor;  // made where cases run: Boost.Test is one per process
  const runner::SuiteParts parts{
      .table = cases::all_cases(),
      .sentinel = runner::sentinel(),
      .execute =
          [&executor](const cases::Case& one, cases::Environment& environment) {
            if (!executor) executor = std::make_unique<cases::BoostExecutor>();
            return executor->run_case(one, environment);
          },
      .make_reference = [](rnic::llp::World& world, rnic::llp::Network& network,
                           std::span<const rnic::stream::Deviation> deviations) -> std::unique_ptr<iut::Iut> {
        return upper_tester::reference::make_reference_iut(world, network, deviations);
      }};
  return runner::run_program(parts, argc, argv);
}
