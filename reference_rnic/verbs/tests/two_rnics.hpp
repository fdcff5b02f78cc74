// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Two software RNICs whose streams are joined octet by octet: the fixture of the verbs tests.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "reference_rnic/verbs/soft_rnic.hpp"

namespace rnic::verbs::test {

/// A dispatch loop without time: what is deferred runs in settle().
struct Loop {
  std::deque<std::function<void()>> deferred;
  void run();
};

std::unique_ptr<Rnic> make_rnic(Loop& loop, RnicDecisions decisions = {}, std::uint64_t seed = 1);

inline constexpr Access all_access{.local_write = true,
                                   .remote_read = true,
                                   .remote_write = true,
                                   .remote_atomic = true,
                                   .bind_window = true};

/// One RNIC with a domain, a completion queue, a queue pair, and a region of 4096 octets.
struct Side {
  Side(Loop& loop, RnicDecisions decisions, std::uint64_t seed);

  std::unique_ptr<Rnic> rnic;
  std::vector<std::byte> memory = std::vector<std::byte>(4096);
  DomainHandle domain;
  CompletionQueueHandle queue;
  QueuePairHandle pair;
  RegionInfo region;
  std::vector<AsyncEvent> async;
  std::unique_ptr<RdmaStream> stream;

  [[nodiscard]] Piece piece(std::uint64_t offset, std::uint32_t length) const {
    return {.stag = region.stag, .offset = region.base + offset, .length = length};
  }
  /// Registers part of `memory` once more.
  [[nodiscard]] RegionInfo expose(std::size_t offset, std::size_t length, const Access& access);
  [[nodiscard]] std::vector<Completion> completions();
  /// Posts and requires that it was taken.
  void send(SendRequest request);
  void receive(std::uint64_t id, Pieces pieces);
  /// Writes 1, 2, 3, ... to the start of memory.
  void number(std::size_t count);
  [[nodiscard]] QueuePairState state() const { return rnic->query_queue_pair(pair)->state; }
  [[nodiscard]] bool saw(AsyncKind kind) const;
};

/// Side a is the initiator.
class TwoRnics {
 public:
  explicit TwoRnics(RnicDecisions of_a = {}, RnicDecisions of_b = {})
      : a(loop, std::move(of_a), 1), b(loop, std::move(of_b), 2) {}
  ~TwoRnics() {
    a.stream.reset();
    b.stream.reset();
  }

  /// Opens the streams, attaches the queue pairs and runs startup.
  void connect(stream::Config base = {});
  /// Until no octet, event or closing is left.
  void settle();
  /// Only what the other side has to send now reaches this one, about as much as `limit`. False: it
  /// has nothing to send.
  bool deliver_to(Side& side, std::size_t limit = 65536);
  /// Cuts the connection: both ends get the event that the LLP is lost.
  void lose();

  Loop loop;
  Side a, b;

 private:
  [[nodiscard]] bool carry(Side& from, Side& to, std::size_t limit = 65536);
  [[nodiscard]] bool close(Side& from, Side& to);
  void take_events(Side& side);
  std::array<bool, 2> fin_sent_{};
};

}  // namespace rnic::verbs::test
