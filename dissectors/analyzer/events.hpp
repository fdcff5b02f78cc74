// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The input and output of the analyzer: the events of one connection, the findings, and the sink
// that its users (rnic-lint, the Wireshark plugin, a run's capture) implement.
//
// Every view (Bytes, spans, string_view) in an event is valid during the call that delivers it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dissectors/analyzer/checks.hpp"
#include "dissectors/capture/frame.hpp"
#include "reference_rnic/wire/ddp.hpp"
#include "reference_rnic/wire/mpa_frame.hpp"
#include "rules/rule_id.hpp"

namespace dissectors::analyzer {

using rnic::wire::Bytes;

/// The sending end. `first` is the end whose octets were seen first; which of the two opened the
/// connection and which is the MPA Initiator is a separate question (Roles), since a capture may
/// begin later.
enum class Direction : std::uint8_t { from_first, from_second };
[[nodiscard]] constexpr Direction opposite(Direction direction) {
  return direction == Direction::from_first ? Direction::from_second : Direction::from_first;
}

/// The role of an end in MPA startup.
enum class Role : std::uint8_t { unknown, initiator, responder };

/// One TCP connection of the capture. Numbers count from 1 in the order of first frames and are not
/// used twice: the same addresses and ports, opened again, are another connection.
struct Connection {
  std::uint64_t number = 0;
  capture::Endpoint first, second;
  Role role_of_first = Role::unknown;
  [[nodiscard]] const capture::Endpoint& sender(Direction direction) const {
    return direction == Direction::from_first ? first : second;
  }
  [[nodiscard]] Role role(Direction direction) const {
    if (role_of_first == Role::unknown || direction == Direction::from_first) return role_of_first;
    return role_of_first == Role::initiator ? Role::responder : Role::initiator;
  }
};

/// A place in the capture.
struct Place {
  Direction direction = Direction::from_first;
  std::uint64_t offset =
      0;  ///< octets of the direction's TCP stream before it, 0 after the SYN (or the first octet seen)
  std::uint64_t length = 0;       ///< octets of the stream, Markers included
  std::uint32_t first_frame = 0;  ///< frame of its first octet; numbers count from 1
  std::uint32_t last_frame = 0;   ///< frame of its last octet: when all of it had arrived
  std::uint64_t time = 0;         ///< of last_frame; nanoseconds since 1970, UTC
};

/// How certain the analyzer is of where FPDUs begin, and of a finding.
enum class Certainty : std::uint8_t {
  /// Followed from MPA startup without a gap.
  certain,
  /// Found again within a connection, by Markers or by headers and CRCs that fit; or, of several
  /// readings of the octets, the one that explains most; or right only if the sender lacks or wants
  /// something that no frame shows.
  likely,
};

/// An MPA Request or Reply Frame, or what came instead.
struct MpaFrameSeen {
  Place place;
  rnic::wire::MpaFrame frame;
  /// The frame as received, key first: the key may be wrong, and less private data may have arrived
  /// than PD_Length says.
  Bytes octets;
};

enum class Crc : std::uint8_t {
  right,
  wrong,
  unused,   ///< startup switched CRCs off
  unknown,  ///< octets are missing (cut by the capture), or startup was not seen and it does not fit
};

/// A Marker found inside or directly before an FPDU.
struct MarkerSeen {
  std::uint64_t offset = 0;        ///< of the direction's TCP stream
  std::uint16_t reserved = 0;      ///< as received
  std::uint16_t fpdu_pointer = 0;  ///< as received
  std::uint16_t expected = 0;      ///< the correct FPDUPTR
};

/// One FPDU, without its Markers.
struct FpduSeen {
  Place place;  ///< from ULPDU_Length (or the Marker directly before it) to the CRC
  std::uint16_t ulpdu_length = 0;  ///< as received
  Bytes ulpdu;                     ///< fewer octets than ulpdu_length where the capture cut frames
  Bytes pad;                       ///< 0 to 3 octets
  Crc crc = Crc::unknown;
  std::uint32_t crc_value = 0, crc_expected = 0;
  std::span<const MarkerSeen> markers;
  bool begins_segment = false;  ///< its first octet is the first of a TCP segment's payload
  bool ends_segment = false;    ///< its last octet is the last of a TCP segment's payload
  bool in_one_segment = false;
  std::uint32_t segment_payload = 0;  ///< octets of TCP payload in last_frame
  Certainty certainty = Certainty::certain;
  /// Octets of the other direction that its sender had received by then, from the SYN on, if known from
  /// the acknowledgement in its first segment.
  std::optional<std::uint64_t> received;
  /// The whole DDP segment, if `ulpdu` is long enough for its header.
  std::optional<rnic::wire::Segment> segment;
};

enum class Ending : std::uint8_t { fin, reset };

/// A rule broken.
struct Finding {
  rules::RuleId rule;
  Place place;
  std::string actual;      ///< what came, one line; decoded, with hex if that helps
  std::string admissible;  ///< what the rule allows, one line
  Certainty certainty = Certainty::certain;
  /// Other rules that the same fault breaks, where the RFCs say one thing in several places.
  std::span<const rules::RuleId> also = {};
  [[nodiscard]] bool breaks(std::string_view id) const {
    return rule.id == id ||
           std::ranges::any_of(also, [id](rules::RuleId it) { return it.id == id; });
  }
};

/// Something that could not be judged, or that a reader should know. It is always counted.
enum class NoteKind : std::uint8_t {
  octets_missing,          ///< a hole in the capture
  frame_cut,               ///< the capture kept less than was sent
  startup_not_seen,        ///< joined in mid-connection
  direction_missing,       ///< only one side was captured
  framing_lost,            ///< where FPDUs begin is no longer known
  framing_found,           ///< and known again
  segment_ignored,         ///< no TCP accepts it: damaged on the path, or outside the window
  retransmission_differs,  ///< a TCP retransmission carried other octets
  not_iwarp,               ///< the connection is not iWARP and no longer followed
  memory_bound,            ///< octets were dropped for lack of room
  aged_out,                ///< idle connection closed by the analyzer
  not_judged,              ///< a check that had to be left out, with the reason
  no_terminate,            ///< torn down in midstream or after an error, and no Terminate says why
};
inline constexpr std::size_t note_kinds = 13;
[[nodiscard]] std::string_view name(NoteKind kind);
struct Note {
  NoteKind kind = NoteKind::not_judged;
  Place place;
  std::string text;
};

/// The one-line description of a ULPDU of this length, of which the capture may have cut the end:
/// lengths are those on the wire. It costs more than all checks together.
[[nodiscard]] std::string describe_ulpdu(Bytes captured, std::size_t length);

/// What was found about the message of an FPDU, for display.
struct MessageSeen {
  const FpduSeen* fpdu = nullptr;
  bool first_segment = false, last_segment = false;
  std::uint64_t message = 0;         ///< number of the message in its direction, from 1
  std::uint64_t message_octets = 0;  ///< payload so far
  /// Response: the frame of the request it answers, and nanoseconds between them. 0: none.
  std::uint32_t request_frame = 0;
  std::uint64_t response_time = 0;
  /// Terminate: the frame of the segment whose header it copies. 0: none, or not known.
  std::uint32_t blamed_frame = 0;
};

/// What startup has negotiated, as far as it was seen.
struct Negotiated {
  std::optional<std::uint8_t> revision;
  std::optional<bool> crc;
  std::optional<bool> markers_from_first, markers_from_second;  ///< in the direction from that end
  bool enhanced = false, peer_to_peer = false, rejected = false;
  /// Enhanced values of request and reply, as received.
  std::optional<rnic::wire::EnhancedWords::Values> request, reply;
};

/// A user of the analyzer. Calls come in the order of the frames that caused the events; all calls
/// for one `segment()` are made before it returns.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void opened(const Connection&) {}
  virtual void mpa_frame(const Connection&, const MpaFrameSeen&) {}
  virtual void negotiated(const Connection&, const Negotiated&) {}
  virtual void fpdu(const Connection&, const FpduSeen&) {}
  virtual void message(const Connection&, const MessageSeen&) {}
  virtual void finding(const Connection&, const Finding&) = 0;
  virtual void note(const Connection&, const Note&) {}
  virtual void ended(const Connection&, Direction, Ending, const Place&) {}
  /// What was evaluated on the connection: called once, before closed().
  virtual void judged(const Connection&, const JudgedChecks&) {}
  /// Nothing more will be reported about it.
  virtual void closed(const Connection&) {}
};

}  // namespace dissectors::analyzer
