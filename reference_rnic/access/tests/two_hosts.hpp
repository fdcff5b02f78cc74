// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Two hosts with an RNIC and a connection manager each, over the in-memory link or over TCP on
// loopback: the bench of the access tests.
#pragma once

#include <memory>
#include <vector>

#include "base/simulated_loop.hpp"
#include "reference_rnic/access/connection_manager.hpp"
#include "reference_rnic/llp/memory_network.hpp"
#include "reference_rnic/llp/tcp_network.hpp"
#include "reference_rnic/verbs/soft_rnic.hpp"

namespace rnic::access::test {

using Deviations = std::vector<rnic::deviants::Deviation>;

struct Host {
  Host(base::EventLoop& loop, std::unique_ptr<llp::Network> network, const Deviations& deviations);

  [[nodiscard]] verbs::QueuePairHandle make_pair();
  [[nodiscard]] std::vector<verbs::Completion> completions();
  template <typename Event>
  [[nodiscard]] const Event* find() const {
    for (const ConnectionEvent& event : events)
      if (const auto* found = std::get_if<Event>(&event)) return found;
    return nullptr;
  }
  [[nodiscard]] verbs::Piece piece(std::uint64_t offset, std::uint32_t length) const {
    return {.stag = region.stag, .offset = region.base + offset, .length = length};
  }

  std::unique_ptr<llp::Network> network;
  std::unique_ptr<verbs::Rnic> rnic;
  verbs::DomainHandle domain;
  verbs::CompletionQueueHandle queue;
  verbs::QueuePairHandle pair;
  std::vector<std::byte> memory = std::vector<std::byte>(1 << 20);
  verbs::RegionInfo region;
  std::vector<ConnectionEvent> events;
  std::unique_ptr<ConnectionManager> manager;
};

/// The event loop and its networks; `Memory` or `Tcp`.
struct Memory {
  base::SimulatedLoop loop;
  llp::MemoryFabric fabric{loop};
  std::unique_ptr<llp::Network> host(int number);
};
struct Tcp {
  base::EpollLoop loop;
  std::unique_ptr<llp::Network> host(int number);
};

/// Host a connects, host b listens.
template <typename Base>
struct TwoHosts : Base {
  explicit TwoHosts(const Deviations& of_a = {}, const Deviations& of_b = {})
      : a(this->loop, this->host(1), of_a), b(this->loop, this->host(2), of_b) {}

  bool wait(const std::function<bool()>& done, base::Duration limit = std::chrono::seconds(30)) {
    return this->loop.run_until(this->loop.now() + limit, done);
  }
  /// Runs what is due, and whatever that makes due.
  void settle(base::Duration time = std::chrono::milliseconds(20)) {
    this->loop.run_until(this->loop.now() + time, [] { return false; });
  }
  base::Address listen(const StartupOptions& options = {},
                       base::Family family = base::Family::ipv4) {
    const auto listening = b.manager->listen(b.network->address(family), options);
    listener = listening ? listening->listener : ListenerId{};
    return listening ? listening->local : base::Address{};
  }
  /// Startup up to both established events.
  bool connect(const StartupOptions& options = {}, const ConnectParameters& parameters = {},
               base::Family family = base::Family::ipv4) {
    const base::Address address = listen(options, family);
    if (!a.manager->connect(a.pair, address, options, parameters)) return false;
    if (!wait([&] { return b.find<ConnectionRequest>() != nullptr; })) return false;
    if (!b.manager->accept(b.find<ConnectionRequest>()->connection, b.pair, {})) return false;
    return wait([&] {
      return a.find<ConnectionEstablished>() != nullptr &&
             b.find<ConnectionEstablished>() != nullptr;
    });
  }

  Host a, b;
  ListenerId listener{};
};

}  // namespace rnic::access::test
