// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The shape of one FPDU on the wire, as presumed or as found: the lengths of its parts, the places
// of its Markers, and whether its CRC and its DDP header confirm them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "dissectors/analyzer/events.hpp"
#include "reference_rnic/wire/fpdu.hpp"

namespace dissectors::analyzer {

struct Shape {
  std::uint64_t position =
      0;  ///< as wire/markers.hpp counts; any number where there are no Markers
  bool markers = false;
  std::size_t ulpdu = 0;    ///< octets of the ULPDU
  std::size_t pad = 0;      ///< octets of the pad
  std::size_t trailer = 4;  ///< octets of the CRC field: 0 if a sender leaves it out

  /// The shape that RFC 5044 section 4.1 gives an FPDU with this ULPDU_Length.
  [[nodiscard]] static Shape of(std::size_t ulpdu_length, bool markers, std::uint64_t position) {
    return {position, markers, ulpdu_length, rnic::wire::pad_length(ulpdu_length)};
  }
  [[nodiscard]] bool leading_marker() const { return markers && rnic::wire::marker_at(position); }
  /// Where ULPDU_Length begins.
  [[nodiscard]] std::size_t length_field() const {
    return leading_marker() ? rnic::wire::marker_size : 0;
  }
  /// Octets on the wire, Markers included.
  [[nodiscard]] std::size_t size() const {
    const std::size_t bare = rnic::wire::fpdu_length_size + ulpdu + pad + trailer;
    return markers ? rnic::wire::length_with_markers(position, bare) : bare;
  }
};

/// ULPDU_Length of an FPDU whose beginning is given; nothing until it has arrived.
[[nodiscard]] inline std::optional<std::uint16_t> ulpdu_length(Bytes fpdu, bool leading_marker) {
  const std::size_t at = leading_marker ? rnic::wire::marker_size : 0;
  if (fpdu.size() < at + rnic::wire::fpdu_length_size) return std::nullopt;
  return rnic::wire::Reader(fpdu.subspan(at)).read<rnic::wire::be16>().value();
}
/// Whether the last four octets of the FPDU are the CRC32c of all before them. `octets` may
/// continue after it; false if they do not contain all of it.
[[nodiscard]] bool crc_fits(Bytes octets, const Shape& shape);
/// Whether the beginning of a ULPDU, which has `length` octets in all, can be a DDP segment of
/// RDMAP: versions, reserved bits, opcode, queue, lengths. Missing octets do not count against it,
/// but the two control octets must be present.
[[nodiscard]] bool plausible_header(Bytes ulpdu, std::size_t length);
/// The same for an FPDU whose beginning is given.
[[nodiscard]] bool plausible_fpdu(Bytes fpdu, bool markers, std::uint64_t position);

/// What was found to be an FPDU without knowing where one begins.
struct Fit {
  Shape shape;
  bool crc_right = false;
  bool markers_seen = false;  ///< a Marker in it points to its beginning
};
/// What is known about a direction in which an FPDU is looked for.
struct Known {
  std::optional<bool> markers, crc;
  std::optional<std::uint64_t> origin;  ///< offset in the stream of some Marker
};
/// Whether an FPDU may begin here at all, by the two control octets of a DDP segment of RDMAP, also where a
/// Marker is before it. Cheap: it rejects most traffic of other protocols.
[[nodiscard]] inline bool may_begin(Bytes octets) {
  const auto control_at = [&](std::size_t at) {
    if (octets.size() < at + 2) return false;
    const auto ddp = std::to_integer<std::uint8_t>(octets[at]);
    const auto rdmap = std::to_integer<std::uint8_t>(octets[at + 1]);
    constexpr unsigned fixed =
        rnic::wire::DdpControl::reserved_mask | rnic::wire::DdpControl::version_mask;
    return (ddp & fixed) == rnic::wire::ddp_version &&
           rnic::wire::RdmapControl{rdmap}.version() == rnic::wire::rdmap_version &&
           (rdmap & rnic::wire::RdmapControl::reserved_mask) == 0;
  };
  return control_at(rnic::wire::fpdu_length_size) ||
         control_at(rnic::wire::marker_size + rnic::wire::fpdu_length_size);
}

/// Whether an FPDU that fits begins here: plausible, complete, and confirmed by its CRC; if CRCs
/// are not known to be in use, a row of plausible FPDUs confirms it.
[[nodiscard]] std::optional<Fit> fit(Bytes octets, std::uint64_t offset, const Known& known);

}  // namespace dissectors::analyzer
