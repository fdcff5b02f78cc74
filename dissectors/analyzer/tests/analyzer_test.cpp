// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The front: many connections, their beginning and end, bounds.
#include <boost/test/unit_test.hpp>

#include "dissectors/analyzer/tests/traffic.hpp"

namespace dissectors::analyzer::tests {

BOOST_AUTO_TEST_SUITE(analyzer)

BOOST_AUTO_TEST_CASE(what_was_seen_is_counted) {
  Pair pair(false, false);
  pair.client.send(10);
  Link link;
  pair.start(link);
  link.carry_all(to_server, pair.client.octets, pair.client.origin);
  link.close(to_server, pair.client.octets.size());
  link.close(to_client, pair.server.octets.size());
  link.analyzer.finish();
  const Counts& counts = link.analyzer.counts();
  BOOST_TEST(counts.segments == 7U);
  BOOST_TEST(counts.connections == 1U);
  BOOST_TEST(counts.iwarp_connections == 1U);
  BOOST_TEST(counts.fpdus == 1U);
  BOOST_TEST(counts.octets == pair.client.octets.size() + pair.server.octets.size());
  BOOST_TEST(counts.findings == 0U);
  BOOST_TEST(link.record.endings == 2);
  BOOST_TEST(link.record.closings == 1);
  BOOST_TEST(link.analyzer.memory() == 0U);
}

BOOST_AUTO_TEST_CASE(the_same_ports_opened_again_are_another_connection) {
  Pair pair(false, false);
  pair.client.send(10);
  Link link;
  pair.start(link);
  link.carry_all(to_server, pair.client.octets, pair.client.origin);
  capture::Segment segment = link.blank(to_server);
  segment.syn = true;
  segment.sequence = 77777;
  link.pass(segment);
  link.pass(segment);  // the SYN repeated
  BOOST_TEST(link.record.connections == 2);
  BOOST_TEST(link.record.closings == 1);
}

BOOST_AUTO_TEST_CASE(a_reset_ends_both_directions) {
  Pair pair(false, false);
  Link link;
  pair.start(link);
  capture::Segment segment = link.blank(to_client);
  segment.rst = true;
  link.pass(segment);
  link.carry_all(to_server, pair.client.octets);  // strays
  BOOST_TEST(link.record.closings == 1);
  BOOST_TEST(link.record.endings == 1);
  BOOST_TEST(link.record.connections == 1);
}

/// Merged taps: the octets that a segment acknowledges come after it.
struct Merged {
  Merged() {
    pair.client.send(10);
    pair.server.send(20);
    pair.start(link);
    capture::Segment answer = link.blank(to_client);
    answer.ack = true;
    answer.sequence += static_cast<std::uint32_t>(pair.server.origin);
    answer.acknowledgement =
        link.blank(to_server).sequence + static_cast<std::uint32_t>(pair.client.octets.size());
    answer.payload = wire::Bytes(pair.server.octets).subspan(pair.server.origin);
    answer.payload_length = answer.payload.size();
    link.pass(answer);
  }
  void question() { link.carry_all(to_server, pair.client.octets, pair.client.origin); }
  [[nodiscard]] std::vector<Direction> order() const {
    std::vector<Direction> directions;
    for (const Record::Fpdu& fpdu : link.record.fpdus) directions.push_back(fpdu.direction);
    return directions;
  }
  Pair pair{false, false};
  Link link;
};

BOOST_AUTO_TEST_CASE(what_was_answered_is_judged_before_the_answer) {
  Merged soon;
  soon.question();
  BOOST_TEST((soon.order() == std::vector{to_server, to_client}));
  BOOST_TEST(soon.link.record.fpdus.back().seen.place.last_frame == 5U);
  BOOST_TEST(soon.link.record.notes.empty());

  Merged never;
  never.link.analyzer.finish();
  BOOST_TEST((never.order() == std::vector{to_client}));
  BOOST_TEST(never.link.record.noted(NoteKind::octets_missing) == 1U);

  Merged late;
  late.link.time += 2 * capture_disorder;
  late.question();
  BOOST_TEST((late.order() == std::vector{to_client}));
  BOOST_TEST(late.link.record.noted(NoteKind::octets_missing) == 1U);
}

BOOST_AUTO_TEST_CASE(an_answer_waits_for_its_question_though_it_was_answered_itself) {
  Merged merged;
  capture::Segment next = merged.link.blank(to_server);
  next.ack = true;
  next.sequence += static_cast<std::uint32_t>(merged.pair.client.octets.size());
  next.acknowledgement = merged.link.blank(to_client).sequence +
                         static_cast<std::uint32_t>(merged.pair.server.octets.size());
  merged.link.pass(next);
  BOOST_TEST(merged.order().empty());
  merged.question();
  BOOST_TEST((merged.order() == std::vector{to_server, to_client}));
  BOOST_TEST(merged.link.record.notes.empty());
}

BOOST_AUTO_TEST_CASE(ends_that_wait_for_each_other_wait_no_longer) {
  Merged
      merged;  // the answer waits for the question, of which the capture has the retransmission only
  capture::Segment again = merged.link.blank(to_server);
  again.ack = true;
  again.sequence += static_cast<std::uint32_t>(merged.pair.client.origin);
  again.acknowledgement = merged.link.blank(to_client).sequence +
                          static_cast<std::uint32_t>(merged.pair.server.octets.size());
  again.payload = wire::Bytes(merged.pair.client.octets).subspan(merged.pair.client.origin);
  again.payload_length = again.payload.size();
  merged.link.pass(again);
  BOOST_TEST((merged.order() == std::vector{to_server, to_client}));
  BOOST_TEST(merged.link.record.notes.empty());
}

BOOST_AUTO_TEST_CASE(idle_connections_age_out) {
  Link link({.idle_limit = 1000000});
  link.open();
  link.client.port = 40001;
  link.time += 500000;
  link.open();
  BOOST_TEST(link.record.noted(NoteKind::aged_out) == 0U);
  link.time += 600000;
  link.open();
  BOOST_TEST(link.record.noted(NoteKind::aged_out) == 1U);
  BOOST_TEST(link.record.closings == 1);
}

BOOST_AUTO_TEST_CASE(connections_are_bounded) {
  Link link({.connections = 10});
  for (std::uint16_t port = 1; port <= 100; ++port) {
    link.client.port = port;
    link.open();
  }
  BOOST_TEST(link.record.connections == 100);
  BOOST_TEST(link.record.noted(NoteKind::aged_out) == 90U);
  link.analyzer.finish();
  BOOST_TEST(link.record.closings == 100);
}

BOOST_AUTO_TEST_CASE(connections_that_come_and_go_are_told_apart) {
  constexpr std::size_t limit = 32;
  Link link({.connections = limit});
  std::vector<std::uint16_t> open;  // as it should be: the one idle longest first
  int opened = 0;
  std::uint32_t state = 1;
  for (int count = 0; count < 20'000; ++count) {
    state = state * 1664525U + 1013904223U;
    const auto port = static_cast<std::uint16_t>(state >> 24);
    if (std::erase(open, port) == 0) {
      ++opened;
      if (open.size() == limit) open.erase(open.begin());
    }
    open.push_back(port);
    link.client.port = port;
    link.acknowledge(count % 2 == 0 ? to_server : to_client, 1);
    BOOST_REQUIRE(link.record.connections == opened);
  }
  BOOST_TEST(link.record.closings == opened - static_cast<int>(limit));
}

BOOST_AUTO_TEST_CASE(many_connections_take_little_room) {
  Pair pair(false, false);
  pair.client.send(1000);
  Link link;
  constexpr int many = 2000;
  for (int count = 0; count < many; ++count) {
    link.client.port = static_cast<std::uint16_t>(1024 + count);
    pair.start(link);
    link.carry_all(to_server, pair.client.octets, pair.client.origin);
  }
  BOOST_TEST(link.record.fpdus.size() == static_cast<std::size_t>(many));
  BOOST_TEST(link.analyzer.memory() < std::size_t{many} * 8000);
}

BOOST_AUTO_TEST_CASE(connections_mixed_on_one_wire) {
  Pair one(true, false), other(false, true);
  for (int count = 0; count < 50; ++count) {
    one.client.send(400);
    other.client.send(300);
  }
  Link link;
  one.start(link);
  link.client.port = 40001;
  other.start(link);
  for (std::size_t at = 0; at + 100 < one.client.octets.size(); at += 100) {
    link.client.port = 40000;
    if (at >= one.client.origin) link.carry(to_server, one.client.octets, at, 100);
    link.client.port = 40001;
    if (at >= other.client.origin && at + 100 < other.client.octets.size())
      link.carry(to_server, other.client.octets, at, 100);
  }
  BOOST_TEST(link.record.findings.empty(), link.record.texts);
}

BOOST_AUTO_TEST_CASE(decode_as_takes_what_fits_nothing_yet) {
  Pair pair(false, false);
  for (int count = 0; count < 20; ++count) pair.client.send(100);
  Octets octets(300000, std::byte{0x21});
  octets.insert(octets.end(),
                pair.client.octets.begin() + static_cast<std::ptrdiff_t>(pair.client.origin),
                pair.client.octets.end());
  for (const bool forced : {false, true}) {
    Link link;
    if (forced) link.analyzer.treat_as_iwarp(5445);
    link.carry_all(to_server, octets);
    link.analyzer.finish();
    BOOST_TEST(link.record.fpdus.size() == (forced ? 20U : 0U));
    BOOST_TEST(link.record.noted(NoteKind::not_iwarp) == (forced ? 0U : 1U));
  }
}

BOOST_AUTO_TEST_CASE(no_pick_up_where_it_is_not_wanted) {
  Pair pair(false, false);
  for (int count = 0; count < 20; ++count) pair.client.send(100);
  Link link({.pick_up = false});
  link.carry_all(to_server, pair.client.octets, pair.client.origin);
  link.analyzer.finish();
  BOOST_TEST(link.record.fpdus.size() == 0U);
  BOOST_TEST(link.record.noted(NoteKind::not_iwarp) == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace dissectors::analyzer::tests
