// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The DDP segment headers (RFC 5041 section 4), with the RDMAP control octet that shares them (RFC
// 5040 section 4.1).
//
//   tagged:    DDP control (1) | RDMAP control (1) | STag (4) | TO (8)
//   untagged:  DDP control (1) | RDMAP control (1) | Invalidate STag (4) | QN (4) | MSN (4) | MO
//   (4)
#pragma once

#include <string>

#include "reference_rnic/wire/bytes.hpp"

namespace rnic::wire {

inline constexpr std::uint8_t ddp_version = 1;
inline constexpr std::uint8_t rdmap_version = 1;

/// Untagged queues that RDMAP uses (RFC 5040 Figure 4, RFC 7306 Figure 2).
// As wide as the QN field. NOLINTNEXTLINE(performance-enum-size)
enum class Queue : std::uint32_t { send = 0, read_request = 1, terminate = 2, atomic_response = 3 };

/// RDMAP opcodes (RFC 5040 Figure 4, RFC 7306 Figure 2).
enum class Opcode : std::uint8_t {
  rdma_write = 0x0,
  read_request = 0x1,
  read_response = 0x2,
  send = 0x3,
  send_invalidate = 0x4,
  send_solicited = 0x5,
  send_solicited_invalidate = 0x6,
  terminate = 0x7,
  immediate = 0x8,
  immediate_solicited = 0x9,
  atomic_request = 0xA,
  atomic_response = 0xB,
};
/// `RDMA Write`, `Send with SE`; `undefined opcode` for the rest.
[[nodiscard]] const char* name(Opcode opcode);
/// Whether an RFC gives the opcode a meaning (0xF is reserved for experiments: it has none).
[[nodiscard]] constexpr bool is_defined(Opcode opcode) { return opcode <= Opcode::atomic_response; }
/// Whether messages with this opcode are carried in tagged segments.
[[nodiscard]] constexpr bool is_tagged(Opcode opcode) {
  return opcode == Opcode::rdma_write || opcode == Opcode::read_response;
}
/// Whether the Invalidate STag field has a meaning in messages with this opcode.
[[nodiscard]] constexpr bool carries_invalidate(Opcode opcode) {
  return opcode == Opcode::send_invalidate || opcode == Opcode::send_solicited_invalidate;
}
/// Whether messages with this opcode carry Immediate Data (RFC 7306 section 6).
[[nodiscard]] constexpr bool is_immediate(Opcode opcode) {
  return opcode == Opcode::immediate || opcode == Opcode::immediate_solicited;
}
/// The queue that untagged messages with this opcode go to; for any other opcode queue 0.
[[nodiscard]] constexpr Queue queue_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::read_request:
    case Opcode::atomic_request:
      return Queue::read_request;
    case Opcode::terminate:
      return Queue::terminate;
    case Opcode::atomic_response:
      return Queue::atomic_response;
    default:
      return Queue::send;
  }
}

/// The DDP control octet: T, L, four reserved bits, DV.
struct DdpControl {
  std::uint8_t octet = ddp_version;
  static constexpr std::uint8_t t = 0x80, l = 0x40, reserved_mask = 0x3C, version_mask = 0x03;
  [[nodiscard]] static constexpr DdpControl make(bool tagged, bool last,
                                                 std::uint8_t version = ddp_version) {
    return {
        static_cast<std::uint8_t>((tagged ? t : 0) | (last ? l : 0) | (version & version_mask))};
  }
  [[nodiscard]] constexpr bool tagged() const { return octet & t; }
  [[nodiscard]] constexpr bool last() const { return octet & l; }
  [[nodiscard]] constexpr std::uint8_t version() const { return octet & version_mask; }
  constexpr bool operator==(const DdpControl&) const = default;
};

/// The RDMAP control octet (DDP's RsvdULP in tagged segments, its first octet in untagged ones):
/// RV, two reserved bits, opcode.
struct RdmapControl {
  std::uint8_t octet = rdmap_version << 6;
  static constexpr std::uint8_t version_shift = 6, reserved_mask = 0x30, opcode_mask = 0x0F;
  [[nodiscard]] static constexpr RdmapControl make(Opcode opcode,
                                                   std::uint8_t version = rdmap_version) {
    return {
        static_cast<std::uint8_t>((version << version_shift) | static_cast<std::uint8_t>(opcode))};
  }
  [[nodiscard]] constexpr std::uint8_t version() const {
    return static_cast<std::uint8_t>(octet >> version_shift);
  }
  /// Opcodes that no RFC defines keep their value: see `is_defined`.
  [[nodiscard]] constexpr Opcode opcode() const {
    // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange)
    return static_cast<Opcode>(octet & opcode_mask);
  }
  constexpr bool operator==(const RdmapControl&) const = default;
};

/// RFC 5041 Figure 4.
struct TaggedHeader {
  DdpControl ddp = DdpControl::make(true, true);
  RdmapControl rdmap;
  be32 stag{};
  be64 tagged_offset{};
};
static_assert(sizeof(TaggedHeader) == 14 && WireStruct<TaggedHeader>);

/// RFC 5041 Figure 5.
struct UntaggedHeader {
  DdpControl ddp = DdpControl::make(false, true);
  RdmapControl rdmap;
  be32 ulp_word{};  ///< the last four octets of RsvdULP: RDMAP's Invalidate STag, or zero
  be32 queue_number{};
  be32 message_sequence_number{};  ///< 1 in the first message of a queue
  be32 message_offset{};           ///< octets of the message before this segment's payload
};
static_assert(sizeof(UntaggedHeader) == 18 && WireStruct<UntaggedHeader>);

inline constexpr std::size_t tagged_header_size = sizeof(TaggedHeader);
inline constexpr std::size_t untagged_header_size = sizeof(UntaggedHeader);

/// One DDP segment as parsed: its header in one of two forms, and the payload by reference.
struct Segment {
  bool tagged = false;
  TaggedHeader tagged_header;      ///< meaningful if `tagged`
  UntaggedHeader untagged_header;  ///< meaningful if not `tagged`
  Bytes payload;

  [[nodiscard]] DdpControl ddp() const { return tagged ? tagged_header.ddp : untagged_header.ddp; }
  [[nodiscard]] RdmapControl rdmap() const {
    return tagged ? tagged_header.rdmap : untagged_header.rdmap;
  }
  /// The header's octets, which lie in this object.
  [[nodiscard]] Bytes header() const {
    return tagged ? octets_of(tagged_header) : octets_of(untagged_header);
  }
};

enum class SegmentError : std::uint8_t {
  empty,      ///< no control octet at all
  truncated,  ///< shorter than the header that its T bit announces
};
/// Parses a whole ULPDU. It only requires room for the header: versions, opcodes, queues and
/// reserved bits are returned unchanged, for the caller to judge.
[[nodiscard]] std::expected<Segment, SegmentError> parse_segment(Bytes ulpdu);
/// The same into the caller's object, for those who read millions of them; false if there is no
/// whole header.
[[nodiscard]] bool read_segment(Bytes ulpdu, Segment& segment);
/// `RDMA Write L stag=0x00000101 to=0x1000 len=16` / `Send L qn=0 msn=1 mo=0 len=5`; faults in
/// fixed fields follow, each after a `!`.
[[nodiscard]] std::string describe(const Segment& segment);
/// The same without `len`, for a header alone, as in a Terminate.
[[nodiscard]] std::string describe_header(const Segment& segment);

}  // namespace rnic::wire
