// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `peer` of a case: the tester's end of its connection, which comes up when it is first used.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "suite/cases/framework/case_names.hpp"

namespace suite::cases {

class Body;

/// The case's connection. It comes up, in the case's role and family, when it is first used;
/// connect() or establish() before that bring it up in another way.
class CasePeer {
 public:
  CasePeer(Body& body, Context& context)
      : body_(body), context_(context), peer_(std::make_unique<Peer>(context)) {}

  template <typename... Arguments>
  void send(Arguments&&... arguments) {
    ready().send(std::forward<Arguments>(arguments)...);
  }
  /// Messages in one TCP segment, as far as its size allows.
  void send_together(const std::vector<Outgoing>& messages, const Cut& cut = Cut::whole());
  void send_octets(rnic::wire::Bytes octets, const Cut& cut = Cut::whole()) {
    ready().send_octets(octets, cut);
  }
  /// Sends the FPDU without its last field, the CRC, and returns that for sending later.
  [[nodiscard]] Octets send_all_but_the_crc(const Fpdu& fpdu);
  [[nodiscard]] std::vector<Fpdu> prepare(const Outgoing& message) {
    return ready().prepare(message);
  }
  [[nodiscard]] std::uint32_t& next_msn(Queue queue) {
    return ready().next_msn(static_cast<std::uint32_t>(queue));
  }
  /// Until resume() nothing is received from the IUT: a good part of much_data() waits inside it,
  /// whatever its LLP and ours can hold.
  void stall();
  void resume();
  void half_close() {
    ended_by_us_ = true;
    ready().half_close();
  }
  void reset() {
    ended_by_us_ = true;
    ready().reset();
  }
  /// The IUT has ended the connection, and the case has not. Takes earlier arrivals.
  [[nodiscard]] bool ended_by_iut();

  /// TCP only; IUT as responder. What follows is up to the case.
  void connect();
  /// The peer, established if it was never opened ...
  Peer& ready();
  /// ... or just as it is.
  [[nodiscard]] Peer& raw() { return *peer_; }
  void renew() {
    ended_by_us_ = false;
    peer_ = std::make_unique<Peer>(context_);
  }

 private:
  Body& body_;
  Context& context_;
  std::unique_ptr<Peer> peer_;
  bool ended_by_us_ = false;
};

/// More than the LLPs of both sides hold while one end is stalled: octets like those that fill
/// registered memory.
[[nodiscard]] Octets much_data();

}  // namespace suite::cases
