// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Connections that are established, carry data and end, over the in-memory link and over TCP.
#include <algorithm>
#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include "reference_rnic/access/tests/two_hosts.hpp"

using namespace rnic::access;
using namespace rnic::access::test;
namespace llp = rnic::llp;
namespace verbs = rnic::verbs;

namespace {

using Networks = boost::mpl::list<Memory, Tcp>;

std::vector<std::byte> octets(std::size_t count) {
  std::vector<std::byte> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = static_cast<std::byte>(i * 7 + i / 251);
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(connections)

BOOST_AUTO_TEST_CASE_TEMPLATE(startup_carries_private_data_and_depths_both_ways, Base, Networks) {
  TwoHosts<Base> two;
  const base::Address address = two.listen();
  const auto asked = octets(500), answered = octets(508);
  BOOST_REQUIRE(
      two.a.manager->connect(two.a.pair, address, {}, {.ird = 3, .ord = 5, .private_data = asked})
          .has_value());
  BOOST_TEST(two.a.manager->is_connecting(two.a.pair));
  BOOST_REQUIRE(two.wait([&] { return two.b.template find<ConnectionRequest>() != nullptr; }));
  const auto request = *two.b.template find<ConnectionRequest>();
  BOOST_TEST((request.private_data == asked));
  BOOST_TEST((request.listener == two.listener));
  BOOST_TEST(request.local.text() == address.text());
  BOOST_REQUIRE(request.depths.has_value());
  BOOST_TEST(request.depths->ird == 5);  // their ORD is ours to serve
  BOOST_TEST(request.depths->ord == 3);
  BOOST_REQUIRE(two.b.manager->accept(request.connection, two.b.pair, {.private_data = answered})
                    .has_value());
  BOOST_REQUIRE(two.wait([&] {
    return two.a.template find<ConnectionEstablished>() &&
           two.b.template find<ConnectionEstablished>();
  }));
  const auto& established = *two.a.template find<ConnectionEstablished>();
  BOOST_TEST((established.private_data == answered));
  BOOST_TEST((established.queue_pair == two.a.pair));
  BOOST_TEST(established.negotiated.ord == 5);
  BOOST_TEST(two.b.template find<ConnectionEstablished>()->private_data.empty());
  BOOST_TEST((two.a.rnic->query_queue_pair(two.a.pair)->state == verbs::QueuePairState::rts));
  BOOST_TEST((two.b.rnic->query_queue_pair(two.b.pair)->state == verbs::QueuePairState::rts));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_megabyte_goes_over_in_either_direction, Base, Networks) {
  TwoHosts<Base> two;
  BOOST_REQUIRE(two.connect());
  two.a.memory = octets(two.a.memory.size());
  const auto size = static_cast<std::uint32_t>(two.a.memory.size());
  // The region's span stays where it was: vectors of equal size are assigned in place or moved, so
  // register again.
  const auto source = *two.a.rnic->register_memory(
      two.a.domain, {.memory = two.a.memory, .access = {.remote_write = true}, .base = 0});
  const verbs::SendRequest write{.id = 1,
                                 .operation = verbs::Operation::write,
                                 .pieces = {{.stag = source.stag, .offset = 0, .length = size}},
                                 .remote_stag = two.b.region.stag,
                                 .remote_offset = 0};
  BOOST_REQUIRE(two.a.rnic->post_send(two.a.pair, std::span(&write, 1)).has_value());
  std::vector<std::byte> back(size);
  const auto sink = *two.a.rnic->register_memory(
      two.a.domain,
      {.memory = back, .access = {.local_write = true, .remote_write = true}, .base = 0});
  const verbs::SendRequest read{.id = 2,
                                .operation = verbs::Operation::read,
                                .pieces = {{.stag = sink.stag, .offset = 0, .length = size}},
                                .remote_stag = two.b.region.stag,
                                .remote_offset = 0};
  BOOST_REQUIRE(two.a.rnic->post_send(two.a.pair, std::span(&read, 1)).has_value());
  std::vector<verbs::Completion> done;
  BOOST_REQUIRE(two.wait([&] {
    const auto more = two.a.completions();
    done.insert(done.end(), more.begin(), more.end());
    return done.size() == 2;
  }));
  BOOST_TEST(
      (done[0].status == verbs::Status::success && done[1].status == verbs::Status::success));
  BOOST_TEST((two.b.memory == two.a.memory));
  BOOST_TEST((back == two.a.memory));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(either_side_s_orderly_end_is_told_to_both_once, Base, Networks) {
  for (const bool by_initiator : {true, false}) {
    TwoHosts<Base> two;
    BOOST_REQUIRE(two.connect());
    Host& closer = by_initiator ? two.a : two.b;
    BOOST_REQUIRE(closer.manager->disconnect(closer.pair, false).has_value());
    BOOST_REQUIRE(two.wait([&] {
      return two.a.template find<ConnectionEnded>() && two.b.template find<ConnectionEnded>();
    }));
    BOOST_TEST(two.a.template find<ConnectionEnded>()->orderly);
    BOOST_TEST(two.b.template find<ConnectionEnded>()->orderly);
    two.settle();
    BOOST_TEST(two.a.events.size() == 2U);
    BOOST_TEST(two.b.events.size() == 3U);
    BOOST_TEST(two.a.manager->connections() == 0U);
    BOOST_TEST(two.b.manager->connections() == 0U);
    BOOST_TEST(!two.a.manager->disconnect(two.a.pair, false).has_value());
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_abortive_end_is_a_terminate_to_the_peer, Base, Networks) {
  TwoHosts<Base> two;
  BOOST_REQUIRE(two.connect());
  const verbs::SendRequest write{.operation = verbs::Operation::write};
  BOOST_REQUIRE(two.a.rnic->post_send(two.a.pair, std::span(&write, 1)).has_value());
  two.settle();
  bool terminated = false;
  two.b.rnic->set_async_handler([&](const verbs::AsyncEvent& event) {
    terminated = terminated || event.kind == verbs::AsyncKind::terminate_received;
  });
  BOOST_REQUIRE(two.a.manager->disconnect(two.a.pair, true).has_value());
  BOOST_REQUIRE(two.wait([&] {
    return two.a.template find<ConnectionEnded>() && two.b.template find<ConnectionEnded>();
  }));
  BOOST_TEST(!two.b.template find<ConnectionEnded>()->orderly);
  two.settle();
  BOOST_TEST(terminated);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_rejection_brings_its_private_data, Base, Networks) {
  TwoHosts<Base> two;
  const base::Address address = two.listen();
  BOOST_REQUIRE(two.a.manager->connect(two.a.pair, address, {}, {}).has_value());
  BOOST_REQUIRE(two.wait([&] { return two.b.template find<ConnectionRequest>() != nullptr; }));
  const auto reason = octets(17);
  const ConnectionId request = two.b.template find<ConnectionRequest>()->connection;
  BOOST_REQUIRE(two.b.manager->reject(request, reason).has_value());
  BOOST_TEST(!two.b.manager->accept(request, two.b.pair, {}).has_value());
  BOOST_REQUIRE(two.wait([&] { return two.a.template find<ConnectionRejected>() != nullptr; }));
  BOOST_TEST((two.a.template find<ConnectionRejected>()->private_data == reason));
  two.settle();
  BOOST_TEST(two.a.events.size() == 1U);
  BOOST_TEST(two.b.events.size() == 1U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(every_choice_of_startup_connects, Base, Networks) {
  for (const std::uint8_t revision : {std::uint8_t{1}, std::uint8_t{2}})
    for (const bool crc : {false, true})
      for (const bool markers : {false, true})
        for (const bool peer_to_peer : {false, true}) {
          TwoHosts<Base> two;
          const StartupOptions options{
              .revision = revision, .crc = crc, .markers = markers, .peer_to_peer = peer_to_peer};
          BOOST_REQUIRE(two.connect(options));
          const auto& negotiated = two.a.template find<ConnectionEstablished>()->negotiated;
          BOOST_TEST(negotiated.revision == revision);
          BOOST_TEST(negotiated.crc == crc);
          BOOST_TEST(negotiated.send_markers == markers);
          BOOST_TEST(negotiated.peer_to_peer == (peer_to_peer && revision == 2));
          two.a.memory.front() = std::byte{0x42};
          const verbs::SendRequest write{.id = 1,
                                         .operation = verbs::Operation::write,
                                         .pieces = {two.a.piece(0, 5000)},
                                         .remote_stag = two.b.region.stag,
                                         .remote_offset = 8};
          BOOST_REQUIRE(two.a.rnic->post_send(two.a.pair, std::span(&write, 1)).has_value());
          BOOST_TEST(two.wait([&] { return two.b.memory[8] == std::byte{0x42}; }));
        }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(ipv6_connects, Base, Networks) {
  TwoHosts<Base> two;
  BOOST_REQUIRE(two.connect({}, {}, base::Family::ipv6));
  BOOST_TEST((two.b.template find<ConnectionRequest>()->local.family == base::Family::ipv6));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_queue_pair_can_connect_again_after_a_reset, Base, Networks) {
  TwoHosts<Base> two;
  BOOST_REQUIRE(two.connect());
  BOOST_REQUIRE(two.a.manager->disconnect(two.a.pair, false).has_value());
  BOOST_REQUIRE(two.wait([&] {
    return two.a.template find<ConnectionEnded>() && two.b.template find<ConnectionEnded>();
  }));
  two.settle();
  BOOST_TEST(!two.a.manager->connect(two.a.pair, two.b.network->address(base::Family::ipv4), {}, {})
                  .has_value());
  BOOST_TEST(two.a.rnic->reset_queue_pair(two.a.pair).has_value());
  BOOST_TEST(two.b.rnic->reset_queue_pair(two.b.pair).has_value());
  two.a.events.clear();
  two.b.events.clear();
  BOOST_TEST(two.connect());
}

BOOST_AUTO_TEST_SUITE_END()
