// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The driver of one kind of RNIC API in the upper tester: commands in, replies and events out.
//
// C++17 only, so that the agent builds alone on older hosts. One thread: every call, and every call
// of the sink, is made from the loop that owns the driver.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "suite/iut/messages.hpp"

namespace suite::upper_tester {

/// Takes every reply and event, in the order in which they happened. May be called from within
/// `execute` and `dispatch`; it must not call the driver back.
using Sink = std::function<void(iut::Event)>;

class Driver {
 public:
  explicit Driver(Sink sink) : sink_(std::move(sink)) {}
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  /// Releases everything, endpoints abortively.
  virtual ~Driver() = default;

  /// What the implementation is and can do. Called once, before the first command.
  [[nodiscard]] virtual iut::Hello hello() = 0;

  /// Starts one command. Exactly one Reply with this number follows, at once or later; commands may
  /// overlap and be answered in any order. A command that the API refuses is answered `failed` with
  /// the API's message, one that it does not have `unsupported`; neither throws.
  ///
  /// Never blocks on the peer: Connect, Accept, Reject and Disconnect are answered when the API has
  /// taken them; the outcome for the connection is an event. Reset and Configure are answered when
  /// all is done, and after a Reset's reply no event of what it destroyed follows.
  virtual void execute(std::uint64_t number, const iut::Command& command) = 0;

  /// A file descriptor that polls readable while `dispatch` has work (an epoll descriptor will do),
  /// or -1 if the driver is part of a loop that its owner runs.
  [[nodiscard]] virtual int event_fd() const { return -1; }
  /// Takes the events of the API, without blocking.
  virtual void dispatch() {}

 protected:
  void emit(iut::Event event) const { sink_(std::move(event)); }
  void emit_all(std::vector<iut::Event> events) const {
    for (iut::Event& event : events) sink_(std::move(event));
  }

 private:
  Sink sink_;
};

}  // namespace suite::upper_tester
