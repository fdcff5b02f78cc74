// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <boost/test/unit_test.hpp>

#include "base/address.hpp"

using base::Address;
using base::Family;

BOOST_AUTO_TEST_SUITE(address)

BOOST_AUTO_TEST_CASE(literals_round_trip) {
  const auto v4 = Address::parse("10.77.0.1", 4791);
  BOOST_REQUIRE(v4);
  BOOST_TEST(v4->text() == "10.77.0.1:4791");
  BOOST_TEST(
      (v4->octets[0] == 10 && v4->octets[1] == 77 && v4->octets[2] == 0 && v4->octets[3] == 1));
  const auto v6 = Address::parse("fd77:0:0::1");
  BOOST_REQUIRE(v6);
  BOOST_TEST((v6->family == Family::ipv6));
  BOOST_TEST(v6->with_port(7).text() == "[fd77::1]:7");
}

BOOST_AUTO_TEST_CASE(what_is_no_literal_is_named) {
  for (const std::string_view bad : std::initializer_list<std::string_view>{
           "", "localhost", "10.77.0", "10.77.0.256", "10.77.0.1:80", "[::1]",
           "::1::", std::string_view("10.77.0.1\0x", 11)}) {
    const auto address = Address::parse(bad);
    BOOST_REQUIRE(!address);
    BOOST_TEST(address.error().find("not an address") != std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()
