// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The FPDU (RFC 5044 section 4.1): ULPDU_Length, ULPDU, pad, CRC, with or without Markers.
//
//   ULPDU_Length (2) | ULPDU | pad of zeros (0 to 3) | CRC (4)
//
// The pad makes the length a multiple of four. The CRC covers everything before it: a Marker
// directly before ULPDU_Length, those inside, and one directly after the pad (section 4.4).
#pragma once

#include "reference_rnic/wire/crc32c.hpp"
#include "reference_rnic/wire/markers.hpp"

namespace rnic::wire {

inline constexpr std::size_t fpdu_length_size = 2;
inline constexpr std::size_t fpdu_crc_size = 4;
/// The greatest value of ULPDU_Length.
inline constexpr std::size_t max_ulpdu = 65535;
/// What MPA may report to DDP as its MULPDU, and the longest ULPDU that DDP may send (section 3).
inline constexpr std::size_t min_mulpdu = 128;
inline constexpr std::size_t max_mulpdu = 64768;

/// Pad octets (0 to 3) after a ULPDU of `ulpdu_length` octets.
[[nodiscard]] constexpr std::size_t pad_length(std::size_t ulpdu_length) {
  return (4 - (fpdu_length_size + ulpdu_length) % 4) % 4;
}
/// ULPDU_Length field + ULPDU + pad + CRC, Markers not counted.
[[nodiscard]] constexpr std::size_t fpdu_size(std::size_t ulpdu_length) {
  return fpdu_length_size + ulpdu_length + pad_length(ulpdu_length) + fpdu_crc_size;
}
/// The CRC field for the octets before it, in wire order. For octets in several pieces: Crc32c.
[[nodiscard]] std::array<std::byte, fpdu_crc_size> crc32c_trailer(Bytes covered);
/// The MULPDU for a TCP segment of `emss` octets (section 4.5), but never below 128 or above 64768
/// (section 3). With `markers` it reserves room for as many as can fall into the segment.
[[nodiscard]] std::size_t mulpdu(std::size_t emss, bool markers);

/// What startup has negotiated for one direction of the connection, and the position of the FPDU in
/// it.
struct FpduOptions {
  bool crc = true;  ///< false: the CRC field is present, written as zero and not checked
  bool markers = false;
  /// Position of the FPDU's first octet, or of the Marker directly before it (markers.hpp). Not
  /// used without Markers.
  std::uint64_t position = 0;
};

enum class FpduError : std::uint8_t {
  incomplete,  ///< octets are missing: wait for more
  bad_crc,     ///< section 8, code 2
  bad_marker,  ///< section 8, code 3: the CRC is right, but a Marker does not point to ULPDU_Length
};

struct ParsedFpdu {
  Bytes ulpdu;           ///< refers to the input, or to `scratch` where Markers had to be removed
  std::size_t consumed;  ///< octets of the input, Markers included
  bool pad_is_zero;      ///< senders owe it, receivers do not check it (section 4.1)
};
/// Parses the FPDU at the front of `input`; octets after it are ignored. `bad_crc` and `bad_marker`
/// are reported only once the whole FPDU has arrived. `scratch` receives an FPDU without its
/// Markers: fpdu_size(max_ulpdu) octets are always enough; without Markers it may be empty.
[[nodiscard]] std::expected<ParsedFpdu, FpduError> parse_fpdu(Bytes input,
                                                              const FpduOptions& options,
                                                              MutableBytes scratch);
/// Octets of the FPDU at the front of `input` on the wire, Markers included; `incomplete` until its
/// ULPDU_Length has arrived.
[[nodiscard]] std::expected<std::size_t, FpduError> fpdu_wire_size(Bytes input,
                                                                   const FpduOptions& options);

}  // namespace rnic::wire
