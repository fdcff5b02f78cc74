// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The World of simulated time: it jumps to the next timer, so that a minute's deadline costs nothing.
#pragma once

#include <map>

#include "reference_rnic/llp/world.hpp"

namespace rnic::llp {

class SimulatedWorld final : public World {
 public:
  [[nodiscard]] TimePoint now() const override { return now_; }
  /// Where no timer is left before the deadline, time jumps to the deadline.
  bool run_until(TimePoint deadline, const std::function<bool()>& done) override;
  TimerId schedule(TimePoint when, std::function<void()> callback) override;
  void cancel(TimerId timer) override;

 private:
  using Key = std::pair<TimePoint, std::uint64_t>;  ///< equal times run in the order scheduled
  std::map<Key, std::function<void()>> timers_;
  std::map<std::uint64_t, TimePoint> when_;
  TimePoint now_{};
  std::uint64_t next_ = 1;
};

}  // namespace rnic::llp
