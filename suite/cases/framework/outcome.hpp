// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The outcome of one case: its verdict and all the evidence for it. Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "suite/lower_tester/evidence.hpp"

namespace suite::cases {

using lower_tester::ConnectionRecord;
using lower_tester::Direction;
using lower_tester::ExpectationRecord;
using lower_tester::Judgement;
using lower_tester::Offset;
using lower_tester::Step;
using lower_tester::StreamPlace;

enum class Verdict : std::uint8_t { pass, fail, inconclusive, not_applicable, error };
[[nodiscard]] const char* name(Verdict verdict);

/// One data row of a case: a sub-verdict of its own.
struct RowOutcome {
  std::string name;
  Verdict verdict = Verdict::pass;
  std::string reason;
};

struct CaseOutcome {
  Verdict verdict = Verdict::error;
  /// One line; empty only for pass.
  std::string reason;
  /// Advisories are among them.
  std::vector<ExpectationRecord> expectations;
  std::vector<RowOutcome> rows;
  /// Rules that the judge evaluated on what the IUT sent, whatever the case is about.
  std::vector<std::string> judged_in_frames;
  std::vector<Step> exchange;
  /// Every TCP connection used, to cut the capture by or to write a pcap from.
  std::vector<ConnectionRecord> connections;
  /// In the event loop's time.
  std::chrono::nanoseconds duration{};
};

}  // namespace suite::cases
