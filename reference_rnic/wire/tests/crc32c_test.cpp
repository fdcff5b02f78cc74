// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/crc32c.hpp"

#include <boost/test/unit_test.hpp>

#include "reference_rnic/wire/tests/octets.hpp"

using namespace rnic::wire;
using namespace rnic::wire::test;

namespace {

Octets trailer(const Octets& input) { return Octets(Crc32c().update(input).trailer()); }

Octets text(std::string_view characters) { return Octets(std::as_bytes(std::span(characters))); }

/// CRC32c bit by bit from its definition (reflected polynomial 0x82F63B78): a second opinion.
Octets bitwise_trailer(const Octets& input) {
  std::uint32_t state = 0xFFFFFFFFU;
  for (std::byte octet : input) {
    state ^= std::to_integer<std::uint32_t>(octet);
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1U) ? 0x82F63B78U : 0U);
  }
  state = ~state;
  return {std::byte(state & 0xFF), std::byte(state >> 8 & 0xFF), std::byte(state >> 16 & 0xFF),
          std::byte(state >> 24)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(crc32c)

// RFC 3720 appendix B.4 lists these in wire order.
BOOST_AUTO_TEST_CASE(iscsi_examples) {
  BOOST_TEST(trailer(repeated(32, 0x00)) == octets("aa 36 91 8a"));
  BOOST_TEST(trailer(repeated(32, 0xFF)) == octets("43 ab a8 62"));
  Octets up, down;
  for (unsigned i = 0; i < 32; ++i) {
    up.push_back(std::byte(i));
    down.push_back(std::byte(31 - i));
  }
  BOOST_TEST(trailer(up) == octets("4e 79 dd 46"));
  BOOST_TEST(trailer(down) == octets("5c db 3f 11"));
}

// 0xE3069283 is the catalogued check value; its least significant octet comes first.
BOOST_AUTO_TEST_CASE(check_value) {
  BOOST_TEST(trailer(text("123456789")) == octets("83 92 06 e3"));
}

BOOST_AUTO_TEST_CASE(nothing_at_all) { BOOST_TEST(trailer({}) == octets("00 00 00 00")); }

BOOST_AUTO_TEST_CASE(agrees_with_the_definition_at_every_length) {
  for (std::size_t length = 0; length <= 600; ++length)
    BOOST_TEST(trailer(counting(length)) == bitwise_trailer(counting(length)));
  BOOST_TEST(trailer(counting(65537)) == bitwise_trailer(counting(65537)));
}

BOOST_AUTO_TEST_CASE(pieces_make_the_same_sum_wherever_they_are_cut) {
  const Octets whole = counting(300);
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    Crc32c crc;
    crc.update(Bytes(whole).first(cut)).update(Bytes(whole).subspan(cut));
    BOOST_TEST(Octets(crc.trailer()) == trailer(whole));
  }
}

BOOST_AUTO_TEST_SUITE_END()
