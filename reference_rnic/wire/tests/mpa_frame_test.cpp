// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/mpa_frame.hpp"

#include <boost/test/unit_test.hpp>

#include "reference_rnic/wire/tests/octets.hpp"

using namespace rnic::wire;
using namespace rnic::wire::test;

namespace {

const char* const request_key = "4d504120494420526571204672616d65";  // "MPA ID Req Frame"
const char* const reply_key = "4d504120494420526570204672616d65";    // "MPA ID Rep Frame"

Octets frame(const char* key, const char* rest, const Octets& private_data = {}) {
  Octets result = octets(key);
  result += octets(rest);
  result += private_data;
  return result;
}

Octets format(MpaFrameKind kind, std::uint8_t flags, std::uint8_t revision,
              const std::optional<EnhancedWords::Values>& enhanced, const Octets& private_data) {
  return written([&](Writer& out) {
    format_mpa_frame(out, kind, MpaFlags{flags}, revision, enhanced, private_data);
  });
}

MpaFrame parsed(MpaFrameKind kind, const Octets& input) {
  const auto result = parse_mpa_frame(kind, input);
  BOOST_REQUIRE(result.has_value());
  BOOST_TEST(result->consumed == input.size());
  return result->frame;
}

bool fails_with(MpaFrameKind kind, Bytes input, MpaFrameError error) {
  const auto result = parse_mpa_frame(kind, input);
  return !result && result.error() == error;
}

const EnhancedWords::Values p2p_write{.peer_to_peer = true,
                                      .rtr_send = false,
                                      .rtr_write = true,
                                      .rtr_read = false,
                                      .ird = 16,
                                      .ord = 8};

}  // namespace

BOOST_AUTO_TEST_SUITE(mpa_frame)

// RFC 5044 Figure 8.
BOOST_AUTO_TEST_CASE(revision_1_request_and_reply_by_hand) {
  const Octets request = frame(request_key, "40 01 0000");
  BOOST_TEST(format(MpaFrameKind::request, MpaFlags::c, 1, {}, {}) == request);
  const MpaFrame one = parsed(MpaFrameKind::request, request);
  BOOST_TEST(one.flags.crc());
  BOOST_TEST(!one.flags.markers());
  BOOST_TEST(one.revision == 1);
  BOOST_TEST(one.private_data.empty());

  const Octets reply = frame(reply_key, "e0 01 0003", octets("616263"));
  BOOST_TEST(format(MpaFrameKind::reply, MpaFlags::m | MpaFlags::c | MpaFlags::r, 1, {},
                    octets("616263")) == reply);
  const MpaFrame other = parsed(MpaFrameKind::reply, reply);
  BOOST_TEST((other.kind == MpaFrameKind::reply));
  BOOST_TEST(other.flags.reject());
  BOOST_TEST(Octets(other.private_data) == octets("616263"));
  BOOST_TEST(Octets(other.ulp_private_data()) == octets("616263"));
}

// RFC 6581 sections 6 and 9.
BOOST_AUTO_TEST_CASE(revision_2_request_by_hand) {
  const Octets request = frame(request_key, "50 02 0006 8010 8008", octets("beef"));
  BOOST_TEST(format(MpaFrameKind::request, MpaFlags::c | MpaFlags::s, 2, p2p_write,
                    octets("beef")) == request);
  const MpaFrame frame = parsed(MpaFrameKind::request, request);
  BOOST_TEST(frame.flags.enhanced());
  BOOST_REQUIRE(frame.enhanced().has_value());
  BOOST_TEST((*frame.enhanced() == p2p_write));
  BOOST_TEST(frame.private_data.size() == 6U);
  BOOST_TEST(Octets(frame.ulp_private_data()) == octets("beef"));
}

