// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The MPA Request and Reply Frame (RFC 5044 section 7.1.1) and the enhanced words in it (RFC 6581
// sections 6 and 9).
//
//   Key (16) | M C R S and four reserved bits (1) | Rev (1) | PD_Length (2) | private data (0 to
//   512)
//
// With S, in revision 2, the private data begins with A B IRD (2) | C D ORD (2).
#pragma once

#include <optional>
#include <string>

#include "reference_rnic/wire/bytes.hpp"

namespace rnic::wire {

enum class MpaFrameKind : std::uint8_t { request, reply };

inline constexpr std::size_t mpa_key_size = 16;
inline constexpr std::size_t mpa_frame_header_size = 20;
/// The most that PD_Length may say (RFC 5044 section 7.1.1).
inline constexpr std::size_t mpa_max_private_data = 512;
/// The IRD or ORD of all ones: its sender leaves that depth to the ULP (RFC 6581 section 9.1).
inline constexpr std::uint16_t read_depth_unnegotiated = 0x3FFF;

/// "MPA ID Req Frame" or "MPA ID Rep Frame".
using MpaKey = std::array<std::byte, mpa_key_size>;
[[nodiscard]] const MpaKey& mpa_key(MpaFrameKind kind);

/// The octet of flags. M, C and R are RFC 5044's, S is RFC 6581's (a reserved bit in revision 1);
/// the low four bits are reserved in both.
struct MpaFlags {
  std::uint8_t octet = 0;

  static constexpr std::uint8_t m = 0x80, c = 0x40, r = 0x20, s = 0x10, reserved_mask = 0x0F;
  [[nodiscard]] constexpr bool markers() const { return octet & m; }
  [[nodiscard]] constexpr bool crc() const { return octet & c; }
  [[nodiscard]] constexpr bool reject() const { return octet & r; }
  [[nodiscard]] constexpr bool enhanced() const { return octet & s; }
  constexpr bool operator==(const MpaFlags&) const = default;
};

/// The fixed part of the frame, as on the wire.
struct MpaFrameHeader {
  MpaKey key{};
  MpaFlags flags;
  std::uint8_t revision = 1;
  be16 pd_length{};
};
static_assert(sizeof(MpaFrameHeader) == mpa_frame_header_size && WireStruct<MpaFrameHeader>);

/// The 32 bits at the front of the private data when S is set (RFC 6581 section 9).
struct EnhancedWords {
  be16 a_b_ird{};
  be16 c_d_ord{};

  struct Values {
    bool peer_to_peer = false;  ///< A: peer-to-peer, else client-server
    bool rtr_send = false;      ///< B: a zero-length Send as RTR indication
    bool rtr_write = false;     ///< C: a zero-length RDMA Write
    bool rtr_read = false;      ///< D: a zero-length RDMA Read
    std::uint16_t ird = 0;      ///< 14 bits; what lies above is not sent
    std::uint16_t ord = 0;      ///< 14 bits; what lies above is not sent
    bool operator==(const Values&) const = default;
  };
  [[nodiscard]] static EnhancedWords from(const Values& values);
  [[nodiscard]] Values values() const;
};
static_assert(sizeof(EnhancedWords) == 4 && WireStruct<EnhancedWords>);

/// A whole frame, private data by reference. `private_data` is what PD_Length counts, enhanced
/// words included.
struct MpaFrame {
  MpaFrameKind kind = MpaFrameKind::request;
  MpaFlags flags;
  std::uint8_t revision = 1;
  Bytes private_data;

  /// The enhanced words, if S is set, the revision is 2 or more and the private data holds four
  /// octets or more.
  [[nodiscard]] std::optional<EnhancedWords::Values> enhanced() const;
  /// The private data of the ULP: what follows the enhanced words, if there are any.
  [[nodiscard]] Bytes ulp_private_data() const;
};

enum class MpaFrameError : std::uint8_t {
  incomplete,             ///< fewer octets than the header and PD_Length ask for: wait for more
  wrong_key,              ///< not the expected kind's key; reported at the first octet that differs
  private_data_too_long,  ///< PD_Length above 512; reported as soon as the header has arrived
};

struct ParsedMpaFrame {
  MpaFrame frame;        ///< refers to the input
  std::size_t consumed;  ///< octets of the input that belong to the frame
};

/// Parses the frame at the front of `input`. `incomplete` until all of it has arrived; octets after
/// it are ignored.
[[nodiscard]] std::expected<ParsedMpaFrame, MpaFrameError> parse_mpa_frame(
    MpaFrameKind expected_kind, Bytes input);
/// Writes header, then `enhanced` words if given, then `ulp_private_data`. PD_Length counts both.
/// The flags are written as given (S included), so that a tester may also write frames that no RFC
/// allows.
void format_mpa_frame(Writer& out, MpaFrameKind kind, MpaFlags flags, std::uint8_t revision,
                      const std::optional<EnhancedWords::Values>& enhanced, Bytes ulp_private_data);
/// `MPA Request rev 2 [C S] p2p(send,write) ird=16 ord=16 pd=12`, where pd is PD_Length. Faults
/// follow, each after a `!`.
[[nodiscard]] std::string describe(const MpaFrame& frame);

}  // namespace rnic::wire
