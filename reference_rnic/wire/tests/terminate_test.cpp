// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/terminate.hpp"

#include <boost/test/unit_test.hpp>

#include "reference_rnic/wire/tests/octets.hpp"

using namespace rnic::wire;
using namespace rnic::wire::test;

namespace {

Octets format(const Terminate& terminate) {
  return written([&](Writer& out) { format_terminate(out, terminate); });
}

/// A parsed Terminate refers to its input, so the two stay together.
struct Parsed {
  explicit Parsed(std::string_view hexadecimal) : input(octets(hexadecimal)) {
    const auto result = parse_terminate(input);
    BOOST_REQUIRE(result.has_value());
    terminate = *result;
  }
  Octets input;
  Terminate terminate;
};

bool fails_with(Bytes payload, TerminateError error) {
  const auto result = parse_terminate(payload);
  return !result && result.error() == error;
}

const char* const tagged = "c140 00000101 0000000000001000";
const char* const untagged = "4143 00000000 00000000 00000001 00000000";
const char* const read_request_ddp = "4141 00000000 00000001 00000001 00000000";
const char* const read_request = "00000abc 0000000000002000 00000010 00000def 0000000000003000";

}  // namespace

BOOST_AUTO_TEST_SUITE(terminate)

// RFC 5040 Figures 7 and 8: Layer 1, EType 1, Error Code 1, M and D, length, tagged header.
BOOST_AUTO_TEST_CASE(tagged_buffer_error_by_hand) {
  const Parsed parsed("1101 c000 001e c140 00000101 0000000000001000");
  const Terminate& terminate = parsed.terminate;
  BOOST_TEST((terminate.cause == cause::ddp_tagged_base_or_bounds));
  BOOST_TEST(terminate.m);
  BOOST_TEST(terminate.d);
  BOOST_TEST(!terminate.r);
  BOOST_TEST(terminate.segment_length.value() == 30);
  BOOST_TEST(Octets(terminate.ddp_header) == octets(tagged));
  BOOST_TEST(terminate.rdmap_header.empty());
  BOOST_TEST(format(terminate) == parsed.input);
  BOOST_TEST(describe(terminate) ==
             "DDP tagged buffer error: base or bounds violation (1/1/0x01) [M D] segment=30 "
             "of {RDMA Write L stag=0x00000101 to=0x1000}");
}

BOOST_AUTO_TEST_CASE(read_request_error_by_hand) {
  Octets input = octets("0100 e000 002e");
  input += octets(read_request_ddp);
  input += octets(read_request);
  const auto terminate = parse_terminate(input);
  BOOST_REQUIRE(terminate.has_value());
  BOOST_TEST((terminate->cause == cause::rdmap_invalid_stag));
  BOOST_TEST(Octets(terminate->ddp_header) == octets(read_request_ddp));
  BOOST_TEST(Octets(terminate->rdmap_header) == octets(read_request));
  BOOST_TEST(format(*terminate) == input);
  BOOST_TEST(describe(*terminate) ==
             "RDMAP remote protection error: invalid STag (0/1/0x00) [M D R] segment=46 "
             "of {Read Request L qn=1 msn=1 mo=0} "
             "{sink 0x00000abc+0x2000 source 0x00000def+0x3000 length=16}");
}

