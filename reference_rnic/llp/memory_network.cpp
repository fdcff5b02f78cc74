// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The in-memory link: two ends per connection, every word between them carried by a timer after the
// link's latency.
#include "reference_rnic/llp/memory_network.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace rnic::llp {

namespace {

constexpr std::uint16_t first_ephemeral_port = 49152;
/// An observer that leaves octets unread is asked again after this time, as a level-triggered poll
/// would.
constexpr base::Duration ask_again = std::chrono::microseconds(1);
/// A lost segment and all behind it come so much later: what TCP takes at least to repeat one.
constexpr base::Duration time_to_repeat = std::chrono::milliseconds(200);

}  // namespace

class MemoryListener;
class MemoryEnd;
using EndPtr = std::shared_ptr<MemoryEnd>;

/// What connections, listeners and hosts share; it lives as long as any of them or a timer on its
/// way.
class MemoryFabric::State : public std::enable_shared_from_this<MemoryFabric::State> {
 public:
  State(base::EventLoop& loop, Options options) : loop_(loop), options_(options) {}

  void after_latency(std::function<void()> callback) {
    loop_.schedule(loop_.now() + options_.latency, std::move(callback));
  }
  void tap(const base::Address& from, const base::Address& to, Passed::Kind kind,
           wire::Bytes octets = {}) {
    if (tap_) tap_(Passed{from, to, kind, octets, loop_.now()});
  }
  [[nodiscard]] std::uint16_t free_port(base::Address address) {
    while (true) {
      address.port = next_port_;
      next_port_ =
          next_port_ == 65535 ? first_ephemeral_port : static_cast<std::uint16_t>(next_port_ + 1);
      if (!listeners_.contains(address)) return address.port;
    }
  }
  [[nodiscard]] std::size_t emss(base::Family family) const {
    return family == base::Family::ipv4 ? options_.emss_ipv4 : options_.emss_ipv6;
  }

  base::EventLoop& loop_;
  Options options_;
  std::function<void(const Passed&)> tap_;
  std::set<base::Address> hosts_;  ///< all with port 0
  std::map<base::Address, MemoryListener*> listeners_;

 private:
  std::uint16_t next_port_ = first_ephemeral_port;
};

using Kind = MemoryFabric::Passed::Kind;

/// One end of a connection: what the LLP of that host would know. The peer's end is reached only by
/// after_latency().
class MemoryEnd : public std::enable_shared_from_this<MemoryEnd> {
 public:
  enum class State : std::uint8_t { connecting, open, ended };

  MemoryEnd(std::shared_ptr<MemoryFabric::State> fabric, base::Address local, base::Address remote,
            State state)
      : fabric_(std::move(fabric)),
        local_(local),
        remote_(remote),
        emss_(fabric_->emss(local.family)),
        state_(state),
        window_(fabric_->options_.window) {}

  void join(const EndPtr& peer) { peer_ = peer; }
  void start_connecting();
  void set_observer(Connection::Observer* observer) {
    observer_ = observer;
    notify_readable({});
  }
  Connection::Received receive(std::span<const wire::MutableBytes> targets);
  std::size_t send(std::span<const wire::Bytes> pieces);
  bool send_lost(wire::Bytes octets) {
    held_up_until_ = fabric_->loop_.now() + fabric_->options_.latency + time_to_repeat;
    return send({&octets, 1}) == octets.size();
  }
  [[nodiscard]] bool is_open() const { return state_ == State::open; }
  void shutdown_send();
  void reset();
  void abandon();
  void pause(bool paused) {
    paused_ = paused;
    notify_readable({});
  }
  void leave_unacknowledged(bool on);
  void limit_emss(std::size_t octets) { emss_ = std::min(emss_, octets); }
  [[nodiscard]] bool change_emss(std::size_t octets) {
    emss_ = octets;
    if (const auto peer = peer_.lock()) peer->emss_ = octets;
    return true;
  }
  void set_receive_buffer(std::size_t octets) {
    if (const auto peer = peer_.lock()) peer->window_ = octets;
  }

  std::shared_ptr<MemoryFabric::State> fabric_;
  base::Address local_, remote_;
  std::size_t unacknowledged_ = 0;
  std::uint64_t segments_sent_ = 0, segments_received_ = 0;
  std::size_t emss_;

