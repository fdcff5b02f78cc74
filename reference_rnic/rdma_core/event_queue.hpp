// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Events that a program takes from a descriptor which it can poll: completion channels, asynchronous
// events, event channels of the connection manager.
#pragma once

#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include "base/fifo.hpp"
#include "base/file_descriptor.hpp"
#include "reference_rnic/access/wakeup.hpp"
#include "reference_rnic/rdma_core/fork.hpp"

namespace rnic::rdma_core {

/// The descriptor counts the events, but for one that a call awaits without it. All but take_token()
/// is called under the lock of the engine.
template <typename Event>
class EventQueue {
 public:
  EventQueue() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)) {
    if (!descriptor_) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  /// The parent of fork() gets its events; the descriptor counts them for both.
  [[nodiscard]] bool inherited() const { return origin_.inherited(); }

  void push(Event event) {
    events_.push_back(std::move(event));
    if (awaited_ == Awaited::no) return give_token();
    if (std::exchange(awaited_, Awaited::came) == Awaited::came) return give_token();
    wakeup_.wake_all();
  }
  /// A call that waits for the next event without the descriptor, since it drives the loop itself. There
  /// is one at most.
  class Call {
   public:
    explicit Call(EventQueue& queue) : queue_(queue) { queue_.awaited_ = Awaited::yes; }
    ~Call() {
      const bool left = queue_.awaited_ == Awaited::came && !queue_.empty();
      queue_.awaited_ = Awaited::no;
      if (left) queue_.give_token();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    [[nodiscard]] access::Wakeup& wakeup() { return queue_.wakeup_; }
    [[nodiscard]] bool came() const { return !queue_.empty(); }
    [[nodiscard]] Event take() {
      queue_.awaited_ = Awaited::no;
      return *queue_.pop();
    }

   private:
    EventQueue& queue_;
  };
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
    base::Fifo<Event> rest;
    for (Event& event : events_) {
      if (!match(event)) {
        rest.push_back(std::move(event));
        continue;
      }
      taken(std::move(event));
      take_back_token();
    }
    events_ = std::move(rest);
    if (events_.empty() && awaited_ == Awaited::came) awaited_ = Awaited::yes;
  }

  [[nodiscard]] bool empty() const { return events_.empty(); }
  [[nodiscard]] bool has_call() const { return awaited_ != Awaited::no; }

 private:
  enum class Awaited : std::uint8_t { no, yes, came };

  void give_token() { eventfd_write(descriptor_.get(), 1); }
  /// Takes back the token of a removed event, unless a reader has it already. It must not wait, whatever
  /// the mode of the descriptor: a reader may be faster, and the caller holds the lock.
  void take_back_token() {
    eventfd_t count = 0;
    const iovec room{&count, sizeof count};
    static_cast<void>(::preadv2(descriptor_.get(), &room, 1, -1, RWF_NOWAIT));
  }

  Origin origin_;
  base::FileDescriptor descriptor_;
  base::Fifo<Event> events_;
  Awaited awaited_ = Awaited::no;
  access::Wakeup wakeup_;
};

}  // namespace rnic::rdma_core
