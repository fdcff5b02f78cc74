// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Each hypothesis is a mistake that senders have made;
// the first one that the octets bear out is the diagnosis.
#include "suite/lower_tester/diagnosis.hpp"
#include "base/octets.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace suite::lower_tester {

namespace {

using base::Octets;

constexpr Diagnosis markers_missing{"mpa.markers.added-when-peer-m-one",
                                    "an FPDU without the Markers that were asked for"};
constexpr Diagnosis markers_unasked{"mpa.markers.none-when-peer-m-zero",
                                    "an FPDU with Markers that nobody asked for"};
constexpr Diagnosis zero_crc{"mpa.crc.generated-when-either-c-one",
                             "an FPDU with zero in place of its CRC"};
constexpr Diagnosis reversed_crc{"mpa.crc.crc32c-as-in-iscsi",
                                 "an FPDU whose CRC has its octets reversed"};
constexpr Diagnosis crc_without_length{"mpa.crc.covers-length-to-pad",
                                       "an FPDU whose CRC leaves out ULPDU_Length"};
constexpr Diagnosis crc_without_pad{"mpa.framing.pad-checked-by-crc",
                                    "an FPDU whose CRC leaves out the pad"};
constexpr Diagnosis crc_without_markers{"mpa.markers.counted-in-containing-crc",
                                        "an FPDU whose CRC leaves out its Markers"};
constexpr Diagnosis crc_without_leading{"mpa.crc.covers-leading-marker",
                                        "an FPDU whose CRC leaves out the Marker before it"};
constexpr Diagnosis length_wrong{"mpa.framing.length-counts-ulpdu-only",
                                 "an FPDU whose ULPDU_Length counts more than the ULPDU"};
constexpr Diagnosis length_swapped{"mpa.framing.fpdu-layout",
                                   "an FPDU whose ULPDU_Length has its octets exchanged"};
constexpr Diagnosis pad_left_out{"mpa.framing.pad-fills-to-four", "an FPDU without its pad"};
constexpr Diagnosis crc_left_out{"mpa.crc.field-present-when-disabled",
                                 "an FPDU without a CRC field"};
constexpr Diagnosis marker_not_zero{"mpa.markers.zero-pointer-between-fpdus",
                                    "a Marker between FPDUs whose FPDUPTR is not zero"};
constexpr Diagnosis marker_zero_within{"mpa.markers.pointer-distance-to-header",
                                       "a Marker within an FPDU whose FPDUPTR is zero"};
constexpr Diagnosis marker_elsewhere{"mpa.markers.pointer-counts-from-length-field",
                                     "a Marker whose FPDUPTR points elsewhere"};
constexpr Diagnosis bad_crc{"mpa.crc.field-holds-crc32c", "an FPDU with a wrong CRC"};
constexpr Diagnosis unfinished{"mpa.framing.fpdu-layout", "an FPDU that ends early"};

bool crc_fits(wire::Bytes covered, wire::Bytes field) {
  return std::ranges::equal(wire::crc32c_trailer(covered), field);
}

/// The FPDU with its Markers and its parts, if it is all there.
class Suspect {
 public:
  Suspect(wire::Bytes octets, const wire::FpduOptions& options)
      : octets_(octets), options_(options) {}

  [[nodiscard]] std::size_t lead() const {
    return options_.markers && wire::marker_at(options_.position) ? wire::marker_size : 0;
  }
  [[nodiscard]] std::optional<std::size_t> stated_length() const {
    if (octets_.size() < lead() + wire::fpdu_length_size) return std::nullopt;
    return wire::Reader(octets_.subspan(lead())).read<wire::be16>().value();
  }
  /// The octets of an FPDU with a ULPDU of this length.
  [[nodiscard]] std::optional<wire::Bytes> with_length(std::size_t ulpdu) const {
    const std::size_t plain = wire::fpdu_size(ulpdu);
    const std::size_t size =
        options_.markers ? wire::length_with_markers(options_.position, plain) : plain;
    if (octets_.size() < size) return std::nullopt;
    return octets_.first(size);
  }
  [[nodiscard]] bool crc_fits_with_length(std::size_t ulpdu) const {
    const auto fpdu = with_length(ulpdu);
    return fpdu && crc_fits(fpdu->first(fpdu->size() - wire::fpdu_crc_size),
                            fpdu->last(wire::fpdu_crc_size));
  }
  [[nodiscard]] Octets without_markers(wire::Bytes fpdu) const {
    Octets plain(fpdu.size());
    plain.resize(wire::strip_markers(plain, options_.position, fpdu).length);
    return plain;
  }
  [[nodiscard]] const wire::FpduOptions& options() const { return options_; }
  [[nodiscard]] wire::Bytes octets() const { return octets_; }

