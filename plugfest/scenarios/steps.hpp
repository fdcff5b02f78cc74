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
/// Connects, and compares the private data that each side received with what the other gave.
[[nodiscard]] Link connect(ScenarioRun& run, const ConnectOptions& options = {});
/// The same, with receives from a shared queue at the responder's end.
[[nodiscard]] Link connect_shared(ScenarioRun& run, Handle shared_queue);
/// A connection on which both sides may send: the initiator has sent the first message.
[[nodiscard]] Link open(ScenarioRun& run, const ConnectOptions& options = {});

struct SendOptions {
  const char* operation = iut::operation::send;
  std::uint32_t invalidate_stag = 0;
};
/// Sends one message of `length` octets; both completions and the contents are compared. Returns
/// the receiver's completion.
iut::CompletionEvent send(ScenarioRun& run, const Link& link, Side from, std::size_t length,
                          const SendOptions& options = {});
/// `from` writes `length` octets into the other's memory.
void write(ScenarioRun& run, const Link& link, Side from, std::size_t length);
/// `by` reads `length` octets of the other's memory.
void read(ScenarioRun& run, const Link& link, Side by, std::size_t length);
/// Ends the connection gracefully, and waits until both sides report it.
void close(ScenarioRun& run, const Link& link, Side by = Side::initiator);

/// Both sides report that it has ended; `first` is checked first.
void expect_end(ScenarioRun& run, const Link& link, Side first);

/// The text for the outcome of a connection's startup.
[[nodiscard]] std::string word_of(const iut::Event& startup);
/// For people, without the octets.
[[nodiscard]] std::string count_of(const Octets& octets);

}  // namespace plugfest
