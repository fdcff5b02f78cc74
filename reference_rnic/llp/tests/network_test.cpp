// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What every Network must do: the same bodies over kernel TCP in real time and over the in-memory
// link in simulated time.
#include <algorithm>
#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <vector>

#include "base/simulated_loop.hpp"
#include "reference_rnic/llp/memory_network.hpp"
#include "reference_rnic/llp/tcp_network.hpp"

using namespace base;
using namespace rnic::llp;
using namespace std::chrono_literals;
using rnic::wire::Bytes;
using rnic::wire::MutableBytes;

namespace {

/// Two hosts over kernel TCP on loopback, with different IPv4 addresses and the same IPv6 address.
struct TcpPair {
  base::EpollLoop loop;
  TcpNetwork first{loop,
                   {.namespace_fd = {},
                    .ipv4 = *base::Address::parse("127.0.0.1"),
                    .ipv6 = *base::Address::parse("::1"),
                    .max_segment = 1448,
                    .receive_buffer = 128 * 1024}};
  TcpNetwork second{loop,
                    {.namespace_fd = {},
                     .ipv4 = *base::Address::parse("127.0.0.2"),
                     .ipv6 = *base::Address::parse("::1"),
                     .max_segment = 1448,
                     .receive_buffer = 128 * 1024}};
  Network& tester = first;
  Network& iut = second;
};

struct MemoryPair {
  base::SimulatedLoop loop;
  MemoryFabric fabric{loop};
  std::unique_ptr<Network> first =
      fabric.add_host(*base::Address::parse("10.77.0.1"), *base::Address::parse("fd77::1"));
  std::unique_ptr<Network> second =
      fabric.add_host(*base::Address::parse("10.77.0.2"), *base::Address::parse("fd77::2"));
  Network& tester = *first;
  Network& iut = *second;
};

using Pairs = boost::mpl::list<TcpPair, MemoryPair>;

/// Notes what happens to one connection, reads all that comes unless told otherwise, and can act
/// from inside a callback.
struct Endpoint : Connection::Observer {
  std::unique_ptr<Connection> connection;
  std::vector<std::byte> received;
  std::vector<Ending> endings;
  bool is_connected = false, peer_closed = false, is_writable = false;
  std::function<void()> on_connected, on_readable;

  void connected() override {
    is_connected = true;
    if (on_connected) on_connected();
  }
  void readable() override {
    if (on_readable) return on_readable();
    std::vector<std::byte> first(10), second(4000);
    const std::array<MutableBytes, 2> targets{first, second};
    const auto got = connection->receive(targets);
    const std::size_t in_first = std::min(got.count, first.size());
    received.insert(received.end(), first.begin(),
                    first.begin() + static_cast<std::ptrdiff_t>(in_first));
    received.insert(received.end(), second.begin(),
                    second.begin() + static_cast<std::ptrdiff_t>(got.count - in_first));
    peer_closed = got.peer_closed;
  }
  void writable() override { is_writable = true; }
  void ended(Ending ending) override { endings.push_back(ending); }

  void adopt(std::unique_ptr<Connection> accepted) {
    connection = std::move(accepted);
    connection->set_observer(*this);
  }
};

struct Acceptor : Listener::Observer {
  std::function<void(std::unique_ptr<Connection>)> on_accepted;
  void accepted(std::unique_ptr<Connection> connection) override {
    on_accepted(std::move(connection));
  }
};

/// A connection from the tester to a listener of the IUT.
template <typename Pair>
struct Connected : Pair {
  Acceptor acceptor;
  std::unique_ptr<Listener> listener;
  Endpoint client, server;

