// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lower_tester/peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/notation.hpp"

namespace suite::lower_tester {

using rnic::llp::Connection;
using rnic::llp::TimePoint;

namespace {

constexpr auto cut_patience = std::chrono::seconds(1);
constexpr auto cut_look_again = std::chrono::milliseconds(1);

}  // namespace

void Context::note(Direction direction, std::string text, std::string hex) {
  evidence.exchange.push_back({now(), direction, std::move(text), std::move(hex)});
}

// ---------------------------------------------------------------- entrance

Entrance::Entrance(Context& context, rnic::llp::Family family) : context_(context) {
  auto listener = context.network.listen(context.network.address(family).with_port(0), *this);
  if (listener)
    listener_ = std::move(*listener);
  else
    error_ = listener.error().message;
}

void Entrance::accepted(std::unique_ptr<Connection> connection) {
  waiting_.push_back(std::move(connection));
}

std::unique_ptr<Connection> Entrance::next(TimePoint deadline) {
  if (!context_.world.run_until(deadline, [this] { return !waiting_.empty(); })) return nullptr;
  auto connection = std::move(waiting_.front());
  waiting_.pop_front();
  return connection;
}

// ---------------------------------------------------------------- opening

Peer::Peer(Context& context)
    : context_(context), rules_([this](const SenderFault& fault) { context_.on_fault(fault); }) {}

Peer::~Peer() {
  if (can_send()) half_close();
}

std::expected<void, std::string> Peer::connect(const rnic::llp::Address& iut) {
  assert(connection_ == nullptr);
  role_ = MpaRole::initiator;
  auto connection = context_.network.connect(iut, *this);
  if (!connection) return std::unexpected(connection.error().message);
  connection_ = std::move(*connection);
  intake_ = std::make_unique<Intake>(wire::MpaFrameKind::reply, intake_listener());
  context_.world.run_until(context_.deadline, [this] { return is_connected_ || broken_; });
  if (is_connected_) return {};
  return std::unexpected(fmt::format("cannot connect to the IUT at {}: {}", iut.text(),
                                     broken_ ? arrivals_.front().text() : "no answer"));
}

void Peer::adopt(std::unique_ptr<Connection> connection) {
  assert(connection_ == nullptr);
  role_ = MpaRole::responder;
  connection_ = std::move(connection);
  intake_ = std::make_unique<Intake>(wire::MpaFrameKind::request, intake_listener());
  opened();
  connection_->set_observer(*this);
}

void Peer::connected() { opened(); }

void Peer::opened() {
  is_connected_ = true;
  record_ = context_.evidence.connections.size();
  const bool ours = role_ == MpaRole::initiator;
  context_.evidence.connections.push_back({connection_->local(), connection_->remote(), ours, {}});
  mark(Mark::Kind::opened, ours ? Direction::to_iut : Direction::from_iut);
  context_.note(ours ? Direction::to_iut : Direction::from_iut,
                fmt::format("TCP connection {} {} {}", connection_->local().text(),
                            ours ? "->" : "<-", connection_->remote().text()));
}

void Peer::mark(Mark::Kind kind, Direction direction, wire::Bytes octets) {
  context_.evidence.connections[record_].marks.push_back(
      {kind, direction, context_.now(), Octets(octets.begin(), octets.end())});
}

// ---------------------------------------------------------------- sending

void Peer::send(const StartupFrame& frame, const Cut& cut) { send_from(frame, 0, cut); }

void Peer::send_rest(const StartupFrame& frame, std::size_t from) {
  send_from(frame, from, Cut::whole());
}

void Peer::send_from(const StartupFrame& frame, std::size_t from, const Cut& cut) {
  const Octets octets = frame.encode();
  const auto parsed = wire::parse_mpa_frame(frame.kind, octets);
  context_.note(Direction::to_iut,
                parsed ? wire::describe(parsed->frame) : "a malformed startup frame",
                wire::hex(octets));
  if (role_ == MpaRole::responder) check_early_octets();
  sent_flags_ = frame.flags;
  send_octets(wire::Bytes(octets).subspan(from), cut);
  if (received_frame_) begin_rdma_mode();
}

void Peer::send(const Outgoing& message) {
  for (const Fpdu& fpdu : prepare(message)) send(fpdu);
}

void Peer::send(const Fpdu& fpdu, const Cut& cut) { send(std::vector{fpdu}, cut); }

void Peer::send(const std::vector<Fpdu>& fpdus, const Cut& cut) {
  Octets octets;
  for (const Fpdu& fpdu : fpdus) {
    const Octets encoded = encode(fpdu, sending_);
    context_.note(Direction::to_iut, wire::describe_ulpdu(fpdu.ulpdu), wire::hex(encoded));
    octets.insert(octets.end(), encoded.begin(), encoded.end());
    sending_.position += encoded.size();
    rules_.note_sent(fpdu.ulpdu);
    if (!fpdu.ulpdu.empty())
      within_message_ = !wire::DdpControl{static_cast<std::uint8_t>(fpdu.ulpdu.front())}.last();
    ++fpdus_sent_;
  }
  send_octets(octets, cut);
}

std::vector<Fpdu> Peer::prepare(const Outgoing& message) {
  std::uint32_t msn = 0;
  if (!message.tagged) msn = message.msn ? *message.msn : next_msn(message.queue_number())++;
  return message.segments(max_ulpdu(), msn);
}

void Peer::send_octets(wire::Bytes octets, const Cut& cut) {
  if (!can_send()) return context_.note(Direction::to_iut, "not sent: the connection has ended");
  const std::uint64_t before = connection_->data_segments_sent();
  const auto lengths = cut.lengths(octets.size());
  for (const std::size_t length : lengths) {
    if (!push(octets.first(length))) return;
    octets = octets.subspan(length);
  }
  if (cut.is_wanted()) verify_cut(before, lengths.size());
}

/// Hands one segment to the LLP, waiting for room where there is none.
bool Peer::push(wire::Bytes octets) {
  mark(Mark::Kind::data, Direction::to_iut, octets);
  const auto all_taken = [&] {
    if (!can_send()) return true;
    const std::array<wire::Bytes, 1> pieces{octets};
    octets = octets.subspan(connection_->send(pieces, true));
    return octets.empty();
  };
  if (context_.world.run_until(context_.deadline, all_taken) && octets.empty()) return true;
  context_.note(Direction::to_iut,
                fmt::format("{} octets not sent: {}", octets.size(),
                            can_send() ? "the IUT takes no more" : "the connection has ended"));
  return false;
}

/// A cut counts only if that many segments left: the kernel may have joined what waited for its
/// window.
void Peer::verify_cut(std::uint64_t segments_before, std::size_t wanted) {
  const TimePoint deadline = std::min(context_.deadline, context_.world.now() + cut_patience);
  const auto acknowledged = [this] { return !can_send() || connection_->unacknowledged() == 0; };
  while (!acknowledged() && context_.world.now() < deadline)
    context_.world.run_until(std::min(deadline, context_.world.now() + cut_look_again),
                             acknowledged);
  const std::uint64_t sent = connection_->data_segments_sent() - segments_before;
  if (sent < wanted && !broken_)
    context_.on_inconclusive(fmt::format(
        "the wanted cut did not reach the wire: {} TCP segments in place of {}", sent, wanted));
}

std::size_t Peer::max_ulpdu() const { return wire::mulpdu(connection_->emss(), sending_.markers); }

void Peer::half_close() {
  if (!can_send()) return;
  connection_->shutdown_send();
  sent_fin_ = true;
  mark(Mark::Kind::fin, Direction::to_iut);
  context_.note(Direction::to_iut, "FIN");
}

void Peer::reset() {
  if (connection_ == nullptr || broken_) return;
  connection_->reset();
  broken_ = true;
  mark(Mark::Kind::reset, Direction::to_iut);
  context_.note(Direction::to_iut, "RST");
}

void Peer::pause_receiving(bool paused) { connection_->pause_receiving(paused); }
void Peer::set_receive_buffer(std::size_t octets) { connection_->set_receive_buffer(octets); }

// ---------------------------------------------------------------- receiving

Arrival Peer::next(TimePoint deadline) {
  const TimePoint since = context_.world.now();
  context_.world.run_until(deadline, [this] { return !arrivals_.empty(); });
  if (arrivals_.empty() && deadline >= context_.deadline && intake_) intake_->examine_rest();
  if (arrivals_.empty()) return {context_.now(), Nothing{context_.world.now() - since}};
  Arrival arrival = std::move(arrivals_.front());
  arrivals_.pop_front();
  return arrival;
}

void Peer::arrive(decltype(Arrival::what) what) {
  Arrival arrival{context_.now(), std::move(what)};
  context_.note(Direction::from_iut, arrival.text(), arrival.hex());
  arrivals_.push_back(std::move(arrival));
}

void Peer::readable() {
  std::array<std::byte, 16384> buffer;
  const std::array<wire::MutableBytes, 1> targets{buffer};
  const auto [count, closed] = connection_->receive(targets);
  if (count > 0) {
    mark(Mark::Kind::data, Direction::from_iut, wire::Bytes(buffer).first(count));
    intake_->take(wire::Bytes(buffer).first(count));
  }
  if (closed && !iut_closed_) {
    iut_closed_ = true;
    mark(Mark::Kind::fin, Direction::from_iut);
    const bool middle = intake_->in_the_middle();
    intake_->examine_rest();
    arrive(PeerClosed{middle});
  }
}

void Peer::ended(rnic::llp::Ending ending) {
  broken_ = true;
  if (is_connected_) mark(Mark::Kind::reset, Direction::from_iut);
  arrive(Broken{ending});
}

void Peer::on_frame(const ReceivedFrame& frame) {
  rules_.check(frame);
  received_frame_ = frame;
  arrive(frame);
  if (role_ == MpaRole::initiator && sent_flags_) begin_rdma_mode();
}

/// Both frames are known: what each asked for holds from the next octet on (RFC 5044 section 7.1).
void Peer::begin_rdma_mode() {
  if (in_rdma_mode_) return;
  const wire::MpaFlags theirs = received_frame_->frame().flags;
  if (theirs.reject() || sent_flags_->reject()) return;
  in_rdma_mode_ = true;
  sending_.crc = theirs.crc() || sent_flags_->crc();
  sending_.markers = theirs.markers();
  receives_markers_ = sent_flags_->markers();
  intake_->start_fpdus(sending_.crc, receives_markers_);
}

void Peer::check_early_octets() {
  if (!intake_->holds_early_octets()) return;
  context_.on_fault({"mpa.startup.no-fpdu-before-both-frames",
                     "nothing behind the Request before the Reply",
                     "octets behind the Request",
                     {}});
}

void Peer::on_fpdu(const ReceivedFpdu& fpdu, const wire::Segment& segment) {
  rules_.check(fpdu, segment, wire::mulpdu(connection_->emss(), receives_markers_));
  if (role_ == MpaRole::initiator && fpdus_sent_ == 0)
    context_.on_fault({"mpa.startup.responder-silent-before-first-fpdu",
                       "no FPDU before the initiator's first one", wire::describe_ulpdu(fpdu.ulpdu),
                       wire::hex(fpdu.octets)});
}

void Peer::on_message(const Message& message, bool broken_off) {
  arrive(message);
  rules_.check(message, broken_off);
}

void Peer::on_malformed(const Malformed& malformed, std::string_view rule) {
  arrive(malformed);
  rules_.check(malformed, rule);
}

}  // namespace suite::lower_tester
