// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the cases are written with of which both ends are the IUT's: it connects to its own address,
// and what one end does is judged by what its API shows at the other. Nothing here knows the
// transport, so a device that does not speak iWARP runs them too.
//
//   LOOPBACK_CASE(octets_of_a_send_fill_the_receive, rules("verbs.transfer.send-fills-its-receive")) {
//     const auto [active, passive] = connect_to_itself();
//     const Work receive = passive.receive(64);
//     const Work sent = active.send(payload(16));
//     expect(receive, completes().with_length(16));
//     expect(sent, completes());
//   }
#pragma once

#include <set>

#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

/// One end of a connection of the IUT with itself: work on this endpoint, with buffers in its
/// protection domain, and regions of which work on it decides.
class End {
 public:
  End(Consumer& iut, const iut::CreateEndpoint& wanted)
      : iut_(&iut), endpoint_(iut.create_endpoint(wanted)), domain_(wanted.domain) {}

  [[nodiscard]] iut::Handle handle() const { return endpoint_; }
  [[nodiscard]] Region memory(std::uint64_t length, const iut::Access& access) const {
    return iut_->register_memory(length, access, 0xA5, domain_);
  }
  [[nodiscard]] Work receive(std::uint32_t length) const;
  [[nodiscard]] Work receive(std::vector<iut::Piece> pieces) const {
    return iut_->post_receive(iut::PostReceive{endpoint_, 0, 0, std::move(pieces)});
  }
  [[nodiscard]] Work send(const Octets& data) const { return post(operation::send, data); }
  [[nodiscard]] Work send_and_invalidate(std::uint32_t stag, const Octets& data) const;
  /// At `offset` of a region of the other end.
  [[nodiscard]] Work write(const Octets& data, const Region& to, std::uint64_t offset = 0) const;
  [[nodiscard]] Work read(std::uint32_t length, const Region& from, std::uint64_t offset = 0) const;
  /// All of `sink` from `offset` of a region of the other end.
  [[nodiscard]] iut::PostWork read_into(const Region& sink, const Region& from,
                                        std::uint64_t offset = 0) const;
  [[nodiscard]] Work post(iut::PostWork work) const;

  // -- regions that work requests register (capability::fast_registration) --
  void open(Region& region, const iut::Access& access, std::uint64_t offset,
            std::uint32_t length) const {
    iut_->register_part(region, access, offset, length, endpoint_);
  }
  [[nodiscard]] Attempt try_open(Region& region, const iut::Access& access, std::uint64_t offset,
                                 std::uint32_t length) const {
    return iut_->try_registration(region, access, offset, length, false, endpoint_);
  }
  void close(const Region& region) const { iut_->invalidate(region.stag, endpoint_); }

 private:
  [[nodiscard]] Work post(const char* operation, const Octets& data, iut::PostWork work = {}) const;

  Consumer* iut_;
  iut::Handle endpoint_, domain_;
};

/// Both ends: the one that has connected, and the one that has accepted.
struct Ends {
  End active, passive;
};

/// How they are made and what they say to each other.
struct LoopbackTerms {
  iut::CreateEndpoint active{}, passive{};
  iut::ConnectParameters connecting{}, accepting{};
};

class LoopbackBody : public Body {
 public:
  using Body::Body;

  /// A connection of the IUT with itself, of which both ends may send. If there is none, the case is
  /// inconclusive.
  [[nodiscard]] Ends connect_to_itself(const LoopbackTerms& terms = {});
  /// Only the request to connect, as it arrives at the IUT's own listener.
  [[nodiscard]] iut::ConnectRequestEvent request_to_itself(
      iut::Handle active, const iut::ConnectParameters& parameters = {});
  /// Depths that the IUT has, where the case leaves them open.
  [[nodiscard]] iut::ConnectParameters with_depths(iut::ConnectParameters parameters);

  /// Runs it twice, as rows: for the end that has connected and for the one that has accepted.
  void from_both_ends(const std::function<void(const End& from, const End& to)>& what);
  /// A Send arrives, and so does all that went ahead of it.
  void expect_told(const End& from, const End& to, RuleRef rule);
  /// What `by` has posted last has to be refused by the other end: it changes nothing in `region`,
  /// and ends the connection, so that a Read of `by` behind it brings nothing of `readable`, which
  /// is open (docs/disputes.md D91).
  void expect_refused(const End& by, const Region& region, const Region& readable, RuleRef rule);
  /// The connection of this end is over; what is outstanding on it has been flushed before.
  void expect_disconnected(const End& end, RuleRef rule);
  /// Ends the connection from this end, whatever is left of it.
  void end_from(const End& end);
  /// Each of these completes, and none with success.
  void expect_flushed(const std::vector<Work>& works, RuleRef rule);

  [[nodiscard]] CaseStop judged(CaseStop stop) override;

 protected:
  [[nodiscard]] std::string why_its_reads_show_nothing(std::string_view rule) override;

 private:
  void await_established(const End& end);
  void open(const Ends& ends);
  [[noreturn]] void not_connected(const std::string& why) const;

  /// Those that were seen to be disconnected by expect_refused().
  std::set<iut::Handle> ended_;
};

}  // namespace suite::cases

/// As CONFORMANCE_CASE.
#define LOOPBACK_CASE(name, ...) \
  RNIC_CASE(LoopbackBody, name, needs(capability::loopback), __VA_ARGS__)
