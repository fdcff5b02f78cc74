// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/markers.hpp"

#include <boost/test/unit_test.hpp>

#include "reference_rnic/wire/tests/octets.hpp"

using namespace rnic::wire;
using namespace rnic::wire::test;

namespace {

Octets insert(std::uint64_t position, Bytes fpdu) {
  return written([&](Writer& out) { insert_markers(out, position, fpdu); });
}

/// Counts octet by octet, as the text of section 4.3 reads: a Marker wherever the position is a
/// multiple of 512.
std::size_t counted_length(std::uint64_t position, std::size_t length) {
  std::size_t on_wire = 0;
  while (length > 0) {
    if ((position + on_wire) % 512 == 0) on_wire += 4;
    ++on_wire;
    --length;
  }
  return on_wire;
}

struct Stripped {
  Octets fpdu;
  StrippedMarkers result;
};
Stripped strip(std::uint64_t position, Bytes input) {
  std::vector<std::byte> out(input.size());
  const StrippedMarkers result = strip_markers(out, position, input);
  return {Octets(Bytes(out).first(result.length)), result};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(markers)

BOOST_AUTO_TEST_CASE(positions) {
  BOOST_TEST(marker_at(0));
  BOOST_TEST(!marker_at(4));
  BOOST_TEST(marker_at(512));
  BOOST_TEST(marker_at(std::uint64_t{1} << 33));
  BOOST_TEST(octets_to_marker(0) == 0U);
  BOOST_TEST(octets_to_marker(4) == 508U);
  BOOST_TEST(octets_to_marker(508) == 4U);
  BOOST_TEST(octets_to_marker(512) == 0U);
}

BOOST_AUTO_TEST_CASE(length_agrees_with_counting) {
  for (std::uint64_t position = 0; position < 1024; position += 4)
    for (std::size_t length = 0; length < 2100; length += 4)
      BOOST_REQUIRE_EQUAL(length_with_markers(position, length), counted_length(position, length));
  for (std::uint64_t position : {0U, 4U, 256U, 508U})
    for (std::size_t length = 0; length < 1100; ++length)
      BOOST_REQUIRE_EQUAL(length_with_markers(position, length), counted_length(position, length));
}

// RFC 5044 Figure 4: ULPDU octets 0 to 9, a Marker with FPDUPTR 0x000C, octets 10 to 15, pad.
BOOST_AUTO_TEST_CASE(figure_4) {
  const Octets fpdu = octets("0010 a0a1a2a3a4a5a6a7a8a9 b0b1b2b3b4b5 0000 cccccccc");
  const Octets wire = octets("0010 a0a1a2a3a4a5a6a7a8a9 0000000c b0b1b2b3b4b5 0000 cccccccc");
  BOOST_TEST(insert(500, fpdu) == wire);
  const Stripped stripped = strip(500, wire);
  BOOST_TEST(stripped.fpdu == fpdu);
  BOOST_TEST(stripped.result.markers == 1U);
  BOOST_TEST((stripped.result.error == MarkerError::none));
}

BOOST_AUTO_TEST_CASE(strip_undoes_insert_at_every_position) {
  for (std::uint64_t position = 0; position < 512; position += 4) {
    for (std::size_t length : {0U, 4U, 8U, 508U, 512U, 516U, 1016U, 1020U, 1500U, 4096U}) {
      const Octets fpdu = counting(length);
      const Octets wire = insert(position, fpdu);
      BOOST_REQUIRE_EQUAL(wire.size(), length_with_markers(position, length));
      const Stripped stripped = strip(position, wire);
      BOOST_REQUIRE_EQUAL(stripped.fpdu, fpdu);
      BOOST_REQUIRE_EQUAL(stripped.result.markers, (wire.size() - fpdu.size()) / 4);
      BOOST_REQUIRE((stripped.result.error == MarkerError::none));
    }
  }
}

BOOST_AUTO_TEST_CASE(faults_are_told_the_pointer_first) {
  const auto error_of = [](const char* first, const char* second) {
    Octets wire = octets(first);
    wire += repeated(508, 0x55);
    wire += octets(second);
    wire += repeated(8, 0x55);
    const Stripped stripped = strip(0, wire);
    BOOST_TEST(stripped.fpdu == repeated(516, 0x55));
    return stripped.result.error;
  };
  BOOST_CHECK(error_of("00000000", "000001fc") == MarkerError::none);
  BOOST_CHECK(error_of("00010000", "000001fc") == MarkerError::reserved_not_zero);
  BOOST_CHECK(error_of("00000000", "800001fc") == MarkerError::reserved_not_zero);
  BOOST_CHECK(error_of("00000000", "000001fd") == MarkerError::reserved_not_zero);
  BOOST_CHECK(error_of("00000000", "00000200") == MarkerError::wrong_pointer);
  BOOST_CHECK(error_of("00000000", "00000000") == MarkerError::wrong_pointer);
  BOOST_CHECK(error_of("00000004", "000001fc") == MarkerError::wrong_pointer);
  BOOST_CHECK(error_of("ffff0000", "000001f8") == MarkerError::wrong_pointer);
  BOOST_CHECK(error_of("00000008", "ffff01fc") == MarkerError::wrong_pointer);
}

BOOST_AUTO_TEST_CASE(a_torn_marker_ends_the_stripping) {
  for (std::size_t torn : {1U, 2U, 3U}) {
    Octets wire = insert(4, counting(508));
    wire += repeated(torn, 0);
    BOOST_TEST(strip(4, wire).fpdu == counting(508));
  }
  BOOST_TEST(strip(0, octets("00 00 00")).fpdu.empty());
  BOOST_TEST(strip(0, {}).fpdu.empty());
}

BOOST_AUTO_TEST_SUITE_END()
