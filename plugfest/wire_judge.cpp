// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/wire_judge.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "dissectors/analyzer/analyzer.hpp"
#include "plugfest/segment_cuts.hpp"
#include "rules/catalogue.hpp"

namespace plugfest {

namespace {

namespace analyzer = dissectors::analyzer;
namespace capture = dissectors::capture;

constexpr std::size_t most_lines = 400, most_findings = 100, longest_line = 400;

std::string cut(std::string_view text) {
  return text.size() <= longest_line ? std::string(text)
                                     : fmt::format("{}...", text.substr(0, longest_line));
}

class Judge final : public analyzer::Sink {
 public:
  Judge(const WireQuery& query, Outcome& outcome) : cell_(query.cell), outcome_(outcome) {}

  void mpa_frame(const analyzer::Connection& connection,
                 const analyzer::MpaFrameSeen& seen) override {
    add(connection, seen.place, rnic::wire::describe(seen.frame));
  }
  void negotiated(const analyzer::Connection&, const analyzer::Negotiated& settled) override {
    settled_.push_back(settled);
  }
  void fpdu(const analyzer::Connection& connection, const analyzer::FpduSeen& seen) override {
    cuts_.fpdu(connection.number, side_of(connection, seen.place.direction), seen);
    if (seen.segment && seen.segment->rdmap().opcode() == rnic::wire::Opcode::terminate)
      terminates_.push_back(side_of(connection, seen.place.direction));
  }
  void message(const analyzer::Connection& connection, const analyzer::MessageSeen& seen) override {
    if (seen.fpdu != nullptr)
      add(connection, seen.fpdu->place,
          analyzer::describe_ulpdu(seen.fpdu->ulpdu, seen.fpdu->ulpdu_length));
  }
  void finding(const analyzer::Connection& connection, const analyzer::Finding& found) override {
    if (found.rule.id == SegmentCuts::rule) return cuts_.lost(connection.number, found.place);
    if (outcome_.findings.size() >= most_findings) return;
    const rules::Rule* rule = rules::find(found.rule.id);
    WireFinding made{.rule = std::string(found.rule.id),
                     .level = std::string(rule != nullptr ? rules::name(rule->level) : "must"),
                     .also = {},
                     .side = side_of(connection, found.place.direction),
                     .frame = found.place.last_frame,
                     .actual = cut(found.actual),
                     .admissible = cut(found.admissible),
                     .certain = found.certainty == analyzer::Certainty::certain};
    for (const rules::RuleId also : found.also) made.also.emplace_back(also.id);
    outcome_.findings.push_back(std::move(made));
  }

  void check(const WireExpectation& expectation, bool played_to_the_end);

 private:
  [[nodiscard]] std::optional<Side> side_of(const analyzer::Connection& connection,
                                            analyzer::Direction direction) const {
    return cell_.sender_of(
        {connection.sender(direction), connection.sender(analyzer::opposite(direction))});
  }
  void add(const analyzer::Connection& connection, const analyzer::Place& place,
           std::string_view text) {
    if (outcome_.wire.size() < most_lines)
      outcome_.wire.push_back({place.last_frame, side_of(connection, place.direction), cut(text)});
  }
  void judge_cuts();
  void expect_terminate(Side side);
  void compare(const std::string& what, const std::string& expected,
               const std::function<std::string(const analyzer::Negotiated&)>& actual);

  const CellTraffic& cell_;
  Outcome& outcome_;
  std::vector<analyzer::Negotiated> settled_;
  std::vector<std::optional<Side>> terminates_;  ///< who sent each
  SegmentCuts cuts_;
};

std::string yes_or_no(const std::optional<bool>& value) {
  if (!value) return "not seen";
  return *value ? "yes" : "no";
}

/// Of every connection that came up.
void Judge::compare(const std::string& what, const std::string& expected,
                    const std::function<std::string(const analyzer::Negotiated&)>& actual) {
  std::string came = settled_.empty() ? "no connection" : expected;
  for (const auto& settled : settled_)
    if (const std::string one = actual(settled); one != expected) came = one;
  outcome_.checks.push_back({Side::initiator, what, expected, came, came == expected});
}

void Judge::expect_terminate(Side side) {
  if (std::ranges::find(terminates_, std::optional(side)) != terminates_.end()) return;
  outcome_.findings.push_back({.rule = "rdmap.terminate.sent-on-rdmap-error",
                               .level = "should",
                               .also = {},
                               .side = side,
                               .actual = "no Terminate",
                               .admissible = "a Terminate before the connection ends"});
}

void Judge::judge_cuts() {
  outcome_.cuts = cuts_.counted();
  for (const Cuts& cuts : outcome_.cuts)
    if (unaligned(cuts))
      outcome_.findings.push_back(
          {.rule = std::string(SegmentCuts::rule),
           .level = "should",
           .also = {},
           .side = cuts.side,
           .frame = cuts.frame,
           .actual = fmt::format("{} of {} TCP segments begin within an FPDU", cuts.within,
                                 cuts.segments),
           .admissible = "many of them begin with an FPDU"});
}

void Judge::check(const WireExpectation& expectation, bool played_to_the_end) {
  judge_cuts();
  for (WireFinding& finding : outcome_.findings)
    for (const auto& [side, rule] : expectation.provoked)
      if (finding.side == side && finding.rule == rule) finding.provoked = true;
  if (!played_to_the_end) return;
  if (expectation.terminate_from) expect_terminate(*expectation.terminate_from);
  if (expectation.revision)
    compare("MPA revision on the wire", std::to_string(*expectation.revision),
            [](const auto& it) { return it.revision ? std::to_string(*it.revision) : "not seen"; });
  if (expectation.crc)
    compare("CRCs on the wire", *expectation.crc ? "yes" : "no",
            [](const auto& it) { return yes_or_no(it.crc); });
  if (expectation.markers) {
    compare("Markers of one end", *expectation.markers ? "yes" : "no",
            [](const auto& it) { return yes_or_no(it.markers_from_first); });
    compare("Markers of the other end", *expectation.markers ? "yes" : "no",
            [](const auto& it) { return yes_or_no(it.markers_from_second); });
  }
  if (expectation.peer_to_peer)
    compare("peer to peer on the wire", *expectation.peer_to_peer ? "yes" : "no",
            [](const auto& it) { return yes_or_no(it.peer_to_peer); });
}

}  // namespace

void judge_wire(std::span<const capture::Frame> frames, const WireQuery& query, Outcome& outcome) {
  Judge judge(query, outcome);
  analyzer::Analyzer analysis(analyzer::Options{}, judge);
  std::uint32_t number = 0;
  bool seen = false;
  for (const capture::Frame& frame : frames) {
    ++number;
    const auto segment = capture::parse_segment(query.link, frame.octets);
    if (!segment || !query.cell.has(segment->flow)) continue;
    seen = true;
    analysis.segment(*segment, number, frame.time);
  }
  analysis.finish();
  // The wire then says nothing of what was demanded of it; a scenario that ended early may never
  // have connected.
  if (!seen && query.played_to_the_end) {
    if (outcome.capture_trouble.empty())
      outcome.capture_trouble = "the capture shows no connection between the two ends";
    return;
  }
  judge.check(query.expectation, query.played_to_the_end);
}

}  // namespace plugfest
