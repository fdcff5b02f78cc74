// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/fpdu_shape.hpp"

#include <algorithm>
#include <array>

#include "reference_rnic/wire/rdmap.hpp"

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

/// This many plausible FPDUs in a row count as a right CRC: one is plausible by chance once in a
/// few thousand times if only its first four octets are there, and far less often with its header.
constexpr int chain_length = 4;

std::uint16_t be16_at(Bytes octets, std::size_t at) {
  return wire::Reader(octets.subspan(at)).read<wire::be16>().value();
}

bool plausible_untagged(const wire::UntaggedHeader& header, std::size_t length) {
  const wire::Opcode opcode = header.rdmap.opcode();
  if (header.queue_number.value() != static_cast<std::uint32_t>(wire::queue_of(opcode)))
    return false;
  if (opcode == wire::Opcode::read_request)
    return length == wire::untagged_header_size + sizeof(wire::ReadRequestHeader);
  return true;
}

/// Shape of the FPDU at the front of `octets` if it is plausible.
std::optional<Shape> plausible_shape(Bytes octets, bool markers, std::uint64_t position) {
  if (!plausible_fpdu(octets, markers, position)) return std::nullopt;
  const Shape shape = Shape::of(0, markers, position);
  return Shape::of(*ulpdu_length(octets, shape.leading_marker()), markers, position);
}

bool chain_fits(Bytes octets, bool markers, std::uint64_t position) {
  for (int links = 0; links < chain_length; ++links) {
    const auto shape = plausible_shape(octets, markers, position);
    if (!shape || shape->size() > octets.size()) return false;
    octets = octets.subspan(shape->size());
    position += shape->size();
  }
  return true;
}

std::optional<Fit> fit_without_markers(Bytes octets, const Known& known) {
  const auto shape = plausible_shape(octets, false, 0);
  if (!shape || shape->size() > octets.size()) return std::nullopt;
  if (crc_fits(octets, *shape)) return Fit{*shape, true, false};
  if (known.crc.value_or(false) || !chain_fits(octets, false, 0)) return std::nullopt;
  return Fit{*shape, false, false};
}

/// Markers within the FPDU that point to its beginning; none if one of them does not. A zero before
/// it is not counted: zeros may be anywhere.
int pointers_here(Bytes octets, const Shape& shape) {
  const std::size_t size = std::min(shape.size(), octets.size());
  const std::uint64_t start = shape.position + shape.length_field();
  int right = 0;
  for (std::size_t at = wire::octets_to_marker(shape.position); at + wire::marker_size <= size;
       at += wire::marker_interval) {
    const std::uint64_t marker = shape.position + at;
    const auto expected = static_cast<std::uint16_t>(marker < start ? 0 : marker - start);
    if (be16_at(octets, at + 2) != expected) return 0;
    right += expected != 0 ? 1 : 0;
  }
  return right;
}

/// `enough`: the number of pointers that counts as a right CRC.
std::optional<Fit> fit_at_position(Bytes octets, std::uint64_t position, const Known& known,
                                   int enough) {
  if (position % 4 != 0) return std::nullopt;
  const auto shape = plausible_shape(octets, true, position);
  if (!shape || shape->size() > octets.size()) return std::nullopt;
  const int pointers = pointers_here(octets, *shape);
  if (crc_fits(octets, *shape)) return Fit{*shape, true, pointers > 0};
  if (known.crc.value_or(false)) return std::nullopt;
  if (pointers < enough && !chain_fits(octets, true, position)) return std::nullopt;
  return Fit{*shape, false, pointers > 0};
}

