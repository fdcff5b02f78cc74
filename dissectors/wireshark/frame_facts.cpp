// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissectors/wireshark/frame_facts.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace dissectors::wireshark {

namespace wire = rnic::wire;

namespace {

// No working connection has more of them outstanding.
constexpr std::size_t most_reads = 65536;

std::size_t index_of(analyzer::Direction direction) { return std::to_underlying(direction); }

}  // namespace

std::size_t FactStore::FlowHash::operator()(const capture::Flow& flow) const {
  const auto of = [](const capture::Endpoint& end) {
    const std::string_view address(reinterpret_cast<const char*>(end.address.data()),
                                   end.address.size());
    return std::hash<std::string_view>{}(address) * 31 + end.port;
  };
  return of(flow.from) * 31 + of(flow.to);
}

void FactStore::begin(std::uint32_t number, base::Bytes frame) {
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
  FrameFacts facts = std::exchange(latest_, {});
  if (facts.connection != nullptr) {
    FrameFacts& kept = facts_of(number_);
    kept.connection = facts.connection;
    kept.direction = facts.direction;
  }
  if (!facts.events) return;
  if (!facts_of(number_).events && concern_only(number_, *facts.events)) {
    facts_of(number_).events = std::move(facts.events);
    for (const MessageFact& fact : facts_of(number_).events->messages) point_to_whole(fact);
  } else {
    distribute(*facts.events);
  }
}

bool FactStore::concern_only(std::uint32_t number, const Events& events) const {
  const auto is_here = [&](const auto& fact) { return frame_of(fact.place) == number; };
  const auto is_told_here = [&](const auto& fact) { return fact.frame == number; };
  return std::ranges::all_of(events.mpa_frames, is_here) &&
         std::ranges::all_of(events.fpdus, is_here) &&
         std::ranges::all_of(events.fpdus,
                             [](const FpduFact& fact) {
                               return fact.request_frame == 0 && fact.blamed_frame == 0;
                             }) &&
         std::ranges::all_of(events.findings, is_told_here) &&
         std::ranges::all_of(events.notes, is_told_here);
}

void FactStore::distribute(Events& events) {
  for (MpaFrameFact& fact : events.mpa_frames)
    events_of(frame_of(fact.place)).mpa_frames.push_back(std::move(fact));
  for (FpduFact& fact : events.fpdus) {
    const std::uint32_t frame = frame_of(fact.place);
    if (fact.request_frame != 0) events_of(fact.request_frame).responses.push_back(frame);
    if (fact.blamed_frame != 0) events_of(fact.blamed_frame).blamed_by.push_back(frame);
    events_of(frame).fpdus.push_back(std::move(fact));
  }
  for (MessageFact& fact : events.messages) {
    point_to_whole(fact);
    events_of(number_).messages.push_back(std::move(fact));
  }
  for (Finding& fact : events.findings) events_of(fact.frame).findings.push_back(std::move(fact));
  for (NoteFact& fact : events.notes) events_of(fact.frame).notes.push_back(std::move(fact));
}

const FrameFacts* FactStore::facts(std::uint32_t number) const {
  const bool known = number < frames_.size();
  return known && (frames_[number].connection != nullptr || frames_[number].events)
             ? &frames_[number]
             : nullptr;
}

void FactStore::point_to_whole(const MessageFact& fact) {
  if (fact.frames.size() < 2) return;
  for (const std::uint32_t frame : fact.frames)
    for (FpduFact& part : events_of(frame).fpdus)
      if (part.message == fact.head.number && part.place.direction == fact.direction)
        part.joined_in = number_;
}

Conversation& FactStore::conversation(const analyzer::Connection& connection) {
  return *connections_.at(base_ + connection.number - 1);
}

ConnectionFacts& FactStore::known(const analyzer::Connection& connection) {
  ConnectionFacts& facts = conversation(connection).facts;
  facts.connection = connection;
  return facts;
}

