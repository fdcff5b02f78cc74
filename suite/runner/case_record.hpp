// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Turns a case and its outcome into the record that the results hold.
#pragma once

#include "suite/cases/framework/case.hpp"
#include "suite/results/record.hpp"
#include "suite/runner/frame_finder.hpp"

namespace suite::runner {

/// What the case itself says: everything but verdict and evidence.
[[nodiscard]] results::CaseRecord describe_case(const cases::Case& one);
/// Adds verdict and evidence. `finder` may be null: no pcap, no frame numbers.
void add_outcome(results::CaseRecord& record, const cases::CaseOutcome& outcome,
                 const FrameFinder* finder);
/// An outcome made by the runner itself, where the worker could give none.
[[nodiscard]] cases::CaseOutcome outcome_without_evidence(cases::Verdict verdict,
                                                          std::string reason);

}  // namespace suite::runner