/// Looks for a Marker that points to the front of `octets`, directly before it or within one
/// interval after it, and finds the FPDU by it.
std::optional<Fit> fit_by_pointer(Bytes octets, const Known& known) {
  if (octets.size() < 2 * wire::marker_size) return std::nullopt;
  const auto zero = [](std::byte octet) { return octet == std::byte{0}; };
  if (std::ranges::all_of(octets.first(wire::marker_size), zero)) {
    // An unused CRC field often has four zeros as well: a row that fits is not enough.
    const auto found = fit_at_position(octets, 0, known, 2);
    return found && (found->crc_right || found->markers_seen) ? found : std::nullopt;
  }
  // No later Marker can be before the control octets, so they must already be plausible.
  if (!plausible_fpdu(octets.first(wire::marker_size), false, 0)) return std::nullopt;
  const std::size_t end = std::min(octets.size() - wire::marker_size, wire::marker_interval - 4);
  for (std::size_t at = wire::marker_size; at <= end; at += 4) {
    if (be16_at(octets, at) != 0 || be16_at(octets, at + 2) != at) continue;
    if (const auto found = fit_at_position(octets, wire::marker_interval - at, known, 2);
        found && found->markers_seen)
      return found;
  }
  return std::nullopt;
}

}  // namespace

bool crc_fits(Bytes octets, const Shape& shape) {
  const std::size_t size = shape.size();
  if (octets.size() < size || size < wire::fpdu_crc_size || shape.trailer != wire::fpdu_crc_size)
    return false;
  const Bytes covered = octets.first(size - wire::fpdu_crc_size);
  return std::ranges::equal(wire::crc32c_trailer(covered),
                            octets.subspan(covered.size(), wire::fpdu_crc_size));
}

bool plausible_header(Bytes ulpdu, std::size_t length) {
  if (ulpdu.size() < 2 || length > wire::max_mulpdu) return false;
  const wire::DdpControl ddp{std::to_integer<std::uint8_t>(ulpdu[0])};
  const wire::RdmapControl rdmap{std::to_integer<std::uint8_t>(ulpdu[1])};
  if (ddp.version() != wire::ddp_version || (ddp.octet & wire::DdpControl::reserved_mask) != 0 ||
      rdmap.version() != wire::rdmap_version ||
      (rdmap.octet & wire::RdmapControl::reserved_mask) != 0 || !wire::is_defined(rdmap.opcode()) ||
      wire::is_tagged(rdmap.opcode()) != ddp.tagged())
    return false;
  if (ddp.tagged()) return length >= wire::tagged_header_size;
  if (length < wire::untagged_header_size) return false;
  wire::Reader in(ulpdu);
  const auto header = in.read<wire::UntaggedHeader>();
  return in.truncated() || plausible_untagged(header, length);
}

bool plausible_fpdu(Bytes fpdu, bool markers, std::uint64_t position) {
  if (markers && position % 4 != 0) return false;
  const Shape front = Shape::of(0, markers, position);
  const auto length = ulpdu_length(fpdu, front.leading_marker());
  if (!length) return false;
  constexpr std::size_t looked_at = wire::fpdu_length_size + wire::untagged_header_size;
  const std::size_t have =
      std::min(fpdu.size(), markers ? looked_at + 2 * wire::marker_size : looked_at);
  if (!markers) return plausible_header(fpdu.first(have).subspan(wire::fpdu_length_size), *length);
  std::array<std::byte, looked_at + 2 * wire::marker_size> scratch{};
  const auto stripped = wire::strip_markers(scratch, position, fpdu.first(have));
  return stripped.length >= wire::fpdu_length_size &&
         plausible_header(Bytes(scratch).first(stripped.length).subspan(wire::fpdu_length_size),
                          *length);
}

std::optional<Fit> fit(Bytes octets, std::uint64_t offset, const Known& known) {
  if (known.markers == true && known.origin)
    // Positions repeat every 512 octets, so an origin after the offset is just as good.
    return fit_at_position(octets, (offset - *known.origin) % wire::marker_interval, known, 1);
  if (known.markers != true) {
    if (auto found = fit_without_markers(octets, known)) return found;
    if (known.markers == false) return std::nullopt;
  }
  return fit_by_pointer(octets, known);
}

}  // namespace dissectors::analyzer
