// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a scripted peer sends: startup frames, RDMAP messages and FPDUs, right by default and wrong
// where a case says so.
//
// Every builder returns a lawful value; every `with_...` changes one thing in it. What depends on
// the connection (MSN, CRC, Markers, segment size) is filled in by the Peer when it sends, unless
// it is given here.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/octets.hpp"
#include "reference_rnic/wire/ddp.hpp"
#include "reference_rnic/wire/mpa_frame.hpp"
#include "reference_rnic/wire/rdmap.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace suite::lower_tester {

namespace wire = rnic::wire;
using base::Octets;

/// `size` octets in which every octet differs from its neighbours, so that a shifted or repeated
/// copy shows.
[[nodiscard]] Octets payload(std::size_t size, std::uint8_t seed = 1);
[[nodiscard]] Octets octets(std::string_view text);
[[nodiscard]] Octets octets(std::initializer_list<int> values);
/// `length` octets of `all`, starting at `from`.
[[nodiscard]] Octets part_of(const Octets& all, std::size_t from, std::size_t length);

// ---------------------------------------------------------------- MPA startup

/// A Request or Reply Frame.
struct StartupFrame {
  wire::MpaFrameKind kind = wire::MpaFrameKind::request;
  wire::MpaKey key{};
  wire::MpaFlags flags{wire::MpaFlags::c};
  std::uint8_t revision = 1;
  std::optional<wire::EnhancedWords::Values> enhanced;
  /// The ULP's.
  Octets private_data;
  /// A value that does not count what follows.
  std::optional<std::uint16_t> pd_length;

  [[nodiscard]] StartupFrame with_key(std::string_view sixteen_octets) const;
  [[nodiscard]] StartupFrame with_flags(std::uint8_t octet) const;
  [[nodiscard]] StartupFrame with_flag(std::uint8_t bits, bool on = true) const;
  [[nodiscard]] StartupFrame with_crc(bool on) const { return with_flag(wire::MpaFlags::c, on); }
  [[nodiscard]] StartupFrame with_markers(bool on) const {
    return with_flag(wire::MpaFlags::m, on);
  }
  [[nodiscard]] StartupFrame with_reject() const { return with_flag(wire::MpaFlags::r); }
  [[nodiscard]] StartupFrame with_revision(std::uint8_t value) const;
  /// Sets S, revision 2 (if it was less) and the words.
  [[nodiscard]] StartupFrame with_enhanced(const wire::EnhancedWords::Values& words) const;
  [[nodiscard]] StartupFrame with_private_data(Octets data) const;
  [[nodiscard]] StartupFrame with_pd_length(std::uint16_t value) const;

  [[nodiscard]] Octets encode() const;
  /// As a decoder shows it, or that it is malformed.
  [[nodiscard]] std::string text() const;
};

/// Revision 1, CRC wanted, no Markers, no private data.
[[nodiscard]] StartupFrame mpa_request();
[[nodiscard]] StartupFrame mpa_reply();
/// The Reply that accepts `request` as it asks: its revision and S; A echoed, all offered RTR kinds
/// accepted, its ORD as our IRD and vice versa.
[[nodiscard]] StartupFrame mpa_reply_to(const wire::MpaFrame& request);

// ---------------------------------------------------------------- FPDUs

enum class CrcChoice : std::uint8_t {
  /// Right if CRCs are in use, else zero.
  as_negotiated,
  right,
  /// One bit of the right one inverted.
  wrong,
  zero,
};

/// One FPDU of which every part can be set. Its ULPDU is sent unchanged.
struct Fpdu {
  Octets ulpdu;
  CrcChoice crc = CrcChoice::as_negotiated;
  /// Instead of the ULPDU's length.
  std::optional<std::uint16_t> length_field{};
  /// Instead of the 0 to 3 zero octets.
  std::optional<Octets> pad{};
  /// Changes the octets of the FPDU before the CRC is computed over them (Markers in place, CRC
  /// field last) ...
  std::function<void(wire::MutableBytes)> change_before_crc{};
  /// ... and after it, as noise on the path would.
  std::function<void(wire::MutableBytes)> change_after_crc{};

  [[nodiscard]] Fpdu with_crc(CrcChoice choice) const;
  [[nodiscard]] Fpdu with_length_field(std::uint16_t value) const;
  [[nodiscard]] Fpdu with_pad(Octets value) const;
};

/// How the FPDUs of one direction are framed, and where the next one begins.
struct Framing {
  bool crc = true;
  bool markers = false;
  /// Octets of FPDUs and Markers so far.
  std::uint64_t position = 0;
};
/// The octets of the FPDU at `framing.position`; the position is not advanced.
[[nodiscard]] Octets encode(const Fpdu& fpdu, const Framing& framing);

