// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lower_tester/wire_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/notation.hpp"
#include "suite/lower_tester/sender_judge.hpp"

namespace suite::lower_tester {

using base::TimePoint;
using rnic::llp::Connection;

namespace {

/// If the IUT answers no Read at all, nothing follows from what comes after one.
void note_request(wire::Bytes ulpdu, Evidence& evidence) {
  if (ulpdu.size() < 2 || wire::DdpControl{static_cast<std::uint8_t>(ulpdu[0])}.tagged()) return;
  const wire::RdmapControl control{static_cast<std::uint8_t>(ulpdu[1])};
  if (control.opcode() == wire::Opcode::read_request) evidence.reads.by_tester = true;
}

}  // namespace

void Context::note(Direction direction, std::string text, std::string hex) {
  if (records) evidence.exchange.push_back({now(), direction, std::move(text), std::move(hex)});
}

void Context::came(TimePoint since) {
  if (since < deadline) deadline = std::max(deadline, loop.now() + patience);
}

TimePoint Context::end_of_look(TimePoint until) const {
  constexpr int replies = 10;
  constexpr base::Duration most = std::chrono::seconds(1);
  if (until <= loop.now() || until >= deadline) return until;
  return std::max(until, std::min(deadline, loop.now() + std::min(replies * pace, most)));
}

void Context::look_on(base::Duration window, const std::function<bool()>& done) {
  loop.run_until(end_of_look(loop.now() + window), done);
}

// ---------------------------------------------------------------- opening and closing

WireEnd::WireEnd(Context& context) : context_(context) {}

WireEnd::~WireEnd() {
  finish_judging();
  if (can_send()) WireEnd::half_close();
}

void WireEnd::begin(MpaRole role) {
  role_ = role;
  const bool initiator = role == MpaRole::initiator;
  reception_ = std::make_unique<Reception>(
      initiator ? wire::MpaFrameKind::reply : wire::MpaFrameKind::request,
      static_cast<Reception::Listener&>(*this));
  judge_ = std::make_unique<SenderJudge>(
      initiator ? dissectors::analyzer::Role::initiator : dissectors::analyzer::Role::responder,
      [this](SenderFault fault) {
        fault.place.connection = record_;
        context_.on_fault(fault);
      });
}

void WireEnd::finish_judging() {
  if (!judge_) return;
  judge_->finish();
  if (!context_.records) return;
  for (const rules::RuleId rule : judge_->judged_rules()) context_.evidence.judged.insert(rule.id);
}

std::expected<void, std::string> WireEnd::connect(const base::Address& iut) {
  assert(connection_ == nullptr);
  auto connection = context_.network.connect(iut, *this);
  if (!connection) return std::unexpected(connection.error().message);
  connection_ = std::move(*connection);
  begin(MpaRole::initiator);
  const TimePoint since = context_.loop.now();
  context_.loop.run_until(context_.deadline, [this] { return is_connected_ || broken_; });
  if (is_connected_) {
    context_.came(since);
    return {};
  }
  context_.evidence.connect_failed = true;
  return std::unexpected(fmt::format("cannot connect to the IUT at {}: {}", iut.text(),
                                     broken_ ? arrivals_.front().text() : "no answer"));
}

void WireEnd::adopt(std::unique_ptr<Connection> connection) {
  assert(connection_ == nullptr);
  connection_ = std::move(connection);
  begin(MpaRole::responder);
  opened();
  connection_->set_observer(*this);
}

void WireEnd::connected() { opened(); }

void WireEnd::opened() {
  is_connected_ = true;
  record_ = context_.evidence.connections.size();
  const bool ours = role_ == MpaRole::initiator;
  context_.evidence.connections.push_back({connection_->local(), connection_->remote(), ours, {}});
  mark(Mark::Kind::opened, ours ? Direction::to_iut : Direction::from_iut);
  context_.note(ours ? Direction::to_iut : Direction::from_iut,
                fmt::format("TCP connection {} {} {}", connection_->local().text(),
                            ours ? "->" : "<-", connection_->remote().text()));
  on_opened();
}

void WireEnd::mark(Mark::Kind kind, Direction direction, wire::Bytes octets) {
  if (!context_.records) return;
  context_.evidence.connections[record_].marks.push_back(
      {kind, direction, context_.now(), Octets(octets.begin(), octets.end())});
}

void WireEnd::half_close() {
  if (!can_send()) return;
  connection_->shutdown_send();
  sent_fin_ = true;
  mark(Mark::Kind::fin, Direction::to_iut);
  context_.note(Direction::to_iut, "FIN");
}

void WireEnd::reset() {
  if (connection_ == nullptr || broken_) return;
  connection_->reset();
  broken_ = true;
  mark(Mark::Kind::reset, Direction::to_iut);
  context_.note(Direction::to_iut, "RST");
}

// ---------------------------------------------------------------- what we send

void WireEnd::sending_frame(wire::Bytes octets) {
  sent_flags_ = wire::Reader(octets).read<wire::MpaFrameHeader>().flags;
  judge_->sent_frame(
      role_ == MpaRole::initiator ? wire::MpaFrameKind::request : wire::MpaFrameKind::reply,
      octets);
}

void WireEnd::sent_frame() {
  if (received_frame_) begin_rdma_mode();
}

void WireEnd::sent_fpdu(wire::Bytes ulpdu, bool intact) {
  described_ = false;
  judge_->sent_fpdu(ulpdu, intact);
  if (ulpdu.empty()) return;
  within_message_ = !wire::DdpControl{static_cast<std::uint8_t>(ulpdu.front())}.last();
  note_request(ulpdu, context_.evidence);
}

void WireEnd::means_to_send(wire::Bytes ulpdu) {
  judge_->sent_fpdu(ulpdu, true);
  note_request(ulpdu, context_.evidence);
  described_ = true;
}

void WireEnd::means_nothing_readable() { judge_->sent_undescribed(); }

std::size_t WireEnd::max_ulpdu() const {
  return wire::mulpdu(connection_->emss(), sending_.markers);
}

/// Both frames are known: the terms of each apply from the next octet on (RFC 5044 section 7.1).
void WireEnd::begin_rdma_mode() {
  if (in_rdma_mode_) return;
  const wire::MpaFlags theirs = received_frame_->frame().flags;
  if (theirs.reject() || sent_flags_->reject()) return;
  in_rdma_mode_ = true;
  sending_.crc = theirs.crc() || sent_flags_->crc();
  sending_.markers = theirs.markers();
  reception_->start_fpdus(sending_.crc, sent_flags_->markers());
}

// ---------------------------------------------------------------- what comes

Arrival WireEnd::next(TimePoint deadline) {
  const TimePoint since = context_.loop.now();
  const auto is_over = [this] {
    return !arrivals_.empty() || (context_.is_abandoned && context_.is_abandoned());
  };
  context_.loop.run_until(context_.end_of_look(deadline), is_over);
  if (deadline >= context_.deadline) wait_for_the_rest(is_over);
  if (arrivals_.empty() && deadline >= context_.deadline && reception_ && !is_arriving()) {
    reception_->examine_rest();
    judge_->nothing_more_comes();
  }
  if (arrivals_.empty()) return {context_.now(), Nothing{context_.loop.now() - since}};
  context_.came(since);
  Arrival arrival = std::move(arrivals_.front());
  arrivals_.pop_front();
  return arrival;
}

bool WireEnd::is_arriving() const {
  return reception_ && reception_->in_the_middle() &&
         octets_came_ + context_.patience > context_.loop.now();
}

void WireEnd::wait_for_the_rest(const std::function<bool()>& is_over) {
  constexpr int most = 6;
  const TimePoint last = context_.loop.now() + most * context_.patience;
  while (!is_over() && is_arriving() && context_.loop.now() < last)
    context_.loop.run_until(std::min(last, octets_came_ + context_.patience), is_over);
}

void WireEnd::arrive(decltype(Arrival::what) what) {
  Arrival arrival{context_.now(), std::move(what)};
  if (context_.records) context_.note(Direction::from_iut, arrival.text(), arrival.hex());
  arrivals_.push_back(std::move(arrival));
}

void WireEnd::readable() {
  std::array<std::byte, 16384> buffer;
  const std::array<wire::MutableBytes, 1> targets{buffer};
  const auto got = connection_->receive(targets);
  const wire::Bytes octets = wire::Bytes(buffer).first(got.count);
  if (!octets.empty()) {
    octets_came_ = context_.loop.now();
    mark(Mark::Kind::data, Direction::from_iut, octets);
    reception_->take(octets);
    judge_->received(octets, connection_->emss());
    on_octets(octets);
  }
  if (got.peer_closed && !iut_closed_) {
    iut_closed_ = true;
    mark(Mark::Kind::fin, Direction::from_iut);
    const bool middle = reception_->in_the_middle();
    reception_->examine_rest(true);
    judge_->closed();
    arrive(PeerClosed{middle});
    on_iut_closed();
  }
}

void WireEnd::ended(rnic::llp::Ending ending) {
  broken_ = true;
  if (is_connected_) mark(Mark::Kind::reset, Direction::from_iut);
  arrive(Broken{ending});
  if (ending == rnic::llp::Ending::reset) judge_->reset();
  on_broken();
}

void WireEnd::on_frame(const ReceivedFrame& frame) {
  received_frame_ = frame;
  arrive(frame);
  if (role_ == MpaRole::initiator && sent_flags_) begin_rdma_mode();
}

void WireEnd::on_message(const Message& message) { arrive(message); }

void WireEnd::on_malformed(const Malformed& malformed) { arrive(malformed); }

}  // namespace suite::lower_tester
