// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The hosts of an in-memory fabric: listeners, and connections as their owners see them.
#include "reference_rnic/llp/memory_network.hpp"

#include <cassert>
#include <cerrno>
#include <optional>
#include <utility>

#include "reference_rnic/llp/memory_end.hpp"

namespace rnic::llp {

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
  bool inject(std::int64_t offset, wire::Bytes octets, Ecn ecn) override {
    return end_->inject(offset, octets, ecn);
  }
  void leave_unacknowledged(bool unacknowledged) override {
    end_->leave_unacknowledged(unacknowledged);
  }
  void pause_receiving(bool paused) override { end_->pause(paused); }
  void set_receive_buffer(std::size_t octets) override { end_->set_receive_buffer(octets); }

 private:
  EndPtr end_;
};

class MemoryListener final : public Listener, private MemoryAcceptor {
 public:
  MemoryListener(std::shared_ptr<MemoryFabric::State> fabric, base::Address local,
                 std::optional<std::size_t> segment_limit, ObserverCaller caller,
                 Observer& observer)
      : fabric_(std::move(fabric)),
        local_(local),
        segment_limit_(segment_limit.value_or(SIZE_MAX)),
        caller_(caller),
        observer_(observer) {
    fabric_->listeners_[local_] = this;
  }
  ~MemoryListener() override { fabric_->listeners_.erase(local_); }
  MemoryListener(const MemoryListener&) = delete;
  MemoryListener& operator=(const MemoryListener&) = delete;
  [[nodiscard]] base::Address local() const override { return local_; }

 private:
  [[nodiscard]] std::size_t segment_limit() const override { return segment_limit_; }
  void accept(EndPtr end) override {
    end->call_observer_by(caller_);
    auto connection = std::make_unique<MemoryConnection>(std::move(end));
    caller_([&] { observer_.accepted(std::move(connection)); });
  }

  std::shared_ptr<MemoryFabric::State> fabric_;
  base::Address local_;
  std::size_t segment_limit_;
  ObserverCaller caller_;
  Observer& observer_;
};

// ---- hosts ----

class MemoryNetwork final : public Network {
 public:
  MemoryNetwork(std::shared_ptr<MemoryFabric::State> fabric, base::Address ipv4, base::Address ipv6,
                ObserverCaller observer_caller)
      : fabric_(std::move(fabric)),
        ipv4_(ipv4.with_port(0)),
        ipv6_(ipv6.with_port(0)),
        observer_caller_(observer_caller) {
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
    return std::make_unique<MemoryListener>(fabric_, where, segment_limit_, observer_caller_,
                                            observer);
  }
  [[nodiscard]] std::expected<std::unique_ptr<Connection>, Error> connect(
      const base::Address& remote, Connection::Observer& observer) override {
    const base::Address own = address(remote.family);
    const auto end = std::make_shared<MemoryEnd>(fabric_, own.with_port(fabric_->free_port(own)),
                                                 remote, MemoryEnd::State::connecting);
    if (segment_limit_) end->limit_emss(*segment_limit_);
    end->call_observer_by(observer_caller_);
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
  ObserverCaller observer_caller_;
  std::optional<std::size_t> segment_limit_;
};

MemoryFabric::MemoryFabric(base::EventLoop& loop, Options options)
    : state_(std::make_shared<State>(loop, options)) {}
MemoryFabric::~MemoryFabric() { state_->tap_ = nullptr; }

std::unique_ptr<Network> MemoryFabric::add_host(const base::Address& ipv4,
                                                const base::Address& ipv6,
                                                ObserverCaller observer_caller) {
  return std::make_unique<MemoryNetwork>(state_, ipv4, ipv6, observer_caller);
}

void MemoryFabric::set_tap(std::function<void(const Passed&)> tap) {
  state_->tap_ = std::move(tap);
}

}  // namespace rnic::llp