 private:
  void reply_arrives();
  void become_connected();
  void data_arrives(std::vector<std::byte> segment);
  void fin_arrives();
  void reset_arrives();
  void room_arrives(std::size_t octets);
  void send_segment(std::span<const wire::Bytes>& pieces, std::size_t& offset, std::size_t size);
  void release(std::size_t octets);
  void in_turn(std::function<void()> arrive);
  void arrive_in_turn(std::function<void()> arrive);
  void end_later(Ending ending);
  void notify_readable(base::Duration delay);
  void on_readable_timer();

  std::weak_ptr<MemoryEnd> peer_;
  State state_;
  Connection::Observer* observer_ = nullptr;
  std::deque<std::vector<std::byte>> inbox_;
  std::size_t front_used_ = 0;       ///< octets of the inbox's first segment already received
  std::size_t window_;               ///< of our sending direction
  std::size_t outstanding_ = 0;      ///< sent and not yet taken by the peer's owner
  base::TimePoint last_arrival_{};   ///< of what we sent
  base::TimePoint held_up_until_{};  ///< nothing of ours arrives before
  /// Of the peer's, and what came after it while it is left unacknowledged.
  std::size_t last_segment_ = 0;
  std::vector<std::function<void()>> refused_;
  bool refusing_ = false;
  bool fin_arrived_ = false, fin_reported_ = false, reset_arrived_ = false;
  bool send_shut_ = false, paused_ = false, wants_writable_ = false, readable_pending_ = false;
};

class MemoryConnection final : public Connection {
 public:
  explicit MemoryConnection(EndPtr end) : end_(std::move(end)) {}
  ~MemoryConnection() override { end_->abandon(); }
  MemoryConnection(const MemoryConnection&) = delete;
  MemoryConnection& operator=(const MemoryConnection&) = delete;

  void set_observer(Observer& observer) override { end_->set_observer(&observer); }
  Received receive(std::span<const wire::MutableBytes> targets) override {
    return end_->receive(targets);
  }
  std::size_t send(std::span<const wire::Bytes> pieces, bool) override {
    return end_->send(pieces);
  }
  void shutdown_send() override { end_->shutdown_send(); }
  void reset() override { end_->reset(); }
  [[nodiscard]] base::Address local() const override { return end_->local_; }
  [[nodiscard]] base::Address remote() const override { return end_->remote_; }
  [[nodiscard]] std::size_t emss() const override { return end_->emss_; }
  [[nodiscard]] std::size_t unacknowledged() const override { return end_->unacknowledged_; }
  [[nodiscard]] std::uint64_t data_segments_sent() const override { return end_->segments_sent_; }
  [[nodiscard]] std::uint64_t data_segments_received() const override {
    return end_->segments_received_;
  }
  [[nodiscard]] bool change_emss(std::size_t octets) override { return end_->change_emss(octets); }
  [[nodiscard]] bool can_disturb() const override { return end_->is_open(); }
  bool send_lost(wire::Bytes octets) override { return end_->send_lost(octets); }
  /// A receiver's LLP keeps back what comes too early and drops what it has: nothing shows above.
  bool inject(std::int64_t, wire::Bytes) override { return end_->is_open(); }
  void leave_unacknowledged(bool unacknowledged) override {
    end_->leave_unacknowledged(unacknowledged);
  }
  void pause_receiving(bool paused) override { end_->pause(paused); }
  void set_receive_buffer(std::size_t octets) override { end_->set_receive_buffer(octets); }

 private:
  EndPtr end_;
};

class MemoryListener final : public Listener {
 public:
  MemoryListener(std::shared_ptr<MemoryFabric::State> fabric, base::Address local,
                 std::optional<std::size_t> segment_limit, Observer& observer)
      : fabric_(std::move(fabric)),
        local_(local),
        segment_limit_(segment_limit.value_or(SIZE_MAX)),
        observer_(observer) {
    fabric_->listeners_.emplace(local_, this);
  }
  ~MemoryListener() override { fabric_->listeners_.erase(local_); }
  MemoryListener(const MemoryListener&) = delete;
  MemoryListener& operator=(const MemoryListener&) = delete;
  [[nodiscard]] base::Address local() const override { return local_; }
  [[nodiscard]] std::size_t segment_limit() const { return segment_limit_; }
  void accept(EndPtr end) {
    observer_.accepted(std::make_unique<MemoryConnection>(std::move(end)));
  }

