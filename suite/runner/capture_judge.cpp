// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/capture_judge.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/hex.hpp"
#include "dissectors/analyzer/analyzer.hpp"
#include "dissectors/analyzer/checked_rules.hpp"
#include "suite/cases/framework/body_verdict.hpp"

namespace suite::runner {

namespace {

namespace analyzer = dissectors::analyzer;
using dissectors::capture::Flow;
using results::Verdict;

// Longer ones are cut in the results; the pcap has them complete.
constexpr std::size_t kept_octets = 2048;

std::string digits(analyzer::Bytes octets) {
  return base::to_hex(octets.first(std::min(octets.size(), kept_octets)));
}

// Keeps what is certain and attributed to the IUT, one finding for each rule.
class IutsFaults final : public analyzer::Sink {
 public:
  explicit IutsFaults(std::span<const Flow> to_iut) : to_iut_(to_iut) {}

  void mpa_frame(const analyzer::Connection& connection,
                 const analyzer::MpaFrameSeen& seen) override {
    passed(connection, seen.place, seen.octets);
  }
  void fpdu(const analyzer::Connection& connection, const analyzer::FpduSeen& seen) override {
    passed(connection, seen.place, seen.ulpdu);
  }
  void finding(const analyzer::Connection& connection, const analyzer::Finding& found) override {
    const auto which = connection_of_iut(connection, found.place.direction);
    if (found.certainty != analyzer::Certainty::certain || !which) return;
    const auto known = std::ranges::find(findings_, found.rule.id, &CaptureFinding::rule);
    if (known != findings_.end()) {
      ++known->count;
      return;
    }
    CaptureFinding one{.rule = std::string(found.rule.id),
                       .also = {},
                       .actual = found.actual,
                       .admissible = found.admissible,
                       .hex = {},
                       .frame = found.place.last_frame,
                       .time = found.place.time,
                       .place = {.connection = *which, .offset = found.place.offset}};
    for (const rules::RuleId other : found.also) one.also.emplace_back(other.id);
    const Recent& recent = recent_[std::to_underlying(found.place.direction)];
    if (recent.holds(connection.number, found.place)) one.hex = digits(recent.octets);
    findings_.push_back(std::move(one));
    latest_ = {connection.number, found.place};
  }

  void judged(const analyzer::Connection& connection,
              const analyzer::JudgedChecks& checks) override {
    for (const auto direction : {analyzer::Direction::from_first, analyzer::Direction::from_second})
      if (connection_of_iut(connection, direction))
        judged_.add(checks[std::to_underlying(direction)]);
  }

  [[nodiscard]] CaptureJudgement take() {
    CaptureJudgement judgement{.findings = std::move(findings_), .judged = {}};
    for (const rules::RuleId rule : analyzer::rules_of(judged_))
      judgement.judged.emplace_back(rule.id);
    return judgement;
  }

 private:
  // What was sent last in a direction.
  struct Recent {
    std::uint64_t connection = 0;
    analyzer::Place place;
    std::vector<std::byte> octets;
    [[nodiscard]] bool holds(std::uint64_t number, const analyzer::Place& where) const {
      return connection == number && where.offset >= place.offset &&
             where.offset < place.offset + place.length;
    }
  };
  struct Latest {
    std::uint64_t connection = 0;
    analyzer::Place place;
  };

  // The number of the connection, if the IUT sends in this direction.
  [[nodiscard]] std::optional<std::size_t> connection_of_iut(const analyzer::Connection& connection,
                                                             analyzer::Direction direction) const {
    const Flow flow{connection.sender(opposite(direction)), connection.sender(direction)};
    const auto found = std::ranges::find(to_iut_, flow);
    if (found == to_iut_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - to_iut_.begin());
  }
  void passed(const analyzer::Connection& connection, const analyzer::Place& place,
              analyzer::Bytes octets) {
    if (!connection_of_iut(connection, place.direction)) return;
    Recent& recent = recent_[std::to_underlying(place.direction)];
    recent.connection = connection.number;
    recent.place = place;
    const auto kept = octets.first(std::min(octets.size(), kept_octets));
    recent.octets.assign(kept.begin(), kept.end());
    // A broken rule of framing is reported before the FPDU itself.
    if (findings_.empty() || !findings_.back().hex.empty()) return;
    if (latest_.place.direction == place.direction &&
        recent.holds(latest_.connection, latest_.place))
      findings_.back().hex = digits(recent.octets);
  }

