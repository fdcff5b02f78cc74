// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The port mapper's messages, octet by octet, and both roles against each other.
#include "suite/doctor/port_mapper.hpp"

#include <poll.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>

using namespace suite::doctor;
using Kind = PortMapperMessage::Kind;

namespace {

PortMapperMessage request() {
  PortMapperMessage message;
  message.accepting_port = 0x1234;
  message.connecting_port = 0x5678;
  message.mapped_connecting_port = 0x9ABC;
  message.association = 0x0102030405060708;
  message.connecting_address = {192, 0, 2, 1};
  message.accepting_address = {192, 0, 2, 7};
  message.mapped_connecting_address = {192, 0, 2, 9};
  return message;
}

/// A mapper that serves in a thread until it is destroyed.
struct Serving {
  explicit Serving(std::uint16_t listener)
      : server(PortMapperServer::open("127.0.0.1", listener, 0).value()), thread([this] {
          while (!over) {
            pollfd ready{server.fd(), POLLIN, 0};
            if (::poll(&ready, 1, 20) > 0) server.serve();
          }
        }) {}
  ~Serving() { end(); }
  void end() {
    over = true;
    if (thread.joinable()) thread.join();
  }
  PortMapperServer server;
  std::atomic<bool> over = false;
  std::thread thread;
};

constexpr std::chrono::milliseconds patience{2000};

}  // namespace

BOOST_AUTO_TEST_CASE(a_request_has_64_octets) {
  const auto octets = octets_of(request());
  const std::vector<std::uint8_t> head{0x04, 0, 0x9A, 0xBC, 0x12, 0x34, 0x56, 0x78,
                                       1,    2, 3,    4,    5,    6,    7,    8};
  BOOST_REQUIRE_EQUAL(octets.size(), 64u);
  BOOST_TEST(std::vector(octets.begin(), octets.begin() + 16) == head,
             boost::test_tools::per_element());
  BOOST_TEST(octets[16] == 192);
  BOOST_TEST(octets[19] == 1);
  BOOST_TEST(octets[35] == 7);
  BOOST_TEST(octets[51] == 9);
  const auto back = parse_port_mapper(octets);
  BOOST_REQUIRE(back);
  BOOST_TEST(octets_of(*back) == octets, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_answer_has_48_octets) {
  auto message = request();
  message.kind = Kind::rejection;
  message.ip_version = 6;
  const auto octets = octets_of(message);
  BOOST_REQUIRE_EQUAL(octets.size(), 48u);
  BOOST_TEST(octets[0] == 0x36);
  BOOST_TEST((parse_port_mapper(octets).value().kind == Kind::rejection));
}

BOOST_AUTO_TEST_CASE(what_is_none_is_refused) {
  auto octets = octets_of(request());
  for (const std::size_t size : {0u, 1u, 47u, 48u, 63u})
    BOOST_TEST(!parse_port_mapper(std::span(octets).first(size)));
  for (const int first : {0x44, 0x84, 0xC4, 0x00, 0x05, 0x0F}) {
    octets[0] = static_cast<std::uint8_t>(first);  // another version, no IP version
    BOOST_TEST(!parse_port_mapper(octets));
  }
}

BOOST_AUTO_TEST_CASE(both_roles_understand_each_other) {
  Serving mapper(4711);
  const auto accepted = ask_port_mapper("127.0.0.1", 4711, patience, mapper.server.port());
  BOOST_REQUIRE_MESSAGE(accepted, (accepted ? "" : accepted.error()));
  BOOST_TEST((accepted->kind == Kind::accept));
  BOOST_TEST(accepted->accepting_port == 4711);
  const auto rejected = ask_port_mapper("127.0.0.1", 1, patience, mapper.server.port());
  BOOST_REQUIRE(rejected);
  BOOST_TEST((rejected->kind == Kind::rejection));
  mapper.end();
  mapper.server.serve();
  BOOST_TEST(mapper.server.requests() == 2u);
  BOOST_TEST(mapper.server.acknowledgements() == 1u);
}

BOOST_AUTO_TEST_CASE(where_there_is_no_mapper) {
  std::uint16_t port = 0;
  {
    port = PortMapperServer::open("127.0.0.1", 1, 0).value().port();
  }
  BOOST_TEST(!ask_port_mapper("127.0.0.1", 1, patience, port));
  BOOST_TEST(!ask_port_mapper("not an address", 1, patience, port));
  const auto silent = PortMapperServer::open("127.0.0.1", 1, 0).value();
  const auto nothing =
      ask_port_mapper("127.0.0.1", 1, std::chrono::milliseconds(60), silent.port());
  BOOST_REQUIRE(!nothing);
  BOOST_TEST(nothing.error() == "no answer");
}
