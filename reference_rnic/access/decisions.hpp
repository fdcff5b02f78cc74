// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The decision points of the connection manager and its links: where they ask how to continue.
// stream/decisions.hpp explains them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <vector>

#include "reference_rnic/access/connection_event.hpp"
#include "reference_rnic/llp/network.hpp"
#include "reference_rnic/stream/choice.hpp"
#include "reference_rnic/stream/decision_chain.hpp"

namespace rnic::access {

class Link;

/// The connection that a decision is about.
struct About {
  ConnectionId connection{};
  verbs::QueuePairHandle queue_pair{};
  bool initiator = false;
};

/// What the IRD of an accepted connection depends on.
struct IrdQuestion {
  std::size_t others = 0;  ///< connections that are established
  std::uint16_t most = 0;  ///< that the RNIC has
  bool left_open = false;  ///< the consumer states none
  std::optional<std::uint16_t> peer_ird;
};

/// Decision points of listeners and startup (RFC 5044 section 7.1, RFC 6581).
struct StartupDecisions {
  /// The addresses of a listener: the one that the consumer named comes first.
  virtual void listening(llp::Network&, llp::Listener::Observer&,
                         std::vector<std::unique_ptr<llp::Listener>>& /*listeners*/) {}
  /// How many connections of one listener may be in startup.
  virtual void startups_allowed(std::size_t& /*most*/) {}
  /// The IRD of an accepted connection.
  virtual void ird_granted(const IrdQuestion&, std::uint16_t& /*ird*/) {}
  /// A call that is refused: what its consumer is answered, and whether nothing of it remains. It
  /// accepts a request whose peer has gone, or connects a queue pair that cannot be.
  enum class Refused : std::uint8_t { late_accept, connect };
  virtual void call_refused(Refused, std::expected<void, Failure>& /*answer*/,
                            bool& /*nothing_remains*/) {}
  /// The octets of private data that the consumer may give with its answer to a Request.
  virtual void private_data_limited(bool /*enhanced*/, std::size_t& /*octets*/) {}
  /// The endpoint of the link is destroyed, and its LLP connection ends unless it is released here.
  virtual void endpoint_dropped(Link&) {}
  /// Whether a failed startup ends the other startups of the listener.
  virtual void startup_failed(const stream::StartupFailed&, bool& /*others_end*/) {}
};

/// Decision points of what is reported to the consumer.
struct ReportDecisions {
  /// The LLP connection is established; nothing is reported yet.
  virtual void llp_connected(const About&, std::vector<ConnectionEvent>& /*events*/) {}
  /// An event of the stream, before the manager processes it.
  virtual void stream_reported(const About&, const stream::Event&) {}
  /// The events that the consumer gets: one.
  virtual void reported(const About&, std::vector<ConnectionEvent>& /*events*/) {}
};

/// What the LLP lets its user see of the path.
enum class PathNotice : std::uint8_t {
  window_open,  ///< the peer's window is open again after it was full
  ecn_mark,     ///< a segment has come with an ECN mark
};

/// Decision points of a stream's octets on TCP (RFC 5044 section 5).
struct LinkDecisions {
  /// Whether each TCP segment begins with an FPDU.
  virtual void segments_aligned(const stream::Choice<bool>&, bool& /*aligned*/) {}
  /// Whether the connection goes on, now that this has been noticed.
  virtual void path_noticed(PathNotice, bool& /*goes_on*/) {}
  /// The EMSS that MULPDU is computed from (RFC 5044 section 4.5).
  virtual void emss_found(base::Family, std::size_t& /*octets*/) {}
};

struct Decisions : StartupDecisions, ReportDecisions, LinkDecisions {
  Decisions() = default;
  Decisions(const Decisions&) = delete;
  Decisions& operator=(const Decisions&) = delete;
  virtual ~Decisions() = default;
};

/// The members that decide for one connection manager. Default: it conforms.
class ConnectionDecisions : public stream::DecisionChain<Decisions> {};

}  // namespace rnic::access
