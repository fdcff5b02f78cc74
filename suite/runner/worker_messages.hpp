// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The words between the parent and a worker, over the worker's standard input and output: a JSON
// object a line, to which octets may be attached (suite/jobs/message.hpp).
//
// parent: {"setup": {...}}                            once, first
// worker: {"ready": {...hello...}}                    whenever it can take a case
//         {"unreachable": "..."}                      it never will
// parent: {"run": {"id": ..., "attempt": ..., "group": ...}}
// worker: {"alive": true}                             now and then while a case runs, from its
//                                                     event loop: not hung
//         {"outcome": {...}, "stderr": "..."}         then ready again; attached: what went over
//                                                     the wire
//         {"died": {"signal": 11, "in_iut": true}}    its last word, from the signal handler
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "suite/cases/framework/environment.hpp"
#include "suite/cases/framework/outcome.hpp"
#include "suite/iut/messages.hpp"
#include "suite/jobs/message.hpp"

namespace suite::runner {

using jobs::Message;

/// One side of the wire as a worker's sockets need it.
struct HostSetup {
  std::string network_namespace;  ///< path of the namespace; empty: the worker's own
  std::string ipv4, ipv6;         ///< literals; empty: the side has none
  std::uint32_t max_segment = 0;  ///< TCP_MAXSEG; 0: as the route says
  std::string spare_ipv4{};       ///< first of the addresses that nothing is to use by itself
  std::uint32_t spare_count = 0;  ///< how many there are
};

/// All that a worker needs to make its environment.
struct WorkerSetup {
  enum class Reach : std::uint8_t { in_process, process, socket } reach = Reach::in_process;
  std::vector<std::string> agent;  ///< process: argv
  std::string socket;              ///< socket: path
  std::vector<std::string> deviations;
  std::vector<std::string> lawful;  ///< variants
  bool memory_link = false;
  HostSetup tester, iut;
  double deadline_scale = 1;
  std::uint64_t quiet_window = 100'000'000;                        ///< nanoseconds
  std::uint64_t hello_deadline = 20'000, reply_deadline = 30'000;  ///< milliseconds; of an agent
  std::map<std::string, bool> pics;
  bool strict = false;
  std::optional<cases::DatAccess> dat;  ///< if the IUT is a DAT provider
};

struct RunMessage {
  std::string id;
  std::uint32_t attempt = 1;
  std::uint64_t group =
      0;  ///< when it differs from the last one, others may have configured the IUT meanwhile
  double deadline_scale = 1;  ///< that of the setup, or another one for this case
};

struct ReadyMessage {
  iut::Hello hello;
};
struct UnreachableMessage {
  std::string why;
};
struct AliveMessage {};
struct OutcomeMessage {
  cases::CaseOutcome outcome;
  std::string stderr_text;  ///< of an agent process, during the attempt
};
struct DiedMessage {
  int signal = 0;
  bool in_iut = false;
};
using WorkerMessage =
    std::variant<ReadyMessage, UnreachableMessage, AliveMessage, OutcomeMessage, DiedMessage>;
using ParentMessage = std::variant<WorkerSetup, RunMessage>;

[[nodiscard]] Message format(const ParentMessage& word);
[[nodiscard]] Message format(const WorkerMessage& word);
/// Nothing: it is no such word. Both ends are this program, so that is a fault of the harness.
[[nodiscard]] std::optional<ParentMessage> parse_parent_message(const Message& message);
[[nodiscard]] std::optional<WorkerMessage> parse_worker_message(const Message& message);

}  // namespace suite::runner
