// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A consumer in a process of its own, at the same IA as the case: what only another process can
// show, its death first of all.
#pragma once

#include <string>
#include <string_view>

#include "suite/cases/dat/framework/dat_body.hpp"
#include "suite/iut/child_process.hpp"

namespace suite::cases::dat {

/// What it makes of the requests that come to its service point.
enum class PeerRole : std::uint8_t {
  /// It accepts them with the private data that they brought, and posts a receive.
  accepts,
  /// It leaves them undecided.
  holds,
};
[[nodiscard]] std::string_view role_text(PeerRole role);

class Peer {
 public:
  /// Returns once it listens; what keeps it from that makes the case inconclusive.
  Peer(DatBody& body, PeerRole role);
  ~Peer() { child_.kill(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  [[nodiscard]] DAT_CONN_QUAL qualifier() const { return qualifier_; }
  /// Waits for it to say this: `request` (it has one), `established`.
  void await(std::string_view word);
  /// Ends it by SIGKILL, and returns when the kernel has let go of all that it held.
  void kill();

 private:
  [[nodiscard]] std::string next_word();

  DatBody& body_;
  iut::ChildProcess child_;
  std::string unread_;
  DAT_CONN_QUAL qualifier_ = 0;
};

/// The peer's own side, for the program: serves until it is killed. The exit code, if it
/// cannot.
int serve(const DatTarget& target, std::string_view role);

}  // namespace suite::cases::dat
