// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A consumer in a process of its own, at the same IA as the case: for what only another process can
// show, above all that a process is killed.
#pragma once

#include <string>
#include <string_view>

#include "suite/cases/dat/framework/dat_body.hpp"
#include "suite/iut/child_process.hpp"

namespace suite::cases::dat {

/// What it does with the requests that arrive at its service point.
enum class PeerRole : std::uint8_t {
  /// It accepts them with the private data that they brought, and posts a receive.
  accepts,
  /// It does not answer them.
  holds,
  /// None comes. It registers regions, and writes their RMR contexts as one word.
  registers,
};
[[nodiscard]] std::string_view role_text(PeerRole role);

class Peer {
 public:
  /// Returns once it listens; if it cannot, the case is inconclusive.
  Peer(DatBody& body, PeerRole role);
  ~Peer() { child_.kill(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  [[nodiscard]] DAT_CONN_QUAL qualifier() const { return qualifier_; }
  /// Waits until it writes this: `request` (it has one), `established`.
  void await(std::string_view word);
  /// Waits until it writes a word.
  [[nodiscard]] std::string next_word();
  /// Ends it by SIGKILL, and returns when the kernel has freed all that it held.
  void kill();

 private:
  DatBody& body_;
  iut::ChildProcess child_;
  std::string unread_;
  DAT_CONN_QUAL qualifier_ = 0;
};

/// The peer's own side, for the program: serves until it is killed. The exit code, if it
/// cannot.
int serve(const DatTarget& target, std::string_view role);

}  // namespace suite::cases::dat
