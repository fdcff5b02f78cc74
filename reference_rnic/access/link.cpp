// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a stream's octets are sent on TCP: segments begin with an FPDU, and the connection is closed
// once everything is sent.
#include "reference_rnic/access/link.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rnic::access {

namespace {

using stream::Stream;

constexpr std::size_t gather_limit = 262'144;
constexpr int reads_per_turn = 64;  ///< then others get their turn
constexpr base::Duration emss_check_interval = std::chrono::milliseconds(100);
constexpr base::Duration refusal_interval = std::chrono::milliseconds(10);
/// If the consumer does not come back to wait.
constexpr base::Duration longest_gathering = std::chrono::milliseconds(1);

}  // namespace

Link::Link(base::EventLoop& loop, Owner& owner, std::unique_ptr<verbs::RdmaStream> stream,
           const StartupOptions& options, const ConnectionDecisions& decisions)
    : loop_(loop),
      owner_(owner),
      close_timeout_(options.close_timeout),
      refused_for_(options.refused_for),
      gathered_for_(options.gathered_for),
      decisions_(decisions),
      stream_(std::move(stream)) {
  stream_->set_observer(this);
}

Link::~Link() {
  stream_->set_observer(nullptr);
  if (timer_at_) loop_.cancel(timer_);
  if (gathering_) loop_.cancel(*gathering_);
}

std::expected<void, llp::Error> Link::connect(llp::Network& network, const base::Address& remote) {
  auto connection = network.connect(remote, *this);
  if (!connection) return std::unexpected(std::move(connection.error()));
  connection_ = std::move(*connection);
  network_ = &network;
  remote_ = remote;
  connecting_since_ = loop_.now();
  set_timer();
  return {};
}

bool Link::will_connect_again(llp::Ending ending) const {
  return ending == llp::Ending::refused && loop_.now() - connecting_since_ < refused_for_;
}

void Link::connect_again() {
  connects_again_at_.reset();
  auto connection = network_->connect(remote_, *this);
  if (!connection) return ended(llp::Ending::unreachable);
  connection_ = std::move(*connection);
}

void Link::adopt(std::unique_ptr<llp::Connection> connection) {
  connection_ = std::move(connection);
  phase_ = Phase::running;
  connection_->set_observer(*this);
  refresh_emss();
  pump();
}

void Link::connected() {
  phase_ = Phase::running;
  refresh_emss();
  owner_.link_connected(*this);
  pump();
}

// ---- in ----

void Link::readable() {
  if (phase_ == Phase::running) read_some();
  if (phase_ == Phase::lingering) discard();
  pump();
}

void Link::read_some() {
  for (int turn = 0; turn < reads_per_turn && connection_ != nullptr; ++turn) {
    const auto targets = stream_->machine().receive_targets();
    if (targets.empty()) return discard();  // the stream accepts no more
    std::size_t room = 0;
    for (const wire::MutableBytes& target : targets) room += target.size();
    const auto got = connection_->receive(targets);
    if (got.ecn_marked && !goes_on_after(PathNotice::ecn_mark)) {
      connection_->reset();
      return ended(llp::Ending::reset);
    }
    if (got.count > 0) stream_->call(&Stream::received, got.count, loop_.now());
    if (stream_->machine().holding()) return;
    if (got.peer_closed && !std::exchange(peer_closed_, true))
      stream_->call(&Stream::peer_closed, loop_.now());
    if (got.peer_closed || got.count < room) return;
  }
}

void Link::discard() {
  std::array<std::byte, 4096> trash;
  const std::array<wire::MutableBytes, 1> targets{trash};
  for (int turn = 0; turn < reads_per_turn; ++turn) {
    const auto got = connection_->receive(targets);
    if (got.peer_closed) {
      peer_closed_ = true;
      if (phase_ == Phase::lingering) finish();
      return;
    }
    if (got.count == 0) return;
  }
}

// ---- out ----

void Link::writable() {
  blocked_ = !goes_on_after(PathNotice::window_open);
  pump();
}

bool Link::goes_on_after(PathNotice notice) {
  bool goes_on = true;
  decisions_.ask(&Decisions::path_noticed, notice, goes_on);
  return goes_on;
}

