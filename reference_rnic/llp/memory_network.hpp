// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An in-memory link: connections between hosts of one fabric, segments of at most the EMSS,
// delivered through an event loop's timers.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/event_loop.hpp"
#include "reference_rnic/llp/network.hpp"
#include "reference_rnic/llp/observer_caller.hpp"

namespace rnic::llp {

/// All hosts that can reach one another. It must outlive its networks, and they their connections.
class MemoryFabric {
 public:
  struct Options {
    std::size_t emss_ipv4 = 1448;
    std::size_t emss_ipv6 = 1428;
    /// Octets in flight per direction before send() accepts no more.
    std::size_t window = std::size_t{256} * 1024;
    base::Duration latency = std::chrono::microseconds(20);
  };
  /// What was sent over the fabric, for pcaps and for comparing two runs.
  struct Passed {
    base::Address from, to;
    enum class Kind : std::uint8_t { syn, syn_ack, refused, data, fin, reset } kind;
    wire::Bytes octets;  ///< valid during the call only
    base::TimePoint when;
  };

  MemoryFabric(base::EventLoop& loop, Options options);
  explicit MemoryFabric(base::EventLoop& loop) : MemoryFabric(loop, Options{}) {}
  ~MemoryFabric();
  /// A host with these addresses (ports ignored). It connects from none of the further ones.
  [[nodiscard]] std::unique_ptr<Network> add_host(const base::Address& ipv4,
                                                  const base::Address& ipv6,
                                                  ObserverCaller observer_caller = {},
                                                  std::vector<base::Address> further = {});
  void set_tap(std::function<void(const Passed&)> tap);

  class State;  ///< private to the implementation

 private:
  std::shared_ptr<State> state_;
};

}  // namespace rnic::llp
