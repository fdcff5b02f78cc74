// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decision points of MPA startup (RFC 5044 section 7.1, RFC 6581).
#pragma once

#include <expected>
#include <optional>
#include <vector>

#include "reference_rnic/stream/choice.hpp"
#include "reference_rnic/stream/config.hpp"
#include "reference_rnic/stream/event.hpp"
#include "reference_rnic/wire/mpa_frame.hpp"

namespace rnic::stream {

enum class RtrKind : std::uint8_t;
enum class State : std::uint8_t;
struct Acceptance;
struct IncomingSegment;
struct OutgoingMessage;
struct ReplyVerdict;
struct StartupEnd;
struct StartupFrame;

using ParsedStartup = std::expected<wire::ParsedMpaFrame, wire::MpaFrameError>;

/// A check of a well-formed Request or Reply, named by its rule.
struct StartupCheck {
  rules::RuleId by;
  const wire::MpaFrame& frame;
  const Config& config;
};

/// A Request that the consumer accepts, and the depths it offers.
struct AcceptedRequest {
  const ConnectRequest& request;
  const Config& config;
  std::uint16_t ird = 0, ord = 0;
};

/// Waiting for the peer's next octets in startup.
struct StartupWait {
  State state;
  TimePoint now;
  /// The time limit of startup.
  Duration limit;
  /// Whether octets of the peer's frame have arrived.
  bool frame_begun = false;
};

/// What ends startup without a connection.
struct StartupEnding {
  State state;
  /// None: the rejecting Reply has been sent.
  std::optional<StartupFault> fault;
};

struct StartupDecisions {
  // -- what is sent --
  /// M and C of our frame (RFC 5044 section 7.1.1).
  virtual void startup_flags(const Config&, wire::MpaFlags&) {}
  /// What the Request states (RFC 6581 section 9).
  virtual void requesting(const Config&, StartupFrame&) {}
  /// A frame that is about to be sent, as values.
  virtual void startup_frame_leaves(StartupFrame&) {}
  /// The same in octets, and nothing after them before the peer's frame has come (RFC 5044 Figure 8
  /// and section 7.1.2, RFC 6581 section 9).
  virtual void startup_octets_leave(const StartupFrame&, std::vector<std::byte>&) {}
  /// The RTR indication (RFC 6581 section 9.2).
  virtual void rtr_leaves(RtrKind, OutgoingMessage&) {}
  /// Whether FPDUs may be sent in this state (RFC 5044 section 7.1.2).
  virtual void may_send_fpdus(State, bool&) {}
  /// Whether the Responder waits for an FPDU before it sends one (RFC 5044 section 7.1.2, rule 4).
  virtual void first_fpdu_awaited(bool&) {}

  // -- what is received --
  /// The frame at the front of what has arrived (RFC 5044 section 7.1.1).
  virtual void startup_parsed(wire::MpaFrameKind, wire::Bytes /*octets*/, ParsedStartup&) {}
  /// Whether a well-formed frame passes the check (RFC 5044 section 7.1.2, RFC 6581 sections 9
  /// and 10).
  virtual void startup_checked(const StartupCheck&, const Choice<bool>&, bool& /*acceptable*/) {}
  /// Whether octets may follow a Request before its Reply: not if PD_Length is right (RFC 5044
  /// section 7.1.2).
  virtual void octets_after_request(wire::Bytes, bool& /*acceptable*/) {}
  /// The Private Data that is passed to the ULP (RFC 5044 section 7.1.1, RFC 6581 section 9).
  virtual void private_data_passed_up(const wire::MpaFrame&, std::vector<std::byte>&) {}
  /// Whether the first FPDU is an RTR indication as negotiated (RFC 6581 section 9.2).
  virtual void rtr_taken(const IncomingSegment&, const Negotiated&, bool&) {}

  // -- what is agreed --
  /// Markers and CRC, from the flags of both frames (RFC 5044 section 7.1.1).
  virtual void framing_agreed(wire::MpaFlags /*ours*/, wire::MpaFlags /*peers*/, Negotiated&) {}
  /// Whether a frame is for the peer-to-peer model (RFC 6581 section 9.2).
  virtual void connection_model(const wire::EnhancedWords::Values&, bool& /*peer_to_peer*/) {}
  /// The RTR kinds that the Reply states (RFC 6581 section 9.2).
  virtual void rtr_offered(const wire::EnhancedWords::Values& /*asked*/, const Choice<RtrKinds>&,
                           RtrKinds&) {}
  /// The accepting Reply, and what the Responder uses from then on (RFC 6581 section 9.1).
  virtual void accepting(const AcceptedRequest&, Acceptance&) {}
  /// The kind of RTR that the Initiator sends (RFC 6581 section 9.2). None: it can send none of
  /// those stated.
  virtual void rtr_chosen(const wire::EnhancedWords::Values& /*reply*/, const Choice<RtrKind>&,
                          std::optional<RtrKind>&) {}
  /// The ORD of a Reply (RFC 6581 section 9.1): what the Responder uses, or all ones.
  virtual void reply_ord(const AcceptedRequest&, const Choice<std::uint16_t>&,
                         std::uint16_t& /*stated*/) {}
  /// The Initiator's verdict on a Reply that does not reject (RFC 6581 sections 9.1 and 9.2).
  virtual void reply_judged(const Config&, ReplyVerdict&) {}

  // -- how it goes on --
  /// Until when to wait for the peer (RFC 5044 section 7.1.2). None: forever.
  virtual void startup_deadline(const StartupWait&, std::optional<TimePoint>&) {}
  /// How startup ends without a connection (RFC 5044 section 7.1.2).
  virtual void startup_ends(const StartupEnding&, StartupEnd&) {}
  /// What is reported to the consumer about startup.
  virtual void startup_reported(std::vector<Event>&) {}
};

}  // namespace rnic::stream
