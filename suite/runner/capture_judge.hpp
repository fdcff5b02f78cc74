// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Judges a case a second time, by the frames of the case in the run's capture: for what only the
// TCP segments show, and for what arrived after the tester stopped receiving.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dissectors/capture/frame.hpp"
#include "suite/results/outcome.hpp"
#include "suite/results/record.hpp"

namespace suite::runner {

/// A rule that the IUT broke in a case, with the first place.
struct CaptureFinding {
  std::string rule;
  std::vector<std::string> also;  ///< rules that the same fault breaks
  std::string actual, admissible;
  std::string hex;          ///< digits; the startup frame or ULPDU that it is about, if any
  std::uint32_t frame = 0;  ///< in the case's pcap, from 1
  std::uint64_t time = 0;   ///< of that frame; nanoseconds since 1970
  results::StreamPlace place;
  std::uint64_t count = 1;  ///< how often in the case
};

struct CaptureJudgement {
  /// One for each rule that the IUT's side certainly broke. The reader of the pcap judges what is
  /// only likely.
  std::vector<CaptureFinding> findings;
  /// The rules that were evaluated on what the IUT's side sent, sorted: octets that could have
  /// broken them arrived.
  std::vector<std::string> judged;
};

/// `to_iut` names each connection from the tester to the IUT.
[[nodiscard]] CaptureJudgement judge_capture(dissectors::capture::LinkType link,
                                             std::span<const dissectors::capture::Frame> frames,
                                             std::span<const dissectors::capture::Flow> to_iut);

/// Adds them to a complete record as expectations that were not met, judged as those of the live
/// case are (cases::rule_on_finding). Findings that were made at the same place for the same rule
/// while the case ran are already in the record. `start` is the start of the attempt, in
/// nanoseconds since 1970.
void add_findings(results::CaseRecord& record, std::span<const CaptureFinding> findings,
                  std::uint64_t start, bool strict);

/// Frames that might show a violation are missing: a pass becomes inconclusive.
void doubt(results::CaseRecord& record, std::uint64_t dropped);

}  // namespace suite::runner
