// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An analyzer for tests of the code that uses it: the first octet of each payload selects what it
// reports.
//   'M' an MPA Request, 'F' an FPDU and its message, 'B' a broken rule, 'N' a note
#include <map>
#include <vector>

#include "dissectors/analyzer/analyzer.hpp"

namespace dissectors::analyzer {

std::string_view name(NoteKind kind) {
  return kind == NoteKind::octets_missing ? "octets missing" : "another-note";
}

std::string describe_ulpdu(Bytes, std::size_t) { return "a \x1b[31mmessage"; }

struct Analyzer::State {
  Sink& sink;
  Counts counts;
  std::map<capture::Flow, Connection> connections;

  void say(const Connection& connection, const Place& place, Bytes payload) {
    using namespace rnic::wire;
    const UntaggedHeader header;
    switch (static_cast<char>(payload.front())) {
      case 'M':
        sink.mpa_frame(connection, {.place = place, .frame = {}, .octets = {}});
        sink.negotiated(connection, {});
        break;
      case 'F': {
        FpduSeen seen;
        seen.place = place;
        seen.ulpdu = payload;
        seen.segment = rnic::wire::Segment{
            .tagged = false, .tagged_header = {}, .untagged_header = header, .payload = payload};
        sink.fpdu(connection, seen);
        sink.message(connection, {.fpdu = &seen,
                                  .first_segment = true,
                                  .last_segment = true,
                                  .request_frame = 1,
                                  .response_time = 1'500'000});
        ++counts.fpdus;
        break;
      }
      case 'B':
        sink.finding(connection, {.rule = "ddp.terminate.tagged-base-or-bounds",
                                  .place = place,
                                  .actual = "\x1b]0;owned\x07 \xff",
                                  .admissible = "inside"});
        break;
      case 'N':
        sink.note(connection, {.kind = NoteKind::octets_missing, .place = place, .text = "a hole"});
        ++counts.notes[0];
        break;
      default:
        break;
    }
  }
};

Analyzer::Analyzer(const Options&, Sink& sink)
    : state_(new State{.sink = sink, .counts = {}, .connections = {}}) {}
Analyzer::Analyzer(Analyzer&&) noexcept = default;
Analyzer& Analyzer::operator=(Analyzer&&) noexcept = default;
Analyzer::~Analyzer() = default;

void Analyzer::segment(const capture::Segment& segment, std::uint32_t frame, std::uint64_t time) {
  auto found = state_->connections.find(segment.flow.canonical());
  if (found != state_->connections.end() && segment.syn && !segment.ack) {
    state_->sink.closed(found->second);
    state_->connections.erase(found);
    found = state_->connections.end();
  }
  if (found == state_->connections.end()) {
    const Connection fresh{.number = ++state_->counts.connections,
                           .first = segment.flow.from,
                           .second = segment.flow.to,
                           .role_of_first = Role::initiator};
    found = state_->connections.emplace(segment.flow.canonical(), fresh).first;
    state_->sink.opened(fresh);
  }
  const Direction direction =
      segment.flow.from == found->second.first ? Direction::from_first : Direction::from_second;
  const Place place{.direction = direction,
                    .offset = 0,
                    .length = segment.payload.size(),
                    .first_frame = frame,
                    .last_frame = frame,
                    .time = time};
  if (!segment.payload.empty()) state_->say(found->second, place, segment.payload);
  if (segment.fin) state_->sink.ended(found->second, direction, Ending::fin, place);
}

void Analyzer::age(std::uint64_t) {}
void Analyzer::treat_as_iwarp(std::uint16_t) {}
void Analyzer::finish() {
  for (const auto& [flow, connection] : state_->connections) state_->sink.closed(connection);
  state_->connections.clear();
}
const Counts& Analyzer::counts() const { return state_->counts; }
std::size_t Analyzer::memory() const { return 0; }

}  // namespace dissectors::analyzer