void FactStore::opened(const analyzer::Connection& connection) {
  connections_.resize(base_ + connection.number);
  connections_.back() = std::make_unique<Conversation>();
  ConnectionFacts& facts = connections_.back()->facts;
  facts.connection = connection;
  facts.ordinal = static_cast<std::uint32_t>(connections_.size());
  by_flow_[capture::Flow{connection.first, connection.second}.canonical()] = &facts;
  latest_.opens = true;
}

std::uint32_t FactStore::frame_of(const analyzer::Place& place) const {
  if (place.last_frame != 0) return place.last_frame;
  return place.first_frame != 0 ? place.first_frame : number_;
}

FrameFacts& FactStore::facts_of(std::uint32_t number) {
  if (number >= frames_.size()) frames_.resize(std::size_t{number} + 1);
  return frames_[number];
}

Events& FactStore::events_of(std::uint32_t number) {
  auto& events = facts_of(number).events;
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
  const std::less_equal<> up_to;  // a total order, even for pointers into different arrays
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
  ConnectionFacts& facts = known(connection);
  facts.iwarp = true;
  if (seen.frame.kind == wire::MpaFrameKind::request) {
    const analyzer::Bytes of_ulp = seen.frame.ulp_private_data();
    facts.private_data.assign(of_ulp.begin(), of_ulp.end());
  }
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

void FactStore::message(const analyzer::Connection& connection, const analyzer::MessageSeen& seen) {
  // A message is reported after its FPDU.
  if (seen.fpdu == nullptr || current().fpdus.empty()) return;
  FpduFact& fact = current().fpdus.back();
  fact.first_segment = seen.first_segment;
  fact.last_segment = seen.last_segment;
  fact.message = seen.message;
  fact.message_octets = seen.message_octets;
  fact.request_frame = seen.request_frame;
  fact.response_time = seen.response_time;
  fact.blamed_frame = seen.blamed_frame;
  if (seen.message == 0) return;
  const analyzer::Direction direction = seen.fpdu->place.direction;
  const analyzer::Bytes payload = seen.fpdu->segment->payload;
  Conversation& between = conversation(connection);
  if (!seen.first_segment || !seen.last_segment) {
    auto joined = between.assemblies[index_of(direction)].take(seen, frame_of(seen.fpdu->place));
    if (!joined) return;
    KeptOctets kept;
    kept.length = static_cast<std::uint32_t>(joined->payload.size());
    kept.copy = std::move(joined->payload);
    whole(between, {.head = joined->head,
                    .direction = direction,
                    .frames = std::move(joined->frames),
                    .payload = std::move(kept)});
  } else if (concerns_upper_layers(fact.opcode) && !payload.empty() &&
             seen.fpdu->ulpdu.size() == seen.fpdu->ulpdu_length) {
    whole(between, {.head = head_of(seen),
                    .direction = direction,
                    .frames = {},
                    .payload = keep(payload, seen.fpdu->place)});
  }
}

void FactStore::whole(Conversation& between, MessageFact fact) {
  fact.exchange = ++between.exchanges;
  auto& requests = between.reads[index_of(fact.direction)];
  auto& answered = between.reads[index_of(opposite(fact.direction))];
  if (fact.head.opcode == wire::Opcode::read_request &&
      fact.payload.length == sizeof(wire::ReadRequestHeader)) {
    wire::Reader in(fact.payload.in_frame ? frame_.subspan(fact.payload.offset, fact.payload.length)
                                          : analyzer::Bytes(fact.payload.copy));
    fact.read = in.read<wire::ReadRequestHeader>();
    if (requests.size() >= most_reads) requests.clear();
    requests[{fact.read->sink_stag.value(), fact.read->sink_offset.value()}] = fact.exchange;
  } else if (fact.head.opcode == wire::Opcode::read_response) {
    if (const auto request = answered.extract({fact.head.stag, fact.head.tagged_offset}))
      fact.exchange = request.mapped();
  }
  current().messages.push_back(std::move(fact));
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
  // Notes about connections that are not iWARP are of no use to a reader of iWARP.
  if (!known(connection).iwarp) return;
  current().notes.push_back({.kind = said.kind, .text = said.text, .frame = frame_of(said.place)});
}

}  // namespace dissectors::wireshark
