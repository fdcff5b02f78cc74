// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a stream reports to its owner, in the order in which it happened.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "reference_rnic/stream/config.hpp"
#include "reference_rnic/stream/work.hpp"
#include "reference_rnic/wire/mpa_frame.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace rnic::stream {

/// Responder: the MPA Request is complete; accept() or reject() must follow.
struct ConnectRequest {
  std::uint8_t revision = 1;
  wire::MpaFlags flags;
  std::optional<wire::EnhancedWords::Values> enhanced;
  std::vector<std::byte> private_data;  ///< the ULP's part
};
/// The stream may transfer. Initiator: the Reply accepted and the RTR (if any) is sent. Responder:
/// the Reply is sent and, in the peer-to-peer model, the RTR has arrived.
struct Established {
  Negotiated negotiated;
  std::vector<std::byte> private_data;  ///< initiator: the ULP's part of the reply
};
struct Rejected {
  std::optional<wire::EnhancedWords::Values> enhanced;
  std::vector<std::byte> private_data;
};
enum class StartupFault : std::uint8_t {
  invalid_frame,
  timeout,
  peer_closed,
  lost,
  insufficient_ird,
  no_matching_rtr
};
struct StartupFailed {
  StartupFault fault;
};
/// An untagged message on queue 0 is complete and delivered in order.
struct MessageReceived {
  std::uint64_t work_id = 0;  ///< of the receive buffer
  wire::Opcode opcode = wire::Opcode::send;
  std::size_t length = 0;
  std::optional<std::uint32_t> invalidated;
  std::optional<std::array<std::byte, wire::immediate_size>> immediate;
};
/// A receive buffer that was in use and cannot be filled any more. Precedes the end of the stream.
struct ReceiveFailed {
  std::uint64_t work_id = 0;
  bool too_long = false;  ///< the message did not fit (RFC 5041 7.1); else flushed
};
struct WorkDone {
  std::uint64_t id = 0;
  WorkStatus status = WorkStatus::success;
  std::size_t length = 0;            ///< octets transferred
  std::uint64_t original_value = 0;  ///< atomic
};
struct TerminateReceived {
  wire::TerminateCause cause;
  std::vector<std::byte> message;  ///< the Terminate header and what follows it, as received
};
/// We found an error in what the peer sent, or a local one: a Terminate with this cause is being
/// sent (or cannot be sent).
struct Failed {
  wire::TerminateCause cause;
  bool terminate_queued = true;
  std::string detail;  ///< one line for engineers
};
struct PeerClosed {};  ///< the peer's FIN, all data before it processed
struct Lost {};        ///< the LLP connection was reset or timed out
struct Closed {};      ///< nothing more will happen; the owner must still do what closing() says
using Event =
    std::variant<ConnectRequest, Established, Rejected, StartupFailed, MessageReceived,
                 ReceiveFailed, WorkDone, TerminateReceived, Failed, PeerClosed, Lost, Closed>;

}  // namespace rnic::stream
