// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the peer sends, against octets written by hand from
// the figures of RFC 5044, 5041, 5040 and 6581.
#include <boost/test/unit_test.hpp>

#include "reference_rnic/wire/fpdu.hpp"
#include "suite/lower_tester/outgoing.hpp"
#include "suite/lower_tester/tcp_cut.hpp"

using namespace suite::lower_tester;

BOOST_AUTO_TEST_SUITE(outgoing)

BOOST_AUTO_TEST_CASE(a_request_is_key_flags_revision_length_data) {
  const Octets frame = mpa_request().with_private_data(octets("hi")).encode();
  Octets wanted = octets("MPA ID Req Frame");
  for (const int octet : std::initializer_list<int>{0x40, 1, 0, 2, 'h', 'i'})
    wanted.push_back(static_cast<std::byte>(octet));
  BOOST_TEST((frame == wanted));
}

BOOST_AUTO_TEST_CASE(enhanced_words_stand_before_the_private_data_and_count) {
  const Octets frame =
      mpa_reply()
          .with_enhanced({.peer_to_peer = true, .rtr_write = true, .ird = 3, .ord = 0x3FFF})
          .with_private_data(octets("x"))
          .encode();
  Octets wanted = octets("MPA ID Rep Frame");
  for (const int octet : std::initializer_list<int>{0x50, 2, 0, 5, 0x80, 3, 0xBF, 0xFF, 'x'})
    wanted.push_back(static_cast<std::byte>(octet));
  BOOST_TEST((frame == wanted));
}

BOOST_AUTO_TEST_CASE(a_frame_can_be_wrong_where_it_is_wanted) {
  const Octets frame = mpa_request()
                           .with_key("MPA ID Req Fram?")
                           .with_flags(0xFF)
                           .with_revision(9)
                           .with_pd_length(513)
                           .encode();
  BOOST_TEST(frame.size() == 20u);
  BOOST_TEST(
      (frame[15] == std::byte{'?'} && frame[16] == std::byte{0xFF} && frame[17] == std::byte{9}));
  BOOST_TEST((frame[18] == std::byte{2} && frame[19] == std::byte{1}));
}

BOOST_AUTO_TEST_CASE(an_untagged_message_is_cut_into_numbered_segments) {
  const auto segments = send_message(payload(10)).with_segments_of(4).segments(1000, 7);
  BOOST_REQUIRE(segments.size() == 3u);
  // T=0 L=0 DV=1; RV=1 opcode 3; no Invalidate STag; QN 0; MSN 7; MO 4
  const Octets second = octets({0x01, 0x43, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 4});
  BOOST_TEST((Octets(segments[1].ulpdu.begin(), segments[1].ulpdu.begin() + 18) == second));
  BOOST_TEST(segments[1].ulpdu.size() == 22u);
  BOOST_TEST((segments[2].ulpdu[0] == std::byte{0x41}));  // L on the last
  BOOST_TEST(segments[2].ulpdu.size() == 20u);
}

BOOST_AUTO_TEST_CASE(a_tagged_message_advances_its_offset) {
  const auto segments = rdma_write(0x01020304, 0xFFFFFFFFFULL, payload(6)).segments(14 + 4, 0);
  BOOST_REQUIRE(segments.size() == 2u);
  const Octets header = octets({0xC1, 0x40, 1, 2, 3, 4, 0, 0, 0, 0x10, 0, 0, 0, 3});
  BOOST_TEST((Octets(segments[1].ulpdu.begin(), segments[1].ulpdu.begin() + 14) == header));
}

BOOST_AUTO_TEST_CASE(a_message_without_payload_is_one_segment) {
  BOOST_TEST(send_message({}).segments(100, 1).size() == 1u);
  BOOST_TEST(rdma_write(0, 0, {}).segments(100, 1).size() == 1u);
}

BOOST_AUTO_TEST_CASE(headers_can_be_wrong_where_it_is_wanted) {
  const auto segment = send_message({})
                           .with_opcode(0xF)
                           .with_rdmap_version(2)
                           .with_ddp_version(0)
                           .with_ddp_reserved()
                           .with_rdmap_reserved()
                           .with_queue(9)
                           .with_msn(3)
                           .with_ulp_word(0x0A0B0C0D)
                           .with_untagged([](std::size_t, wire::UntaggedHeader& header) {
                             header.message_offset = 5U;
                           })
                           .segments(100, 1)
                           .front();
  BOOST_TEST((segment.ulpdu ==
              octets({0x7C, 0xBF, 0x0A, 0x0B, 0x0C, 0x0D, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 5})));
}

BOOST_AUTO_TEST_CASE(an_fpdu_has_length_pad_and_crc) {
  const Fpdu fpdu{.ulpdu = octets({1, 2, 3})};
  const Octets plain = encode(fpdu, {.crc = false});
  BOOST_TEST((plain == octets({0, 3, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0})));
  const Octets right = encode(fpdu, {.crc = true});
  const auto crc = wire::crc32c_trailer(wire::Bytes(right).first(8));
  BOOST_TEST(std::equal(crc.begin(), crc.end(), right.end() - 4));
  Octets wrong = encode(fpdu.with_crc(CrcChoice::wrong), {.crc = true});
  wrong.back() ^= std::byte{1};
  BOOST_TEST((wrong == right));
  BOOST_TEST((encode(fpdu.with_crc(CrcChoice::zero), {.crc = true}) == plain));
  BOOST_TEST((encode(fpdu.with_crc(CrcChoice::right), {.crc = false}) == right));
}

BOOST_AUTO_TEST_CASE(markers_stand_every_512_octets) {
  const Fpdu fpdu{.ulpdu = Octets(1000)};
  const Octets octets = encode(fpdu, {.crc = false, .markers = true, .position = 0});
  BOOST_TEST(octets.size() == 1008u + 2 * 4);
  BOOST_TEST((octets[0] == std::byte{0} &&
              octets[3] == std::byte{0}));  // between FPDUs: points to nothing
  BOOST_TEST((octets[514] == std::byte{0x01} &&
              octets[515] == std::byte{0xFC}));  // 508 octets after ULPDU_Length
}

BOOST_AUTO_TEST_CASE(a_cut_is_a_list_of_segment_lengths) {
  using Lengths = std::vector<std::size_t>;
  BOOST_TEST(Cut::whole().lengths(5) == (Lengths{5}), boost::test_tools::per_element());
  BOOST_TEST(Cut::single_octets().lengths(3) == (Lengths{1, 1, 1}),
             boost::test_tools::per_element());
  BOOST_TEST(Cut::every(2).lengths(5) == (Lengths{2, 2, 1}), boost::test_tools::per_element());
  BOOST_TEST(Cut::at({1, 4, 4, 9}).lengths(6) == (Lengths{1, 3, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(Cut::whole().lengths(0).empty());
}

BOOST_AUTO_TEST_SUITE_END()
