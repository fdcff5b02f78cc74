// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/zeros.hpp"

#include <algorithm>

namespace rnic::wire {

std::array<std::byte, fpdu_crc_size> crc32c_trailer(Bytes covered) {
  return Crc32c().update(covered).trailer();
}

std::size_t mulpdu(std::size_t emss, bool markers) {
  const std::size_t most_markers = (emss + marker_interval - 1) / marker_interval;
  const std::size_t overhead =
      fpdu_length_size + fpdu_crc_size + emss % 4 + (markers ? marker_size * most_markers : 0);
  return emss < overhead ? min_mulpdu : std::clamp(emss - overhead, min_mulpdu, max_mulpdu);
}

namespace {

/// Where ULPDU_Length begins in an FPDU with these options: after a Marker, if one stands before it.
std::size_t length_field_offset(const FpduOptions& options) {
  return options.markers && marker_at(options.position) ? marker_size : 0;
}

/// The octets of a whole FPDU, without the Markers in it: `wire` itself where there are none.
struct Unmarked {
  Bytes fpdu;
  bool bad_marker;
};
Unmarked without_markers(Bytes wire, const FpduOptions& options, std::size_t size,
                         MutableBytes scratch) {
  if (wire.size() == size) return {wire, false};
  const StrippedMarkers stripped = strip_markers(scratch, options.position, wire);
  return {scratch.first(stripped.length), stripped.error == MarkerError::wrong_pointer};
}

}  // namespace

std::expected<std::size_t, FpduError> fpdu_wire_size(Bytes input, const FpduOptions& options) {
  Reader in(input);
  (void)in.take(length_field_offset(options));
  const std::size_t ulpdu_length = in.read<be16>().value();
  if (in.truncated()) return std::unexpected(FpduError::incomplete);
  const std::size_t size = fpdu_size(ulpdu_length);
  return options.markers ? length_with_markers(options.position, size) : size;
}

std::expected<ParsedFpdu, FpduError> parse_fpdu(Bytes input, const FpduOptions& options,
                                                MutableBytes scratch) {
  const auto wire_size = fpdu_wire_size(input, options);
  if (!wire_size) return std::unexpected(wire_size.error());
  if (input.size() < *wire_size) return std::unexpected(FpduError::incomplete);

  // On the wire the CRC covers all that stands before it, so it is checked with the Markers in
  // place.
  const Bytes wire = input.first(*wire_size);
  if (options.crc) {
    const auto expected = crc32c_trailer(wire.first(wire.size() - fpdu_crc_size));
    if (!std::ranges::equal(expected, wire.last(fpdu_crc_size)))
      return std::unexpected(FpduError::bad_crc);
  }

  const std::size_t ulpdu_length =
      Reader(wire.subspan(length_field_offset(options))).read<be16>().value();
  const auto [fpdu, bad_marker] = without_markers(wire, options, fpdu_size(ulpdu_length), scratch);
  if (bad_marker) return std::unexpected(FpduError::bad_marker);  // rule: section 8, code 3
  const Bytes behind_length = fpdu.subspan(fpdu_length_size);
  return ParsedFpdu{
      .ulpdu = behind_length.first(ulpdu_length),
      .consumed = wire.size(),
      .pad_is_zero = all_zero(behind_length.subspan(ulpdu_length, pad_length(ulpdu_length)))};
}

}  // namespace rnic::wire
