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
/// Octets of RDMA Writes and Read Responses that no dissector above decodes, in one file: with all of
/// them, a file would take its size in memory.
constexpr std::size_t most_for_display = MessageAssembly::longest;

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
  const FrameFacts facts = std::exchange(latest_, {});
  const auto events = std::move(latest_events_);
  if (facts.connection != nullptr) {
    Kept& here = kept(number_);
    here.connection = facts.connection;
    here.direction = facts.direction;
  }
  settle_fpdus(facts.fpdus);
  if (events) forget_octets(*events);
  decoded_above_.clear();
  if (!events) return;
  if (!kept(number_).events && concern_only(number_, *events))
    kept(number_).events = std::make_unique<Events>(std::move(*events));
  else
    distribute(*events);
}

void FactStore::forget_octets(Events& events) {
  for (MessageFact& fact : events.joined) {
    if (is_send(fact.head.opcode) ||
        std::ranges::find(decoded_above_, &fact) != decoded_above_.end())
      continue;
    if (kept_for_display_ + fact.payload.length <= most_for_display)
      kept_for_display_ += fact.payload.length;
    else
      fact.payload = {};
  }
}

void FactStore::settle_fpdus(std::span<const FpduFact> fpdus) {
  for (auto rest = fpdus; !rest.empty();) {
    const std::uint32_t frame = frame_of(rest.front().place);
    const auto of_another = [&](const FpduFact& fact) { return frame_of(fact.place) != frame; };
    const auto end = std::ranges::find_if(rest, of_another);
    const auto of_this = rest.first(static_cast<std::size_t>(end - rest.begin()));
    for (const FpduFact& fact : of_this) {
      if (fact.request_frame != 0) responses_.emplace(fact.request_frame, frame);
      if (fact.blamed_frame != 0) blamed_by_.emplace(fact.blamed_frame, frame);
    }
    kept(frame).fpdus.add(of_this, frame);
    rest = rest.subspan(of_this.size());
  }
}

bool FactStore::concern_only(std::uint32_t number, const Events& events) const {
  const auto is_here = [&](const auto& fact) { return frame_of(fact.place) == number; };
  const auto is_told_here = [&](const auto& fact) { return fact.frame == number; };
  return std::ranges::all_of(events.mpa_frames, is_here) &&
         std::ranges::all_of(events.findings, is_told_here) &&
         std::ranges::all_of(events.notes, is_told_here);
}

void FactStore::distribute(Events& events) {
  for (MpaFrameFact& fact : events.mpa_frames)
    events_of(frame_of(fact.place)).mpa_frames.push_back(std::move(fact));
  for (MessageFact& fact : events.joined) events_of(number_).joined.push_back(std::move(fact));
  for (Finding& fact : events.findings) events_of(fact.frame).findings.push_back(std::move(fact));
  for (NoteFact& fact : events.notes) events_of(fact.frame).notes.push_back(std::move(fact));
}

const FrameFacts* FactStore::facts(std::uint32_t number, base::Bytes frame) {
  if (number >= frames_.size()) return nullptr;
  const Kept& here = frames_[number];
  if (here.connection == nullptr && !here.events && here.fpdus.empty()) return nullptr;
  shown_ = {.connection = here.connection,
            .direction = here.direction,
            .fpdus = here.fpdus.unpacked(number, frame),
            .responses = {},
            .blamed_by = {},
            .events = here.events ? here.events.get() : &no_events};
  const auto linked = [number](const auto& links, std::vector<std::uint32_t>& to) {
    const auto [begin, end] = links.equal_range(number);
    for (auto link = begin; link != end; ++link) to.push_back(link->second);
    std::ranges::sort(to);
  };
  linked(responses_, shown_.responses);
  linked(blamed_by_, shown_.blamed_by);
  if (here.connection == nullptr) return &shown_;
  const Conversation& between = *connections_[here.connection->ordinal - 1];
  for (FpduFact& fact : shown_.fpdus) {
    const auto& joined = between.joined_in[index_of(fact.place.direction)];
    if (const auto found = joined.find(fact.message); found != joined.end())
      fact.joined_in = found->second;
  }
  return &shown_;
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

FactStore::Kept& FactStore::kept(std::uint32_t number) {
  if (number >= frames_.size()) frames_.resize(std::size_t{number} + 1);
  return frames_[number];
}

Events& FactStore::events_of(std::uint32_t number) {
  auto& events = kept(number).events;
  if (!events) events = std::make_unique<Events>();
  return *events;
}

Events& FactStore::current() {
  if (!latest_events_) latest_events_ = std::make_unique<Events>();
  latest_.events = latest_events_.get();
  return *latest_events_;
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

bool FactStore::crc_in_frame(const FpduFact& fact) const {
  return fact.crc == analyzer::Crc::right && fact.ulpdu.in_frame &&
         fact.crc_after(frame_) == fact.crc_value;
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
  fact.crc_in_frame = crc_in_frame(fact);
  latest_.fpdus.push_back(std::move(fact));
}

void FactStore::message(const analyzer::Connection& connection, const analyzer::MessageSeen& seen) {
  // A message is reported after its FPDU.
  if (seen.fpdu == nullptr || latest_.fpdus.empty()) return;
  FpduFact& fact = latest_.fpdus.back();
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
    const std::uint32_t exchange = exchange_of(between, joined->head, direction, joined->payload);
    if (joined->frames.size() > 1)
      between.joined_in[index_of(direction)][joined->head.number] = number_;
    KeptOctets octets;
    octets.length = static_cast<std::uint32_t>(joined->payload.size());
    octets.copy = std::move(joined->payload);
    current().joined.push_back({.head = joined->head,
                                .direction = direction,
                                .frames = std::move(joined->frames),
                                .payload = std::move(octets),
                                .exchange = exchange});
  } else if (concerns_upper_layers(fact.opcode) && !payload.empty() &&
             seen.fpdu->ulpdu.size() == seen.fpdu->ulpdu_length) {
    fact.exchange = exchange_of(between, head_of(seen), direction, payload);
  }
}

/// The number of the exchange that a whole message belongs to.
std::uint32_t FactStore::exchange_of(Conversation& between, const MessageHead& head,
                                     analyzer::Direction direction, analyzer::Bytes payload) {
  const std::uint32_t fresh = ++between.exchanges;
  auto& requests = between.reads[index_of(direction)];
  auto& answered = between.reads[index_of(opposite(direction))];
  if (const auto read = read_request_in(head, payload)) {
    if (requests.size() >= most_reads) requests.clear();
    requests[{read->sink_stag.value(), read->sink_offset.value()}] = fresh;
  } else if (head.opcode == wire::Opcode::read_response) {
    if (const auto request = answered.extract({head.stag, head.tagged_offset}))
      return request.mapped();
  }
  return fresh;
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
