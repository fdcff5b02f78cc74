// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Turns a case and its outcome into the record in the results.
#pragma once

#include "suite/cases/framework/case.hpp"
#include "suite/results/record.hpp"
#include "suite/runner/frame_finder.hpp"

namespace suite::runner {

/// What is known from the case itself: everything except verdict and evidence.
[[nodiscard]] results::CaseRecord describe_case(const cases::Case& one);
/// A case writes its evidence for people: with blanks between octets, and `..` where the rest is
/// left out. Records hold only the digits.
void keep_digits_alone(results::CaseOutcome& outcome);
/// Adds frame numbers to the evidence of the outcome (none if `finder` is null, without a
/// pcap), cuts what is long, and lists the advisories.
void finish_evidence(results::CaseRecord& record, const FrameFinder* finder);
/// An outcome made by the runner itself, when the worker could report none.
[[nodiscard]] cases::CaseOutcome outcome_without_evidence(cases::Verdict verdict,
                                                          std::string reason);

}  // namespace suite::runner
