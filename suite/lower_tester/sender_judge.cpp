// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lower_tester/sender_judge.hpp"

#include <utility>

#include "dissectors/analyzer/checked_rules.hpp"
#include "reference_rnic/wire/notation.hpp"

namespace suite::lower_tester {

namespace analyzer = dissectors::analyzer;

namespace {

constexpr auto ours = analyzer::Direction::from_first, theirs = analyzer::Direction::from_second;

bool holds(const analyzer::Place& place, std::uint64_t offset) {
  return offset >= place.offset && offset < place.offset + place.length;
}

}  // namespace

SenderJudge::SenderJudge(analyzer::Role role, Report report)
    : report_(std::move(report)),
      shared_{*this, {}, {}},
      judge_(shared_, analyzer::Connection{},
             analyzer::Knowledge{.tester = ours, .role_of_tester = role}) {}

analyzer::Place SenderJudge::next_place(analyzer::Direction direction, std::size_t length) {
  std::uint64_t& octets = octets_[std::to_underlying(direction)];
  ++events_;
  const analyzer::Place place{.direction = direction,
                              .offset = octets,
                              .length = length,
                              .first_frame = events_,
                              .last_frame = events_};
  octets += length;
  return place;
}

// ---------------------------------------------------------------- what goes by

void SenderJudge::sent_frame(wire::MpaFrameKind kind, wire::Bytes octets) {
  wire::Reader in(octets);
  const auto header = in.read<wire::MpaFrameHeader>();
  if (in.truncated() || finished_) return;
  judge_.sent({.place = next_place(ours, octets.size()),
               .frame = {.kind = kind,
                         .flags = header.flags,
                         .revision = header.revision,
                         .private_data = in.rest()},
               .octets = octets});
  report_waiting();
}

void SenderJudge::sent_fpdu(wire::Bytes ulpdu, bool intact) {
  if (!finished_) judge_.sent(ulpdu, next_place(ours, ulpdu.size()), intact);
}

void SenderJudge::sent_undescribed() {
  if (!finished_) judge_.sent_undescribed();
}

void SenderJudge::received(wire::Bytes octets, std::size_t emss) {
  if (finished_) return;
  const analyzer::Place place = next_place(theirs, octets.size());
  const std::uint64_t end = place.offset + place.length;
  judge_.emss(emss);
  judge_.octets(theirs, {.offset = place.offset,
                         .length = place.length,
                         .octets = octets,
                         .segment = {place.offset, end, place.last_frame, 0}});
  report_waiting();
}

// ---------------------------------------------------------------- the end

void SenderJudge::closed() {
  if (finished_) return;
  judge_.finish(theirs, analyzer::Rest::all_seen);
  judge_.ended(theirs, analyzer::Ending::fin, next_place(theirs, 0));
  report_waiting();
}

void SenderJudge::reset() {
  if (finished_) return;
  judge_.finish(theirs, analyzer::Rest::ended);
  judge_.ended(theirs, analyzer::Ending::reset, next_place(theirs, 0));
  report_waiting();
}

void SenderJudge::nothing_more_comes() {
  if (finished_) return;
  judge_.finish(theirs, analyzer::Rest::none_comes);
  report_waiting();
}

void SenderJudge::finish() {
  if (std::exchange(finished_, true)) return;
  judge_.finish(theirs, analyzer::Rest::unknown);
  judge_.close();
  report_waiting();
}

// ---------------------------------------------------------------- what the judge says

void SenderJudge::finding(const analyzer::Connection&, const analyzer::Finding& found) {
  if (found.certainty != analyzer::Certainty::certain) return;
  waiting_.push_back({.rule = found.rule.id,
                      .also = found.also,
                      .expected = found.admissible,
                      .actual = found.actual,
                      .hex = holds(latest_, found.place.offset) ? latest_hex_ : std::string{},
                      .place = {.connection = 0, .offset = found.place.offset}});
}

void SenderJudge::mpa_frame(const analyzer::Connection&, const analyzer::MpaFrameSeen& seen) {
  passed(seen.place, seen.octets);
}

void SenderJudge::fpdu(const analyzer::Connection&, const analyzer::FpduSeen& seen) {
  passed(seen.place, seen.ulpdu);
}

void SenderJudge::judged(const analyzer::Connection&, const analyzer::JudgedChecks& checks) {
  judged_rules_ = analyzer::rules_of(checks[std::to_underlying(theirs)]);
}

void SenderJudge::passed(const analyzer::Place& place, wire::Bytes octets) {
  if (place.direction != theirs) return;
  latest_ = place;
  latest_hex_ = wire::hex(octets);
  for (SenderFault& fault : waiting_)
    if (fault.hex.empty() && holds(latest_, fault.place.offset)) fault.hex = latest_hex_;
}

void SenderJudge::report_waiting() {
  for (SenderFault& fault : std::exchange(waiting_, {})) report_(std::move(fault));
}

}  // namespace suite::lower_tester
