// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/ddp.hpp"

#include <boost/test/unit_test.hpp>

#include "reference_rnic/wire/tests/octets.hpp"

using namespace rnic::wire;
using namespace rnic::wire::test;

namespace {

Segment parsed(const Octets& ulpdu) {
  const auto segment = parse_segment(ulpdu);
  BOOST_REQUIRE(segment.has_value());
  return *segment;
}

const char* const write_header = "c1 40 00000101 0000000000001000";
const char* const send_header = "41 43 00000000 00000000 00000001 00000000";

std::string text(std::string_view ulpdu) {
  const Octets input = octets(ulpdu);
  return describe(parsed(input));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ddp)

// RFC 5041 Figure 4.
BOOST_AUTO_TEST_CASE(tagged_header_by_hand) {
  const TaggedHeader header{.ddp = DdpControl::make(true, true),
                            .rdmap = RdmapControl::make(Opcode::rdma_write),
                            .stag = 0x01020304,
                            .tagged_offset = 0x1112131415161718};
  BOOST_TEST(Octets(octets_of(header)) == octets("c1 40 01020304 1112131415161718"));

  const Octets input = octets("81 42 01020304 1112131415161718 aabbcc");
  const Segment segment = parsed(input);
  BOOST_TEST(segment.tagged);
  BOOST_TEST(!segment.ddp().last());
  BOOST_TEST((segment.rdmap().opcode() == Opcode::read_response));
  BOOST_TEST(segment.tagged_header.stag.value() == 0x01020304U);
  BOOST_TEST(segment.tagged_header.tagged_offset.value() == 0x1112131415161718U);
  BOOST_TEST(Octets(segment.payload) == octets("aabbcc"));
  BOOST_TEST(Octets(segment.header()) == octets("81 42 01020304 1112131415161718"));
}

// RFC 5041 Figure 5 with RFC 5040 Figure 3.
BOOST_AUTO_TEST_CASE(untagged_header_by_hand) {
  const UntaggedHeader header{.ddp = DdpControl::make(false, false),
                              .rdmap = RdmapControl::make(Opcode::send_solicited_invalidate),
                              .ulp_word = 0xA1A2A3A4,
                              .queue_number = 0xB1B2B3B4,
                              .message_sequence_number = 0xC1C2C3C4,
                              .message_offset = 0xD1D2D3D4};
  const char* const wire = "01 46 a1a2a3a4 b1b2b3b4 c1c2c3c4 d1d2d3d4";
  BOOST_TEST(Octets(octets_of(header)) == octets(wire));
  const Octets input = octets(wire);
  const Segment segment = parsed(input);
  BOOST_TEST(!segment.tagged);
  BOOST_TEST(segment.untagged_header.ulp_word.value() == 0xA1A2A3A4U);
  BOOST_TEST(segment.untagged_header.queue_number.value() == 0xB1B2B3B4U);
  BOOST_TEST(segment.untagged_header.message_sequence_number.value() == 0xC1C2C3C4U);
  BOOST_TEST(segment.untagged_header.message_offset.value() == 0xD1D2D3D4U);
  BOOST_TEST(segment.payload.empty());
  BOOST_TEST(Octets(segment.header()) == input);
}

BOOST_AUTO_TEST_CASE(every_control_octet) {
  for (unsigned octet = 0; octet < 256; ++octet) {
    Octets input = repeated(18, 0);
    input[0] = std::byte(octet);
    input[1] = std::byte(255 - octet);
    const Segment segment = parsed(input);
    BOOST_TEST(segment.tagged == ((octet & 0x80) != 0));
    BOOST_TEST(segment.ddp().last() == ((octet & 0x40) != 0));
    BOOST_TEST(segment.ddp().version() == (octet & 3));
    BOOST_TEST(segment.rdmap().version() == (255 - octet) >> 6);
    BOOST_TEST(static_cast<unsigned>(segment.rdmap().opcode()) == ((255 - octet) & 0xF));
    BOOST_TEST(segment.payload.size() == (segment.tagged ? 4U : 0U));
  }
}

BOOST_AUTO_TEST_CASE(truncation_at_every_octet) {
  BOOST_TEST((parse_segment({}).error() == SegmentError::empty));
  for (const char* header : {write_header, send_header}) {
    const Octets whole = octets(header);
    for (std::size_t length = 1; length < whole.size(); ++length) {
      const auto segment = parse_segment(Bytes(whole).first(length));
      BOOST_REQUIRE(!segment.has_value());
      BOOST_TEST((segment.error() == SegmentError::truncated));
    }
    BOOST_TEST(parse_segment(whole).has_value());
  }
}

// RFC 5040 Figure 4 and RFC 7306 Figure 2, row by row.
BOOST_AUTO_TEST_CASE(opcodes) {
  struct Row {
    unsigned opcode;
    bool tagged;
    unsigned queue;
    bool invalidates;
    bool immediate = false;
  };
  const Row rows[] = {
      {0x0, true, 0, false},        {0x1, false, 1, false}, {0x2, true, 0, false},
      {0x3, false, 0, false},       {0x4, false, 0, true},  {0x5, false, 0, false},
      {0x6, false, 0, true},        {0x7, false, 2, false}, {0x8, false, 0, false, true},
      {0x9, false, 0, false, true}, {0xA, false, 1, false}, {0xB, false, 3, false}};
  for (const Row& row : rows) {
    const auto opcode = static_cast<Opcode>(row.opcode);
    BOOST_TEST_CONTEXT("opcode " << row.opcode) {
      BOOST_TEST(is_defined(opcode));
      BOOST_TEST(is_tagged(opcode) == row.tagged);
      BOOST_TEST(carries_invalidate(opcode) == row.invalidates);
      BOOST_TEST(is_immediate(opcode) == row.immediate);
      if (!row.tagged) BOOST_TEST(static_cast<unsigned>(queue_of(opcode)) == row.queue);
      BOOST_TEST(std::string_view(name(opcode)) != "undefined opcode");
    }
  }
  for (unsigned code = 0xC; code <= 0xF; ++code) {
    BOOST_TEST(!is_defined(static_cast<Opcode>(code)));
    BOOST_TEST(std::string_view(name(static_cast<Opcode>(code))) == "undefined opcode");
  }
}

BOOST_AUTO_TEST_CASE(described) {
  BOOST_TEST(text("c140 00000101 0000000000001000 00000000000000000000000000000000") ==
             "RDMA Write L stag=0x00000101 to=0x1000 len=16");
  BOOST_TEST(text("8142 0a0b0c0d 0000000000000000") ==
             "Read Response stag=0x0a0b0c0d to=0x0 len=0");
  BOOST_TEST(text("4143 00000000 00000000 00000001 00000000 68656c6c6f") ==
             "Send L qn=0 msn=1 mo=0 len=5");
  BOOST_TEST(text("4144 00000abc 00000000 00000002 00000000") ==
             "Send with Invalidate L inv=0x00000abc qn=0 msn=2 mo=0 len=0");
  const Octets header = octets(send_header);
  BOOST_TEST(describe_header(parsed(header)) == "Send L qn=0 msn=1 mo=0");
}

// No RFC says which queue an undefined opcode belongs on, or a tagged one in an untagged segment.
BOOST_AUTO_TEST_CASE(no_queue_is_wrong_where_none_is_right) {
  BOOST_TEST(text("414f 00000009 00000007 00000001 00000000") ==
             "opcode 0xf L qn=7 msn=1 mo=0 len=0");
  BOOST_TEST(text("4140 00000009 00000007 00000001 00000000") ==
             "RDMA Write L qn=7 msn=1 mo=0 len=0 ! in an untagged segment");
}

BOOST_AUTO_TEST_CASE(faults_described) {
  BOOST_TEST(
      text("7e33 00000000 00000000 00000001 00000000") ==
      "Send L qn=0 msn=1 mo=0 len=0 ! DDP version 2 ! reserved DDP bits 0x3c ! RDMAP version 0 "
      "! reserved RDMAP bits 0x30");
  BOOST_TEST(text("4141 00000000 00000000 00000001 00000000") ==
             "Read Request L qn=0 msn=1 mo=0 len=0 ! not on queue 1");
  BOOST_TEST(text("4143 00000007 00000000 00000001 00000000") ==
             "Send L qn=0 msn=1 mo=0 len=0 ! Invalidate STag field 0x00000007");
  BOOST_TEST(text("c143 00000101 0000000000001000") ==
             "Send L stag=0x00000101 to=0x1000 len=0 ! in a tagged segment");
  BOOST_TEST(text("4140 00000000 00000000 00000001 00000000") ==
             "RDMA Write L qn=0 msn=1 mo=0 len=0 ! in an untagged segment");
  BOOST_TEST(text("414f 00000000 00000000 00000001 00000000") ==
             "opcode 0xf L qn=0 msn=1 mo=0 len=0");
}

BOOST_AUTO_TEST_SUITE_END()
