// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Requests that a driver keeps until their endpoint is connected: an API takes none before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "suite/upper_tester/driver.hpp"

namespace suite::upper_tester {

class WaitingWork {
 public:
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] std::size_t size() const { return list_.size(); }
  /// `number`: of the command. A bind has its reply when it is posted, other work has been answered.
  void add(std::uint64_t number, const iut::PostWork& command) {
    list_.push_back({number, command});
  }

  /// Posts all by `run`. What that refuses has a completion in error.
  void post(const std::function<iut::Reply(const iut::PostWork&)>& run, const Sink& emit);
  /// The endpoint will not be connected: all is flushed, and binds are refused.
  void give_up(const Sink& emit);

 private:
  struct One {
    std::uint64_t number;
    iut::PostWork command;
  };
  std::vector<One> list_;
};

}  // namespace suite::upper_tester
