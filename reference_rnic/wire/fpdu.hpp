// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The FPDU (RFC 5044 section 4.1): ULPDU_Length, ULPDU, pad, CRC, with or without Markers.
#pragma once

#include "reference_rnic/wire/crc32c.hpp"
#include "reference_rnic/wire/markers.hpp"

namespace rnic::wire {

inline constexpr std::size_t fpdu_length_size = 2;
inline constexpr std::size_t fpdu_crc_size = 4;
inline constexpr std::size_t max_ulpdu = 65535;
inline constexpr std::size_t min_mulpdu =
    128;  ///< RFC 5044 section 3: MPA reports 128 to 64768 octets.
inline constexpr std::size_t max_mulpdu = 64768;

/// Pad octets (0 to 3) behind a ULPDU of `ulpdu_length` octets.
[[nodiscard]] constexpr std::size_t pad_length(std::size_t ulpdu_length) {
  return (4 - (fpdu_length_size + ulpdu_length) % 4) % 4;
}
/// ULPDU_Length field + ULPDU + pad + CRC, Markers not counted.
[[nodiscard]] constexpr std::size_t fpdu_size(std::size_t ulpdu_length) {
  return fpdu_length_size + ulpdu_length + pad_length(ulpdu_length) + fpdu_crc_size;
}
/// The MULPDU for a TCP segment of `emss` octets (RFC 5044 section 4.5), within 128 and 64768.
[[nodiscard]] std::size_t mulpdu(std::size_t emss, bool markers);

struct FpduOptions {
  bool crc = true;  ///< false: the CRC field is written as zero and not checked
  bool markers = false;
  std::uint64_t position = 0;  ///< stream position of the FPDU's first octet (or of the Marker
                               ///< before it); for Markers only
};

/// Writes one FPDU whose ULPDU is the concatenation of `pieces`. Returns the octets written.
std::size_t format_fpdu(Writer& out, std::span<const Bytes> pieces, const FpduOptions& options);

enum class FpduError : std::uint8_t { incomplete, bad_crc, bad_marker };

struct ParsedFpdu {
  Bytes ulpdu;           ///< refers to the input, or to `scratch` where Markers had to be removed
  std::size_t consumed;  ///< octets of the input, Markers included
  bool pad_is_zero;      ///< RFC 5044 4.1: pad octets are zero when sent, not checked when received
};
/// Parses the FPDU at the front of `input`. With Markers the stripped FPDU lies in `scratch`
/// (fpdu_size(max_ulpdu) octets hold any). `bad_crc` and `bad_marker` are reported only once the
/// whole FPDU is there.
[[nodiscard]] std::expected<ParsedFpdu, FpduError> parse_fpdu(Bytes input,
                                                              const FpduOptions& options,
                                                              MutableBytes scratch);
/// Octets that the FPDU at the front of `input` has on the wire, Markers included; nothing if its
/// length field is not there yet.
[[nodiscard]] std::expected<std::size_t, FpduError> fpdu_wire_size(Bytes input,
                                                                   const FpduOptions& options);

}  // namespace rnic::wire