// ---------------------------------------------------------------- RDMAP messages

/// One RDMAP message; the Peer cuts it into segments.
struct Outgoing {
  wire::Opcode opcode = wire::Opcode::send;
  bool tagged = false;
  /// RDMAP header and ULP payload.
  Octets payload;
  /// Tagged.
  std::uint32_t stag = 0;
  /// Tagged: of the first octet.
  std::uint64_t tagged_offset = 0;
  /// Untagged: Invalidate STag.
  std::uint32_t ulp_word = 0;
  /// Untagged: else by opcode.
  std::optional<std::uint32_t> queue;
  /// Untagged: else the next of its queue; one that is given leaves the count alone.
  std::optional<std::uint32_t> msn;
  /// Octets of payload per segment, else as the MULPDU allows.
  std::optional<std::size_t> segment_payload;
  CrcChoice crc = CrcChoice::as_negotiated;
  std::function<void(std::size_t index, wire::TaggedHeader&)> change_tagged;
  std::function<void(std::size_t index, wire::UntaggedHeader&)> change_untagged;

  [[nodiscard]] Outgoing with_queue(std::uint32_t value) const;
  [[nodiscard]] Outgoing with_msn(std::uint32_t value) const;
  [[nodiscard]] Outgoing with_opcode(std::uint8_t four_bits) const;
  [[nodiscard]] Outgoing with_rdmap_version(std::uint8_t two_bits) const;
  [[nodiscard]] Outgoing with_ddp_version(std::uint8_t two_bits) const;
  [[nodiscard]] Outgoing with_ddp_reserved(
      std::uint8_t mask = wire::DdpControl::reserved_mask) const;
  [[nodiscard]] Outgoing with_rdmap_reserved(
      std::uint8_t mask = wire::RdmapControl::reserved_mask) const;
  [[nodiscard]] Outgoing with_ulp_word(std::uint32_t value) const;
  [[nodiscard]] Outgoing with_segments_of(std::size_t payload_octets) const;
  [[nodiscard]] Outgoing with_crc(CrcChoice choice) const;
  /// Changes the header of each segment, after all else.
  [[nodiscard]] Outgoing with_tagged(
      std::function<void(std::size_t, wire::TaggedHeader&)> change) const;
  [[nodiscard]] Outgoing with_untagged(
      std::function<void(std::size_t, wire::UntaggedHeader&)> change) const;

  /// Its segments as FPDUs, at most `max_ulpdu` octets each.
  [[nodiscard]] std::vector<Fpdu> segments(std::size_t max_ulpdu, std::uint32_t next_msn) const;
  [[nodiscard]] std::uint32_t queue_number() const;
};

[[nodiscard]] Outgoing send_message(Octets data);
[[nodiscard]] Outgoing send_solicited(Octets data);
[[nodiscard]] Outgoing send_invalidate(std::uint32_t stag, Octets data);
[[nodiscard]] Outgoing send_solicited_invalidate(std::uint32_t stag, Octets data);
[[nodiscard]] Outgoing rdma_write(std::uint32_t stag, std::uint64_t offset, Octets data);

struct ReadRequestFields {
  std::uint32_t sink_stag = 0;
  std::uint64_t sink_offset = 0;
  std::uint32_t length = 0;
  std::uint32_t source_stag = 0;
  std::uint64_t source_offset = 0;
};
[[nodiscard]] Outgoing read_request(const ReadRequestFields& fields);
/// The same, into a sink of ours of which nothing depends.
[[nodiscard]] Outgoing read_of(std::uint32_t source_stag, std::uint64_t source_offset,
                               std::uint32_t length);
[[nodiscard]] Outgoing read_response(std::uint32_t sink_stag, std::uint64_t sink_offset,
                                     Octets data);

struct AtomicRequestFields {
  /// All 32 bits of the word.
  std::uint32_t operation = 0;
  std::uint32_t request_id = 0;
  std::uint32_t stag = 0;
  std::uint64_t offset = 0;
  std::uint64_t add_or_swap = 0, add_or_swap_mask = ~std::uint64_t{0};
  std::uint64_t compare = 0, compare_mask = ~std::uint64_t{0};
};
[[nodiscard]] Outgoing atomic_request(const AtomicRequestFields& fields);
[[nodiscard]] Outgoing fetch_add(std::uint32_t id, std::uint32_t stag, std::uint64_t offset,
                                 std::uint64_t addend);
[[nodiscard]] Outgoing atomic_response(std::uint32_t request_id, std::uint64_t original);
[[nodiscard]] Outgoing immediate_data(Octets eight, bool solicited = false);
/// A Terminate that names no offending segment.
[[nodiscard]] Outgoing terminate_message(wire::TerminateCause cause);

}  // namespace suite::lower_tester
