// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Events that a program takes from a descriptor which it can poll: completion channels, asynchronous
// events, event channels of the connection manager.
#pragma once

#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <optional>
#include <system_error>
#include <utility>

#include "base/file_descriptor.hpp"

namespace rnic::rdma_core {

/// The descriptor counts the events. All but take_token() is called under the lock of the engine.
template <typename Event>
class EventQueue {
 public:
  EventQueue() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)) {
    if (!descriptor_) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

  void push(Event event) {
    events_.push_back(std::move(event));
    eventfd_write(descriptor_.get(), 1);
  }
  /// Waits as the mode of the descriptor says, without the lock: a point of cancellation. False: errno
  /// says why not.
  [[nodiscard]] static bool take_token(int descriptor) {
    eventfd_t count = 0;
    return ::read(descriptor, &count, sizeof count) == sizeof count;
  }
  /// After take_token(). Nothing: the event has been removed in between.
  [[nodiscard]] std::optional<Event> pop() {
    if (events_.empty()) return std::nullopt;
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }
  /// Moves the events for which `match` holds to `taken`.
  template <typename Match, typename Taken>
  void remove(Match&& match, Taken&& taken) {
    std::deque<Event> rest;
    for (Event& event : events_) {
      if (!match(event)) {
        rest.push_back(std::move(event));
        continue;
      }
      taken(std::move(event));
      take_back_token();
    }
    events_ = std::move(rest);
  }

  [[nodiscard]] bool empty() const { return events_.empty(); }

 private:
  /// Takes back the token of a removed event, unless a reader has it already. It must not wait, whatever
  /// the mode of the descriptor: a reader may be faster, and the caller holds the lock.
  void take_back_token() {
    eventfd_t count = 0;
    const iovec room{&count, sizeof count};
    static_cast<void>(::preadv2(descriptor_.get(), &room, 1, -1, RWF_NOWAIT));
  }

  base::FileDescriptor descriptor_;
  std::deque<Event> events_;
};

}  // namespace rnic::rdma_core
