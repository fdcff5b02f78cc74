// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The messages between the parent and a worker, over the worker's standard input and output: one
// JSON object per line, to which octets may be attached (suite/jobs/message.hpp).
//
// parent: {"type":"setup", ...}                         once, first
// worker: {"type":"ready","hello":{...}}                whenever it can take a case
//         {"type":"unreachable","why":"..."}            it never will
// parent: {"type":"run","id":...,"attempt":...}
// worker: {"type":"alive"}                              now and then while a case runs, from its
//                                                       event loop: it does not hang
//         {"type":"outcome","outcome":{...}, ...}       then ready again; attached: what went over
//                                                       the wire
//         {"type":"died","signal":11,"in_iut":true}     its last message, from the signal handler
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "suite/cases/framework/environment.hpp"
#include "suite/iut/messages.hpp"
#include "suite/jobs/message.hpp"
#include "suite/results/outcome.hpp"

namespace suite::runner {

using jobs::Message;

/// One side of the wire, as a worker's sockets need it.
struct HostSetup {
  /// Path of the namespace; empty: the worker's own.
  std::string network_namespace;
  /// Literals; empty: the side has none.
  std::string ipv4, ipv6;
  /// Further addresses of the IUT's host.
  std::string further_ipv4{}, further_ipv6{};
  /// TCP_MAXSEG; 0: as the route says.
  std::uint32_t max_segment = 0;
  /// The first of the addresses that are unused unless a case asks for one, and how many there are.
  std::string spare_ipv4{};
  std::uint32_t spare_count = 0;
  /// The interface of link-local addresses.
  std::string zone{};
};

/// All that a worker needs to make its environment.
struct WorkerSetup {
  enum class Reach : std::uint8_t { in_process, process, socket } reach = Reach::in_process;
  /// Of a process: argv.
  std::vector<std::string> agent;
  /// Of a socket: its path.
  std::string socket;
  std::vector<std::string> deviations;
  /// Variants.
  std::vector<std::string> lawful;
  bool memory_link = false;
  HostSetup tester, iut;
  double deadline_scale = 1;
  /// Nanoseconds.
  std::uint64_t quiet_window = 100'000'000;
  /// Of an agent; milliseconds.
  std::uint64_t hello_deadline = 20'000, reply_deadline = 30'000;
  std::map<std::string, bool> pics;
  bool strict = false;
  /// If the IUT is a DAT provider.
  std::optional<cases::DatAccess> dat;
};
constexpr auto names_of(WorkerSetup::Reach) {
  return std::array{"in_process", "process", "socket"};
}

struct RunMessage {
  std::string id;
  std::uint32_t attempt = 1;
  /// If it differs from the last one, other cases may have configured the IUT in the meantime.
  std::uint64_t group = 0;
  /// The scale of the setup, or a different one for this case.
  double deadline_scale = 1;
  cases::Controls controls{};
};

struct ReadyMessage {
  iut::Hello hello;
};
struct UnreachableMessage {
  std::string why;
};
struct AliveMessage {};
struct OutcomeMessage {
  results::CaseOutcome outcome;
  /// Of an agent process, during the attempt.
  std::string stderr_text;
};
struct DiedMessage {
  int signal = 0;
  bool in_iut = false;
};
using WorkerMessage =
    std::variant<ReadyMessage, UnreachableMessage, AliveMessage, OutcomeMessage, DiedMessage>;
using ParentMessage = std::variant<WorkerSetup, RunMessage>;

[[nodiscard]] Message format(const ParentMessage& message);
[[nodiscard]] Message format(const WorkerMessage& message);
/// Nothing if it is no such message. Both ends are this program, so this is a fault of the harness.
[[nodiscard]] std::optional<ParentMessage> parse_parent_message(const Message& message);
[[nodiscard]] std::optional<WorkerMessage> parse_worker_message(const Message& message);

}  // namespace suite::runner
