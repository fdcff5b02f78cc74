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
  /// `places`: the addresses that it takes connections to.
  MemoryListener(std::shared_ptr<MemoryFabric::State> fabric, base::Address local,
                 std::vector<base::Address> places, std::optional<std::size_t> segment_limit,
                 ObserverCaller caller, Observer& observer)
      : fabric_(std::move(fabric)),
        local_(local),
        places_(std::move(places)),
        segment_limit_(segment_limit.value_or(SIZE_MAX)),
        caller_(caller),
        observer_(observer) {
    for (const base::Address& place : places_) fabric_->listeners_[place] = this;
  }
  ~MemoryListener() override {
    for (const base::Address& place : places_) fabric_->listeners_.erase(place);
  }
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
  std::vector<base::Address> places_;
  std::size_t segment_limit_;
  ObserverCaller caller_;
  Observer& observer_;
};

// ---- hosts ----

class MemoryNetwork final : public Network {
 public:
  MemoryNetwork(std::shared_ptr<MemoryFabric::State> fabric, base::Address ipv4, base::Address ipv6,
                ObserverCaller observer_caller, std::vector<base::Address> further)
      : fabric_(std::move(fabric)),
        ipv4_(ipv4.with_port(0)),
        ipv6_(ipv6.with_port(0)),
        observer_caller_(observer_caller),
        own_(std::move(further)) {
    own_.insert(own_.begin(), {ipv4_, ipv6_});
    assert(ipv4_.family == base::Family::ipv4 && ipv6_.family == base::Family::ipv6);
    for (base::Address& own : own_) {
      own.port = 0;
      [[maybe_unused]] const bool fresh = fabric_->hosts_.insert(own).second;
      assert(fresh && "two hosts of one fabric have the same address");
    }
  }
  ~MemoryNetwork() override {
    for (const base::Address& own : own_) fabric_->hosts_.erase(own);
  }
  MemoryNetwork(const MemoryNetwork&) = delete;
  MemoryNetwork& operator=(const MemoryNetwork&) = delete;

  [[nodiscard]] std::expected<std::unique_ptr<Listener>, Error> listen(
      const base::Address& local, Listener::Observer& observer) override {
    const bool everywhere = local.octets == base::Address{}.octets;
    std::vector<base::Address> places;
    for (const base::Address& own : own_)
      if (own.family == local.family && (everywhere || own == local.with_port(0)))
        places.push_back(own.with_port(local.port));
    if (places.empty()) return std::unexpected(error(EADDRNOTAVAIL, "listen on", local));
    if (local.port == 0) {
      const std::uint16_t port = fabric_->free_port(places.front());
      for (base::Address& place : places) place.port = port;
    }
    for (const base::Address& place : places)
      if (fabric_->listeners_.contains(place))
        return std::unexpected(error(EADDRINUSE, "listen on", place));
    const base::Address where = local.with_port(places.front().port);
    return std::make_unique<MemoryListener>(fabric_, where, std::move(places), segment_limit_,
                                            observer_caller_, observer);
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
  /// A limit above the usual EMSS is that of a path with longer segments.
  void limit_segments(std::optional<std::size_t> octets) override {
    segment_limit_ = fabric_->wide_path_ = octets;
  }
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
  std::vector<base::Address> own_;
  std::optional<std::size_t> segment_limit_;
};

MemoryFabric::MemoryFabric(base::EventLoop& loop, Options options)
    : state_(std::make_shared<State>(loop, options)) {}
MemoryFabric::~MemoryFabric() { state_->tap_ = nullptr; }

std::unique_ptr<Network> MemoryFabric::add_host(const base::Address& ipv4,
                                                const base::Address& ipv6,
                                                ObserverCaller observer_caller,
                                                std::vector<base::Address> further) {
  return std::make_unique<MemoryNetwork>(state_, ipv4, ipv6, observer_caller, std::move(further));
}

void MemoryFabric::set_tap(std::function<void(const Passed&)> tap) {
  state_->tap_ = std::move(tap);
}

}  // namespace rnic::llp
