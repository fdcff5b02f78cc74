// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lower_tester/stream_peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reference_rnic/deviants/stream_decisions.hpp"
#include "reference_rnic/stream/stream.hpp"
#include "reference_rnic/wire/notation.hpp"

namespace suite::lower_tester {

namespace stream = rnic::stream;

namespace {

constexpr std::size_t gather_limit = 65536;

}  // namespace

// ---------------------------------------------------------------- what our stream sends, as read
// from its octets

class StreamPeer::Outbound final : public Reception::Listener {
 public:
  Outbound(StreamPeer& peer, wire::MpaFrameKind kind) : peer_(peer), reception_(kind, *this) {}
  void take(wire::Bytes octets) { reception_.take(octets); }

  void on_frame(const ReceivedFrame& frame) override {
    note({{}, frame});
    peer_.sending_frame(frame.octets);
    peer_.sent_frame();
    start();
  }
  /// Both frames are known. CRCs may be wrong on purpose, so they are not checked.
  void start() {
    if (peer_.in_rdma_mode()) reception_.start_fpdus(false, peer_.sending_.markers);
  }
  void on_fpdu(wire::Bytes ulpdu) override { peer_.sent_fpdu(ulpdu, true); }
  void on_message(const Message& message) override { note({{}, message}); }
  void on_malformed(const Malformed& malformed) override { note({{}, malformed}); }

