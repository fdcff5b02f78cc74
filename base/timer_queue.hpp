// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The timers of an event loop: callbacks ordered by time, equal times in the order in which they were
// added.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/event_loop.hpp"
#include "base/fifo.hpp"

namespace base {

class TimerQueue {
 public:
  TimerId add(TimePoint when, std::function<void()> callback) {
    const std::uint64_t id = next_++;
    timers_.emplace(Key{when, id}, std::move(callback));
    when_.emplace(id, when);
    return TimerId{id};
  }
  /// One that is due now, which is not before the time of any other such one: it needs no search for
  /// its place.
  TimerId add_due(TimePoint now, std::function<void()> callback) {
    const std::uint64_t id = next_++;
    due_.emplace_back(Key{now, id}, std::move(callback));
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
    const auto id = static_cast<std::uint64_t>(timer);
    const auto found = when_.find(id);
    if (found == when_.end()) return cancel_due(id);
    timers_.erase(Key{found->second, found->first});
    early_.erase(found->first);
    when_.erase(found);
  }
  [[nodiscard]] std::optional<TimePoint> next() const {
    if (due_is_first()) return due_.front().key.first;
    if (timers_.empty()) return std::nullopt;
    return timers_.begin()->first.first;
  }
  /// Removes the first timer and returns its callback. There must be one.
  [[nodiscard]] std::function<void()> take() {
    if (due_is_first()) {
      auto callback = std::move(due_.front().callback);
      due_.pop_front();
      return callback;
    }
    auto node = timers_.extract(timers_.begin());
    when_.erase(node.key().second);
    early_.erase(node.key().second);
    return std::move(node.mapped());
  }

 private:
  using Key = std::pair<TimePoint, std::uint64_t>;
  struct Due {
    Key key;
    std::function<void()> callback;
  };
  [[nodiscard]] bool due_is_first() const {
    return !due_.empty() && (timers_.empty() || due_.front().key < timers_.begin()->first);
  }
  void cancel_due(std::uint64_t id) {
    const auto found = std::ranges::find(due_, id, [](const Due& one) { return one.key.second; });
    if (found == due_.end()) return;
    const auto dropped = std::move(found->callback);  // what it owns may cancel another
    due_.erase(found);
  }

  Fifo<Due> due_;
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
