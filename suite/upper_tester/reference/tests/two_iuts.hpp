// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Two reference IUTs in one simulated event loop, connected to each other and driven by commands
// only: the environment of the driver's tests.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/simulated_loop.hpp"
#include "reference_rnic/llp/memory_network.hpp"
#include "suite/upper_tester/reference/reference_iut.hpp"

namespace suite::upper_tester::reference::test {

template <class... Values>
[[nodiscard]] iut::Octets octets(Values... values) {
  return {static_cast<std::byte>(values)...};
}

/// A synchronous interface to one IUT: events wait in order until they are asked for.
class Side {
 public:
  Side(base::EventLoop& loop, std::unique_ptr<rnic::llp::Network> network,
       std::vector<rnic::deviants::Deviation> deviations = {});

  /// Posts and waits for the reply.
  iut::Reply ask(iut::Command command);
  /// As ask(), and requires that it was done.
  iut::Reply must(iut::Command command);
  /// The next event of this kind, which need not be the very next one.
  template <typename Event>
  std::optional<Event> event(std::chrono::milliseconds limit = std::chrono::seconds(5)) {
    return take<Event>([](const Event&) { return true; }, limit);
  }
  template <typename Event>
  std::optional<Event> take(const std::function<bool(const Event&)>& fits,
                            std::chrono::milliseconds limit) {
    const auto deadline = loop_.now() + limit;
    for (;;) {
      for (auto item = waiting_.begin(); item != waiting_.end(); ++item) {
        const auto* found = std::get_if<Event>(&*item);
        if (found == nullptr || !fits(*found)) continue;
        Event result = *found;
        waiting_.erase(item);
        return result;
      }
      auto next = iut_->next_event(deadline);
      if (!next) return std::nullopt;
      waiting_.push_back(std::move(*next));
    }
  }
  [[nodiscard]] bool quiet(std::chrono::milliseconds window = std::chrono::milliseconds(100));
  /// The event's place in the order of arrival.
  [[nodiscard]] std::vector<std::string> kinds_waiting();

  iut::Iut& iut() { return *iut_; }
  const rnic::llp::Network& network() const { return *network_; }

 private:
  base::EventLoop& loop_;
  std::unique_ptr<rnic::llp::Network> network_;
  std::unique_ptr<iut::Iut> iut_;
  std::deque<iut::Event> waiting_;
};

inline constexpr iut::Handle endpoint = 1, region = 1, listener = 1;

class TwoIuts {
 public:
  explicit TwoIuts(std::vector<rnic::deviants::Deviation> of_b = {});
  /// Endpoint 1 and region 1 (4096 octets, all rights) on both sides; a connects to b's listener 1.
  void connect(const iut::ConnectParameters& parameters = {});
  void make_objects(Side& side, iut::Reply& registered);
  void start_connecting(const iut::ConnectParameters& parameters = {});

  base::SimulatedLoop loop;
  rnic::llp::MemoryFabric fabric{loop};
  Side a, b;
  iut::Reply region_a, region_b;
};

}  // namespace suite::upper_tester::reference::test
