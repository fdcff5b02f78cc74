// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The scripted peer: one connection to the IUT, on which everything that is sent is under control
// and everything received is kept.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "suite/lower_tester/tcp_cut.hpp"
#include "suite/lower_tester/wire_end.hpp"

namespace suite::lower_tester {

/// A listening port of the tester, to which IUTs connect.
class Acceptor final : public rnic::llp::Listener::Observer {
 public:
  Acceptor(Context& context, base::Family family);
  /// Empty if it listens.
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] base::Address address() const { return listener_->local(); }
  /// The next connection, or nothing by the deadline.
  [[nodiscard]] std::unique_ptr<rnic::llp::Connection> next(base::TimePoint deadline);

  void accepted(std::unique_ptr<rnic::llp::Connection> connection) override;

 private:
  Context& context_;
  std::unique_ptr<rnic::llp::Listener> listener_;
  std::deque<std::unique_ptr<rnic::llp::Connection>> waiting_;
  std::string error_;
};

class Peer final : public WireEnd {
 public:
  explicit Peer(Context& context) : WireEnd(context) {}

  // -- sending; each waits until the LLP has taken everything --
  void send(const StartupFrame& frame, const Cut& cut = Cut::whole());
  /// The rest of a frame of which send_octets() has sent the first octets.
  void send_rest(const StartupFrame& frame, std::size_t from);
  void send(const Outgoing& message);
  /// `cut` counts from the first octet of the FPDU (of all of them in the list).
  void send(const Outgoing& message, const Cut& cut) { send(prepare(message), cut); }
  void send(const Fpdu& fpdu, const Cut& cut = Cut::whole());
  /// All in one TCP segment, as far as its size allows, or cut in another way.
  void send(const std::vector<Fpdu>& fpdus, const Cut& cut = Cut::whole());
  /// Sends octets unchanged: those of a startup frame, of an FPDU that means_to_send() has
  /// described, or octets that the IUT cannot decode.
  void send_octets(wire::Bytes octets, const Cut& cut = Cut::whole());
  /// The FPDUs that send(message) would send. The MSN is used up.
  [[nodiscard]] std::vector<Fpdu> prepare(const Outgoing& message);

  // -- disturbances as by a network, if can_disturb() allows them --
  [[nodiscard]] bool can_disturb() { return connection().can_disturb(); }
  /// The next TCP segment is lost on the path; TCP repeats it by itself.
  void lose_next() { lose_next_ = true; }
  /// A segment out of turn: octets that begin `offset` after all that was sent so far. What it
  /// sends too early must be sent in turn as well.
  void inject(std::int64_t offset, wire::Bytes octets,
              rnic::llp::Ecn ecn = rnic::llp::Ecn::not_capable);

  // -- state --
  /// CRC and Markers in use towards the IUT; a case may change them.
  [[nodiscard]] Framing& sending() { return sending_; }
  [[nodiscard]] std::uint32_t& next_msn(std::uint32_t queue) {
    return next_msn_.try_emplace(queue, 1U).first->second;
  }

 private:
  void send_from(const StartupFrame& frame, std::size_t from, const Cut& cut);
  void put(wire::Bytes octets, const Cut& cut);
  bool push(wire::Bytes octets);
  void verify_cut(std::uint64_t segments_before, std::size_t wanted);
  void note(const Fpdu& fpdu, wire::Bytes encoded);

  std::map<std::uint32_t, std::uint32_t> next_msn_;
  bool lose_next_ = false;
};

}  // namespace suite::lower_tester
