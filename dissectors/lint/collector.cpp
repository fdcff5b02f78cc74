// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/lint/collector.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/glob.hpp"
#include "reference_rnic/wire/notation.hpp"

namespace dissectors::lint {

using analyzer::Connection;

Collector::Held& Collector::held(const Connection& connection) {
  // One segment causes many calls for the same connection.
  if (latest_ == nullptr || latest_->summary.connection.number != connection.number)
    latest_ = &held_[connection.number];
  ConnectionSummary& summary = latest_->summary;
  if (summary.connection.number == 0) {
    summary.connection = connection;  // as it is known so far: closed() has the last word
    summary.first_frame = frame_;
    summary.first_time = time_;
  }
  return *latest_;
}

Collector::Held& Collector::active(const Connection& connection) {
  Held& it = held(connection);
  it.summary.last_frame = frame_;
  it.summary.last_time = time_;
  return it;
}

void Collector::add(const Connection& connection, decltype(Record::what) what) {
  records_.push_back(
      {.frame = frame_, .time = time_, .connection = connection, .what = std::move(what)});
}

void Collector::remember(Held& held, const analyzer::Place& place, analyzer::Bytes octets) {
  Recent& recent = held.recent[std::to_underlying(place.direction)];
  recent.place = place;
  recent.count = static_cast<std::uint8_t>(std::min(octets.size(), recent.octets.size()));
  if (octets.size() >= sizeof recent.octets)  // nearly always; the length is then known here
    std::memcpy(recent.octets.data(), octets.data(), sizeof recent.octets);
  else
    std::ranges::copy(octets, recent.octets.begin());
  // A broken rule of framing is reported before the FPDU itself.
  for (auto last = records_.rbegin(); last != records_.rend() && last->frame == frame_; ++last) {
    auto* violation = std::get_if<Violation>(&last->what);
    if (violation == nullptr || !violation->octets.empty() ||
        last->connection.number != held.summary.connection.number ||
        violation->finding.place.direction != place.direction)
      break;
    illustrate(*violation, recent);
  }
}

void Collector::opened(const Connection& connection) {
  active(connection);
  add(connection, Opened{});
}

void Collector::mpa_frame(const Connection& connection, const analyzer::MpaFrameSeen& seen) {
  Held& it = active(connection);
  it.summary.iwarp = true;
  remember(it, seen.place, seen.octets);
  if (options_.messages)
    add(connection, Message{.place = seen.place, .text = rnic::wire::describe(seen.frame)});
}

void Collector::negotiated(const Connection& connection, const analyzer::Negotiated& settled) {
  held(connection).summary.negotiated = settled;
}

void Collector::fpdu(const Connection& connection, const analyzer::FpduSeen& seen) {
  Held& it = active(connection);
  it.summary.iwarp = true;
  Sent& sent = it.summary.sent(seen.place.direction);
  ++sent.fpdus;
  sent.markers += seen.markers.size();
  if (seen.segment) sent.payload += seen.segment->payload.size();
  remember(it, seen.place, seen.ulpdu);
}

void Collector::message(const Connection& connection, const analyzer::MessageSeen& seen) {
  if (seen.fpdu == nullptr) return;
  const analyzer::Place& place = seen.fpdu->place;
  if (seen.last_segment && seen.fpdu->segment) {
    const auto opcode = std::to_underlying(seen.fpdu->segment->rdmap().opcode());
    ++held(connection).summary.sent(place.direction).operations[opcode & 0x0FU];
  }
  if (options_.messages)
    add(connection,
        Message{.place = place,
                .text = analyzer::describe_ulpdu(seen.fpdu->ulpdu, seen.fpdu->ulpdu_length),
                .request_frame = seen.request_frame,
                .response_time = seen.response_time,
                .blamed_frame = seen.blamed_frame});
}

// The octets of the violation, if they are those decoded last.
void Collector::illustrate(Violation& violation, const Recent& recent) {
  const std::uint64_t begin = recent.place.offset, end = begin + recent.place.length;
  const std::uint64_t offset = violation.finding.place.offset;
  if (recent.count > 0 && offset >= begin && offset < end)
    violation.octets = rnic::wire::hex(std::span(recent.octets).first(recent.count));
}

bool Collector::wanted(const analyzer::Finding& found) const {
  const auto breaks_one = [&found](auto&& wanted) {
    return wanted(found.rule) || std::ranges::any_of(found.also, wanted);
  };
  const auto strong_enough = [this](rules::RuleId id) {
    const rules::Rule* rule = rules::find(id.id);
    return rule == nullptr || rule->level <= options_.level;
  };
  const auto chosen = [this](rules::RuleId id) {
    return options_.rules.empty() ||
           std::ranges::any_of(options_.rules, [&id](const std::string& pattern) {
             return base::matches_glob(pattern, std::string(id.id));
           });
  };
  return breaks_one(strong_enough) && breaks_one(chosen);
}

void Collector::finding(const Connection& connection, const analyzer::Finding& found) {
  Held& it = held(connection);
  if (!wanted(found)) return;
  ++it.summary.violations[found.rule.id];
  Violation violation{.finding = found};
  for (const rules::RuleId rule : found.also) violation.also.push_back(rule.id);
  violation.finding.also = {};
  illustrate(violation, it.recent[std::to_underlying(found.place.direction)]);
  add(connection, std::move(violation));
}

void Collector::note(const Connection& connection, const analyzer::Note& said) {
  ++held(connection).summary.notes[std::to_underlying(said.kind)];
  add(connection, said);
}

void Collector::ended(const Connection& connection, analyzer::Direction direction,
                      analyzer::Ending ending, const analyzer::Place&) {
  auto& told = active(connection).summary.sent(direction).ending;
  if (!told) told = ending;
}

void Collector::closed(const Connection& connection) {
  const auto found = held_.find(connection.number);
  if (found == held_.end()) return;
  found->second.summary.connection = connection;
  add(connection, std::move(found->second.summary));
  held_.erase(found);
  latest_ = nullptr;
}

}  // namespace dissectors::lint
