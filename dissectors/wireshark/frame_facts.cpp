// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissectors/wireshark/frame_facts.hpp"

#include <functional>
#include <utility>

namespace dissectors::wireshark {

std::size_t FactStore::FlowHash::operator()(const capture::Flow& flow) const {
  const auto of = [](const capture::Endpoint& end) {
    const std::string_view address(reinterpret_cast<const char*>(end.address.data()),
                                   end.address.size());
    return std::hash<std::string_view>{}(address) * 31 + end.port;
  };
  return of(flow.from) * 31 + of(flow.to);
}

void FactStore::begin(std::uint32_t number, capture::Octets frame) {
  settle();
  number_ = number;
  frame_ = frame;
}

void FactStore::belongs(const capture::Flow& flow) {
  const auto found = by_flow_.find(flow.canonical());
  if (found == by_flow_.end()) return;
  latest_.connection = found->second;
  latest_.direction = flow.from == found->second->connection.first
                          ? analyzer::Direction::from_first
                          : analyzer::Direction::from_second;
  frame_ = {};
}

void FactStore::settle() {
  frame_ = {};
  const FrameFacts facts = std::exchange(latest_, {});
  if (facts.connection != nullptr) {
    frames_[number_].connection = facts.connection;
    frames_[number_].direction = facts.direction;
  }
  if (!facts.events) return;
  for (MpaFrameFact& fact : facts.events->mpa_frames)
    events_of(frame_of(fact.place)).mpa_frames.push_back(std::move(fact));
  for (FpduFact& fact : facts.events->fpdus) {
    const std::uint32_t frame = frame_of(fact.place);
    if (fact.request_frame != 0) events_of(fact.request_frame).responses.push_back(frame);
    events_of(frame).fpdus.push_back(std::move(fact));
  }
  for (Finding& fact : facts.events->findings)
    events_of(fact.frame).findings.push_back(std::move(fact));
  for (NoteFact& fact : facts.events->notes) events_of(fact.frame).notes.push_back(std::move(fact));
}

const FrameFacts* FactStore::facts(std::uint32_t number) const {
  const auto found = frames_.find(number);
  return found == frames_.end() ? nullptr : &found->second;
}

ConnectionFacts& FactStore::known(const analyzer::Connection& connection) {
  ConnectionFacts& facts = *connections_.at(base_ + connection.number - 1);
  facts.connection = connection;
  return facts;
}

void FactStore::opened(const analyzer::Connection& connection) {
  connections_.resize(base_ + connection.number);
  auto& facts = connections_.back();
  facts = std::make_unique<ConnectionFacts>();
  facts->connection = connection;
  by_flow_[capture::Flow{connection.first, connection.second}.canonical()] = facts.get();
}

std::uint32_t FactStore::frame_of(const analyzer::Place& place) const {
  if (place.last_frame != 0) return place.last_frame;
  return place.first_frame != 0 ? place.first_frame : number_;
}

Events& FactStore::events_of(std::uint32_t number) {
  auto& events = frames_[number].events;
  if (!events) events = std::make_unique<Events>();
  return *events;
}

Events& FactStore::current() {
  if (!latest_.events) latest_.events = std::make_unique<Events>();
  return *latest_.events;
}

KeptOctets FactStore::keep(analyzer::Bytes octets, const analyzer::Place& place) const {
  KeptOctets kept;
  kept.length = static_cast<std::uint32_t>(octets.size());
  const std::less_equal<> up_to;  // a total order also of pointers into different arrays
  const auto* frame_end = frame_.data() + frame_.size();
  kept.in_frame = !frame_.empty() && !octets.empty() && frame_of(place) == number_ &&
                  up_to(frame_.data(), octets.data()) &&
                  up_to(octets.data() + octets.size(), frame_end);
  if (kept.in_frame)
    kept.offset = static_cast<std::uint32_t>(octets.data() - frame_.data());
  else
    kept.copy.assign(octets.begin(), octets.end());
  return kept;
}

void FactStore::mpa_frame(const analyzer::Connection& connection,
                          const analyzer::MpaFrameSeen& seen) {
  known(connection).iwarp = true;
  current().mpa_frames.push_back(
      {.place = seen.place,
       .kind = seen.frame.kind,
       .flags = seen.frame.flags,
       .revision = seen.frame.revision,
       .private_data = static_cast<std::uint32_t>(seen.frame.private_data.size()),
       .octets = keep(seen.octets, seen.place)});
}

void FactStore::negotiated(const analyzer::Connection& connection,
                           const analyzer::Negotiated& settled) {
  known(connection).negotiated = settled;
}

void FactStore::fpdu(const analyzer::Connection& connection, const analyzer::FpduSeen& seen) {
  known(connection).iwarp = true;
  FpduFact fact{.place = seen.place,
                .ulpdu_length = seen.ulpdu_length,
                .ulpdu = keep(seen.ulpdu, seen.place),
                .pad = {seen.pad.begin(), seen.pad.end()},
                .crc = seen.crc,
                .crc_value = seen.crc_value,
                .crc_expected = seen.crc_expected,
                .markers = {seen.markers.begin(), seen.markers.end()},
                .begins_segment = seen.begins_segment,
                .ends_segment = seen.ends_segment,
                .in_one_segment = seen.in_one_segment,
                .certainty = seen.certainty};
  if (seen.segment) {
    fact.has_segment = true;
    fact.tagged = seen.segment->tagged;
    fact.opcode = seen.segment->rdmap().opcode();
    fact.payload_octets = seen.segment->payload.size();
  }
  current().fpdus.push_back(std::move(fact));
}

void FactStore::message(const analyzer::Connection&, const analyzer::MessageSeen& seen) {
  // It follows the FPDU that it is about.
  if (seen.fpdu == nullptr || current().fpdus.empty()) return;
  FpduFact& fact = current().fpdus.back();
  fact.first_segment = seen.first_segment;
  fact.last_segment = seen.last_segment;
  fact.message = seen.message;
  fact.message_octets = seen.message_octets;
  fact.request_frame = seen.request_frame;
  fact.response_time = seen.response_time;
}

void FactStore::finding(const analyzer::Connection& connection, const analyzer::Finding& found) {
  known(connection);
  Finding fact{.place = found.place,
               .rule = found.rule.id,
               .also = {},
               .actual = found.actual,
               .admissible = found.admissible,
               .certainty = found.certainty,
               .frame = frame_of(found.place)};
  for (const rules::RuleId rule : found.also) fact.also.push_back(rule.id);
  current().findings.push_back(std::move(fact));
}

void FactStore::note(const analyzer::Connection& connection, const analyzer::Note& said) {
  // What is said of other people's connections is nothing that a reader of iWARP looks for.
  if (!known(connection).iwarp) return;
  current().notes.push_back({.kind = said.kind, .text = said.text, .frame = frame_of(said.place)});
}

}  // namespace dissectors::wireshark
