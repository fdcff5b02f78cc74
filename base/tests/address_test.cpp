// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <boost/test/unit_test.hpp>

#include "base/address.hpp"
#include "base/address_block.hpp"
#include "base/zoned_address.hpp"

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

BOOST_AUTO_TEST_CASE(a_link_local_address_has_an_interface_and_no_other_has) {
  using base::ZonedAddress;
  const auto local = ZonedAddress::parse("fe80::2%eth1.100");
  BOOST_REQUIRE(local);
  BOOST_TEST(local->address.host() == "fe80::2");
  BOOST_TEST(local->zone == "eth1.100");
  BOOST_TEST(ZonedAddress::parse("fd77::2").value().zone.empty());
  BOOST_TEST(ZonedAddress::parse("10.77.0.2").value().address.host() == "10.77.0.2");
  const auto fault = [](const char* text) { return ZonedAddress::parse(text).error(); };
  BOOST_TEST(fault("fe80::2").find("fe80::2%eth1") != std::string::npos);
  BOOST_TEST(fault("fe80::2%").find("name this host's interface") != std::string::npos);
  BOOST_TEST(fault("fd77::2%eth1").find("only a link-local address") != std::string::npos);
  BOOST_TEST(fault("10.77.0.2%eth1").find("only a link-local address") != std::string::npos);
  BOOST_TEST(fault("dut%eth1").find("not an address") != std::string::npos);
  BOOST_TEST(base::zone_index("lo") > 0u);
  BOOST_TEST(base::zone_index("") == 0u);
}

BOOST_AUTO_TEST_CASE(a_block_is_without_its_first_and_last_address) {
  using base::AddressBlock;
  const auto block = AddressBlock::parse("10.77.0.128/25");
  BOOST_REQUIRE(block);
  BOOST_TEST(block->first.host() == "10.77.0.129");
  BOOST_TEST(block->count == 126u);
  BOOST_TEST(AddressBlock::parse("10.77.0.252/30").value().count == 2u);
  for (const char* bad : {"10.77.0.128", "10.77.0.128/23", "10.77.0.128/31", "10.77.0.128/25x",
                          "10.77.0.128/", "fd77::/28", "host/25", "10.77.0.129/25"})
    BOOST_TEST(!AddressBlock::parse(bad).has_value(), bad);
}

BOOST_AUTO_TEST_SUITE_END()