 private:
  std::shared_ptr<MemoryFabric::State> fabric_;
  base::Address local_;
  std::size_t segment_limit_;
  Observer& observer_;
};

// ---- opening: SYN, SYN-ACK, ACK, each a latency long ----

void MemoryEnd::start_connecting() {
  fabric_->tap(local_, remote_, Kind::syn);
  fabric_->after_latency([self = shared_from_this()] {
    if (self->state_ != State::connecting) return;
    MemoryFabric::State& fabric = *self->fabric_;
    if (!fabric.hosts_.contains(self->remote_.with_port(0)))
      return self->end_later(Ending::unreachable);
    if (!fabric.listeners_.contains(self->remote_)) {
      fabric.tap(self->remote_, self->local_, Kind::refused);
      return self->fabric_->after_latency([self] { self->end_later(Ending::refused); });
    }
    self->limit_emss(fabric.listeners_.at(self->remote_)->segment_limit());
    fabric.tap(self->remote_, self->local_, Kind::syn_ack);
    fabric.after_latency([self] { self->reply_arrives(); });
  });
}

void MemoryEnd::reply_arrives() {
  if (state_ != State::connecting) return;
  const auto peer = std::make_shared<MemoryEnd>(fabric_, remote_, local_, State::open);
  join(peer);
  peer->join(shared_from_this());
  peer->limit_emss(emss_);
  fabric_->after_latency([self = shared_from_this(), peer] {
    const auto listener = self->fabric_->listeners_.find(self->remote_);
    if (listener == self->fabric_->listeners_.end()) return peer->reset();
    listener->second->accept(peer);
  });
  become_connected();
}

void MemoryEnd::become_connected() {
  state_ = State::open;
  if (observer_ != nullptr) observer_->connected();
}

// ---- data ----

std::size_t MemoryEnd::send(std::span<const wire::Bytes> pieces) {
  assert(!send_shut_ && "send() after shutdown_send()");
  if (state_ != State::open || reset_arrived_) return 0;
  std::size_t offered = 0;
  for (const wire::Bytes& piece : pieces) offered += piece.size();
  const std::size_t taken = std::min(offered, window_ - std::min(window_, outstanding_));
  std::size_t offset = 0;
  for (std::size_t left = taken; left > 0;) {
    const std::size_t size = std::min(left, emss_);
    send_segment(pieces, offset, size);
    left -= size;
  }
  wants_writable_ = taken < offered;
  return taken;
}

/// Sends the next `size` octets of `pieces`, of which the first `offset` of the front piece are
/// sent already.
void MemoryEnd::send_segment(std::span<const wire::Bytes>& pieces, std::size_t& offset,
                             std::size_t size) {
  std::vector<std::byte> segment;
  segment.reserve(size);
  while (segment.size() < size) {
    const wire::Bytes rest = pieces.front().subspan(offset);
    const wire::Bytes part = rest.first(std::min(rest.size(), size - segment.size()));
    segment.insert(segment.end(), part.begin(), part.end());
    offset += part.size();
    if (offset < pieces.front().size()) continue;
    pieces = pieces.subspan(1);
    offset = 0;
  }
  ++segments_sent_;
  outstanding_ += size;
  unacknowledged_ += size;
  fabric_->tap(local_, remote_, Kind::data, segment);
  arrive_in_turn([self = shared_from_this(), segment = std::move(segment)]() mutable {
    self->unacknowledged_ -= segment.size();
    const auto peer = self->peer_.lock();
    if (peer && peer->state_ == State::open) return peer->data_arrives(std::move(segment));
    self->fabric_->after_latency([self] { self->reset_arrives(); });  // nobody is there to take it
  });
}

/// The same for octets and the FIN, which a peer may leave unacknowledged.
void MemoryEnd::arrive_in_turn(std::function<void()> arrive) {
  in_turn([peer = peer_, arrive = std::move(arrive)]() mutable {
    if (const auto end = peer.lock(); end && end->refusing_)
      end->refused_.push_back(std::move(arrive));
    else
      arrive();
  });
}