 private:
  wire::Bytes octets_;
  wire::FpduOptions options_;
};

/// A CRC over other octets, or written otherwise.
std::optional<Diagnosis> diagnose_crc(const Suspect& suspect, wire::Bytes fpdu, std::size_t ulpdu) {
  const wire::Bytes covered = fpdu.first(fpdu.size() - wire::fpdu_crc_size),
                    field = fpdu.last(wire::fpdu_crc_size);
  if (std::ranges::all_of(field, [](std::byte octet) { return octet == std::byte{0}; }))
    return zero_crc;
  std::array<std::byte, wire::fpdu_crc_size> reversed{};
  std::ranges::reverse_copy(field, reversed.begin());
  if (crc_fits(covered, reversed)) return reversed_crc;
  const std::size_t lead = suspect.lead();
  if (lead > 0 && crc_fits(covered.subspan(lead), field)) return crc_without_leading;
  Octets no_length(covered.begin(), covered.begin() + static_cast<std::ptrdiff_t>(lead));
  no_length.insert(no_length.end(),
                   covered.begin() + static_cast<std::ptrdiff_t>(lead + wire::fpdu_length_size),
                   covered.end());
  if (crc_fits(no_length, field)) return crc_without_length;
  if (crc_fits(covered.first(covered.size() - wire::pad_length(ulpdu)), field))
    return crc_without_pad;
  if (suspect.options().markers) {
    const Octets plain = suspect.without_markers(fpdu);
    if (crc_fits(wire::Bytes(plain).first(plain.size() - wire::fpdu_crc_size), field))
      return crc_without_markers;
  }
  return std::nullopt;
}

/// A length field that does not say the length of the ULPDU.
std::optional<Diagnosis> diagnose_length(const Suspect& suspect, std::size_t stated) {
  const std::size_t swapped = (stated & 0xFF) << 8 | stated >> 8;
  if (suspect.crc_fits_with_length(swapped)) return length_swapped;
  for (std::size_t excess = 1; excess <= wire::fpdu_length_size + 3 + wire::fpdu_crc_size; ++excess)
    if (stated >= excess && suspect.crc_fits_with_length(stated - excess)) return length_wrong;
  const std::size_t end = suspect.lead() + wire::fpdu_length_size + stated;
  if (wire::pad_length(stated) > 0 && suspect.octets().size() >= end + wire::fpdu_crc_size &&
      crc_fits(suspect.octets().first(end), suspect.octets().subspan(end, wire::fpdu_crc_size)))
    return pad_left_out;
  return std::nullopt;
}

/// The Markers of an FPDU, where they stand in it.
std::vector<std::pair<std::size_t, wire::Marker>> markers_of(wire::Bytes fpdu,
                                                             std::uint64_t position) {
  std::vector<std::pair<std::size_t, wire::Marker>> list;
  for (std::size_t at = wire::octets_to_marker(position); at + wire::marker_size <= fpdu.size();
       at += wire::marker_interval)
    list.emplace_back(at, wire::Reader(fpdu.subspan(at)).read<wire::Marker>());
  return list;
}

Diagnosis diagnose_marker(const Suspect& suspect, wire::Bytes fpdu) {
  for (const auto& [at, marker] : markers_of(fpdu, suspect.options().position)) {
    const unsigned pointer = marker.fpdu_pointer.value();
    if (at == 0 && pointer != 0) return marker_not_zero;
    if (at > suspect.lead() && pointer == 0) return marker_zero_within;
  }
  return marker_elsewhere;
}

}  // namespace

MarkerBits marker_bits(wire::Bytes fpdu, std::uint64_t position) {
  MarkerBits bits;
  for (const auto& [at, marker] : markers_of(fpdu, position)) {
    bits.reserved_set |= marker.reserved.value() != 0;
    bits.low_bits_set |= (marker.fpdu_pointer.value() & 3U) != 0;
  }
  return bits;
}

Diagnosis diagnose(wire::Bytes octets, const wire::FpduOptions& options, bool complete) {
  const Suspect suspect(octets, options);
  // With the Markers the other way round, is it a right FPDU?
  wire::FpduOptions other = options;
  other.markers = !options.markers;
  const Suspect as_other(octets, other);
  if (options.crc && as_other.stated_length() &&
      as_other.crc_fits_with_length(*as_other.stated_length()))
    return options.markers ? markers_missing : markers_unasked;

  const auto stated = suspect.stated_length();
  if (!stated) return unfinished;
  const auto fpdu = suspect.with_length(*stated);
  if (complete && fpdu && suspect.crc_fits_with_length(*stated))
    return diagnose_marker(suspect, *fpdu);
  if (complete && fpdu && !options.crc) return diagnose_marker(suspect, *fpdu);
  if (options.crc && fpdu)
    if (const auto found = diagnose_crc(suspect, *fpdu, *stated)) return *found;
  if (options.crc)
    if (const auto found = diagnose_length(suspect, *stated)) return *found;
  if (complete) return bad_crc;
  const std::size_t whole = suspect.lead() + wire::fpdu_size(*stated);
  return !options.markers && octets.size() + wire::fpdu_crc_size == whole ? crc_left_out
                                                                          : unfinished;
}

}  // namespace suite::lower_tester