BOOST_AUTO_TEST_CASE(every_octet_of_flags_and_every_revision_comes_through) {
  for (unsigned octet = 0; octet < 256; ++octet) {
    Octets input = frame(request_key, "00 00 0000");
    input[16] = std::byte(octet);
    input[17] = std::byte(255 - octet);
    const MpaFrame frame = parsed(MpaFrameKind::request, input);
    BOOST_TEST(frame.flags.octet == octet);
    BOOST_TEST(frame.flags.markers() == ((octet & 0x80) != 0));
    BOOST_TEST(frame.flags.crc() == ((octet & 0x40) != 0));
    BOOST_TEST(frame.flags.reject() == ((octet & 0x20) != 0));
    BOOST_TEST(frame.flags.enhanced() == ((octet & 0x10) != 0));
    BOOST_TEST(frame.revision == 255 - octet);
  }
}

BOOST_AUTO_TEST_CASE(enhanced_words_bit_by_bit) {
  const auto words = [](EnhancedWords::Values values) {
    return Octets(octets_of(EnhancedWords::from(values)));
  };
  BOOST_TEST(words({}) == octets("0000 0000"));
  BOOST_TEST(words({.peer_to_peer = true}) == octets("8000 0000"));
  BOOST_TEST(words({.rtr_send = true}) == octets("4000 0000"));
  BOOST_TEST(words({.rtr_write = true}) == octets("0000 8000"));
  BOOST_TEST(words({.rtr_read = true}) == octets("0000 4000"));
  BOOST_TEST(words({.ird = 0x1234, .ord = 0x2ABC}) == octets("1234 2abc"));
  BOOST_TEST(words({.ird = 0x3FFF, .ord = 0x3FFF}) == octets("3fff 3fff"));
  // A depth has 14 bits: higher bits must not change the flags.
  BOOST_TEST(words({.ird = 0xFFFF, .ord = 0xFFFF}) == octets("3fff 3fff"));
  for (unsigned bits = 0; bits < 16; ++bits) {
    const EnhancedWords::Values values{.peer_to_peer = (bits & 1) != 0,
                                       .rtr_send = (bits & 2) != 0,
                                       .rtr_write = (bits & 4) != 0,
                                       .rtr_read = (bits & 8) != 0,
                                       .ird = static_cast<std::uint16_t>(0x2001 + bits),
                                       .ord = static_cast<std::uint16_t>(0x1FFF - bits)};
    BOOST_CHECK(EnhancedWords::from(values).values() == values);
  }
}

BOOST_AUTO_TEST_CASE(enhanced_data_needs_s_revision_2_and_four_octets) {
  const auto has = [](const char* rest) {
    return parsed(MpaFrameKind::reply, frame(reply_key, rest)).enhanced().has_value();
  };
  BOOST_TEST(has("10 02 0004 00000000"));
  BOOST_TEST(has("10 03 0004 00000000"));
  BOOST_TEST(!has("10 01 0004 00000000"));
  BOOST_TEST(!has("00 02 0004 00000000"));
  BOOST_TEST(!has("10 02 0003 000000"));
  BOOST_TEST(!has("10 02 0000"));
  const Octets without = frame(reply_key, "10 01 0004 80108008");
  BOOST_TEST(Octets(parsed(MpaFrameKind::reply, without).ulp_private_data()) == octets("80108008"));
}

BOOST_AUTO_TEST_CASE(private_data_of_0_4_512_octets_but_not_513) {
  for (std::size_t length : {0U, 1U, 4U, 511U, 512U}) {
    const Octets data = counting(length);
    const Octets wire = format(MpaFrameKind::request, 0, 1, {}, data);
    BOOST_TEST(wire.size() == 20 + length);
    BOOST_TEST(Octets(parsed(MpaFrameKind::request, wire).private_data) == data);
  }
  // Told as soon as the header is there; no need to wait for 513 octets.
  BOOST_TEST(fails_with(MpaFrameKind::request, frame(request_key, "00 01 0201"),
                        MpaFrameError::private_data_too_long));
  BOOST_TEST(fails_with(MpaFrameKind::request, frame(request_key, "00 01 ffff"),
                        MpaFrameError::private_data_too_long));
  // The enhanced words count: 508 octets are left for the ULP.
  BOOST_TEST(format(MpaFrameKind::request, MpaFlags::s, 2, p2p_write, counting(508)).size() ==
             532U);
}

