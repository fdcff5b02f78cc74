// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/verdict.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "suite/results/outcome.hpp"
#include "suite/results/suite_version.hpp"

namespace plugfest {

namespace {

Fault blame(bool initiator, bool responder) {
  if (initiator && responder) return Fault::both;
  if (initiator) return Fault::initiator;
  return responder ? Fault::responder : Fault::unknown;
}

bool counts(const WireFinding& finding) { return !finding.provoked; }

bool is_broken_must(const WireFinding& finding) {
  return counts(finding) && finding.level == "must";
}

bool broken_by(const WireFinding& finding, Side side) {
  return is_broken_must(finding) && finding.side == side;
}

}  // namespace

bool unaligned(const Cuts& cuts) {
  // Measured with the kernel's TCP: up to a fifth if each FPDU is given to it as a record, up to
  // four fifths if an FPDU merely has the size of the EMSS, which section 5.1 gives as an example;
  // nine tenths if it ignores FPDUs.
  constexpr std::uint64_t enough = 100, all = 8, most = 7;
  return cuts.segments >= enough && all * cuts.within >= most * cuts.segments;
}

namespace {

/// Whether the wire shows which side is at fault.
bool is_shown(Fault fault) { return fault != Fault::none && fault != Fault::unknown; }

void judge_what_was_seen(Outcome& outcome) {
  const auto failed = std::ranges::find(outcome.checks, false, &Check::good);
  const auto must = std::ranges::find_if(outcome.findings, is_broken_must);
  const bool short_of_checks = failed != outcome.checks.end();
  if (short_of_checks)
    outcome.reason = fmt::format("{}: {}: expected {}, came {}", name(failed->side), failed->what,
                                 failed->expected, failed->actual);
  else if (must != outcome.findings.end())
    outcome.reason = fmt::format("{} sent, in frame {}, {}; {} ({})",
                                 must->side ? name(*must->side) : "somebody", must->frame,
                                 must->actual, must->admissible, must->rule);
  if (short_of_checks || must != outcome.findings.end()) {
    const auto by = [&](Side side) {
      return std::ranges::any_of(outcome.findings,
                                 [side](const WireFinding& it) { return broken_by(it, side); });
    };
    outcome.verdict = Verdict::fail;
    outcome.fault = blame(by(Side::initiator), by(Side::responder));
    return;
  }
  outcome.fault = Fault::none;
  if (outcome.checks.empty()) {  // a scenario without checks proves nothing
    outcome.verdict = Verdict::error;
    outcome.reason = "the scenario checked nothing";
  } else if (const auto soft = std::ranges::find_if(outcome.findings, counts);
             soft != outcome.findings.end()) {
    outcome.verdict = Verdict::pass;
    outcome.advisory = true;
    outcome.reason = fmt::format("{} ({})", soft->actual, soft->rule);
  } else if (!outcome.capture_trouble.empty()) {
    outcome.verdict = Verdict::inconclusive;
    outcome.reason =
        "both sides report success, but the wire was not captured: " + outcome.capture_trouble;
  } else {
    outcome.verdict = Verdict::pass;
  }
}

}  // namespace

void judge(Outcome& outcome, const std::optional<ScenarioStop>& stopped) {
  judge_what_was_seen(outcome);
  if (!stopped || !stopped->verdict) return;
  // The fault that the wire shows stands; the rest is as the scenario says.
  outcome.verdict = *stopped->verdict;
  outcome.advisory = false;
  outcome.reason = stopped->reason;
  if (!is_shown(outcome.fault) || outcome.verdict == Verdict::not_applicable)
    outcome.fault = stopped->fault;
}

Outcome error_outcome(std::string reason, double seconds) {
  Outcome outcome;
  outcome.suite = suite::results::suite_version();
  outcome.fault = Fault::unknown;
  outcome.reason = std::move(reason);
  outcome.seconds = seconds;
  return outcome;
}

void add_kernel_complaint(Outcome& outcome, Side side, const std::string& complaint) {
  const Fault own = side == Side::initiator ? Fault::initiator : Fault::responder;
  const bool other_too =
      outcome.verdict == Verdict::fail && is_shown(outcome.fault) && outcome.fault != own;
  outcome.verdict = Verdict::fail;
  outcome.advisory = false;
  outcome.fault = other_too ? Fault::both : own;
  outcome.reason =
      fmt::format("the {}'s {}: {}{}{}", name(side), suite::results::words_for_incident,
                  complaint.substr(0, complaint.find('\n')), outcome.reason.empty() ? "" : "; ",
                  outcome.reason);
  outcome.said.push_back({side, "kernel log:\n" + complaint});
}

}  // namespace plugfest