 private:
  void note(const Arrival& sent) {
    peer_.context_.note(Direction::to_iut, sent.text(), sent.hex());
  }
  StreamPeer& peer_;
  Reception reception_;
};

// ---------------------------------------------------------------- the connection

StreamPeer::StreamPeer(Context& context, StreamPeerTerms terms)
    : WireEnd(context), terms_(std::move(terms)), memory_(terms_.receive_size) {}

StreamPeer::~StreamPeer() = default;

void StreamPeer::on_opened() {
  const bool initiator = role() == MpaRole::initiator;
  terms_.config.role = initiator ? stream::Role::initiator : stream::Role::responder;
  terms_.config.emss = connection().emss();
  stream_ = stream::make_stream(terms_.config, memory_, now(),
                                rnic::deviants::stream_decisions(terms_.deviations));
  outbound_ = std::make_unique<Outbound>(
      *this, initiator ? wire::MpaFrameKind::request : wire::MpaFrameKind::reply);
  context_.loop.defer([alive = std::weak_ptr(alive_), this] {
    if (!alive.expired()) pump();
  });
}

void StreamPeer::on_octets(wire::Bytes octets) {
  outbound_->start();
  stream_->receive(octets, now());
  pump();
}

void StreamPeer::on_iut_closed() {
  stream_->peer_closed(now());
  pump();
}

void StreamPeer::on_broken() {
  if (!stream_) return;
  stream_->lost(now());
  take_events();
}

void StreamPeer::writable() {
  blocked_ = false;
  pump();
}

void StreamPeer::pump() {
  take_events();
  while (write_out()) take_events();
  carry_out_closing();
  take_events();
}

/// Sends each FPDU in a TCP segment of its own. True if anything was sent.
bool StreamPeer::write_out() {
  if (blocked_ || holds_back_ || !can_send()) return false;
  std::vector<wire::Bytes> list;
  std::vector<std::size_t> ends;
  stream_->gather(list, gather_limit, &ends);
  Octets octets;
  for (const wire::Bytes piece : list) octets.insert(octets.end(), piece.begin(), piece.end());
  if (ends.empty() || ends.back() < octets.size()) ends.push_back(octets.size());
  std::size_t sent = 0;
  for (const std::size_t end : ends) {
    const std::array<wire::Bytes, 1> unit{wire::Bytes(octets).subspan(sent, end - sent)};
    if (unit.front().empty()) continue;
    sent += connection().send(unit, true);
    blocked_ = sent < end;
    if (blocked_) break;
  }
  if (sent == 0) return false;
  mark(Mark::Kind::data, Direction::to_iut, wire::Bytes(octets).first(sent));
  outbound_->take(wire::Bytes(octets).first(sent));
  stream_->transmitted(sent, now());
  return true;
}

void StreamPeer::carry_out_closing() {
  if (blocked_ || holds_back_) return;
  switch (stream_->closing()) {
    case stream::Closing::none:
      return;
    case stream::Closing::half_close:
    case stream::Closing::full_close:
      WireEnd::half_close();
      break;
    case stream::Closing::reset:
      reset();
      break;
  }
  stream_->close_done(now());
}

void StreamPeer::half_close() {
  if (!stream_) return WireEnd::half_close();
  stream_->disconnect(now());
  pump();
  if (stream_->state() == stream::State::closed) WireEnd::half_close();
}

void StreamPeer::deviate(Deviation deviation, bool on) {
  wait_until([this] { return !blocked_; });
  rnic::deviants::choose(stream_->decisions(), deviation, on);
}

void StreamPeer::hold_back(bool on) {
  holds_back_ = on;
  if (!on) pump();
}

// ---------------------------------------------------------------- events of the stream

void StreamPeer::take_events() {
  while (auto event = stream_->next_event()) take(*event);
}

void StreamPeer::take(stream::Event& event) {
  const auto trouble = [this](std::string text) {
    context_.note(Direction::none, "our stream: " + text);
    if (trouble_.empty()) trouble_ = std::move(text);
  };
  if (std::holds_alternative<stream::ConnectRequest>(event)) {
    stream_->accept(terms_.config.ird, terms_.config.ord, {}, now());
  } else if (std::holds_alternative<stream::Established>(event)) {
    established_ = true;
  } else if (std::holds_alternative<stream::Rejected>(event)) {
    trouble("rejected");
  } else if (std::holds_alternative<stream::StartupFailed>(event)) {
    trouble("the startup failed");
  } else if (auto* message = std::get_if<stream::MessageReceived>(&event)) {
    received_.push_back({message->opcode, memory_.take_received(message->work_id, message->length),
                         message->invalidated, message->immediate});
  } else if (auto* work = std::get_if<stream::WorkDone>(&event)) {
    sources_.erase(work->id);
    done_[work->id] = *work;
  } else if (auto* terminate = std::get_if<stream::TerminateReceived>(&event)) {
    terminated_by_iut_ = terminate->cause;
    trouble("the IUT sent a Terminate: " + wire::describe(terminate->cause));
  } else if (auto* failed = std::get_if<stream::Failed>(&event)) {
    gave_up_ = gave_up_ || trouble_.empty();
    trouble(fmt::format("wrong input: {} ({})", failed->detail, wire::describe(failed->cause)));
  } else if (std::holds_alternative<stream::PeerClosed>(event)) {
    trouble("the IUT closed");
  } else if (std::holds_alternative<stream::Lost>(event)) {
    trouble("the connection broke");
  }
}

std::expected<void, std::string> StreamPeer::await_established() {
  wait_until([this] { return established_ || !trouble_.empty() || is_broken(); });
  if (established_) return {};
  return std::unexpected(trouble_.empty() ? "startup does not end" : trouble_);
}

bool StreamPeer::can_transfer() const {
  return established_ && is_open() && stream_->state() == stream::State::operational;
}

void StreamPeer::wait_until(const std::function<bool()>& holds) {
  const base::TimePoint since = context_.loop.now();
  if (context_.loop.run_until(context_.deadline, holds)) context_.came(since);
}

// ---------------------------------------------------------------- work

std::uint64_t StreamPeer::post(stream::Work work, Octets source) {
  work.id = next_work_++;
  if (!source.empty()) work.gather = {wire::Bytes(sources_[work.id] = std::move(source))};
  const std::uint64_t id = work.id;
  stream_->post(std::move(work), now());
  pump();
  return id;
}

std::uint64_t StreamPeer::send(Octets data, const SendOptions& options) {
  stream::Work work;
  work.solicited = options.solicited;
  work.invalidate = options.invalidate;
  work.fence = options.fence;
  return post(std::move(work), std::move(data));
}

std::uint64_t StreamPeer::write(Octets data, std::uint32_t stag, std::uint64_t offset) {
  stream::Work work;
  work.kind = stream::WorkKind::write;
  work.remote_stag = stag;
  work.remote_offset = offset;
  return post(std::move(work), std::move(data));
}

std::uint64_t StreamPeer::read(const TesterBuffer& sink, std::uint32_t length, std::uint32_t stag,
                               std::uint64_t offset, std::uint64_t at) {
  stream::Work work;
  work.kind = stream::WorkKind::read;
  work.remote_stag = stag;
  work.remote_offset = offset;
  work.sink_stag = sink.stag;
  work.sink_offset = sink.base + at;
  work.length = length;
  return post(std::move(work));
}

std::uint64_t StreamPeer::fetch_add(std::uint32_t stag, std::uint64_t offset,
                                    std::uint64_t addend) {
  stream::Work work;
  work.kind = stream::WorkKind::atomic;
  work.remote_stag = stag;
  work.remote_offset = offset;
  work.add_or_swap = addend;
  work.add_or_swap_mask = 0;
  return post(std::move(work));
}

std::uint64_t StreamPeer::compare_swap(std::uint32_t stag, std::uint64_t offset,
                                       std::uint64_t compare, std::uint64_t swap) {
  stream::Work work;
  work.kind = stream::WorkKind::atomic;
  work.operation = wire::AtomicOperation::compare_swap;
  work.remote_stag = stag;
  work.remote_offset = offset;
  work.add_or_swap = swap;
  work.compare = compare;
  return post(std::move(work));
}

std::uint64_t StreamPeer::immediate(const Octets& eight, bool solicited) {
  stream::Work work;
  work.kind = stream::WorkKind::immediate;
  work.solicited = solicited;
  std::ranges::copy(eight, work.immediate.begin());
  return post(std::move(work));
}

std::optional<stream::WorkDone> StreamPeer::done(std::uint64_t work) {
  wait_until([&] { return done_.contains(work) || is_broken(); });
  const auto found = done_.find(work);
  if (found == done_.end()) return std::nullopt;
  return found->second;
}

std::optional<StreamPeer::Received> StreamPeer::received() {
  wait_until([&] { return !received_.empty() || !trouble_.empty(); });
  if (received_.empty()) return std::nullopt;
  Received message = std::move(received_.front());
  received_.pop_front();
  return message;
}

}  // namespace suite::lower_tester
