// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Simulated time, and the guard that both event loops share.
#include "base/simulated_loop.hpp"

#include <algorithm>
#include <cassert>

namespace base {

DispatchGuard::DispatchGuard(bool& running) : running_(running) {
  assert(!running_ && "run_until was called from inside a callback");
  running_ = true;
}

bool SimulatedLoop::run_until(TimePoint deadline, const std::function<bool()>& done) {
  const DispatchGuard guard(running_);
  while (!done()) {
    const auto next = timers_.next();
    if (!next || *next > deadline) {
      // An endless deadline with nothing left to happen returns at once; time stays where it is.
      if (deadline != TimePoint::max()) now_ = std::max(now_, deadline);
      return done();
    }
    now_ = std::max(now_, *next);
    timers_.take()();
  }
  return true;
}

}  // namespace base
