// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The implementation under test as a case sees it: commands go in,
// replies and events come out, asynchronously.
#pragma once

#include <optional>

#include "base/event_loop.hpp"
#include "suite/iut/messages.hpp"

namespace suite::iut {

/// One IUT with its upper tester: in process, or an agent at the other end of a pipe, socket or
/// serial channel.
class Iut {
 public:
  virtual ~Iut() = default;

  /// The agent's hello. Always present: a client is made only after the hello has come.
  [[nodiscard]] virtual const Hello& hello() const = 0;
  /// Sends a command; its number comes back in the Reply. Never blocks.
  virtual std::uint64_t post(Command command) = 0;
  /// The next reply or event in the order of arrival, pumping the event loop until the deadline; nothing
  /// if none comes.
  [[nodiscard]] virtual std::optional<Event> next_event(base::TimePoint deadline) = 0;
  /// Whether only GoneEvents can come: then it is useless to wait for octets of the IUT as well.
  [[nodiscard]] virtual bool is_gone() const { return false; }
};

}  // namespace suite::iut