BOOST_AUTO_TEST_CASE(octet_by_octet_arrival) {
  const Octets whole = frame(request_key, "50 02 0006 8010 8008", octets("beef"));
  for (std::size_t length = 0; length < whole.size(); ++length)
    BOOST_TEST(
        fails_with(MpaFrameKind::request, Bytes(whole).first(length), MpaFrameError::incomplete));
  BOOST_TEST(parse_mpa_frame(MpaFrameKind::request, whole).has_value());
}

BOOST_AUTO_TEST_CASE(octets_behind_the_frame_are_left_alone) {
  Octets input = frame(request_key, "40 01 0002 a1a2");
  input += octets("00 2a 41 43");
  const auto result = parse_mpa_frame(MpaFrameKind::request, input);
  BOOST_REQUIRE(result.has_value());
  BOOST_TEST(result->consumed == 22U);
  BOOST_TEST(Octets(result->frame.private_data) == octets("a1a2"));
}

BOOST_AUTO_TEST_CASE(wrong_key_at_each_octet_is_told_at_that_octet) {
  const Octets good = frame(request_key, "40 01 0000");
  for (std::size_t at = 0; at < 16; ++at) {
    Octets bad = good;
    bad[at] ^= std::byte{0x01};
    for (std::size_t length = 0; length <= bad.size(); ++length)
      BOOST_TEST(fails_with(MpaFrameKind::request, Bytes(bad).first(length),
                            length > at ? MpaFrameError::wrong_key : MpaFrameError::incomplete));
  }
}

BOOST_AUTO_TEST_CASE(a_request_is_no_reply) {
  BOOST_TEST(
      fails_with(MpaFrameKind::reply, frame(request_key, "40 01 0000"), MpaFrameError::wrong_key));
  BOOST_TEST(
      fails_with(MpaFrameKind::request, frame(reply_key, "40 01 0000"), MpaFrameError::wrong_key));
}

BOOST_AUTO_TEST_CASE(described) {
  const auto text = [](MpaFrameKind kind, const Octets& input) {
    return describe(parsed(kind, input));
  };
  BOOST_TEST(
      text(MpaFrameKind::request, frame(request_key, "50 02 000c c010 8010 0000000000000000")) ==
      "MPA Request rev 2 [C S] p2p(send,write) ird=16 ord=16 pd=12");
  BOOST_TEST(text(MpaFrameKind::reply, frame(reply_key, "60 01 0000")) ==
             "MPA Reply rev 1 [C R] pd=0");
  BOOST_TEST(text(MpaFrameKind::request, frame(request_key, "00 01 0000")) ==
             "MPA Request rev 1 [] pd=0");
  BOOST_TEST(text(MpaFrameKind::reply, frame(reply_key, "10 02 0004 3fff 0001")) ==
             "MPA Reply rev 2 [S] client-server ird=unnegotiated ord=1 pd=4");
  BOOST_TEST(text(MpaFrameKind::reply, frame(reply_key, "90 02 0004 0000 4000")) ==
             "MPA Reply rev 2 [M S] client-server(read) ird=0 ord=0 pd=4");
  BOOST_TEST(text(MpaFrameKind::reply, frame(reply_key, "15 02 0000")) ==
             "MPA Reply rev 2 [S] pd=0 ! reserved flags 0x05 ! S without its four octets");
  BOOST_TEST(text(MpaFrameKind::reply, frame(reply_key, "10 01 0004 00000000")) ==
             "MPA Reply rev 1 [S] pd=4 ! S needs revision 2");
}

BOOST_AUTO_TEST_SUITE_END()