void Link::posted(std::size_t octets) {
  gathered_octets_ += octets;
  const bool waits = phase_ == Phase::running && gathered_octets_ < emss_ &&
                     loop_.waits() == sent_before_wait_ && loop_.now() - sent_at_ < gathered_for_;
  if (!waits) return pump();
  if (gathering_) return;
  gathering_ = loop_.schedule_before_wait(loop_.now() + longest_gathering, [this] {
    gathering_.reset();
    pump();
  });
}

void Link::pump() {
  if (gathering_) loop_.cancel(*std::exchange(gathering_, std::nullopt));
  gathered_octets_ = 0;
  if (std::exchange(pumping_, true)) {
    pump_again_ = true;
    return;
  }
  do {
    pump_again_ = false;
    hand_on_events();
    if (connection_ != nullptr) connection_->leave_unacknowledged(stream_->machine().holding());
    if (phase_ == Phase::running) write_out();
    if (phase_ == Phase::running) carry_out_closing();
    if (phase_ == Phase::connecting && stream_->machine().state() == stream::State::closed)
      give_up_connecting();
    hand_on_events();
  } while (pump_again_);
  set_timer();
  pumping_ = false;
}

void Link::hand_on_events() {
  while (auto event = stream_->next_event()) owner_.link_event(*this, *event);
}

void Link::write_out() {
  if (loop_.now() - emss_checked_ > emss_check_interval) refresh_emss();
  while (!blocked_) {
    gathered_.clear();
    ends_.clear();
    stream_->machine().gather(gathered_, gather_limit, &ends_);
    if (gathered_.empty()) return;
    const std::size_t sent = send_gathered();
    if (sent == 0) continue;
    inside_fpdu_ = !std::ranges::binary_search(ends_, sent);
    sent_at_ = loop_.now();
    sent_before_wait_ = loop_.waits();
    stream_->call(&Stream::transmitted, sent, sent_at_);
  }
}

/// Sends the gathered octets so that each TCP segment begins with an FPDU and holds whole ones (RFC
/// 5044 section 5.1): FPDUs that each fill one are sent together, since TCP cuts them apart at the
/// same places, and after them such as fit into one more. The rest of an FPDU ends its segment, whose
/// beginning has gone: so alignment is regained.
std::size_t Link::send_gathered() {
  const bool aligned = decisions_.decide(
      stream::Choice<bool>{"mpa.segmentation.segments-begin-with-fpdu", true, stream::either},
      &Decisions::segments_aligned);
  std::size_t total = 0, list = 0, used = 0;  // used: octets of gathered_[list] that are sent
  for (std::size_t first = 0; list < gathered_.size();) {
    const std::size_t past = group_end(first, aligned);
    const std::size_t end = past == 0 ? SIZE_MAX : ends_[past - 1];
    first = past == 0 ? ends_.size() : past;
    std::size_t offered = 0;
    for (pieces_.clear(); list < gathered_.size() && total + offered < end;) {
      const wire::Bytes rest = gathered_[list].subspan(used);
      const std::size_t take = std::min(rest.size(), end - total - offered);
      pieces_.push_back(rest.first(take));
      offered += take;
      used += take;
      if (used < gathered_[list].size()) break;
      ++list;
      used = 0;
    }
    const std::size_t sent = connection_->send(pieces_, aligned);
    total += sent;
    if (sent == offered) continue;
    blocked_ = true;
    return total;
  }
  return total;
}

/// One past the last of the boundaries that the group beginning with boundary `first` covers; 0: no
/// boundary is left, the rest is one group.
std::size_t Link::group_end(std::size_t first, bool aligned) const {
  if (first >= ends_.size() || !aligned) return 0;
  if (first == 0 && inside_fpdu_) return 1;
  const auto start = [&](std::size_t i) { return i == 0 ? 0 : ends_[i - 1]; };
  std::size_t past = first;
  while (past < ends_.size() && ends_[past] - start(past) == emss_) ++past;
  const std::size_t last_segment = start(past);
  while (past < ends_.size() && (past == first || ends_[past] - last_segment <= emss_)) ++past;
  return past;
}

void Link::refresh_emss() {
  emss_checked_ = loop_.now();
  std::size_t emss = connection_->emss();
  decisions_.ask(&Decisions::emss_found, connection_->local().family, emss);
  if (emss == 0 || emss == emss_) return;
  emss_ = emss;
  stream_->machine().set_emss(emss);
}

