// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// MPA Markers (RFC 5044 sections 4.2 and 4.3): their positions in one direction of a stream, and
// what they point to.
//
// Every 512 octets of a direction a Marker of four octets is put between the octets of the FPDUs.
// Positions count the octets of one direction from the first of its Full Operation Phase, Markers
// included; the first Marker stands at position 0. FPDUs and Markers are multiples of four octets,
// so a Marker never splits ULPDU_Length or the CRC field.
#pragma once

#include "reference_rnic/wire/bytes.hpp"

namespace rnic::wire {

inline constexpr std::size_t marker_size = 4;
inline constexpr std::size_t marker_interval = 512;

/// A Marker as on the wire (Figure 3).
struct Marker {
  be16 reserved{};
  /// FPDUPTR: octets of the stream, Markers included, from the first octet of ULPDU_Length to the
  /// first octet of this Marker. 0 between two FPDUs: ULPDU_Length follows.
  be16 fpdu_pointer{};
};
static_assert(sizeof(Marker) == marker_size && WireStruct<Marker>);

/// Whether a Marker begins at `position`.
[[nodiscard]] constexpr bool marker_at(std::uint64_t position) {
  return position % marker_interval == 0;
}
/// Octets from `position` to the next Marker at or after it.
[[nodiscard]] constexpr std::size_t octets_to_marker(std::uint64_t position) {
  return static_cast<std::size_t>((marker_interval - position % marker_interval) % marker_interval);
}
/// Length on the wire of `length` FPDU octets (ULPDU_Length to CRC) that begin at `position`,
/// Markers in them and directly before them included: a Marker between two FPDUs belongs to the
/// following one (section 4.3).
[[nodiscard]] std::size_t length_with_markers(std::uint64_t position, std::size_t length);

/// Walks along one FPDU on the wire and returns the places and values of its Markers. The caller
/// alternates: where `at_marker()` holds, it handles `marker()` and calls `pass_marker()`; then
/// `pass(n)` for octets of the FPDU itself.
class MarkerWalk {
 public:
  /// `position` (a multiple of four) is that of the FPDU's first octet, or of the Marker directly
  /// before it.
  explicit MarkerWalk(std::uint64_t position);

  [[nodiscard]] bool at_marker() const { return marker_at(position_); }
  /// The Marker that belongs here. In FPDUs above 64768 octets, which MPA rules out (section 3),
  /// FPDUPTR is taken modulo 2^16.
  [[nodiscard]] Marker marker() const;
  void pass_marker() { position_ += marker_size; }
  /// Passes the FPDU octets before the next Marker, at most `length`; returns how many they are.
  std::size_t pass(std::size_t length);

 private:
  std::uint64_t position_;
  std::uint64_t fpdu_start_;  ///< where ULPDU_Length begins: what each Marker inside points to
};

/// Copies the FPDU `fpdu`, which has no Markers, to `out`, and inserts the Markers for an FPDU that
/// begins at `position`. The CRC of an FPDU covers its Markers (section 4.4), so a CRC must be
/// computed over what is written here.
void insert_markers(Writer& out, std::uint64_t position, Bytes fpdu);

enum class MarkerError : std::uint8_t {
  none,
  wrong_pointer,      ///< FPDUPTR does not lead to ULPDU_Length, its two low bits left aside
  reserved_not_zero,  ///< RESERVED, or the two low bits of FPDUPTR; a receiver ignores them
};
struct StrippedMarkers {
  std::size_t length;   ///< octets written to the output
  std::size_t markers;  ///< Markers removed
  MarkerError error;    ///< the gravest fault seen: wrong_pointer before reserved_not_zero
};
/// Copies `input`, which begins at `position` with the FPDU's first octet or the Marker before it,
/// to `out` without its Markers. `out` must hold as many octets as are left. A Marker that `input`
/// cuts short ends the copy.
[[nodiscard]] StrippedMarkers strip_markers(MutableBytes out, std::uint64_t position, Bytes input);

}  // namespace rnic::wire