void MemoryEnd::leave_unacknowledged(bool on) {
  if (refusing_ == on) return;
  refusing_ = paused_ = on;
  if (const auto peer = peer_.lock()) {
    if (on)
      peer->unacknowledged_ += last_segment_;
    else
      peer->unacknowledged_ -= last_segment_;
  }
  if (on) return;
  for (auto& arrive : std::exchange(refused_, {})) arrive();
  notify_readable({});
}

/// Carries out what arrives at the peer, behind all that left before.
void MemoryEnd::in_turn(std::function<void()> arrive) {
  const base::TimePoint soonest = fabric_->loop_.now() + fabric_->options_.latency;
  // One at a time, so that a cut shows; what a lost segment held up is there all at once.
  if (soonest > last_arrival_)
    last_arrival_ = std::max(soonest, held_up_until_);
  else if (last_arrival_ != held_up_until_)
    last_arrival_ += std::chrono::nanoseconds(1);
  fabric_->loop_.schedule(last_arrival_, std::move(arrive));
}

void MemoryEnd::data_arrives(std::vector<std::byte> segment) {
  ++segments_received_;
  last_segment_ = segment.size();
  inbox_.push_back(std::move(segment));
  notify_readable({});
}

Connection::Received MemoryEnd::receive(std::span<const wire::MutableBytes> targets) {
  std::size_t count = 0;
  for (wire::MutableBytes target : targets) {
    while (!target.empty() && !inbox_.empty()) {
      const wire::Bytes rest = wire::Bytes(inbox_.front()).subspan(front_used_);
      const std::size_t size = std::min(rest.size(), target.size());
      std::memcpy(target.data(), rest.data(), size);
      target = target.subspan(size);
      count += size;
      front_used_ += size;
      if (front_used_ < inbox_.front().size()) continue;
      inbox_.pop_front();
      front_used_ = 0;
    }
  }
  if (count > 0) release(count);
  if (inbox_.empty() && reset_arrived_ && state_ == State::open) end_later(Ending::reset);
  if (inbox_.empty() && fin_arrived_) fin_reported_ = true;
  return {count, fin_reported_};
}

/// Tells the peer that its window has room again.
void MemoryEnd::release(std::size_t octets) {
  fabric_->after_latency([peer = peer_, octets] {
    if (const auto end = peer.lock()) end->room_arrives(octets);
  });
}

void MemoryEnd::room_arrives(std::size_t octets) {
  outstanding_ -= octets;
  if (!wants_writable_ || outstanding_ >= window_ || state_ != State::open) return;
  wants_writable_ = false;
  if (observer_ != nullptr) observer_->writable();
}

void MemoryEnd::notify_readable(base::Duration delay) {
  if (readable_pending_) return;
  readable_pending_ = true;
  fabric_->loop_.schedule(fabric_->loop_.now() + delay,
                          [self = shared_from_this()] { self->on_readable_timer(); });
}

void MemoryEnd::on_readable_timer() {
  readable_pending_ = false;
  if (observer_ == nullptr || state_ != State::open) return;
  if (reset_arrived_ && (paused_ || inbox_.empty())) return end_later(Ending::reset);
  if (paused_ || (inbox_.empty() && (!fin_arrived_ || fin_reported_))) return;
  observer_->readable();
  notify_readable(ask_again);
}

// ---- endings ----

void MemoryEnd::shutdown_send() {
  if (state_ != State::open || send_shut_) return;
  send_shut_ = true;
  fabric_->tap(local_, remote_, Kind::fin);
  arrive_in_turn([peer = peer_] {
    if (const auto end = peer.lock()) end->fin_arrives();
  });
}

void MemoryEnd::fin_arrives() {
  fin_arrived_ = true;
  notify_readable({});
}

void MemoryEnd::reset() {
  const bool was_open = state_ == State::open && !reset_arrived_;
  state_ = State::ended;
  if (!was_open) return;
  fabric_->tap(local_, remote_, Kind::reset);
  in_turn([peer = peer_] {
    if (const auto end = peer.lock()) end->reset_arrives();
  });
}

void MemoryEnd::reset_arrives() {
  // Both directions closed by FIN: nothing is left that a reset could end.
  if (fin_reported_ && send_shut_) return;
  reset_arrived_ = true;
  notify_readable({});
}

