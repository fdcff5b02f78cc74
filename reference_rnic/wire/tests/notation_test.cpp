// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/notation.hpp"

#include <boost/test/unit_test.hpp>

#include "reference_rnic/wire/tests/octets.hpp"

using namespace rnic::wire;
using namespace rnic::wire::test;

namespace {

std::string text(std::string_view ulpdu) { return describe_ulpdu(octets(ulpdu)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(notation)

BOOST_AUTO_TEST_CASE(hex_is_cut_at_the_limit) {
  BOOST_TEST(hex({}) == "");
  BOOST_TEST(hex(octets("00 1f c0")) == "00 1f c0");
  BOOST_TEST(hex(octets("00 1f c0"), 3) == "00 1f c0");
  BOOST_TEST(hex(octets("00 1f c0"), 2) == "00 1f .. (+1 octets)");
  BOOST_TEST(hex(octets("00 1f c0"), 0) == ".. (+3 octets)");
}

BOOST_AUTO_TEST_CASE(data_messages) {
  BOOST_TEST(text("4143 00000000 00000000 00000001 00000000 68656c6c6f") ==
             "Send L qn=0 msn=1 mo=0 len=5");
  BOOST_TEST(text("c140 00000101 0000000000001000") ==
             "RDMA Write L stag=0x00000101 to=0x1000 len=0");
}

BOOST_AUTO_TEST_CASE(messages_whose_payload_is_a_header) {
  BOOST_TEST(text("4141 00000000 00000001 00000001 00000000"
                  "00000abc 0000000000002000 00000010 00000def 0000000000003000") ==
             "Read Request L qn=1 msn=1 mo=0 len=28 | "
             "sink 0x00000abc+0x2000 source 0x00000def+0x3000 length=16");
  BOOST_TEST(text("414b 00000000 00000003 00000001 00000000 00000007 0000000000000001") ==
             "Atomic Response L qn=3 msn=1 mo=0 len=12 | id=0x7 original=0x1");
  BOOST_TEST(text("4147 00000000 00000002 00000001 00000000 20020000") ==
             "Terminate L qn=2 msn=1 mo=0 len=4 | MPA error: CRC mismatch (2/0/0x02) []");
  BOOST_TEST(text("4148 00000000 00000000 00000001 00000000 0102030405060708") ==
             "Immediate Data L qn=0 msn=1 mo=0 len=8 | 01 02 03 04 05 06 07 08");
}

BOOST_AUTO_TEST_CASE(faults_of_length) {
  BOOST_TEST(text("") == "empty ULPDU");
  BOOST_TEST(text("41 43 00") == "DDP header cut short: 41 43 00");
  BOOST_TEST(text("4141 00000000 00000001 00000001 00000000 00") ==
             "Read Request L qn=1 msn=1 mo=0 len=1 ! Read Request header needs 28 octets");
  BOOST_TEST(text("414b 00000000 00000003 00000001 00000000 00000007 0000000000000001 ff") ==
             "Atomic Response L qn=3 msn=1 mo=0 len=13 | id=0x7 original=0x1 ! 1 octets after the "
             "header");
  BOOST_TEST(text("4149 00000000 00000000 00000001 00000000 01") ==
             "Immediate Data with SE L qn=0 msn=1 mo=0 len=1 ! Immediate Data has 8 octets");
  BOOST_TEST(text("4147 00000000 00000002 00000001 00000000 2002") ==
             "Terminate L qn=2 msn=1 mo=0 len=2 ! truncated Terminate");
  BOOST_TEST(
      text("4147 00000000 00000002 00000001 00000000 1101c000") ==
      "Terminate L qn=2 msn=1 mo=0 len=4 | DDP tagged buffer error: base or bounds violation "
      "(1/1/0x01) ! truncated Terminate");
  BOOST_TEST(text("4147 00000000 00000002 00000001 00000000 20020000 ff") ==
             "Terminate L qn=2 msn=1 mo=0 len=5 | MPA error: CRC mismatch (2/0/0x02) "
             "! octets after the Terminate");
}

// A continued segment of such a message is no header, and a tagged one never is.
BOOST_AUTO_TEST_CASE(only_what_can_be_a_header_is_decoded_as_one) {
  BOOST_TEST(text("c141 00000101 0000000000001000") ==
             "Read Request L stag=0x00000101 to=0x1000 len=0 ! in a tagged segment");
  BOOST_TEST(text("4141 00000000 00000001 00000001 0000000e 00") ==
             "Read Request L qn=1 msn=1 mo=14 len=1");
}

BOOST_AUTO_TEST_SUITE_END()