  explicit Connected(base::Family family = base::Family::ipv4) {
    acceptor.on_accepted = [this](std::unique_ptr<Connection> accepted) {
      server.adopt(std::move(accepted));
    };
    listener = this->iut.listen(this->iut.address(family), acceptor).value();
    client.connection = this->tester.connect(listener->local(), client).value();
    BOOST_REQUIRE(wait([&] { return client.is_connected && server.connection; }));
  }
  bool wait(const std::function<bool()>& done) {
    return this->loop.run_until(this->loop.now() + 10s, done);
  }
};

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> octets(size);
  for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<std::byte>(i * 7 + i / 251);
  return octets;
}

/// Sends all of `octets`, some at a time, coming again when the connection is writable.
struct Sender {
  Endpoint& endpoint;
  std::vector<std::byte> octets;
  std::size_t sent = 0;
  bool push() {
    while (sent < octets.size()) {
      const Bytes rest = Bytes(octets).subspan(sent);
      const std::array<Bytes, 2> pieces{rest.first(rest.size() / 2), rest.subspan(rest.size() / 2)};
      const std::size_t taken = endpoint.connection->send(pieces, true);
      if (taken == 0) return false;
      sent += taken;
    }
    return true;
  }
};

void say(Connection& connection, Bytes octets, bool end_segment = true) {
  const std::array<Bytes, 1> pieces{octets};
  BOOST_REQUIRE(connection.send(pieces, end_segment) == octets.size());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(network)

BOOST_AUTO_TEST_CASE_TEMPLATE(both_ends_know_their_addresses, Pair, Pairs) {
  for (const base::Family family : {base::Family::ipv4, base::Family::ipv6}) {
    Connected<Pair> pair(family);
    BOOST_TEST(pair.client.connection->local().text() == pair.server.connection->remote().text());
    BOOST_TEST(pair.client.connection->remote().text() == pair.listener->local().text());
    BOOST_TEST(pair.client.connection->local().host() == pair.tester.address(family).host());
    BOOST_TEST(pair.client.connection->emss() > 1000u);
    BOOST_TEST(pair.client.connection->emss() <= 1448u);
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_mebibyte_passes_both_ways, Pair, Pairs) {
  Connected<Pair> pair;
  Sender up{pair.client, pattern(1 << 20)}, down{pair.server, pattern((1 << 20) + 3)};
  BOOST_TEST(pair.wait([&] {
    const bool all_sent = up.push() & down.push();
    return all_sent && pair.server.received.size() == up.octets.size() &&
           pair.client.received.size() == down.octets.size();
  }));
  BOOST_TEST((pair.server.received == up.octets));
  BOOST_TEST((pair.client.received == down.octets));
  BOOST_TEST(pair.wait([&] { return pair.client.connection->unacknowledged() == 0; }));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(each_ended_segment_stands_alone, Pair, Pairs) {
  Connected<Pair> pair;
  const auto octets = pattern(90);
  const auto before = pair.client.connection->data_segments_sent();
  for (std::size_t i = 0; i < 90; i += 10)
    say(*pair.client.connection, Bytes(octets).subspan(i, 10));
  BOOST_TEST(pair.wait([&] { return pair.server.received.size() == 90; }));
  BOOST_TEST((pair.server.received == octets));
  BOOST_TEST(pair.client.connection->data_segments_sent() - before == 9u);
  BOOST_TEST(pair.server.connection->data_segments_received() == 9u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(many_pieces_are_one_segment, Pair, Pairs) {
  Connected<Pair> pair;
  const auto octets = pattern(1000);
  std::vector<Bytes> pieces;
  for (std::size_t i = 0; i < octets.size(); ++i) pieces.push_back(Bytes(octets).subspan(i, 1));
  const auto before = pair.client.connection->data_segments_sent();
  BOOST_TEST(pair.client.connection->send(pieces, true) == octets.size());
  BOOST_TEST(pair.wait([&] { return pair.server.received.size() == octets.size(); }));
  BOOST_TEST((pair.server.received == octets));
  BOOST_TEST(pair.client.connection->data_segments_sent() - before == 1u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(either_end_can_bound_the_segments, Pair, Pairs) {
  Connected<Pair> pair;
  const auto emss_of_another = [&] {
    pair.listener = pair.iut.listen(pair.iut.address(base::Family::ipv4), pair.acceptor).value();
    Endpoint client;
    client.connection = pair.tester.connect(pair.listener->local(), client).value();
    BOOST_REQUIRE(pair.wait([&] { return client.is_connected && pair.server.connection; }));
    BOOST_TEST(client.connection->emss() == pair.server.connection->emss());
    return client.connection->emss();
  };
  const std::size_t usual = emss_of_another();
  for (Network* bounded : {&pair.tester, &pair.iut}) {
    bounded->limit_segments(500);
    pair.server.connection.reset();
    const std::size_t least = emss_of_another();
    BOOST_TEST(least <= 500u);
    BOOST_TEST(least > 400u);
    bounded->limit_segments(10);  // TCP takes no less than 88
    pair.server.connection.reset();
    BOOST_TEST(emss_of_another() <= 88u);
    bounded->limit_segments({});
    pair.server.connection.reset();
    BOOST_TEST(emss_of_another() == usual);
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_paused_receiver_fills_the_window, Pair, Pairs) {
  Connected<Pair> pair;
  pair.server.connection->pause_receiving(true);
  Sender sender{pair.client, pattern(8 << 20)};
  BOOST_TEST(!sender.push());
  pair.loop.run_until(pair.loop.now() + 50ms, [&] { return sender.push(); });
  BOOST_TEST(sender.sent < sender.octets.size());
  BOOST_TEST(pair.server.received.empty());
  pair.server.connection->pause_receiving(false);
  BOOST_TEST(pair.wait(
      [&] { return sender.push() && pair.server.received.size() == sender.octets.size(); }));
  BOOST_TEST(pair.client.is_writable);
  BOOST_TEST((pair.server.received == sender.octets));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(after_a_fin_data_still_flows_the_other_way, Pair, Pairs) {
  Connected<Pair> pair;
  say(*pair.client.connection, pattern(5));
  pair.client.connection->shutdown_send();
  BOOST_TEST(pair.wait([&] { return pair.server.peer_closed; }));
  BOOST_TEST(pair.server.received.size() == 5u);
  say(*pair.server.connection, pattern(2000));
  BOOST_TEST(pair.wait([&] { return pair.client.received.size() == 2000; }));
  BOOST_TEST(!pair.client.peer_closed);
  pair.server.connection->shutdown_send();
  BOOST_TEST(pair.wait([&] { return pair.client.peer_closed; }));
  pair.loop.run_until(pair.loop.now() + 5ms, [] { return false; });
  BOOST_TEST(pair.client.endings.empty());
  BOOST_TEST(pair.server.endings.empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_reset_is_told_apart_from_a_fin, Pair, Pairs) {
  Connected<Pair> pair;
  pair.client.connection->reset();
  BOOST_TEST(pair.wait([&] { return !pair.server.endings.empty(); }));
  BOOST_TEST((pair.server.endings == std::vector{Ending::reset}));
  BOOST_TEST(!pair.server.peer_closed);
  BOOST_TEST(pair.client.endings.empty());  // the side that did it gets no event
  const std::array<Bytes, 1> pieces{};
  BOOST_TEST(pair.server.connection->send(pieces, true) == 0u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_came_before_a_reset_is_read_first, Pair, Pairs) {
  Connected<Pair> pair;
  say(*pair.client.connection, pattern(3000));
  BOOST_TEST(pair.wait([&] { return pair.client.connection->unacknowledged() == 0; }));
  pair.client.connection->reset();
  BOOST_TEST(pair.wait([&] { return !pair.server.endings.empty(); }));
  BOOST_TEST(pair.server.received.size() == 3000u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_reset_after_a_fin_is_seen, Pair, Pairs) {
  Connected<Pair> pair;
  pair.client.connection->shutdown_send();
  BOOST_TEST(pair.wait([&] { return pair.server.peer_closed; }));
  pair.client.connection->reset();
  BOOST_TEST(pair.wait([&] { return !pair.server.endings.empty(); }));
  BOOST_TEST((pair.server.endings == std::vector{Ending::reset}));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_paused_connection_still_learns_of_a_reset, Pair, Pairs) {
  Connected<Pair> pair;
  pair.server.connection->pause_receiving(true);
  pair.client.connection->reset();
  BOOST_TEST(pair.wait([&] { return !pair.server.endings.empty(); }));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(nobody_listening_is_refused, Pair, Pairs) {
  Pair pair;
  Acceptor acceptor;
  auto listener = pair.iut.listen(pair.iut.address(base::Family::ipv4), acceptor).value();
  const base::Address gone = listener->local();
  listener.reset();
  Endpoint client;
  client.connection = pair.tester.connect(gone, client).value();
  BOOST_TEST(pair.loop.run_until(pair.loop.now() + 5s, [&] { return !client.endings.empty(); }));
  BOOST_TEST((client.endings == std::vector{Ending::refused}));
  BOOST_TEST(!client.is_connected);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_ipv4_listener_takes_no_ipv6, Pair, Pairs) {
  Pair pair;
  Acceptor acceptor;
  acceptor.on_accepted = [](std::unique_ptr<Connection>) {
    BOOST_ERROR("accepted the other family");
  };
  const auto listener = pair.iut.listen(pair.iut.address(base::Family::ipv4), acceptor).value();
  Endpoint client;
  client.connection =
      pair.tester
          .connect(pair.iut.address(base::Family::ipv6).with_port(listener->local().port), client)
          .value();
  BOOST_TEST(pair.loop.run_until(pair.loop.now() + 5s, [&] { return !client.endings.empty(); }));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(listening_twice_fails_and_says_where_and_why, Pair, Pairs) {
  Pair pair;
  Acceptor acceptor;
  const auto listener = pair.iut.listen(pair.iut.address(base::Family::ipv4), acceptor).value();
  const auto again = pair.iut.listen(listener->local(), acceptor);
  BOOST_REQUIRE(!again);
  BOOST_TEST(again.error().code == EADDRINUSE);
  BOOST_TEST(again.error().message.find(listener->local().text()) != std::string::npos);
  BOOST_TEST(again.error().message.find("Address already in use") != std::string::npos);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(reset_or_destruction_while_connecting_is_silent, Pair, Pairs) {
  Pair pair;
  Acceptor acceptor;
  Endpoint server;
  acceptor.on_accepted = [&](std::unique_ptr<Connection> accepted) {
    server.adopt(std::move(accepted));
  };
  const auto listener = pair.iut.listen(pair.iut.address(base::Family::ipv4), acceptor).value();
  Endpoint first, second;
  first.connection = pair.tester.connect(listener->local(), first).value();
  first.connection->reset();
  second.connection = pair.tester.connect(listener->local(), second).value();
  second.connection.reset();
  pair.loop.run_until(pair.loop.now() + 20ms, [] { return false; });
  BOOST_TEST((!first.is_connected && first.endings.empty()));
  BOOST_TEST((!second.is_connected && second.endings.empty()));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_connection_may_be_destroyed_in_each_callback, Pair, Pairs) {
  {
    Connected<Pair> pair;
    pair.server.on_readable = [&] { pair.server.connection.reset(); };
    say(*pair.client.connection, pattern(10));
    BOOST_TEST(pair.wait([&] { return !pair.server.connection; }));
    BOOST_TEST(pair.wait([&] { return pair.client.peer_closed || !pair.client.endings.empty(); }));
  }
  Pair pair;
  Acceptor acceptor;
  std::unique_ptr<Listener> listener;
  bool accepted_one = false;
  acceptor.on_accepted =
      [&](std::unique_ptr<Connection>) {  // both the connection and its listener go
        listener.reset();
        accepted_one = true;
      };
  listener = pair.iut.listen(pair.iut.address(base::Family::ipv4), acceptor).value();
  Endpoint client;
  client.on_connected = [&] { client.connection.reset(); };
  client.connection = pair.tester.connect(listener->local(), client).value();
  BOOST_TEST(pair.loop.run_until(pair.loop.now() + 5s,
                                 [&] { return accepted_one && client.is_connected; }));
  BOOST_TEST(!client.connection);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(last_words_survive_a_destroyed_connection_with_unread_data, Pair,
                              Pairs) {
  Connected<Pair> pair;
  pair.server.connection->pause_receiving(true);
  say(*pair.client.connection, pattern(100));
  BOOST_TEST(pair.wait([&] { return pair.client.connection->unacknowledged() == 0; }));
  say(*pair.server.connection, pattern(44));
  pair.server.connection.reset();
  BOOST_TEST(pair.wait([&] { return pair.client.peer_closed; }));
  BOOST_TEST(pair.client.received.size() == 44u);
  BOOST_TEST(pair.client.endings.empty());
}

BOOST_AUTO_TEST_CASE(the_fabric_shows_what_passes) {
  base::SimulatedLoop loop;
  MemoryFabric fabric(loop, {.emss_ipv4 = 100, .emss_ipv6 = 80, .window = 1000, .latency = 1ms});
  const auto tester =
      fabric.add_host(*base::Address::parse("10.77.0.1"), *base::Address::parse("fd77::1"));
  const auto iut =
      fabric.add_host(*base::Address::parse("10.77.0.2"), *base::Address::parse("fd77::2"));
  std::vector<MemoryFabric::Passed::Kind> kinds;
  std::vector<std::size_t> sizes;
  fabric.set_tap([&](const MemoryFabric::Passed& passed) {
    kinds.push_back(passed.kind);
    sizes.push_back(passed.octets.size());
  });
  Acceptor acceptor;
  Endpoint client, server;
  acceptor.on_accepted = [&](std::unique_ptr<Connection> accepted) {
    server.adopt(std::move(accepted));
  };
  const auto listener = iut->listen(iut->address(base::Family::ipv6), acceptor).value();
  client.connection = tester->connect(listener->local(), client).value();
  client.on_connected = [&] {
    say(*client.connection, pattern(200));
    client.connection->shutdown_send();
  };
  BOOST_TEST(loop.run_until(loop.now() + 1s, [&] { return server.peer_closed; }));
  // SYN, SYN-ACK, data: one latency each, and the segments one after another.
  const base::Duration taken = loop.now() - base::TimePoint{};
  BOOST_TEST((taken >= 3ms && taken < 3ms + 100us));
  using K = MemoryFabric::Passed::Kind;
  BOOST_TEST((kinds == std::vector{K::syn, K::syn_ack, K::data, K::data, K::data, K::fin}));
  BOOST_TEST(sizes == (std::vector<std::size_t>{0, 0, 80, 80, 40, 0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_emss_of_a_memory_link_changes_for_both_ends) {
  Connected<MemoryPair> pair;
  BOOST_TEST(pair.client.connection->change_emss(700));
  BOOST_TEST(pair.server.connection->emss() == 700u);
  say(*pair.client.connection, pattern(1400));
  BOOST_TEST(pair.wait([&] { return pair.server.received.size() == 1400; }));
  BOOST_TEST(pair.server.connection->data_segments_received() == 2u);
}

BOOST_AUTO_TEST_CASE(a_listener_everywhere_is_at_each_address_of_its_host) {
  MemoryPair pair;
  const auto further = *base::Address::parse("10.77.0.4");
  const auto host = pair.fabric.add_host(*base::Address::parse("10.77.0.3"),
                                         *base::Address::parse("fd77::3"), {}, {further});
  int accepted = 0;
  Acceptor acceptor;
  acceptor.on_accepted = [&](std::unique_ptr<Connection>) { ++accepted; };
  const auto everywhere = host->listen(*base::Address::parse("0.0.0.0"), acceptor);
  BOOST_REQUIRE(everywhere);
  for (const auto& address : {host->address(base::Family::ipv4), further}) {
    Endpoint client;
    client.connection =
        *pair.tester.connect(address.with_port((*everywhere)->local().port), client);
    const int before = accepted;
    BOOST_TEST(pair.loop.run_until(pair.loop.now() + 1s, [&] { return accepted > before; }));
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_host_is_unreachable) {
  MemoryPair pair;
  Endpoint client;
  client.connection = pair.tester.connect(*base::Address::parse("10.9.9.9", 5), client).value();
  BOOST_TEST(pair.loop.run_until(pair.loop.now() + 1s, [&] { return !client.endings.empty(); }));
  BOOST_TEST((client.endings == std::vector{Ending::unreachable}));
}

BOOST_AUTO_TEST_CASE(a_namespace_that_is_none_is_an_error_not_a_socket_elsewhere) {
  base::EpollLoop loop;
  TcpNetwork network(loop, {.namespace_fd = 0x7FFF,
                            .ipv4 = *base::Address::parse("127.0.0.1"),
                            .ipv6 = {},
                            .max_segment = {},
                            .receive_buffer = {}});
  Acceptor acceptor;
  const auto listener = network.listen(*base::Address::parse("127.0.0.1"), acceptor);
  BOOST_REQUIRE(!listener);
  BOOST_TEST(listener.error().message.find("127.0.0.1") != std::string::npos);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_lost_segment_comes_later_and_what_follows_waits, Pair, Pairs) {
  for (const base::Family family : {base::Family::ipv4, base::Family::ipv6}) {
    Connected<Pair> pair(family);
    Connection& connection = *pair.client.connection;
    if (!connection.can_disturb()) return;  // only the privileged may
    const auto octets = pattern(600);
    BOOST_TEST(connection.send_lost(Bytes(octets).first(200)));
    pair.loop.run_until(pair.loop.now() + 20ms, [] { return false; });
    BOOST_TEST(pair.server.received.size() == 0U);
    say(connection, Bytes(octets).subspan(200));
    BOOST_TEST(pair.wait([&] { return pair.server.received.size() >= octets.size(); }));
    BOOST_TEST((pair.server.received == octets));
    connection.shutdown_send();
    BOOST_TEST(pair.wait([&] { return pair.server.peer_closed; }));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(segments_out_of_turn_change_nothing_above, Pair, Pairs) {
  for (const base::Family family : {base::Family::ipv4, base::Family::ipv6}) {
    Connected<Pair> pair(family);
    Connection& connection = *pair.client.connection;
    if (!connection.can_disturb()) return;
    const auto octets = pattern(300);
    BOOST_TEST(connection.inject(200, Bytes(octets).subspan(200), Ecn::not_capable));
    pair.loop.run_until(pair.loop.now() + 50ms, [] { return false; });
    BOOST_TEST(pair.server.received.size() == 0U);
    say(connection, octets);
    BOOST_TEST(pair.wait([&] { return pair.server.received.size() == octets.size(); }));
    BOOST_TEST(connection.inject(-300, octets, Ecn::not_capable));
    // What comes next is taken at once, and its repetition is not.
    BOOST_TEST(connection.inject(0, octets, Ecn::congestion_experienced));
    BOOST_TEST(pair.wait([&] { return pair.server.received.size() == 2 * octets.size(); }));
    const auto last = pattern(100);
    say(connection, octets);
    say(connection, last);
    auto all = octets;
    all.insert(all.end(), octets.begin(), octets.end());
    all.insert(all.end(), last.begin(), last.end());
    BOOST_TEST(pair.wait([&] { return pair.server.received.size() == all.size(); }));
    BOOST_TEST((pair.server.received == all));
  }
}

BOOST_AUTO_TEST_SUITE_END()