void MemoryEnd::end_later(Ending ending) {
  if (state_ == State::ended) return;
  state_ = State::ended;
  fabric_->loop_.defer([self = shared_from_this(), ending] {
    if (self->observer_ != nullptr) self->observer_->ended(ending);
  });
}

/// The owner is gone: close gracefully. What still comes is answered with a reset.
void MemoryEnd::abandon() {
  observer_ = nullptr;
  if (!reset_arrived_) shutdown_send();
  state_ = State::ended;
  std::size_t unread = 0;
  for (const auto& segment : inbox_) unread += segment.size();
  inbox_.clear();
  if (unread > front_used_) release(unread - front_used_);
}

// ---- hosts ----

class MemoryNetwork final : public Network {
 public:
  MemoryNetwork(std::shared_ptr<MemoryFabric::State> fabric, base::Address ipv4, base::Address ipv6)
      : fabric_(std::move(fabric)), ipv4_(ipv4.with_port(0)), ipv6_(ipv6.with_port(0)) {
    assert(ipv4_.family == base::Family::ipv4 && ipv6_.family == base::Family::ipv6);
    [[maybe_unused]] const bool fresh =
        fabric_->hosts_.insert(ipv4_).second && fabric_->hosts_.insert(ipv6_).second;
    assert(fresh && "two hosts of one fabric have the same address");
  }
  ~MemoryNetwork() override {
    fabric_->hosts_.erase(ipv4_);
    fabric_->hosts_.erase(ipv6_);
  }
  MemoryNetwork(const MemoryNetwork&) = delete;
  MemoryNetwork& operator=(const MemoryNetwork&) = delete;

  [[nodiscard]] std::expected<std::unique_ptr<Listener>, Error> listen(
      const base::Address& local, Listener::Observer& observer) override {
    base::Address where = local;
    if (where.octets == base::Address{}.octets) where = address(local.family).with_port(local.port);
    if (where.with_port(0) != address(where.family))
      return std::unexpected(error(EADDRNOTAVAIL, "listen on", where));
    if (where.port == 0) where.port = fabric_->free_port(where);
    if (fabric_->listeners_.contains(where))
      return std::unexpected(error(EADDRINUSE, "listen on", where));
    return std::make_unique<MemoryListener>(fabric_, where, segment_limit_, observer);
  }
  [[nodiscard]] std::expected<std::unique_ptr<Connection>, Error> connect(
      const base::Address& remote, Connection::Observer& observer) override {
    const base::Address own = address(remote.family);
    const auto end = std::make_shared<MemoryEnd>(fabric_, own.with_port(fabric_->free_port(own)),
                                                 remote, MemoryEnd::State::connecting);
    if (segment_limit_) end->limit_emss(*segment_limit_);
    end->set_observer(&observer);
    end->start_connecting();
    return std::make_unique<MemoryConnection>(end);
  }
  [[nodiscard]] base::Address address(base::Family family) const override {
    return family == base::Family::ipv4 ? ipv4_ : ipv6_;
  }
  void limit_segments(std::optional<std::size_t> octets) override { segment_limit_ = octets; }
  /// A path belongs to one connection here.
  [[nodiscard]] bool use_spare_address() override { return true; }

 private:
  static Error error(int code, const char* what, const base::Address& address) {
    return {code,
            std::string("cannot ") + what + " " + address.text() + ": " +
                (code == EADDRINUSE ? "Address already in use" : "not an address of this host")};
  }

  std::shared_ptr<MemoryFabric::State> fabric_;
  base::Address ipv4_, ipv6_;
  std::optional<std::size_t> segment_limit_;
};

MemoryFabric::MemoryFabric(base::EventLoop& loop, Options options)
    : state_(std::make_shared<State>(loop, options)) {}
MemoryFabric::~MemoryFabric() { state_->tap_ = nullptr; }

std::unique_ptr<Network> MemoryFabric::add_host(const base::Address& ipv4,
                                                const base::Address& ipv6) {
  return std::make_unique<MemoryNetwork>(state_, ipv4, ipv6);
}

void MemoryFabric::set_tap(std::function<void(const Passed&)> tap) {
  state_->tap_ = std::move(tap);
}

}  // namespace rnic::llp
