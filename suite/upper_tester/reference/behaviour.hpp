// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the reference RNIC differs from one that conforms and uses no permission of the RFCs.
#pragma once

#include <vector>

#include "reference_rnic/deviants/deviation.hpp"
#include "reference_rnic/lawful/lawful.hpp"

namespace suite::upper_tester::reference {

struct Behaviour {
  std::vector<rnic::deviants::Deviation> deviations{};
  std::vector<rnic::lawful::Lawful> lawful{};
};

}  // namespace suite::upper_tester::reference