  std::span<const Flow> to_iut_;
  std::array<Recent, 2> recent_;
  Latest latest_;  ///< where the last of findings_ was
  std::vector<CaptureFinding> findings_;
  analyzer::CheckSet judged_;
};

// Of the rules that a fault breaks, a record made live names the one that the case is about.
bool is_recorded(std::span<const results::ExpectationRecord> live, const CaptureFinding& found) {
  return std::ranges::any_of(live, [&](const results::ExpectationRecord& one) {
    return one.place == found.place &&
           (one.rule == found.rule || std::ranges::find(found.also, one.rule) != found.also.end());
  });
}

std::string told(const CaptureFinding& found) {
  if (found.count == 1) return found.actual + " (seen in the capture)";
  return fmt::format("{} (seen in the capture, the first of {})", found.actual, found.count);
}

}  // namespace

CaptureJudgement judge_capture(dissectors::capture::LinkType link,
                               std::span<const dissectors::capture::Frame> frames,
                               std::span<const Flow> to_iut) {
  IutsFaults faults(to_iut);
  analyzer::Analyzer judge(analyzer::Options{}, faults);
  std::uint32_t number = 0;
  for (const auto& frame : frames) {
    ++number;
    if (const auto segment = dissectors::capture::parse_segment(link, frame.octets))
      judge.segment(*segment, number, frame.time);
  }
  judge.finish();
  return faults.take();
}

void add_findings(results::CaseRecord& record, std::span<const CaptureFinding> findings,
                  std::uint64_t start, bool strict) {
  const std::vector<std::string_view> aims(record.rules.begin(), record.rules.end());
  std::vector<results::ExpectationRecord> added;
  for (const CaptureFinding& found : findings) {
    if (is_recorded(record.outcome.expectations, found)) continue;
    const cases::FindingRuling ruling =
        cases::rule_on_finding({.rule = found.rule,
                                .also = {found.also.begin(), found.also.end()},
                                .aims = aims,
                                .strict = strict});
    results::ExpectationRecord one;
    one.rule = ruling.rule;
    one.admissible = {found.admissible};
    one.actual = told(found);
    one.hex = found.hex;
    one.judgement = ruling.judgement;
    one.direction = results::Direction::from_iut;
    one.at = std::chrono::nanoseconds(found.time - std::min(start, found.time));
    if (found.frame > 0) one.frame = found.frame;
    if (one.judgement == results::Judgement::advisory)
      record.advisories.push_back({one.rule, one.actual});
    if (one.judgement == results::Judgement::fail && record.outcome.verdict != Verdict::fail &&
        record.outcome.verdict != Verdict::error) {
      record.outcome.verdict = Verdict::fail;
      record.outcome.reason = cases::failure_text(one);
      record.outcome.deciding_rule = one.rule;
    }
    added.push_back(std::move(one));
  }
  record.outcome.expectations.insert(record.outcome.expectations.end(), added.begin(), added.end());
}

void doubt(results::CaseRecord& record, std::uint64_t dropped) {
  if (dropped == 0 || record.outcome.verdict != Verdict::pass) return;
  record.outcome.verdict = Verdict::inconclusive;
  record.outcome.reason = fmt::format(
      "the capture lost {} frames while the case ran, so not all that the IUT sent was judged",
      dropped);
}

}  // namespace suite::runner
