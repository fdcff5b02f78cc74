// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The Boost.Test executor gives the verdicts of run_case, over and over in one process. A plain
// program: Boost.Test is what it tests.
#include <cstdio>

#include "suite/cases/framework/boost_executor.hpp"
#include "suite/cases/tests/fake_iut.hpp"

namespace suite::cases {
std::vector<Case> mpa_startup();
}

int main() {
  using namespace suite::cases;
  FakeSetting setting;
  BoostExecutor executor;
  int wrong = 0, ran = 0;
  for (int round = 0; round < 3; ++round)
    for (const Case& a_case : mpa_startup()) {
      FakeSetting other;
      const CaseOutcome direct = run_case(a_case, other.environment);
      const CaseOutcome outcome = executor.run_case(a_case, setting.environment);
      ++ran;
      if (outcome.verdict == direct.verdict && outcome.reason == direct.reason) continue;
      ++wrong;
      std::printf("%s: %s (%s) in place of %s (%s)\n", a_case.id.c_str(), name(outcome.verdict),
                  outcome.reason.c_str(), name(direct.verdict), direct.reason.c_str());
    }
  std::printf("%d runs, %d wrong\n", ran, wrong);
  return wrong == 0 && ran > 30 ? 0 : 1;
}
