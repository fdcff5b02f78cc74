// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One end of a connection over the in-memory link, and what all ends of a fabric share.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "reference_rnic/llp/memory_network.hpp"

namespace rnic::llp {

class MemoryEnd;
using EndPtr = std::shared_ptr<MemoryEnd>;

/// The interface of a listener at an address of the fabric.
class MemoryAcceptor {
 public:
  virtual ~MemoryAcceptor() = default;
  /// Limits the EMSS of connections to it.
  [[nodiscard]] virtual std::size_t segment_limit() const = 0;
  virtual void accept(EndPtr end) = 0;
};

/// What connections, listeners and hosts share; it lives as long as any of them or a pending timer.
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
    const std::size_t usual =
        family == base::Family::ipv4 ? options_.emss_ipv4 : options_.emss_ipv6;
    return std::max(usual, wide_path_.value_or(0));
  }

  base::EventLoop& loop_;
  Options options_;
  std::optional<std::size_t> wide_path_;  ///< EMSS of later connections, if that is larger
  std::function<void(const Passed&)> tap_;
  std::set<base::Address> hosts_;  ///< all with port 0
  std::map<base::Address, MemoryAcceptor*> listeners_;

 private:
  static constexpr std::uint16_t first_ephemeral_port = 49152;
  std::uint16_t next_port_ = first_ephemeral_port;
};

/// One end of a connection: what the LLP of that host would know. It reaches the peer's end only
/// through after_latency().
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
  void call_observer_by(ObserverCaller caller) { caller_ = caller; }
  void start_connecting();
  void set_observer(Connection::Observer* observer) {
    observer_ = observer;
    notify_readable({});
  }
  Connection::Received receive(std::span<const wire::MutableBytes> targets);
  std::size_t send(std::span<const wire::Bytes> pieces);
  bool send_lost(wire::Bytes octets);
  /// Only what comes next shows above the receiver's LLP, which keeps back what arrives too early
  /// and drops what it has.
  bool inject(std::int64_t offset, wire::Bytes octets, Ecn ecn);
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
  void data_arrives(std::vector<std::byte> segment, Ecn ecn);
  void fin_arrives();
  void reset_arrives();
  void room_arrives(std::size_t octets);
  void send_segment(std::span<const wire::Bytes>& pieces, std::size_t& offset, std::size_t size,
                    Ecn ecn = Ecn::not_capable);
  void release(std::size_t octets);
  void in_turn(std::function<void()> arrive);
  void arrive_in_turn(std::function<void()> arrive);
  void end_later(Ending ending);
  void notify_readable(base::Duration delay);
  void on_readable_timer();

  std::weak_ptr<MemoryEnd> peer_;
  State state_;
  ObserverCaller caller_;
  Connection::Observer* observer_ = nullptr;
  std::deque<std::vector<std::byte>> inbox_;
  std::size_t front_used_ = 0;       ///< octets of the inbox's first segment already received
  bool ecn_marked_ = false;          ///< a segment of the inbox
  std::size_t injected_ = 0;         ///< octets that were injected, and come again in turn
  std::size_t window_;               ///< of our sending direction
  std::size_t outstanding_ = 0;      ///< sent and not yet taken by the peer's owner
  base::TimePoint last_arrival_{};   ///< of what we sent
  base::TimePoint held_up_until_{};  ///< nothing of ours arrives before
  /// The size of the peer's last segment, and of what came after it while it is left
  /// unacknowledged.
  std::size_t last_segment_ = 0;
  std::vector<std::function<void()>> refused_;
  bool refusing_ = false;
  bool fin_arrived_ = false, fin_reported_ = false, reset_arrived_ = false;
  bool send_shut_ = false, paused_ = false, wants_writable_ = false, readable_pending_ = false;
};

}  // namespace rnic::llp
