// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The timers of an event loop: callbacks ordered by time, equal times in the order in which they were
// added.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/event_loop.hpp"

namespace base {

class TimerQueue {
 public:
  TimerId add(TimePoint when, std::function<void()> callback) {
    const std::uint64_t id = next_++;
    timers_.emplace(Key{when, id}, std::move(callback));
    when_.emplace(id, when);
    return TimerId{id};
  }
  /// One that hasten() makes due.
  TimerId add_early(TimePoint latest, std::function<void()> callback) {
    const TimerId timer = add(latest, std::move(callback));
    early_.insert(static_cast<std::uint64_t>(timer));
    return timer;
  }
  /// False: there is none.
  bool hasten() {
    if (early_.empty()) return false;
    for (const std::uint64_t id : early_) {
      TimePoint& when = when_.at(id);
      auto node = timers_.extract(Key{when, id});
      node.key() = {when = TimePoint{}, id};
      timers_.insert(std::move(node));
    }
    early_.clear();
    return true;
  }
  /// Has no effect on a timer that has run or was cancelled.
  void cancel(TimerId timer) {
    const auto found = when_.find(static_cast<std::uint64_t>(timer));
    if (found == when_.end()) return;
    timers_.erase(Key{found->second, found->first});
    early_.erase(found->first);
    when_.erase(found);
  }
  [[nodiscard]] std::optional<TimePoint> next() const {
    if (timers_.empty()) return std::nullopt;
    return timers_.begin()->first.first;
  }
  /// Removes the first timer and returns its callback. There must be one.
  [[nodiscard]] std::function<void()> take() {
    auto node = timers_.extract(timers_.begin());
    when_.erase(node.key().second);
    early_.erase(node.key().second);
    return std::move(node.mapped());
  }

 private:
  using Key = std::pair<TimePoint, std::uint64_t>;
  std::map<Key, std::function<void()>> timers_;
  std::map<std::uint64_t, TimePoint> when_;
  std::set<std::uint64_t> early_;
  std::uint64_t next_ = 1;
};

/// Marks an event loop as dispatching: a nested run_until would lose events of the outer one, and is a
/// harness bug.
class DispatchGuard {
 public:
  explicit DispatchGuard(bool& running);
  ~DispatchGuard() { running_ = false; }
  DispatchGuard(const DispatchGuard&) = delete;
  DispatchGuard& operator=(const DispatchGuard&) = delete;

 private:
  bool& running_;
};

}  // namespace base
