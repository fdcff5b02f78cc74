// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <boost/test/unit_test.hpp>

#include "reference_rnic/wire/ddp.hpp"
#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/mpa_frame.hpp"
#include "reference_rnic/wire/terminate.hpp"
#include "reference_rnic/wire/tests/format_fpdu.hpp"
#include "reference_rnic/wire/tests/octets.hpp"
#include "reference_rnic/wire/tests/siw_bytes.hpp"

using namespace rnic::wire;
using namespace rnic::wire::test;

namespace {

std::string frame_text(MpaFrameKind kind, const char* hexadecimal) {
  const Octets input = octets(hexadecimal);
  const auto parsed = parse_mpa_frame(kind, input);
  BOOST_REQUIRE(parsed.has_value());
  BOOST_TEST(parsed->consumed == input.size());
  const MpaFrame& frame = parsed->frame;
  BOOST_TEST(written([&frame](Writer& out) {
               format_mpa_frame(out, frame.kind, frame.flags, frame.revision, frame.enhanced(),
                                frame.ulp_private_data());
             }) == input);
  return describe(frame);
}

Octets ulpdu_of(const char* hexadecimal, bool crc) {
  const FpduOptions options{.crc = crc};
  const Octets input = octets(hexadecimal);
  const auto parsed = parse_fpdu(input, options, {});
  BOOST_REQUIRE(parsed.has_value());
  BOOST_TEST(parsed->consumed == input.size());
  BOOST_TEST(parsed->pad_is_zero);
  BOOST_TEST(written([&](Writer& out) {
               format_fpdu(out, std::span(&parsed->ulpdu, 1), options);
             }) == input);
  return Octets(parsed->ulpdu);
}

std::string ulpdu_text(const char* hexadecimal, bool crc = true) {
  return describe_ulpdu(ulpdu_of(hexadecimal, crc));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(siw_bytes)

BOOST_AUTO_TEST_CASE(startup_frames) {
  BOOST_TEST(frame_text(MpaFrameKind::request, siw::request_rev1_crc) ==
             "MPA Request rev 1 [C] pd=0");
  BOOST_TEST(frame_text(MpaFrameKind::reply, siw::reply_rev1_crc) == "MPA Reply rev 1 [C] pd=0");
  BOOST_TEST(frame_text(MpaFrameKind::request, siw::request_rev1) == "MPA Request rev 1 [] pd=0");
  BOOST_TEST(frame_text(MpaFrameKind::request, siw::request_rev2) ==
             "MPA Request rev 2 [S] client-server ird=1 ord=1 pd=4");
  BOOST_TEST(frame_text(MpaFrameKind::request, siw::request_rev2_two_rtr) ==
             "MPA Request rev 2 [S] p2p(write,read) ird=1 ord=1 pd=4");
  BOOST_TEST(frame_text(MpaFrameKind::reply, siw::reply_rev2_rtr_write) ==
             "MPA Reply rev 2 [S] p2p(write) ird=1 ord=1 pd=4");
  BOOST_TEST(frame_text(MpaFrameKind::reply, siw::reply_rev2_crc_rtr_read) ==
             "MPA Reply rev 2 [C S] p2p(read) ird=1 ord=1 pd=4");
}

BOOST_AUTO_TEST_CASE(fpdus_with_crc) {
  BOOST_TEST(ulpdu_text(siw::rtr_read_request) ==
             "Read Request L qn=1 msn=1 mo=0 len=28 | "
             "sink 0x00000000+0x0 source 0x00000001+0x0 length=0");
  BOOST_TEST(ulpdu_text(siw::rtr_read_response) == "Read Response L stag=0x00000000 to=0x0 len=0");
  BOOST_TEST(ulpdu_text(siw::send_1) == "Send L qn=0 msn=1 mo=0 len=16");
  BOOST_TEST(ulpdu_text(siw::send_2) == "Send L qn=0 msn=2 mo=0 len=16");
  BOOST_TEST(ulpdu_text(siw::read_request) ==
             "Read Request L qn=1 msn=1 mo=0 len=28 | sink 0xbe751a00+0x7fb970000e00 "
             "source 0xaa4f5600+0x5600f39b52d0 length=3001");
  BOOST_TEST(ulpdu_text(siw::read_response_padded) ==
             "Read Response L stag=0xbe751a00 to=0x7fb970001928 len=145");
}

BOOST_AUTO_TEST_CASE(fpdus_without_crc) {
  BOOST_TEST(ulpdu_text(siw::rtr_write, false) == "RDMA Write L stag=0x00000001 to=0x0 len=0");
  BOOST_TEST(ulpdu_text(siw::send_without_crc, false) == "Send L qn=0 msn=1 mo=0 len=16");
  const auto checked = parse_fpdu(octets(siw::send_without_crc), {.crc = true}, {});
  BOOST_REQUIRE(!checked.has_value());
  BOOST_TEST((checked.error() == FpduError::bad_crc));
}

// Read by RFC 5040 Figure 8, whatever its sender meant: no M, no D, and octets that nothing
// announces.
BOOST_AUTO_TEST_CASE(terminate_with_its_header_control_bits_reversed) {
  BOOST_TEST(
      ulpdu_text(siw::terminate_base_or_bounds, false) ==
      "Terminate L qn=2 msn=1 mo=0 len=20 | DDP tagged buffer error: base or bounds violation "
      "(1/1/0x01) ! octets after the Terminate");
  const Octets ulpdu = ulpdu_of(siw::terminate_base_or_bounds, false);
  const Bytes payload = parse_segment(ulpdu).value().payload;
  BOOST_TEST((parse_terminate(payload).error() == TerminateError::trailing_octets));

  const auto control = Reader(payload).read<TerminateControl>();
  BOOST_TEST(control.header_control.value() == 0x0300U);
  Octets mended(payload);
  mended[2] = std::byte{0xC0};
  const auto meant = parse_terminate(mended);
  BOOST_REQUIRE(meant.has_value());
  BOOST_TEST(meant->segment_length.value() == 1000);
  BOOST_TEST(describe_header(parse_segment(meant->ddp_header).value()) ==
             "Read Response L stag=0x207aa200 to=0x7f4c3c000e00");
}

BOOST_AUTO_TEST_SUITE_END()
