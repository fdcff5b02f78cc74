// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The steps that scenarios share: a connection, and transfers whose contents are compared on both
// sides.
#pragma once

#include <string>

#include "plugfest/scenarios/scenario_run.hpp"

namespace plugfest {

/// The endpoints of one connection.
struct Link {
  Handle initiator = 0, responder = 0;
  [[nodiscard]] Handle of(Side side) const {
    return side == Side::initiator ? initiator : responder;
  }
};

struct ConnectOptions {
  iut::ConnectParameters request{}, reply{};
};
/// Connects, and compares the private data that each side was shown with what the other gave.
[[nodiscard]] Link connect(ScenarioRun& run, const ConnectOptions& options = {});
/// The same, where the responder's end takes its receives out of a shared queue.
[[nodiscard]] Link connect_shared(ScenarioRun& run, Handle shared_queue);
/// A connection on which both sides may send: the initiator has sent the first message.
[[nodiscard]] Link open(ScenarioRun& run, const ConnectOptions& options = {});

struct SendOptions {
  const char* operation = iut::operation::send;
  std::uint32_t invalidate_stag = 0;
};
/// One message of `length` octets; both completions and the contents are compared. The receiver's
/// completion comes back.
iut::CompletionEvent send(ScenarioRun& run, const Link& link, Side from, std::size_t length,
                          const SendOptions& options = {});
/// `from` writes `length` octets into the other's memory.
void write(ScenarioRun& run, const Link& link, Side from, std::size_t length);
/// `by` reads `length` octets of the other's memory.
void read(ScenarioRun& run, const Link& link, Side by, std::size_t length);
/// Ends it gracefully, and waits until both sides say so.
void close(ScenarioRun& run, const Link& link, Side by = Side::initiator);

/// Both sides say that it has ended; `first` is looked at first.
void expect_end(ScenarioRun& run, const Link& link, Side first);

/// The word for what became of a connection's startup.
[[nodiscard]] std::string word_of(const iut::Event& startup);
/// For people, without the octets.
[[nodiscard]] std::string count_of(const Octets& octets);

}  // namespace plugfest
