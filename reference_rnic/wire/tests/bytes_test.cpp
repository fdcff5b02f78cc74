// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/bytes.hpp"

#include <boost/test/unit_test.hpp>

#include "reference_rnic/wire/tests/octets.hpp"

using namespace rnic::wire;
using namespace rnic::wire::test;

BOOST_AUTO_TEST_SUITE(bytes)

BOOST_AUTO_TEST_CASE(big_endian_integers_lie_most_significant_octet_first) {
  BOOST_TEST(Octets(octets_of(be16(0x1234))) == octets("12 34"));
  BOOST_TEST(Octets(octets_of(be32(0x89ABCDEF))) == octets("89 ab cd ef"));
  BOOST_TEST(Octets(octets_of(be64(0x0123456789ABCDEF))) == octets("01 23 45 67 89 ab cd ef"));
}

BOOST_AUTO_TEST_CASE(big_endian_integers_give_back_what_they_hold) {
  for (unsigned value = 0; value <= 0xFFFF; ++value) {
    const be16 wire = static_cast<std::uint16_t>(value);
    BOOST_REQUIRE_EQUAL(wire.value(), value);
  }
  BOOST_TEST(be32(0xFFFFFFFF).value() == 0xFFFFFFFFU);
  BOOST_TEST(be32(0x80000001).value() == 0x80000001U);
  BOOST_TEST(be64(0xFEDCBA9876543210).value() == 0xFEDCBA9876543210U);
  static_assert(be32(0x01020304).value() == 0x01020304);
}

BOOST_AUTO_TEST_CASE(reader_reads_in_order_and_ends) {
  const Octets input = octets("01 0203 04050607");
  Reader in(input);
  BOOST_TEST(std::to_integer<int>(in.read<std::byte>()) == 1);
  BOOST_TEST(in.read<be16>().value() == 0x0203U);
  BOOST_TEST(!in.at_end());
  BOOST_TEST(in.read<be32>().value() == 0x04050607U);
  BOOST_TEST(in.at_end());
}

BOOST_AUTO_TEST_CASE(reader_past_the_end_yields_zeros_for_good) {
  const Octets input = octets("ff ff ff");
  Reader in(input);
  BOOST_TEST(in.read<be32>().value() == 0U);
  BOOST_TEST(in.truncated());
  BOOST_TEST(in.read<std::uint8_t>() ==
             0);  // what is left is not served once something was missing
  BOOST_TEST(!in.at_end());
}

BOOST_AUTO_TEST_CASE(take_gives_the_asked_length_or_nothing) {
  const Octets input = octets("0a0b0c");
  Reader in(input);
  BOOST_TEST(in.take(0).empty());
  BOOST_TEST(Octets(in.take(2)) == octets("0a0b"));
  BOOST_TEST(!in.truncated());
  BOOST_TEST(in.take(2).empty());
  BOOST_TEST(in.truncated());
}

BOOST_AUTO_TEST_CASE(writer_writes_in_order_and_refuses_what_does_not_fit) {
  std::array<std::byte, 5> buffer;
  buffer.fill(std::byte{0xEE});
  Writer out(buffer);
  out.write(be16(0x0102));
  out.write(be32(0xFFFFFFFF));  // two octets too long
  BOOST_TEST(out.overflowed());
  BOOST_TEST(out.size() == 2U);
  out.write(octets("07"));  // would fit, but a hole must not be papered over
  BOOST_TEST(Octets(buffer) == octets("0102 eeeeee"));
  BOOST_TEST(Octets(out.written()) == octets("0102"));
}

BOOST_AUTO_TEST_CASE(writer_fills_its_buffer_to_the_last_octet) {
  std::array<std::byte, 5> buffer;
  Writer out(buffer);
  out.write(be16(0x0102));
  out.write(octets("0000"));
  out.write(octets("07"));
  BOOST_TEST(!out.overflowed());
  BOOST_TEST(Octets(out.written()) == octets("0102 0000 07"));
  out.write(Bytes{});
  BOOST_TEST(!out.overflowed());
  out.write(octets("00"));
  BOOST_TEST(out.overflowed());
}

BOOST_AUTO_TEST_SUITE_END()
