// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/fpdu.hpp"

#include <boost/test/unit_test.hpp>

#include "reference_rnic/wire/tests/format_fpdu.hpp"
#include "reference_rnic/wire/tests/octets.hpp"

using namespace rnic::wire;
using namespace rnic::wire::test;

namespace {

Octets format(Bytes ulpdu, const FpduOptions& options) {
  const Bytes pieces[] = {ulpdu};
  return written([&](Writer& out) { format_fpdu(out, pieces, options); });
}

/// A parse with scratch of its own, and its result by value.
struct Parsed {
  Octets ulpdu;
  std::size_t consumed = 0;
  bool pad_is_zero = false;
};
std::expected<Parsed, FpduError> parse(Bytes input, const FpduOptions& options) {
  std::vector<std::byte> scratch(fpdu_size(max_ulpdu));
  const auto parsed = parse_fpdu(input, options, scratch);
  if (!parsed) return std::unexpected(parsed.error());
  return Parsed{Octets(parsed->ulpdu), parsed->consumed, parsed->pad_is_zero};
}

bool fails_with(const std::expected<Parsed, FpduError>& result, FpduError error) {
  return !result && result.error() == error;
}

/// The Send of RFC 5044 Figures 5 and 6: 24 octets of zeros, Last, queue 0.
Octets example_send(unsigned msn) {
  Octets send = octets("41 43 00000000 00000000 000000");
  send.push_back(std::byte(msn));
  send += octets("00000000");
  send += repeated(24, 0);
  return send;
}

const FpduOptions plain{.crc = true, .markers = false, .position = 0};
FpduOptions marked(std::uint64_t position, bool crc = true) {
  return {.crc = crc, .markers = true, .position = position};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fpdu)

BOOST_AUTO_TEST_CASE(figure_5_first_fpdu_begins_with_a_marker) {
  Octets figure = octets(
      "00000000"                      // Marker, FPDUPTR 0
      "002a"                          // ULPDU_Length
      "41 43 00000000"                // DDP control, RDMAP control, no Invalidate STag
      "00000000 00000001 00000000");  // queue, MSN, MO
  figure += repeated(24, 0);
  figure += octets("52 23 99 83");
  BOOST_TEST(figure.size() == 0x34U);
  BOOST_TEST(format(example_send(1), marked(0)) == figure);

  const auto parsed = parse(figure, marked(0));
  BOOST_REQUIRE(parsed.has_value());
  BOOST_TEST(parsed->ulpdu == example_send(1));
  BOOST_TEST(parsed->consumed == figure.size());
}

BOOST_AUTO_TEST_CASE(figure_6_marker_inside) {
  Octets figure = octets(
      "002a"
      "41 43 00000000"
      "00000000 00000002 00000000"
      "0000 0014");  // Marker at 0x200, the FPDU began at 0x1ec
  figure += repeated(24, 0);
  figure += octets("84 92 58 98");
  BOOST_TEST(figure.size() == 0x220U - 0x1ecU);
  BOOST_TEST(format(example_send(2), marked(0x1ec)) == figure);

  const auto parsed = parse(figure, marked(0x1ec));
  BOOST_REQUIRE(parsed.has_value());
  BOOST_TEST(parsed->ulpdu == example_send(2));
}

// RFC 5044 section 4.5.
BOOST_AUTO_TEST_CASE(mulpdu_by_the_formulas) {
  BOOST_TEST(mulpdu(1460, false) == 1454U);
  BOOST_TEST(mulpdu(1460, true) == 1460U - (6 + 4 * 3 + 0));
  BOOST_TEST(mulpdu(1448, false) == 1442U);
  BOOST_TEST(mulpdu(1463, false) == 1463U - (6 + 3));
  BOOST_TEST(mulpdu(1463, true) == 1463U - (6 + 12 + 3));
  BOOST_TEST(mulpdu(1536, true) == 1536U - (6 + 12));
  BOOST_TEST(mulpdu(1537, true) == 1537U - (6 + 16 + 1));
  BOOST_TEST(mulpdu(8960, true) == 8960U - (6 + 4 * 18));
}

BOOST_AUTO_TEST_CASE(mulpdu_stays_within_128_and_64768) {
  for (bool markers : {false, true}) {
    for (std::size_t emss : {0U, 1U, 5U, 6U, 127U, 128U, 134U})
      BOOST_TEST(mulpdu(emss, markers) == 128U);
    BOOST_TEST(mulpdu(140, markers) == (markers ? 130U : 134U));
    BOOST_TEST(mulpdu(65495, markers) == (markers ? 64768U : 64768U));
    BOOST_TEST(mulpdu(1 << 20, markers) == 64768U);
  }
  BOOST_TEST(mulpdu(64774, false) == 64766U);
  BOOST_TEST(mulpdu(64776, false) == 64768U);
}

BOOST_AUTO_TEST_CASE(mulpdu_sized_fpdus_fit_the_segment) {
  for (std::size_t emss = 256; emss < 9100; ++emss) {
    BOOST_TEST(fpdu_size(mulpdu(emss, false)) <= emss);
    for (std::uint64_t position = 0; position < marker_interval; position += 4)
      BOOST_REQUIRE_LE(length_with_markers(position, fpdu_size(mulpdu(emss, true))), emss);
  }
}

BOOST_AUTO_TEST_CASE(pads_by_hand) {
  BOOST_TEST(pad_length(0) == 2U);
  BOOST_TEST(pad_length(1) == 1U);
  BOOST_TEST(pad_length(2) == 0U);
  BOOST_TEST(pad_length(3) == 3U);
  BOOST_TEST(pad_length(4) == 2U);
  const FpduOptions no_crc{.crc = false};
  BOOST_TEST(format({}, no_crc) == octets("0000 0000 00000000"));
  BOOST_TEST(format(octets("a1"), no_crc) == octets("0001 a1 00 00000000"));
  BOOST_TEST(format(octets("a1a2"), no_crc) == octets("0002 a1a2 00000000"));
  BOOST_TEST(format(octets("a1a2a3"), no_crc) == octets("0003 a1a2a3 000000 00000000"));
  BOOST_TEST(format(octets("a1a2a3a4"), no_crc) == octets("0004 a1a2a3a4 0000 00000000"));
}

BOOST_AUTO_TEST_CASE(round_trip_of_small_and_large_lengths) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i <= 40; ++i) lengths.push_back(i);
  for (std::size_t i = 496; i <= 530; ++i) lengths.push_back(i);
  for (std::size_t i :
       {1024U, 1442U, 4096U, 16384U, 32768U, 64767U, 64768U, 64769U, 65532U, 65533U, 65534U})
    lengths.push_back(i);
  lengths.push_back(max_ulpdu);
  for (std::size_t length : lengths) {
    const Octets ulpdu = counting(length);
    for (const FpduOptions& options : {plain, FpduOptions{.crc = false}, marked(0), marked(508)}) {
      const Octets wire = format(ulpdu, options);
      BOOST_TEST_CONTEXT("length " << length << " markers " << options.markers) {
        BOOST_TEST(wire.size() % 4 == 0U);
        const auto parsed = parse(wire, options);
        BOOST_REQUIRE(parsed.has_value());
        BOOST_TEST((parsed->ulpdu == ulpdu));
        BOOST_TEST(parsed->consumed == wire.size());
        BOOST_TEST(parsed->pad_is_zero);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(incomplete_until_the_last_octet_and_blind_to_what_follows) {
  for (const FpduOptions& options : {plain, marked(0), marked(500)}) {
    Octets wire = format(counting(37), options);
    for (std::size_t length = 0; length < wire.size(); ++length)
      BOOST_TEST(fails_with(parse(Bytes(wire).first(length), options), FpduError::incomplete));
    const std::size_t whole = wire.size();
    wire += repeated(9, 0xEE);
    const auto parsed = parse(wire, options);
    BOOST_REQUIRE(parsed.has_value());
    BOOST_TEST(parsed->consumed == whole);
  }
}

BOOST_AUTO_TEST_CASE(wire_size_needs_the_length_field_only) {
  const Octets wire = format(counting(1000), marked(0));
  for (std::size_t length = 0; length < 6; ++length)
    BOOST_TEST(!fpdu_wire_size(Bytes(wire).first(length), marked(0)).has_value());
  BOOST_TEST(fpdu_wire_size(Bytes(wire).first(6), marked(0)).value() == wire.size());
  BOOST_TEST(!fpdu_wire_size(octets("03"), plain).has_value());
  BOOST_TEST(fpdu_wire_size(octets("03e8"), plain).value() == 1008U);
  BOOST_TEST(fpdu_wire_size(octets("ffff"), plain).value() == 65544U);
}

BOOST_AUTO_TEST_CASE(pieces_are_joined_wherever_they_are_cut) {
  const Octets ulpdu = counting(60);
  const Octets whole = format(ulpdu, marked(480));
  for (std::size_t cut = 0; cut <= ulpdu.size(); ++cut) {
    const Bytes pieces[] = {Bytes(ulpdu).first(cut), Bytes{}, Bytes(ulpdu).subspan(cut)};
    BOOST_TEST(written([&](Writer& out) { format_fpdu(out, pieces, marked(480)); }) == whole);
  }
}

// RFC 5044 section 4.1: the receiver ignores the pad, except that the CRC covers it.
BOOST_AUTO_TEST_CASE(pad_that_is_not_zero_is_told_and_taken) {
  const Octets wire = octets("0001 a1 77");
  Octets with_crc = wire;
  with_crc += Octets(crc32c_trailer(wire));
  const auto parsed = parse(with_crc, plain);
  BOOST_REQUIRE(parsed.has_value());
  BOOST_TEST(parsed->ulpdu == octets("a1"));
  BOOST_TEST(!parsed->pad_is_zero);
}

// RFC 5044 section 4.1: the field may hold anything when CRCs are not enabled.
BOOST_AUTO_TEST_CASE(crc_field_is_not_looked_at_without_crc) {
  const auto parsed = parse(octets("0002 a1a2 deadbeef"), {.crc = false});
  BOOST_REQUIRE(parsed.has_value());
  BOOST_TEST(parsed->ulpdu == octets("a1a2"));
}

BOOST_AUTO_TEST_CASE(crc_catches_every_single_flipped_bit) {
  for (const FpduOptions& options : {plain, marked(0), marked(480), marked(476)}) {
    const Octets wire = format(counting(43), options);
    for (std::size_t bit = 0; bit < 8 * wire.size(); ++bit) {
      Octets damaged = wire;
      damaged[bit / 8] ^= std::byte(0x80 >> bit % 8);
      damaged += repeated(66000, 0);  // so that a longer ULPDU_Length does not end in "incomplete"
      BOOST_TEST(fails_with(parse(damaged, options), FpduError::bad_crc));
    }
  }
}

BOOST_AUTO_TEST_CASE(every_marker_position_around_and_within_a_small_fpdu) {
  const Octets ulpdu = counting(25);  // 2 + 25 + 1 pad + 4 CRC = 32 octets
  const Octets bare = format(ulpdu, {.crc = false});
  for (std::uint64_t position = 0; position < 2 * marker_interval; position += 4) {
    BOOST_TEST_CONTEXT("position " << position) {
      const Octets wire = format(ulpdu, marked(position));
      const std::size_t before = octets_to_marker(position);
      BOOST_TEST(wire.size() == bare.size() + (before < bare.size() ? 4 : 0));
      if (before < bare.size()) {
        // By hand: the Marker at its place, FPDUPTR the distance to ULPDU_Length, the rest as it
        // was.
        Octets expected(Bytes(bare).first(before));
        expected += octets("0000 00");
        expected.push_back(static_cast<std::byte>(before));
        expected += Octets(Bytes(bare).subspan(before, bare.size() - 4 - before));
        expected += Octets(crc32c_trailer(expected));
        BOOST_TEST(wire == expected);
      }
      const auto parsed = parse(wire, marked(position));
      BOOST_REQUIRE(parsed.has_value());
      BOOST_TEST(parsed->ulpdu == ulpdu);
    }
  }
}

// RFC 5044 section 4.4: a Marker directly after the pad, before the CRC field, is of this FPDU
// and its CRC.
BOOST_AUTO_TEST_CASE(marker_between_pad_and_crc) {
  Octets expected = octets("0005 a1a2a3a4a5 00 0000 0008");
  expected += Octets(crc32c_trailer(expected));
  BOOST_TEST(format(octets("a1a2a3a4a5"), marked(504)) == expected);
  BOOST_TEST(parse(expected, marked(504)).value().ulpdu == octets("a1a2a3a4a5"));
}

// Section 4.3: the Marker directly after the CRC field is that of the next FPDU.
BOOST_AUTO_TEST_CASE(marker_behind_the_crc_belongs_to_the_next_fpdu) {
  Octets expected = octets("0005 a1a2a3a4a5 00");
  expected += Octets(crc32c_trailer(expected));
  BOOST_TEST(format(octets("a1a2a3a4a5"), marked(500)) == expected);
  Octets next = octets("0000 0000 0002 b1b2");
  next += Octets(crc32c_trailer(next));
  BOOST_TEST(format(octets("b1b2"), marked(512)) == next);
}

BOOST_AUTO_TEST_CASE(many_markers_all_point_to_the_same_length_field) {
  const std::uint64_t position = 300;
  const Octets wire = format(counting(3000), marked(position));
  std::size_t seen = 0;
  for (std::uint64_t at = 512; at < position + wire.size(); at += 512, ++seen) {
    const auto marker = Reader(Bytes(wire).subspan(at - position)).read<Marker>();
    BOOST_TEST(marker.reserved.value() == 0U);
    BOOST_TEST(marker.fpdu_pointer.value() == at - position);
  }
  BOOST_TEST(seen == 6U);
}

BOOST_AUTO_TEST_CASE(a_row_of_fpdus_stays_in_step) {
  Octets stream;
  std::vector<std::size_t> lengths;
  for (std::size_t length = 0; length < 700; length += 13) {
    lengths.push_back(length);
    stream += format(counting(length), marked(stream.size()));
  }
  for (std::size_t at = 0; at < stream.size(); at += marker_interval)
    BOOST_TEST(Octets(Bytes(stream).subspan(at, 2)) == octets("0000"));
  std::size_t position = 0;
  for (std::size_t length : lengths) {
    const auto parsed = parse(Bytes(stream).subspan(position), marked(position));
    BOOST_REQUIRE(parsed.has_value());
    BOOST_TEST(parsed->ulpdu == counting(length));
    position += parsed->consumed;
  }
  BOOST_TEST(position == stream.size());
}

BOOST_AUTO_TEST_CASE(wrong_marker_pointer) {
  Octets wire = octets("0000 0004 0002 a1a2");  // should be 0
  wire += Octets(crc32c_trailer(wire));
  BOOST_TEST(fails_with(parse(wire, marked(0)), FpduError::bad_marker));
  // Section 8, code 3, asks for a valid CRC first.
  wire.back() ^= std::byte{1};
  BOOST_TEST(fails_with(parse(wire, marked(0)), FpduError::bad_crc));
  BOOST_TEST(fails_with(parse(wire, marked(0, false)), FpduError::bad_marker));
}

// Section 4.2: RESERVED and the two low bits of FPDUPTR are ignored on receipt.
BOOST_AUTO_TEST_CASE(reserved_marker_bits_are_ignored) {
  for (const char* marker : {"ffff 0000", "0000 0003", "8000 0001"}) {
    Octets wire = octets(marker);
    wire += octets("0002 a1a2");
    wire += Octets(crc32c_trailer(wire));
    const auto parsed = parse(wire, marked(0));
    BOOST_REQUIRE(parsed.has_value());
    BOOST_TEST(parsed->ulpdu == octets("a1a2"));
  }
}

BOOST_AUTO_TEST_CASE(positions_beyond_32_bits) {
  const std::uint64_t far = (std::uint64_t{1} << 40) + 500;
  BOOST_TEST(format(counting(600), marked(far)) == format(counting(600), marked(500)));
}

BOOST_AUTO_TEST_CASE(each_call_returns_the_octets_of_its_own_fpdu) {
  std::array<std::byte, 64> buffer;
  Writer out(buffer);
  const Octets ulpdu = counting(4);
  const Bytes pieces[] = {ulpdu};
  BOOST_TEST(format_fpdu(out, pieces, plain) == 12U);
  BOOST_TEST(format_fpdu(out, pieces, marked(12)) == 12U);
  BOOST_TEST(format_fpdu(out, pieces, marked(512)) == 16U);
  BOOST_TEST(out.size() == 40U);
}

BOOST_AUTO_TEST_CASE(a_buffer_too_small_is_said) {
  std::array<std::byte, 11> small;
  Writer out(small);
  const Octets ulpdu = counting(4);
  const Bytes pieces[] = {ulpdu};
  format_fpdu(out, pieces, plain);
  BOOST_TEST(out.overflowed());
}

BOOST_AUTO_TEST_SUITE_END()
