// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Connections that are not established or break: which side is notified of what, and that no other
// connection is affected.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <string_view>

#include "reference_rnic/access/tests/two_hosts.hpp"

using namespace rnic::access;
using namespace rnic::access::test;
namespace llp = rnic::llp;
namespace verbs = rnic::verbs;

namespace {

/// A peer that is no RNIC: it connects or listens, and sends what a test gives it.
struct RawPeer final : llp::Connection::Observer, llp::Listener::Observer {
  void readable() override {
    std::array<std::byte, 4096> buffer;
    const std::array<rnic::wire::MutableBytes, 1> targets{buffer};
    for (;;) {
      const auto got = connection->receive(targets);
      received.insert(received.end(), buffer.begin(),
                      buffer.begin() + static_cast<std::ptrdiff_t>(got.count));
      closed = closed || got.peer_closed;
      if (got.count == 0) return;
    }
  }
  void writable() override {}
  void connected() override { up = true; }
  void ended(llp::Ending) override { reset = true; }
  void accepted(std::unique_ptr<llp::Connection> incoming) override {
    connection = std::move(incoming);
    connection->set_observer(*this);
    up = true;
  }
  void say(std::string_view text) const {
    const std::array<rnic::wire::Bytes, 1> pieces{std::as_bytes(std::span(text))};
    static_cast<void>(connection->send(pieces, true));
  }
  std::unique_ptr<llp::Connection> connection;
  std::vector<std::byte> received;
  bool up = false, closed = false, reset = false;
};

using Two = TwoHosts<Memory>;

const ConnectionFailed* failure(Two& two) {
  two.wait([&] { return two.a.find<ConnectionFailed>() != nullptr; });
  return two.a.find<ConnectionFailed>();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(faults)

BOOST_AUTO_TEST_CASE(nobody_listens) {
  Two two;
  BOOST_REQUIRE(
      two.a.manager
          ->connect(two.a.pair, two.b.network->address(base::Family::ipv4).with_port(9), {}, {})
          .has_value());
  const auto* failed = failure(two);
  BOOST_REQUIRE(failed != nullptr);
  BOOST_TEST((failed->failure == ConnectFailure::refused));
  BOOST_TEST((failed->queue_pair == two.a.pair));
  two.settle();
  BOOST_TEST(two.a.manager->connections() == 0U);
  BOOST_TEST(two.a.events.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_patient_initiator_reaches_who_begins_to_listen) {
  Two two;
  StartupOptions patient;
  patient.refused_for = std::chrono::seconds(1);
  const base::Address address = two.b.network->address(base::Family::ipv4).with_port(9);
  BOOST_REQUIRE(two.a.manager->connect(two.a.pair, address, patient, {}).has_value());
  two.settle(std::chrono::milliseconds(500));
  BOOST_TEST(two.a.events.empty());
  BOOST_REQUIRE(two.b.manager->listen(address, {}).has_value());
  BOOST_REQUIRE(two.wait([&] { return two.b.find<ConnectionRequest>() != nullptr; }));
  BOOST_REQUIRE(two.b.manager->accept(two.b.find<ConnectionRequest>()->connection, two.b.pair, {}));
  BOOST_TEST(two.wait([&] { return two.a.find<ConnectionEstablished>() != nullptr; }));
}

BOOST_AUTO_TEST_CASE(a_patient_initiator_gives_up) {
  Two two;
  StartupOptions patient;
  patient.refused_for = std::chrono::seconds(1);
  const base::Address address = two.b.network->address(base::Family::ipv4).with_port(9);
  const base::TimePoint began = two.loop.now();
  BOOST_REQUIRE(two.a.manager->connect(two.a.pair, address, patient, {}).has_value());
  const auto* failed = failure(two);
  BOOST_REQUIRE(failed != nullptr);
  BOOST_TEST((failed->failure == ConnectFailure::refused));
  BOOST_TEST((two.loop.now() - began >= patient.refused_for));
  two.settle();
  BOOST_TEST(two.a.manager->connections() == 0U);
}

BOOST_AUTO_TEST_CASE(no_such_host) {
  Two two;
  BOOST_REQUIRE(two.a.manager->connect(two.a.pair, *base::Address::parse("10.77.0.9", 9), {}, {})
                    .has_value());
  BOOST_REQUIRE(failure(two) != nullptr);
  BOOST_TEST((failure(two)->failure == ConnectFailure::unreachable));
}

BOOST_AUTO_TEST_CASE(a_responder_that_says_nothing_times_out) {
  Two two;
  RawPeer peer;
  const auto listener = two.b.network->listen(two.b.network->address(base::Family::ipv4), peer);
  BOOST_REQUIRE(listener.has_value());
  BOOST_REQUIRE(two.a.manager->connect(two.a.pair, (*listener)->local(), {}, {}).has_value());
  const auto* failed = failure(two);
  BOOST_REQUIRE(failed != nullptr);
  BOOST_TEST((failed->failure == ConnectFailure::timeout));
}

BOOST_AUTO_TEST_CASE(a_reply_with_a_wrong_key_is_a_protocol_failure) {
  Two two;
  RawPeer peer;
  const auto listener = two.b.network->listen(two.b.network->address(base::Family::ipv4), peer);
  BOOST_REQUIRE(two.a.manager->connect(two.a.pair, (*listener)->local(), {}, {}).has_value());
  BOOST_REQUIRE(two.wait([&] { return peer.up; }));
  peer.say("HTTP/1.0 400 Bad Request\r\n");
  const auto* failed = failure(two);
  BOOST_REQUIRE(failed != nullptr);
  BOOST_TEST((failed->failure == ConnectFailure::protocol));
}

BOOST_AUTO_TEST_CASE(a_responder_that_resets_is_a_loss) {
  Two two;
  RawPeer peer;
  const auto listener = two.b.network->listen(two.b.network->address(base::Family::ipv4), peer);
  BOOST_REQUIRE(two.a.manager->connect(two.a.pair, (*listener)->local(), {}, {}).has_value());
  BOOST_REQUIRE(two.wait([&] { return peer.up; }));
  peer.connection->reset();
  const auto* failed = failure(two);
  BOOST_REQUIRE(failed != nullptr);
  BOOST_TEST((failed->failure == ConnectFailure::lost));
  BOOST_TEST((two.a.rnic->query_queue_pair(two.a.pair)->state == verbs::QueuePairState::error));
}

BOOST_AUTO_TEST_CASE(startups_that_hang_hold_up_nobody) {
  Two two;
  const base::Address address = two.listen();
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 20; ++i) {
    RawPeer& peer = *peers.emplace_back(std::make_unique<RawPeer>());
    peer.connection = *two.a.network->connect(address, peer);
  }
  BOOST_REQUIRE(two.wait(
      [&] { return std::ranges::all_of(peers, [](const auto& peer) { return peer->up; }); }));
  for (const auto& peer : peers) peer->say("MPA ID R");
  two.settle();
  BOOST_REQUIRE(two.a.manager->connect(two.a.pair, address, {}, {}).has_value());
  BOOST_REQUIRE(two.wait([&] { return two.b.find<ConnectionRequest>() != nullptr; },
                         std::chrono::seconds(1)));
  BOOST_REQUIRE(two.b.manager->accept(two.b.find<ConnectionRequest>()->connection, two.b.pair, {})
                    .has_value());
  BOOST_REQUIRE(two.wait([&] { return two.a.find<ConnectionEstablished>() != nullptr; },
                         std::chrono::seconds(1)));
  // And they go away by themselves.
  two.settle(std::chrono::seconds(60));
  BOOST_TEST(two.b.manager->connections() == 1U);
}

BOOST_AUTO_TEST_CASE(a_request_whose_peer_has_gone_cannot_be_accepted) {
  Two two;
  const base::Address address = two.listen();
  BOOST_REQUIRE(two.a.manager->connect(two.a.pair, address, {}, {}).has_value());
  BOOST_REQUIRE(two.wait([&] { return two.b.find<ConnectionRequest>() != nullptr; }));
  two.a.manager->drop(two.a.pair);
  two.settle();
  BOOST_TEST(!two.b.manager->accept(two.b.find<ConnectionRequest>()->connection, two.b.pair, {})
                  .has_value());
  BOOST_TEST((two.b.rnic->query_queue_pair(two.b.pair)->state == verbs::QueuePairState::idle));
  BOOST_TEST(two.b.events.size() == 1U);
}

BOOST_AUTO_TEST_CASE(stop_listening_drops_requests_and_keeps_connections) {
  Two two;
  BOOST_REQUIRE(two.connect());
  const base::Address address = two.b.find<ConnectionRequest>()->local;
  const verbs::QueuePairHandle second = two.a.make_pair();
  BOOST_REQUIRE(two.a.manager->connect(second, address, {}, {}).has_value());
  BOOST_REQUIRE(two.wait([&] { return two.b.events.size() == 3; }));
  BOOST_TEST(two.b.manager->stop_listening(two.listener).has_value());
  BOOST_TEST(!two.b.manager->stop_listening(two.listener).has_value());
  const auto* failed = failure(two);
  BOOST_REQUIRE(failed != nullptr);
  BOOST_TEST((failed->queue_pair == second));
  two.settle();
  BOOST_TEST(two.b.manager->connections() == 1U);
  BOOST_TEST((two.b.rnic->query_queue_pair(two.b.pair)->state == verbs::QueuePairState::rts));
}

BOOST_AUTO_TEST_CASE(an_attempt_can_be_given_up) {
  Two two;
  RawPeer peer;
  const auto listener = two.b.network->listen(two.b.network->address(base::Family::ipv4), peer);
  BOOST_REQUIRE(two.a.manager->connect(two.a.pair, (*listener)->local(), {}, {}).has_value());
  BOOST_REQUIRE(two.wait([&] { return peer.up; }));
  BOOST_REQUIRE(two.a.manager->disconnect(two.a.pair, false).has_value());
  BOOST_REQUIRE(failure(two) != nullptr);
  BOOST_REQUIRE(two.wait([&] { return peer.reset; }));
  BOOST_TEST(two.a.manager->connections() == 0U);
}

BOOST_AUTO_TEST_CASE(a_lost_connection_ends_for_both_and_flushes) {
  Two two;
  BOOST_REQUIRE(two.connect());
  const verbs::ReceiveRequest receive{.id = 4};
  BOOST_REQUIRE(two.b.rnic->post_receive(two.b.pair, std::span(&receive, 1)).has_value());
  two.a.manager->drop(two.a.pair);  // RST
  BOOST_REQUIRE(two.wait([&] { return two.b.find<ConnectionEnded>() != nullptr; }));
  BOOST_TEST(!two.b.find<ConnectionEnded>()->orderly);
  const auto completions = two.b.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_TEST((completions[0].status == verbs::Status::flushed));
  BOOST_TEST(two.a.find<ConnectionEnded>() == nullptr);  // a side that drops gets no event
}

/// A connects to a peer of raw octets, which accepts. The listener is to live on.
auto establish_with(Two& two, RawPeer& peer) {
  auto listener = two.b.network->listen(two.b.network->address(base::Family::ipv4), peer);
  const StartupOptions options{.revision = 1, .close_timeout = std::chrono::seconds(3)};
  BOOST_REQUIRE(two.a.manager->connect(two.a.pair, (*listener)->local(), options, {}).has_value());
  BOOST_REQUIRE(two.wait([&] { return peer.received.size() == 20; }));
  peer.say(std::string_view("MPA ID Rep Frame\x40\x01\x00\x00", 20));
  BOOST_REQUIRE(two.wait([&] { return two.a.find<ConnectionEstablished>() != nullptr; }));
  return listener;
}

BOOST_AUTO_TEST_CASE(a_peer_that_never_closes_its_half_is_reset_in_the_end) {
  Two two;
  RawPeer peer;
  const auto listener = establish_with(two, peer);
  BOOST_REQUIRE(two.a.manager->disconnect(two.a.pair, false).has_value());
  BOOST_REQUIRE(two.wait([&] { return peer.closed; }, std::chrono::seconds(1)));
  BOOST_TEST(!two.wait([&] { return peer.reset; }, std::chrono::seconds(2)));
  BOOST_TEST((two.a.find<ConnectionEnded>() == nullptr));
  BOOST_REQUIRE(two.wait([&] { return peer.reset; }, std::chrono::seconds(2)));
  BOOST_TEST((two.a.find<ConnectionEnded>() != nullptr));
}

BOOST_AUTO_TEST_CASE(after_a_fault_the_consumer_does_not_wait_for_the_peer_to_close) {
  Two two;
  RawPeer peer;
  const auto listener = establish_with(two, peer);
  peer.say(
      std::string_view("\x00\x02\x41\x43\xBA\xAD\xC0\xDE", 8));  // an FPDU whose CRC does not match
  BOOST_REQUIRE(two.wait([&] { return peer.closed; }, std::chrono::milliseconds(100)));
  BOOST_REQUIRE(two.wait([&] { return two.a.find<ConnectionEnded>() != nullptr; },
                         std::chrono::milliseconds(100)));
  BOOST_TEST(!two.a.find<ConnectionEnded>()->orderly);
  BOOST_TEST((two.a.rnic->query_queue_pair(two.a.pair)->state == verbs::QueuePairState::error));
  peer.say("more");  // is thrown away
  two.settle();
  BOOST_TEST(!peer.reset);
  BOOST_TEST(two.a.manager->connections() == 1U);
  BOOST_REQUIRE(two.wait([&] { return peer.reset; }, std::chrono::seconds(4)));
  two.settle();
  BOOST_TEST(two.a.manager->connections() == 0U);
}

BOOST_AUTO_TEST_CASE(reset_forgets_everything_at_once) {
  Two two;
  BOOST_REQUIRE(two.connect());
  two.a.manager->reset();
  two.a.events.clear();
  BOOST_TEST(two.a.manager->connections() == 0U);
  BOOST_REQUIRE(two.wait([&] { return two.b.find<ConnectionEnded>() != nullptr; }));
  two.settle();
  BOOST_TEST(two.a.events.empty());
  BOOST_TEST((two.a.rnic->query_queue_pair(two.a.pair)->state == verbs::QueuePairState::error));
}

BOOST_AUTO_TEST_CASE(parameters_that_cannot_be_are_refused_without_a_trace) {
  Two two;
  const base::Address address = two.listen();
  BOOST_TEST(!two.a.manager
                  ->connect(two.a.pair, address, {}, {.private_data = std::vector<std::byte>(509)})
                  .has_value());
  BOOST_TEST(two.a.manager
                 ->connect(two.a.pair, address, {.revision = 1},
                           {.private_data = std::vector<std::byte>(512)})
                 .has_value());
  BOOST_TEST(!two.a.manager->connect({12345}, address, {}, {}).has_value());
  BOOST_TEST(!two.a.manager->connect(two.a.pair, address, {}, {})
                  .has_value());  // it is connecting already
  BOOST_TEST(two.a.manager->connections() == 1U);
  BOOST_TEST(!two.b.manager->accept(ConnectionId{99}, two.b.pair, {}).has_value());
  BOOST_TEST(!two.b.manager->reject(ConnectionId{99}, {}).has_value());
  BOOST_TEST(!two.b.manager->stop_listening(ListenerId{99}).has_value());
  const auto again = two.b.manager->listen(address, {});
  BOOST_REQUIRE(!again.has_value());
  BOOST_TEST(!again.error().message.empty());
}

BOOST_AUTO_TEST_CASE(a_queue_pair_destroyed_under_its_connection_resets_it) {
  Two two;
  BOOST_REQUIRE(two.connect());
  BOOST_TEST(two.a.rnic->destroy_queue_pair(two.a.pair).has_value());
  BOOST_REQUIRE(two.wait([&] { return two.b.find<ConnectionEnded>() != nullptr; }));
  BOOST_TEST(!two.b.find<ConnectionEnded>()->orderly);
}

BOOST_AUTO_TEST_SUITE_END()
