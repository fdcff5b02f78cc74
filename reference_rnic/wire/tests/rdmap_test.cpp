// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/rdmap.hpp"

#include <boost/test/unit_test.hpp>

#include "reference_rnic/wire/tests/octets.hpp"

using namespace rnic::wire;
using namespace rnic::wire::test;

BOOST_AUTO_TEST_SUITE(rdmap)

// RFC 5040 Figure 6.
BOOST_AUTO_TEST_CASE(read_request_header_by_hand) {
  const ReadRequestHeader header{.sink_stag = 0x01020304,
                                 .sink_offset = 0x1112131415161718,
                                 .length = 0x21222324,
                                 .source_stag = 0x31323334,
                                 .source_offset = 0x4142434445464748};
  BOOST_TEST(Octets(octets_of(header)) ==
             octets("01020304 1112131415161718 21222324 31323334 4142434445464748"));
  BOOST_TEST(
      describe(header) ==
      "sink 0x01020304+0x1112131415161718 source 0x31323334+0x4142434445464748 length=555885348");
}

// RFC 7306 Figure 4.
BOOST_AUTO_TEST_CASE(atomic_request_header_by_hand) {
  const AtomicRequestHeader header{.operation = 2,
                                   .request_id = 0x01020304,
                                   .remote_stag = 0x11121314,
                                   .remote_offset = 0x2122232425262728,
                                   .add_or_swap_data = 0x31,
                                   .add_or_swap_mask = 0x41,
                                   .compare_data = 0x51,
                                   .compare_mask = 0x61};
  BOOST_TEST(Octets(octets_of(header)) ==
             octets("00000002 01020304 11121314 2122232425262728 0000000000000031 0000000000000041 "
                    "0000000000000051 0000000000000061"));
  BOOST_TEST(describe(header) ==
             "CmpSwap id=0x1020304 0x11121314+0x2122232425262728 compare=0x51/0x61 swap=0x31/0x41");
}

BOOST_AUTO_TEST_CASE(atomic_requests_described) {
  AtomicRequestHeader header{};
  header.add_or_swap_data = 5;
  header.add_or_swap_mask = 0xFFFFFFFFFFFFFFFF;
  BOOST_TEST(describe(header) == "FetchAdd id=0x0 0x00000000+0x0 add=0x5/0xffffffffffffffff");
  header.operation = 0x80000001;
  BOOST_TEST(describe(header) ==
             "atomic operation 0x1 id=0x0 0x00000000+0x0 ! undefined ! reserved bits 0x80000000");
}

// RFC 7306 Figure 6.
BOOST_AUTO_TEST_CASE(atomic_response_header_by_hand) {
  const AtomicResponseHeader header{.original_request_id = 0x01020304,
                                    .original_data = 0x1112131415161718};
  BOOST_TEST(Octets(octets_of(header)) == octets("01020304 1112131415161718"));
  BOOST_TEST(describe(header) == "id=0x1020304 original=0x1112131415161718");
}

BOOST_AUTO_TEST_SUITE_END()
