// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lower_tester/evidence.hpp"

namespace suite::lower_tester {

const char* name(Judgement judgement) {
  switch (judgement) {
    case Judgement::pass:
      return "pass";
    case Judgement::advisory:
      return "advisory";
    case Judgement::inconclusive:
      return "inconclusive";
    case Judgement::fail:
      return "fail";
  }
  return "?";
}

}  // namespace suite::lower_tester
