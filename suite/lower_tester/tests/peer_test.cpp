// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Two scripted peers against one another, over kernel TCP and over the in-memory link.
#include <boost/test/unit_test.hpp>

#include "suite/lower_tester/expected.hpp"
#include "suite/lower_tester/peer.hpp"
#include "suite/lower_tester/tests/links.hpp"

using namespace suite::lower_tester;
using namespace suite::lower_tester::tests;
using namespace base;
using namespace rnic::llp;
using namespace std::chrono_literals;
using wire::Opcode;

namespace {

template <typename Link>
struct Pair : Link {
  std::vector<std::string> faults, inconclusive;
  Context context{this->loop,
                  this->network,
                  {},
                  this->loop.now(),
                  this->loop.now() + 10s,
                  [this](const SenderFault& fault) { faults.emplace_back(fault.rule); },
                  [this](std::string why) { inconclusive.push_back(std::move(why)); }};
  Peer client{context}, server{context};

  explicit Pair(Family family = Family::ipv4) {
    Acceptor acceptor(context, family);
    BOOST_REQUIRE(acceptor.error().empty());
    BOOST_REQUIRE(client.connect(acceptor.address()));
    auto connection = acceptor.next(context.deadline);
    BOOST_REQUIRE(connection);
    server.adopt(std::move(connection));
  }
  void start(bool client_markers = false, bool server_markers = false, bool crc = true) {
    client.send(mpa_request().with_markers(client_markers).with_crc(crc));
    const Arrival request = next(server);
    BOOST_REQUIRE(request.template as<ReceivedFrame>());
    server.send(mpa_reply_to(server.received_frame()->frame())
                    .with_markers(server_markers)
                    .with_crc(false));
    const Arrival came_1 = next(client);
    BOOST_REQUIRE(came_1.template as<ReceivedFrame>());
  }
  Arrival next(Peer& peer) { return peer.next(context.deadline); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(peer)

BOOST_AUTO_TEST_CASE_TEMPLATE(startup_and_messages_in_every_framing, Link, Links) {
  for (const Family family : {Family::ipv4, Family::ipv6})
    for (const int options : {0, 1, 2, 3, 4, 5, 6, 7}) {
      Pair<Link> pair(family);
      pair.start(options & 1, options & 2, options & 4);
      pair.client.send(send_message(payload(5000)));
      const Arrival first = pair.next(pair.server);
      BOOST_REQUIRE(first.message(Opcode::send));
      BOOST_TEST((first.message(Opcode::send)->payload == payload(5000)));
      pair.server.send(rdma_write(1, 2, payload(3000)));
      BOOST_TEST(
          (tagged_message(Opcode::rdma_write, 1, 2, payload(3000)).judge(pair.next(pair.client)) ==
           Judgement::pass));
      BOOST_TEST(pair.faults.empty());
    }
}

BOOST_AUTO_TEST_CASE(what_is_wrong_on_purpose_stands_in_the_exchange) {
  Pair<MemoryLink> pair;
  pair.start();
  const auto told = [&](const Fpdu& fpdu) {
    pair.client.send(fpdu);
    const std::string& text = pair.context.evidence.exchange.back().text;
    const auto fault = text.find(" ! ");
    return fault == std::string::npos ? std::string() : text.substr(fault);
  };
  const auto right = [&] { return pair.client.prepare(send_message(payload(16))).front(); };
  BOOST_TEST(told(right()) == "");
  BOOST_TEST(told(right().with_crc(CrcChoice::right)) == "");
  BOOST_TEST(
      told(right().with_crc(CrcChoice::zero)).starts_with(" ! octets 36 to 39: 00 00 00 00"));
  BOOST_TEST(
      told(right().with_length_field(35)).starts_with(" ! octet 1: 23 in place of 22 ! octet"));
  BOOST_TEST(told(right().with_pad(octets({0, 0, 0, 0}))) == " ! 44 octets in place of 40");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_cut_reaches_the_wire_and_changes_nothing, Link, Links) {
  Pair<Link> pair;
  pair.client.send(mpa_request().with_private_data(payload(40)), Cut::single_octets());
  const Arrival came_2 = pair.next(pair.server);
  BOOST_REQUIRE(came_2.template as<ReceivedFrame>());
  pair.server.send(mpa_reply());
  const Arrival came_3 = pair.next(pair.client);
  BOOST_REQUIRE(came_3.template as<ReceivedFrame>());
  pair.client.send(send_message(payload(30)), Cut::at({1, 2, 19, 20}));
  BOOST_TEST((message(Opcode::send, payload(30)).judge(pair.next(pair.server)) == Judgement::pass));
  const auto before = pair.client.connection().data_segments_sent();
  pair.client.send(std::vector{pair.client.prepare(send_message(payload(3))).front(),
                               pair.client.prepare(send_message({})).front()});
  BOOST_TEST((message(Opcode::send, payload(3)).judge(pair.next(pair.server)) == Judgement::pass));
  BOOST_TEST((message(Opcode::send, {}).judge(pair.next(pair.server)) == Judgement::pass));
  BOOST_TEST(pair.client.connection().data_segments_sent() - before == 1u);
  BOOST_TEST(pair.inconclusive.empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(endings_are_told_apart, Link, Links) {
  {
    Pair<Link> pair;
    pair.start();
    pair.client.half_close();
    BOOST_TEST((fin().judge(pair.next(pair.server)) == Judgement::pass));
    pair.server.send(send_message({}));  // the other direction still works
    BOOST_TEST((message(Opcode::send).judge(pair.next(pair.client)) == Judgement::pass));
  }
  {
    Pair<Link> pair;
    pair.start();
    pair.client.reset();
    const Arrival arrival = pair.next(pair.server);
    BOOST_TEST((connection_reset().judge(arrival) == Judgement::pass));
    BOOST_TEST((fin().judge(arrival) == Judgement::fail));
    pair.server.send(send_message({}));  // noted, no fault of the harness
    BOOST_TEST(pair.context.evidence.exchange.back().text.find("not sent") == 0u);
  }
  Pair<Link> pair;
  pair.start();
  pair.client.send_octets(payload(7));
  pair.client.half_close();
  const Arrival came_4 = pair.next(pair.server);
  BOOST_TEST(came_4.template as<Malformed>());
  const Arrival arrival = pair.next(pair.server);
  BOOST_REQUIRE(arrival.template as<PeerClosed>());
  BOOST_TEST(arrival.template as<PeerClosed>()->mid_fpdu);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_responder_that_speaks_first_is_a_fault, Link, Links) {
  Pair<Link> pair;
  pair.start();
  pair.server.send(send_message({}));
  BOOST_TEST((message(Opcode::send).judge(pair.next(pair.client)) == Judgement::pass));
  BOOST_TEST(
      (pair.faults == std::vector<std::string>{"mpa.startup.responder-silent-before-first-fpdu"}));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(fpdus_before_the_reply_are_a_fault, Link, Links) {
  Pair<Link> pair;
  Octets both = mpa_request().encode();
  const Octets fpdu = encode(send_message({}).segments(1000, 1).front(), {});
  both.insert(both.end(), fpdu.begin(), fpdu.end());
  pair.client.send_octets(both);
  const Arrival came_5 = pair.next(pair.server);
  BOOST_REQUIRE(came_5.template as<ReceivedFrame>());
  pair.server.send(mpa_reply());
  BOOST_TEST((pair.faults == std::vector<std::string>{"mpa.startup.no-fpdu-before-both-frames"}));
  BOOST_TEST((message(Opcode::send).judge(pair.next(pair.server)) == Judgement::pass));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(silence_is_reported_with_its_length, Link, Links) {
  Pair<Link> pair;
  pair.start();
  const Arrival nothing = pair.server.next(pair.loop.now() + 20ms);
  BOOST_REQUIRE(nothing.template as<Nothing>());
  BOOST_TEST((nothing.template as<Nothing>()->waited >= 20ms));
  BOOST_TEST((silence().judge(nothing) == Judgement::pass));
  BOOST_TEST((message(Opcode::send).judge(nothing) == Judgement::fail));
}

/// The server's view of a message whose FPDUs come 4 s apart, while a single thing may take 5 s.
struct SlowMessage : Pair<MemoryLink> {
  std::vector<Fpdu> fpdus;

  explicit SlowMessage(std::size_t length) {
    start();
    fpdus = client.prepare(send_message(payload(length)));
    BOOST_REQUIRE(fpdus.size() > 3u);
    context.patience = 5s;
    context.deadline = loop.now() + context.patience;
  }
  Arrival arrival_of_the_first(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      loop.schedule(loop.now() + i * 4s, [this, i] {
        const Octets octets = encode(fpdus[i], {.crc = true});
        const std::array<wire::Bytes, 1> pieces{octets};
        BOOST_TEST(client.connection().send(pieces, true) == octets.size());
      });
    return next(server);
  }
};

BOOST_AUTO_TEST_CASE(message_that_comes_slowly_is_awaited_to_its_end) {
  SlowMessage slow(5000);
  const Arrival arrival = slow.arrival_of_the_first(slow.fpdus.size());
  BOOST_REQUIRE(arrival.message(Opcode::send));
  BOOST_TEST((arrival.message(Opcode::send)->payload == payload(5000)));
  BOOST_TEST(slow.faults.empty());
}

BOOST_AUTO_TEST_CASE(message_that_stops_midway_has_no_last_segment) {
  SlowMessage slow(5000);
  const Arrival arrival = slow.arrival_of_the_first(3);
  BOOST_REQUIRE(arrival.message(Opcode::send));
  BOOST_TEST(arrival.message(Opcode::send)->segments.size() == 3u);
  BOOST_TEST(slow.faults == std::vector<std::string>{"ddp.header.l-set-on-last"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(message_without_end_is_given_up_and_no_fault) {
  SlowMessage slow(20000);
  const Arrival arrival = slow.arrival_of_the_first(slow.fpdus.size());
  BOOST_TEST(arrival.as<Nothing>());
  BOOST_TEST(slow.faults.empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_receiver_that_takes_nothing_stops_the_sender, Link, Links) {
  Pair<Link> pair;
  pair.start();
  pair.server.pause_receiving(true);
  pair.context.deadline = pair.loop.now() + 200ms;
  pair.client.send(send_message(Octets(8 << 20)));
  BOOST_TEST(pair.context.evidence.exchange.back().text.find("takes no more") != std::string::npos);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_evidence_holds_both_directions, Link, Links) {
  Pair<Link> pair;
  pair.start();
  pair.client.send(send_message(payload(4)));
  const Arrival came_6 = pair.next(pair.server);
  BOOST_REQUIRE(came_6.message(Opcode::send));
  const auto& records = pair.context.evidence.connections;
  BOOST_REQUIRE(records.size() == 2u);
  BOOST_TEST(records[0].opened_by_tester);
  BOOST_TEST(!records[1].opened_by_tester);
  BOOST_TEST(records[0].tester.text() == records[1].iut.text());
  const auto octets_to_iut = [](const ConnectionRecord& record, Direction direction) {
    std::size_t sum = 0;
    for (const auto& mark : record.marks)
      sum += mark.direction == direction ? mark.octets.size() : 0;
    return sum;
  };
  BOOST_TEST(octets_to_iut(records[0], Direction::to_iut) == 20u + 28);
  BOOST_TEST(octets_to_iut(records[1], Direction::from_iut) == 20u + 28);
  BOOST_TEST(octets_to_iut(records[0], Direction::from_iut) == 20u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_message_of_which_the_crc_alone_is_wrong_is_told, Link, Links) {
  const auto received = [](const Outgoing& message) {
    Pair<Link> pair;
    pair.start();
    pair.client.send(message.with_crc(CrcChoice::wrong));
    const Arrival came = pair.next(pair.server);
    const auto* malformed = came.as<Malformed>();
    BOOST_REQUIRE(malformed);
    return malformed->but_for_crc;
  };
  const auto whole = received(send_message(payload(16)));
  BOOST_REQUIRE(whole);
  BOOST_TEST((whole->opcode() == Opcode::send && whole->payload == payload(16)));
  BOOST_TEST(!received(send_message(payload(16)).with_segments_of(8)));
}

// docs/disputes.md D101.
BOOST_AUTO_TEST_CASE(zeros_may_stand_for_the_headers_that_a_terminate_leaves_out) {
  Message message;
  message.untagged_header.rdmap = wire::RdmapControl::make(Opcode::terminate);
  message.payload = {std::byte{0x11}, std::byte{0x01}, std::byte{0}, std::byte{0}};
  BOOST_TEST(message.is_terminate_as_specified());
  message.payload.resize(message.payload.size() + 48);
  BOOST_TEST(message.is_terminate_as_specified());
  message.payload.back() = std::byte{1};
  BOOST_TEST(!message.is_terminate_as_specified());
}

BOOST_AUTO_TEST_CASE(alternatives_are_judged_in_their_order) {
  const Expected expected = terminate(wire::cause::mpa_crc) | inconclusive(silence());
  BOOST_TEST((expected.judge({{}, PeerClosed{}}) == Judgement::advisory));
  BOOST_TEST((expected.judge({{}, Nothing{}}) == Judgement::inconclusive));
  BOOST_TEST((expected.judge({{}, Malformed{}}) == Judgement::fail));
  BOOST_TEST(expected.accepts_silence());
  BOOST_TEST(!fin().accepts_silence());
  BOOST_TEST(expected.admissible().size() == 3u);
  BOOST_TEST((only_terminate({wire::cause::mpa_crc}).judge({{}, PeerClosed{}}) == Judgement::fail));
}

BOOST_AUTO_TEST_SUITE_END()
