// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The outcome of one case, under the names that a case uses.
#pragma once

#include "suite/lower_tester/evidence.hpp"
#include "suite/results/outcome.hpp"

namespace suite::cases {

using results::CaseOutcome;
using results::ConnectionRecord;
using results::Direction;
using results::ExpectationRecord;
using results::Judgement;
using results::name;
using results::Offset;
using results::RowOutcome;
using results::Silence;
using results::Step;
using results::StreamPlace;
using results::Verdict;

}  // namespace suite::cases