BOOST_AUTO_TEST_CASE(every_combination_of_m_d_r) {
  for (unsigned bits = 0; bits < 8; ++bits) {
    for (const char* header : {tagged, untagged}) {
      const bool m = (bits & 4) != 0, d = (bits & 2) != 0, r = (bits & 1) != 0;
      Octets input = octets("0205");
      input.push_back(static_cast<std::byte>(bits << 5));
      input.push_back(std::byte{0});
      if (m || d) input += octets("0012");
      if (d) input += octets(header);
      if (r) input += octets(read_request);
      BOOST_TEST_CONTEXT(input) {
        const auto terminate = parse_terminate(input);
        BOOST_REQUIRE(terminate.has_value());
        BOOST_TEST(terminate->m == m);
        BOOST_TEST(terminate->d == d);
        BOOST_TEST(terminate->r == r);
        BOOST_TEST(terminate->segment_length.has_value() == (m || d));
        BOOST_TEST(Octets(terminate->ddp_header) == (d ? octets(header) : Octets()));
        BOOST_TEST(Octets(terminate->rdmap_header) == (r ? octets(read_request) : Octets()));
        BOOST_TEST(format(*terminate) == input);
        for (std::size_t length = 0; length < input.size(); ++length)
          BOOST_TEST(fails_with(Bytes(input).first(length), TerminateError::truncated));
        Octets longer = input;
        longer += octets("00");
        BOOST_TEST(fails_with(longer, TerminateError::trailing_octets));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(an_atomic_request_header_may_come_whole) {
  Octets input = octets("0207 e000 0046 414a 00000000 00000001 00000001 00000000");
  Octets whole = input;
  whole += repeated(52, 0x11);
  const auto terminate = parse_terminate(whole);
  BOOST_REQUIRE(terminate.has_value());
  BOOST_TEST(terminate->rdmap_header.size() == 52U);
  input += repeated(28, 0);
  BOOST_TEST(parse_terminate(input).value().rdmap_header.size() == 28U);
}

BOOST_AUTO_TEST_CASE(only_an_atomic_request_has_a_header_of_52_octets) {
  Octets read = octets("0100 e000 002e");
  read += octets(read_request_ddp);
  read += repeated(52, 0);
  BOOST_TEST(fails_with(read, TerminateError::trailing_octets));
  Octets no_ddp_header = octets("0100 2000");
  no_ddp_header += repeated(52, 0);
  BOOST_TEST(fails_with(no_ddp_header, TerminateError::trailing_octets));
}

// docs/disputes.md D100.
BOOST_AUTO_TEST_CASE(rdmap_alone_may_tell_the_length_of_an_untagged_message) {
  const Octets read = octets(read_request_ddp);
  Terminate told;
  told.cause = cause::rdmap_invalid_stag;
  BOOST_TEST(!tells_message_length(told, read, 46));
  told.segment_length = 28;
  BOOST_TEST(tells_message_length(told, read, 46));
  BOOST_TEST(!tells_message_length(told, read, 45));
  BOOST_TEST(!tells_message_length(told, Bytes(read).first(17), 46));
  BOOST_TEST(tells_message_length(told, octets("4141 00000000 00000001 00000001 00000010"), 30));
  BOOST_TEST(!tells_message_length(told, octets("0141 00000000 00000001 00000001 00000000"), 46));
  BOOST_TEST(!tells_message_length(told, octets("c140 00000101 0000000000001000 00000000"), 46));
  told.cause = cause::ddp_untagged_no_buffer;
  BOOST_TEST(!tells_message_length(told, read, 46));
}

BOOST_AUTO_TEST_CASE(reserved_bits_come_through) {
  const Parsed parsed("2002 1fff");
  BOOST_TEST(parsed.terminate.reserved == 0x1FFF);
  BOOST_TEST(format(parsed.terminate) == parsed.input);
  BOOST_TEST(describe(parsed.terminate) ==
             "MPA error: CRC mismatch (2/0/0x02) [] ! reserved bits 0x1fff");
}

// The tester's privilege: flags and fields that do not agree are written as given.
BOOST_AUTO_TEST_CASE(format_writes_what_it_is_given) {
  Terminate terminate;
  terminate.cause = cause::ddp_untagged_no_buffer;
  terminate.d = true;
  BOOST_TEST(format(terminate) == octets("1202 4000"));
  terminate.segment_length = 5;
  terminate.d = false;
  BOOST_TEST(format(terminate) == octets("1202 0000 0005"));
  terminate.cause = {0x1F, 0x2E, 0xAB};
  terminate.reserved = 0xFFFF;
  BOOST_TEST(format(terminate) == octets("feab 1fff 0005"));
}

BOOST_AUTO_TEST_CASE(every_cause_on_the_wire_and_back) {
  for (unsigned word = 0; word <= 0xFFFF; ++word) {
    std::array<std::byte, 4> input{std::byte(word >> 8), std::byte(word & 0xFF), std::byte{0},
                                   std::byte{0}};
    const auto terminate = parse_terminate(input);
    BOOST_REQUIRE(terminate.has_value());
    BOOST_REQUIRE_EQUAL(terminate->cause.layer, word >> 12);
    BOOST_REQUIRE_EQUAL(terminate->cause.type, word >> 8 & 0xF);
    BOOST_REQUIRE_EQUAL(terminate->cause.code, word & 0xFF);
    BOOST_REQUIRE(format(*terminate) == Octets(Bytes(input)));
    BOOST_REQUIRE(parse_terminate_cause(input).value() == terminate->cause);
  }
  BOOST_TEST(!parse_terminate_cause(octets("1101 c0")).has_value());
}

// RFC 6580 sections 3.1 to 3.3 and RFC 6581 section 8, entry by entry.
BOOST_AUTO_TEST_CASE(the_registry) {
  struct Row {
    TerminateCause cause;
    const char* text;
  };
  const Row rows[] = {
      {cause::rdmap_local_catastrophic, "RDMAP local catastrophic error (0/0/0x00)"},
      {{0, 0, 0x77}, "RDMAP local catastrophic error (0/0/0x77)"},
      {cause::rdmap_invalid_stag, "RDMAP remote protection error: invalid STag (0/1/0x00)"},
      {cause::rdmap_base_or_bounds,
       "RDMAP remote protection error: base or bounds violation (0/1/0x01)"},
      {cause::rdmap_access_rights,
       "RDMAP remote protection error: access rights violation (0/1/0x02)"},
      {cause::rdmap_stag_not_associated,
       "RDMAP remote protection error: STag not associated with the RDMAP Stream (0/1/0x03)"},
      {cause::rdmap_to_wrap, "RDMAP remote protection error: TO wrap (0/1/0x04)"},
      {cause::rdmap_protection_cannot_invalidate,
       "RDMAP remote protection error: STag cannot be invalidated (0/1/0x09)"},
      {cause::rdmap_protection_unspecified,
       "RDMAP remote protection error: unspecified (0/1/0xff)"},
      {cause::rdmap_invalid_version,
       "RDMAP remote operation error: invalid RDMAP version (0/2/0x05)"},
      {cause::rdmap_unexpected_opcode,
       "RDMAP remote operation error: unexpected opcode (0/2/0x06)"},
      {cause::rdmap_catastrophic_stream,
       "RDMAP remote operation error: catastrophic, this RDMAP Stream (0/2/0x07)"},
      {cause::rdmap_catastrophic_global,
       "RDMAP remote operation error: catastrophic, global (0/2/0x08)"},
      {cause::rdmap_operation_cannot_invalidate,
       "RDMAP remote operation error: STag cannot be invalidated (0/2/0x09)"},
      {cause::rdmap_operation_unspecified, "RDMAP remote operation error: unspecified (0/2/0xff)"},
      {cause::ddp_local_catastrophic, "DDP local catastrophic error (1/0/0x00)"},
      {cause::ddp_tagged_invalid_stag, "DDP tagged buffer error: invalid STag (1/1/0x00)"},
      {cause::ddp_tagged_base_or_bounds,
       "DDP tagged buffer error: base or bounds violation (1/1/0x01)"},
      {cause::ddp_tagged_stag_not_associated,
       "DDP tagged buffer error: STag not associated with the DDP Stream (1/1/0x02)"},
      {cause::ddp_tagged_to_wrap, "DDP tagged buffer error: TO wrap (1/1/0x03)"},
      {cause::ddp_tagged_invalid_version,
       "DDP tagged buffer error: invalid DDP version (1/1/0x04)"},
      {cause::ddp_untagged_invalid_queue,
       "DDP untagged buffer error: invalid queue number (1/2/0x01)"},
      {cause::ddp_untagged_no_buffer,
       "DDP untagged buffer error: invalid MSN, no buffer available (1/2/0x02)"},
      {cause::ddp_untagged_msn_out_of_range,
       "DDP untagged buffer error: invalid MSN, out of range (1/2/0x03)"},
      {cause::ddp_untagged_invalid_offset,
       "DDP untagged buffer error: invalid message offset (1/2/0x04)"},
      {cause::ddp_untagged_message_too_long,
       "DDP untagged buffer error: message too long for the buffer (1/2/0x05)"},
      {cause::ddp_untagged_invalid_version,
       "DDP untagged buffer error: invalid DDP version (1/2/0x06)"},
      {{1, 3, 0x42}, "DDP error reserved for the LLP (1/3/0x42)"},
      {cause::mpa_connection_lost, "MPA error: TCP connection closed or lost (2/0/0x01)"},
      {cause::mpa_crc, "MPA error: CRC mismatch (2/0/0x02)"},
      {cause::mpa_marker, "MPA error: Marker and ULPDU_Length disagree (2/0/0x03)"},
      {cause::mpa_invalid_frame, "MPA error: invalid Request or Reply Frame (2/0/0x04)"},
      {cause::mpa_local_catastrophic, "MPA error: local catastrophic (2/0/0x05)"},
      {cause::mpa_insufficient_ird, "MPA error: insufficient IRD resources (2/0/0x06)"},
      {cause::mpa_no_rtr, "MPA error: no matching RTR option (2/0/0x07)"}};
  for (const Row& row : rows) {
    BOOST_TEST(is_registered(row.cause), row.text);
    BOOST_TEST(describe(row.cause) == row.text);
  }
}

// The registries hold 13 + 12 + 7 single codes, and two types with every code.
BOOST_AUTO_TEST_CASE(nothing_else_is_registered) {
  unsigned registered = 0;
  for (unsigned word = 0; word <= 0xFFFF; ++word)
    registered +=
        is_registered({static_cast<std::uint8_t>(word >> 12),
                       static_cast<std::uint8_t>(word >> 8 & 0xF), static_cast<std::uint8_t>(word)})
            ? 1
            : 0;
  BOOST_TEST(registered == 13U + 12U + 7U + 2 * 256U);
  BOOST_TEST(describe(TerminateCause{1, 2, 0x00}) ==
             "DDP untagged buffer error: unregistered code (1/2/0x00)");
  BOOST_TEST(describe(TerminateCause{7, 5, 0x01}) == "unregistered error (7/5/0x01)");
}

BOOST_AUTO_TEST_SUITE_END()
