// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/scrub/kept_octets.hpp"

#include <algorithm>

#include "reference_rnic/wire/ddp.hpp"
#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/markers.hpp"

namespace dissectors::scrub {

namespace wire = rnic::wire;
using base::Bytes;

namespace {

/// A row of zeros that is longer than this ends a piece: a piece of its own costs more.
constexpr std::size_t gap = 32;

bool is_zero(std::byte octet) { return octet == std::byte{0}; }

void put(std::vector<std::byte>& out, std::uint32_t value, int octets) {
  for (int i = octets - 1; i >= 0; --i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

std::uint32_t number(Bytes octets) {
  std::uint32_t value = 0;
  for (const std::byte octet : octets) value = value << 8 | std::to_integer<std::uint32_t>(octet);
  return value;
}

/// How many octets of the ULPDU are headers. The data of an Atomic is part of its header.
std::size_t header_of(Bytes ulpdu) {
  const auto segment = wire::parse_segment(ulpdu);
  if (!segment) return ulpdu.size();  // too short for a header: there is no payload
  if (segment->tagged) return wire::tagged_header_size;
  const bool send = segment->untagged_header.queue_number.value() ==
                    static_cast<std::uint32_t>(wire::Queue::send);
  return send ? wire::untagged_header_size : ulpdu.size();
}

/// A payload of an unknown queue may hold anything: of what is no Send only as much is kept as the
/// longest header has.
constexpr std::size_t longest_header = wire::untagged_header_size + 52;

std::vector<std::byte> masked(Bytes ulpdu) {
  std::vector<std::byte> octets(ulpdu.begin(), ulpdu.end());
  const std::size_t kept = std::min({header_of(ulpdu), longest_header, octets.size()});
  std::fill(octets.begin() + static_cast<std::ptrdiff_t>(kept), octets.end(), std::byte{0});
  return octets;
}

/// Puts the Markers that were seen between the octets of the FPDU.
std::vector<std::byte> with_markers(const analyzer::FpduSeen& seen, Bytes bare) {
  std::vector<std::byte> raw;
  raw.reserve(bare.size() + seen.markers.size() * wire::marker_size);
  std::size_t taken = 0;
  for (const analyzer::MarkerSeen& marker : seen.markers) {
    const auto at = static_cast<std::size_t>(marker.offset - seen.place.offset);
    const std::size_t before = std::min(at > raw.size() ? at - raw.size() : 0, bare.size() - taken);
    raw.insert(raw.end(), bare.begin() + static_cast<std::ptrdiff_t>(taken),
               bare.begin() + static_cast<std::ptrdiff_t>(taken + before));
    taken += before;
    if (raw.size() < at) return raw;  // the capture cut the octets before it
    put(raw, marker.reserved, 2);
    put(raw, marker.fpdu_pointer, 2);
  }
  raw.insert(raw.end(), bare.begin() + static_cast<std::ptrdiff_t>(taken), bare.end());
  return raw;
}

}  // namespace

void KeptOctets::keep(std::uint64_t offset, Bytes octets) {
  std::size_t begin = 0;
  while (begin < octets.size()) {
    if (is_zero(octets[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin + 1, zeros = 0;
    for (std::size_t i = end; i < octets.size() && zeros <= gap; ++i) {
      zeros = is_zero(octets[i]) ? zeros + 1 : 0;
      if (zeros == 0) end = i + 1;
    }
    add(offset + begin, octets.subspan(begin, end - begin));
    begin = end;
  }
}

void KeptOctets::add(std::uint64_t offset, Bytes octets) {
  pieces_.insert_or_assign(offset, std::vector<std::byte>(octets.begin(), octets.end()));
  longest_ = std::max(longest_, octets.size());
}

void KeptOctets::copy_to(std::uint64_t offset, std::span<std::byte> out) const {
  const std::uint64_t end = offset + out.size();
  for (auto piece = pieces_.lower_bound(offset > longest_ ? offset - longest_ : 0);
       piece != pieces_.end() && piece->first < end; ++piece) {
    const auto& [begin, octets] = *piece;
    for (std::size_t i = 0; i < octets.size(); ++i)
      if (begin + i >= offset && begin + i < end)
        out[static_cast<std::size_t>(begin + i - offset)] = octets[i];
  }
}

std::vector<std::byte> without_private_data(const analyzer::MpaFrameSeen& seen) {
  std::vector<std::byte> octets(seen.octets.begin(), seen.octets.end());
  const std::size_t of_ulp = seen.frame.ulp_private_data().size();
  const std::size_t kept =
      std::min(octets.size(), seen.octets.size() - std::min(of_ulp, octets.size()));
  std::fill(octets.begin() + static_cast<std::ptrdiff_t>(kept), octets.end(), std::byte{0});
  return octets;
}

std::vector<std::byte> without_payload(const analyzer::FpduSeen& seen) {
  std::vector<std::byte> bare;
  put(bare, seen.ulpdu_length, 2);
  const auto ulpdu = masked(seen.ulpdu);
  bare.insert(bare.end(), ulpdu.begin(), ulpdu.end());
  if (seen.ulpdu.size() < seen.ulpdu_length) return with_markers(seen, bare);
  bare.insert(bare.end(), seen.pad.begin(), seen.pad.end());
  put(bare, seen.crc_value, wire::fpdu_crc_size);
  std::vector<std::byte> raw = with_markers(seen, bare);
  const bool checked = seen.crc == analyzer::Crc::right || seen.crc == analyzer::Crc::wrong;
  if (!checked || raw.size() < wire::fpdu_crc_size || raw.size() != seen.place.length) return raw;
  // RFC 5044 section 4.4: over all octets of the FPDU before it, Markers included.
  raw.resize(raw.size() - wire::fpdu_crc_size);
  const auto fitting = wire::crc32c_trailer(raw);
  put(raw, number(fitting) ^ seen.crc_expected ^ seen.crc_value, wire::fpdu_crc_size);
  return raw;
}

}  // namespace dissectors::scrub
