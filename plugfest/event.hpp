// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A plugfest event as its organiser writes it: participants, scenarios, and expectations.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "plugfest/capture_place.hpp"
#include "suite/results/outcome.hpp"

namespace plugfest {

/// Our own RNIC on this machine, correct or with deviations turned on.
struct LocalReference {
  std::vector<std::string> deviations;
};
/// Our agent on another host, reached by ssh.
struct SshAgent {
  std::string host;  ///< as ssh takes it
  std::string program = "rnic-agent";
};
/// Our agent on another host, which connects to this one over TLS.
struct TlsAgent {
  std::string name;    ///< that its certificate is for
  std::string listen;  ///< [ADDRESS:]PORT of this host, of this participant alone
};
/// Any program that speaks the agent's protocol on its standard input and output.
struct ArgvAgent {
  std::vector<std::string> argv;
};
/// The kernel's soft-iWARP in a guest of this machine.
struct SiwGuest {
  std::string kernel;   ///< series of Debian's kernels, e.g. "6.1"
  bool checks = false;  ///< its kernel looks for memory errors, and stops at one
};
using AgentKind = std::variant<LocalReference, SshAgent, TlsAgent, ArgvAgent, SiwGuest>;

struct Participant {
  std::string name;  ///< unique; part of file names
  std::string vendor;
  std::string alias;  ///< shown instead of the name where it is confidential; empty: the name
  AgentKind agent;
  /// Of an agent over ssh; of a guest the driver only. Of a reference "dat": through our DAT
  /// provider, "dat_sockets": through it, over sockets of the agent's own.
  std::string driver = "verbs", device;
  std::string address;                 ///< literal; where its peers reach it outside a lab
  std::map<std::string, bool> claims;  ///< of its PICS: capability to whether it may be used
  int parallel = 1;                    ///< cells that its host may be in at a time
  std::string node{};                  ///< of a Slurm cluster: its host
  std::string digest{};                ///< of what its results depend on
};

/// Files in PEM with which agents over TLS are met.
struct TlsFiles {
  std::string certificate, key;  ///< of this host
  std::string authority;         ///< certificate of whoever has signed those of the agents
};

/// Which ordered pairs play.
enum class Pairing { all, ring, listed };

/// An outcome that is known.
struct Expectation {
  std::string cells;  ///< glob over cell ids
  suite::results::Verdict verdict = suite::results::Verdict::fail;
  std::string reason;
  std::vector<std::string> observed{};  ///< globs over the reason of the cell; empty: any
  bool intermittent = false;            ///< the cells may also be good
  int tries = 1;                        ///< at most this many attempts until one is not good
  int again = 1;                        ///< at most this many attempts until one does not fit
  int line = 0;                         ///< of the event file
};

/// Cells that are not played, and the reason.
struct Exception {
  std::string cells;  ///< glob over cell ids
  std::string reason;
};

struct Event {
  std::string name;
  std::vector<Participant> participants;
  std::vector<std::string> scenarios;  ///< names, globs resolved, in the table's order
  Pairing pairing = Pairing::all;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;  ///< where listed; each plays both roles
  std::vector<Exception> except;
  int repeats = 1;
  std::chrono::seconds deadline{30};     ///< of one cell
  std::chrono::seconds step_timeout{5};  ///< of one step of a scenario
  TlsFiles tls{};                        ///< empty where no agent connects over TLS
  std::filesystem::path join{};          ///< folder of those that come later; empty: none
  std::vector<CapturePlace> captures;    ///< outside a lab; empty: no capture there
  std::vector<Expectation> expectations;
  std::string digest;  ///< of what is played: of the whole file but its expectations
};

/// Whether all of it can happen in private namespaces of this machine.
[[nodiscard]] bool plays_in_lab(const Event& event);

}  // namespace plugfest
