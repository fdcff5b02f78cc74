// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An FPDU in one piece, for tests: written in one pass, unlike the stream, which keeps an FPDU in
// parts so as to copy no payload.
#pragma once

#include <cassert>

#include "reference_rnic/wire/fpdu.hpp"

namespace rnic::wire::test {

/// Writes the octets of one FPDU, puts Markers where they fall, and sums the CRC of all of it.
class FpduWriter {
 public:
  FpduWriter(Writer& out, const FpduOptions& options)
      : out_(out), options_(options), walk_(options.markers ? options.position : 0) {}

  void write(Bytes octets) {
    if (!options_.markers) return emit(octets);
    while (!octets.empty()) {
      write_marker_if_due();
      const std::size_t passed = walk_.pass(octets.size());
      emit(octets.first(passed));
      octets = octets.subspan(passed);
    }
  }

  /// The CRC field. A Marker directly before it is of this FPDU and in its CRC (section 4.4).
  void write_crc() {
    if (options_.markers) write_marker_if_due();
    out_.write(options_.crc ? crc_.trailer() : std::array<std::byte, fpdu_crc_size>{});
  }

 private:
  void write_marker_if_due() {
    if (!walk_.at_marker()) return;
    emit(octets_of(walk_.marker()));
    walk_.pass_marker();
  }
  void emit(Bytes octets) {
    if (options_.crc) crc_.update(octets);
    out_.write(octets);
  }

  Writer& out_;
  const FpduOptions& options_;
  MarkerWalk walk_;
  Crc32c crc_;
};

/// Writes one FPDU whose ULPDU is the concatenation of `pieces`, at most 65535 octets. Returns the
/// octets written, which is all of the FPDU unless `out` overflowed.
inline std::size_t format_fpdu(Writer& out, std::span<const Bytes> pieces,
                               const FpduOptions& options) {
  std::size_t length = 0;
  for (Bytes piece : pieces) length += piece.size();
  assert(length <= max_ulpdu && "ULPDU_Length has 16 bits");

  const std::size_t before = out.size();
  FpduWriter fpdu(out, options);
  fpdu.write(octets_of(be16(static_cast<std::uint16_t>(length))));
  for (Bytes piece : pieces) fpdu.write(piece);
  constexpr std::array<std::byte, 3> zeros{};
  fpdu.write(Bytes(zeros).first(pad_length(length)));
  fpdu.write_crc();
  return out.size() - before;
}

}  // namespace rnic::wire::test
