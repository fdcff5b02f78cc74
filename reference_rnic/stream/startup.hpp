// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// MPA startup negotiation (RFC 5044 section 7.1, RFC 6581 sections 6 to 10) as pure functions from
// a frame to a decision.
#pragma once

#include <expected>
#include <optional>
#include <vector>

#include "reference_rnic/stream/decisions.hpp"
#include "reference_rnic/stream/fault.hpp"
#include "reference_rnic/stream/stream.hpp"
#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/mpa_frame.hpp"

namespace rnic::stream {

/// The longest startup frame: header and 512 octets of Private Data.
inline constexpr std::size_t max_startup_frame =
    wire::mpa_frame_header_size + wire::mpa_max_private_data;

/// The largest depth that can be stated, below the value for "not negotiated" (RFC 6581 9.1).
inline constexpr std::uint16_t largest_depth = wire::read_depth_unnegotiated - 1;
/// A consumer's depth, limited to the 14 bits of the enhanced words.
[[nodiscard]] constexpr std::uint16_t stated_depth(std::uint16_t depth) {
  return depth > wire::read_depth_unnegotiated ? largest_depth : depth;
}

/// A startup frame to be sent.
struct StartupFrame {
  wire::MpaFrameKind kind = wire::MpaFrameKind::request;
  wire::MpaFlags flags;
  std::uint8_t revision = 1;
  std::optional<wire::EnhancedWords::Values> enhanced;
  std::vector<std::byte> private_data;  ///< the ULP's part
};

enum class RtrKind : std::uint8_t { send, write, read };

/// The Initiator's verdict on a Reply.
struct ReplyVerdict {
  enum class Kind : std::uint8_t { accepted, rejected, invalid, insufficient_ird, no_matching_rtr };
  Kind kind = Kind::invalid;
  Negotiated negotiated;       ///< meaningful unless `invalid` or `rejected`
  std::optional<RtrKind> rtr;  ///< accepted in the peer-to-peer model: the indication to send
  std::optional<wire::EnhancedWords::Values> enhanced;
  std::vector<std::byte> private_data;
};

/// The Responder's answer to a Request.
struct Acceptance {
  StartupFrame reply;
  Negotiated negotiated;
};

/// How startup ends without a connection: by a close.
struct StartupEnd {
  /// Sent before the close.
  std::optional<StartupFrame> reply;
  /// A Terminate that is sent before the close.
  std::optional<Fault> terminate;
  /// A reset instead of a close.
  bool reset = false;
};

/// The octets of a frame, at most max_startup_frame.
[[nodiscard]] std::vector<std::byte> format(StartupFrame frame, const StreamDecisions& decisions);

/// The Request that `config` asks for.
[[nodiscard]] StartupFrame make_request(const Config& config, const StreamDecisions& decisions);

/// Parses the frame at the front of `input` and checks what does not depend on negotiation: key,
/// PD_Length, revision, enhanced words. `incomplete` asks for more octets; any other error means a
/// malformed frame, to be answered with a close (RFC 5044 7.1.2).
[[nodiscard]] ParsedStartup parse_startup(wire::MpaFrameKind kind, wire::Bytes input,
                                          const StreamDecisions& decisions);
/// Whether we can interoperate with a well-formed Request or Reply.
[[nodiscard]] bool interoperable(const wire::MpaFrame& frame, const Config& config,
                                 const StreamDecisions& decisions);

[[nodiscard]] ConnectRequest make_connect_request(const wire::MpaFrame& request,
                                                  const StreamDecisions& decisions);

[[nodiscard]] Acceptance accept_request(const ConnectRequest& request, const Config& config,
                                        std::uint16_t ird, std::uint16_t ord,
                                        wire::Bytes private_data, const StreamDecisions& decisions);
[[nodiscard]] StartupFrame reject_request(const ConnectRequest& request, const Config& config,
                                          wire::Bytes private_data,
                                          const StreamDecisions& decisions);
[[nodiscard]] ReplyVerdict judge_reply(const wire::MpaFrame& reply, const Config& config,
                                       const StreamDecisions& decisions);

}  // namespace rnic::stream
