// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The result of a cell: the verdict, the side at fault if the wire shows it, and the evidence.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/table.hpp"
#include "suite/results/outcome.hpp"
#include "suite/results/record.hpp"

namespace plugfest {

using base::record::name;
using suite::results::Verdict;

enum class Side : std::uint8_t { initiator, responder };
constexpr auto names_of(Side) { return std::array{"initiator", "responder"}; }
[[nodiscard]] constexpr Side other(Side side) {
  return side == Side::initiator ? Side::responder : Side::initiator;
}

enum class Fault : std::uint8_t { none, initiator, responder, both, unknown };
constexpr auto names_of(Fault) {
  return std::array{"none", "initiator", "responder", "both", "unknown"};
}

/// Something that one side had to show. It judges no rule, unlike an expectation of a case
/// (results::ExpectationRecord): it reports that something went wrong, and the wire shows whose
/// fault it is.
struct Check {
  Side side = Side::initiator;
  std::string what, expected, actual;
  bool good = false;
  std::optional<std::uint64_t> times{};  ///< how many equal ones it stands for; nothing: itself
};
[[nodiscard]] inline std::uint64_t times(const Check& check) { return check.times.value_or(1); }

/// A rule that the capture shows broken.
struct WireFinding {
  std::string rule, level;
  std::vector<std::string> also;  ///< rules that the same fault breaks
  std::optional<Side> side;       ///< the side that sent it; nothing: neither address fits
  std::uint32_t frame = 0;        ///< of the cell's capture
  std::string actual, admissible;
  bool certain = true;
  bool provoked = false;  ///< the scenario provoked it
};

/// How TCP cut the octets of one side into segments. It is recorded of each cell, and no ground of a
/// verdict where TCP's timing may have done it (docs/disputes.md, D53).
struct Cuts {
  std::optional<Side> side;    ///< nothing: neither address fits
  std::uint64_t segments = 0;  ///< with FPDUs, where alignment was in the sender's hands
  std::uint64_t within = 0;    ///< those of them that begin within an FPDU
  std::uint32_t frame = 0;     ///< of the cell's capture: the first of those
};
/// Whether a sender cuts its stream without regard to FPDUs: of a hundred segments or more, at least
/// seven in eight begin within one.
[[nodiscard]] bool unaligned(const Cuts& cuts);

/// One line of what happened, for people.
struct Step {
  double at = 0;  ///< seconds since the cell began
  std::optional<Side> side;
  std::string text;
};

/// One decoded message of the wire.
struct WireLine {
  std::uint32_t frame = 0;
  std::optional<Side> side;
  std::string text;
};

/// The end of what an agent wrote to its standard error.
struct AgentOutput {
  Side side = Side::initiator;
  std::string text;
};

/// One of several captures of a cell.
struct CaptureRecord {
  std::string place, pcap, pcap_sha256;
  std::uint64_t frames = 0, dropped = 0;
  std::string trouble;
  bool judged = false;  ///< the wire was judged by this one
};

/// What the hello of one side's agent says.
struct HostFacts {
  Side side = Side::initiator;
  suite::results::Identity identity;
};

/// How one attempt at a cell ended.
struct Outcome {
  std::string start;  ///< UTC; empty: it was not started
  /// What played and judged it: a run may be continued by a later one.
  suite::results::SuiteVersion suite{};
  std::vector<HostFacts> hosts;
  /// Whose agent did not start: the cell says nothing, and the host may be down.
  std::optional<Side> absent;
  Verdict verdict = Verdict::error;
  bool advisory = false;  ///< beside the verdict pass: a SHOULD was not kept
  Fault fault = Fault::none;
  std::string reason;  ///< one line; empty if nothing went wrong
  double seconds = 0;
  std::vector<Check> checks;
  std::vector<WireFinding> findings;
  std::vector<Cuts> cuts;
  std::vector<Step> steps;
  std::vector<WireLine> wire;
  std::string pcap;  ///< file in the results folder; empty: not captured
  std::string pcap_sha256;
  std::uint64_t frames = 0, dropped = 0;
  /// Why the capture is missing, incomplete, or contradicted by another one.
  std::string capture_trouble;
  /// All of them, if there are several; the members above are of the one that was judged.
  std::vector<CaptureRecord> captures;
  std::vector<AgentOutput> said;
};

/// Ends a scenario before its last line; the checks made so far stand.
struct ScenarioStop {
  /// Nothing: as the checks say.
  std::optional<Verdict> verdict;
  Fault fault = Fault::unknown;
  std::string reason;
};

/// Decides verdict, fault and reason of a cell: from its checks, from what the wire shows, and from
/// what stopped the scenario, if anything did.
void judge(Outcome& outcome, const std::optional<ScenarioStop>& stopped = std::nullopt);

/// An outcome without a verdict, with the reason only.
[[nodiscard]] Outcome error_outcome(std::string reason, double seconds = 0);

/// The kernel of one side's host complained while the cell was played: that fails the cell,
/// whatever else was seen in it.
void add_kernel_complaint(Outcome& outcome, Side side, const std::string& complaint);

}  // namespace plugfest