// ---- closing ----

void Link::carry_out_closing() {
  if (blocked_) return;
  switch (stream_->machine().closing()) {
    case stream::Closing::none:
      break;
    case stream::Closing::half_close:
      if (std::exchange(fin_sent_, true)) break;
      connection_->shutdown_send();
      stream_->call(&Stream::close_done, loop_.now());
      if (stream_->machine().state() == stream::State::terminating) end_after_fault();
      break;
    case stream::Closing::full_close:
      if (!std::exchange(fin_sent_, true)) connection_->shutdown_send();
      stream_->call(&Stream::close_done, loop_.now());
      linger();
      break;
    case stream::Closing::reset:
      connection_->reset();
      stream_->call(&Stream::close_done, loop_.now());
      finish();
      break;
  }
  if (phase_ == Phase::running && stream_->machine().state() == stream::State::closed) linger();
}

/// Nothing that the peer sends counts any more, and the consumer need not wait until it closes.
void Link::end_after_fault() {
  stream_->call(&Stream::lost, loop_.now());
  linger();
}

void Link::linger() {
  if (phase_ != Phase::running) return;
  phase_ = Phase::lingering;
  if (!std::exchange(fin_sent_, true)) connection_->shutdown_send();
  if (peer_closed_) return finish();
  linger_deadline_ = loop_.now() + close_timeout_;
}

/// The startup timeout expired before the LLP connection was established.
void Link::give_up_connecting() {
  connection_->reset();
  finish();
}

void Link::ended(llp::Ending ending) {
  const Phase before = phase_;
  if (before == Phase::finished) return;
  if (before == Phase::connecting && will_connect_again(ending)) {
    connects_again_at_ = loop_.now() + refusal_interval;
    return set_timer();
  }
  // A peer that was reached once may be out of reach before it has answered.
  const bool out_of_reach = ending == llp::Ending::unreachable || ending == llp::Ending::timed_out;
  if (before == Phase::connecting || out_of_reach) owner_.link_unreachable(*this, ending);
  if (before == Phase::running) stream_->call(&Stream::lost, loop_.now());
  finish();
  pump();
}

void Link::reset() {
  if (phase_ == Phase::finished) return;
  if (connection_ != nullptr) connection_->reset();
  phase_ = Phase::finished;
}

void Link::leave() {
  if (gathering_) pump();
  gathered_.clear();
  if (phase_ == Phase::running) stream_->machine().gather(gathered_, 1);
  if (phase_ == Phase::connecting || blocked_ || !gathered_.empty()) return reset();
  linger();
  set_timer();
}

std::unique_ptr<llp::Connection> Link::release() {
  phase_ = Phase::finished;
  set_timer();
  return std::move(connection_);
}

/// The connection object stays as long as the link: we may be inside one of its callbacks.
void Link::finish() {
  if (std::exchange(phase_, Phase::finished) == Phase::finished) return;
  hand_on_events();
  owner_.link_finished(*this);
}

// ---- time ----

void Link::set_timer() {
  std::optional<base::TimePoint> wanted;
  if (phase_ == Phase::connecting || phase_ == Phase::running)
    wanted = stream_->machine().next_wakeup();
  if (phase_ == Phase::connecting && connects_again_at_)
    wanted = std::min(*connects_again_at_, wanted.value_or(*connects_again_at_));
  if (phase_ == Phase::lingering) wanted = linger_deadline_;
  if (timer_at_ == wanted) return;
  if (timer_at_) loop_.cancel(timer_);
  timer_at_ = wanted;
  if (wanted) timer_ = loop_.schedule(*wanted, [this] { timer_fired(); });
}

void Link::timer_fired() {
  timer_at_.reset();
  if (phase_ == Phase::lingering) {  // the peer never closes its half
    connection_->reset();
    finish();
  } else if (phase_ == Phase::connecting && connects_again_at_ &&
             *connects_again_at_ <= loop_.now()) {
    connect_again();
  } else if (phase_ == Phase::connecting || phase_ == Phase::running) {
    stream_->call(&Stream::wakeup, loop_.now());
  }
  pump();
}

}  // namespace rnic::access
