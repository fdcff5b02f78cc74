// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// FPDUs found in whole, torn, lossy and joined-late connections.
#include <boost/test/unit_test.hpp>
#include <random>

#include "dissectors/analyzer/tests/traffic.hpp"

namespace dissectors::analyzer::tests {

BOOST_AUTO_TEST_SUITE(mpa_framing)

namespace {

void expect_clean(const Link& link) {
  BOOST_TEST(link.record.findings.size() == 0U, link.record.texts);
}

void expect_all(const Link& link, const Pair& pair) {
  BOOST_CHECK(link.record.ulpdus(to_server) == pair.client.ulpdus);
  BOOST_CHECK(link.record.ulpdus(to_client) == pair.server.ulpdus);
}

Pair busy_pair(bool client_markers, bool server_markers, bool crc = true) {
  Pair pair(client_markers, server_markers, crc);
  for (const std::size_t payload : {0U, 1U, 2U, 3U, 5U, 64U, 200U, 511U, 1000U, 1400U, 7U, 9U}) {
    pair.client.send(payload);
    pair.server.send(payload + 2);
  }
  return pair;
}

void carry_rest(Link& link, const Pair& pair, std::size_t size) {
  link.carry_all(to_server, pair.client.octets, pair.client.origin, size);
  link.carry_all(to_client, pair.server.octets, pair.server.origin, size);
}

/// Runs the pair's traffic, cut for each size of segment.
void try_sizes(bool client_markers, bool server_markers, bool crc) {
  const Pair pair = busy_pair(client_markers, server_markers, crc);
  for (const std::size_t size : {1U, 2U, 3U, 5U, 7U, 64U, 511U, 512U, 1448U, 100000U}) {
    Link link;
    link.open();
    link.carry_all(
        to_server,
        Octets(pair.client.octets.begin(),
               pair.client.octets.begin() + static_cast<std::ptrdiff_t>(pair.client.origin)),
        0, size);
    link.carry_all(to_client, pair.server.octets, 0, size);
    link.carry_all(to_server, pair.client.octets, pair.client.origin, size);
    link.analyzer.finish();
    BOOST_TEST_INFO("segments of " << size);
    expect_all(link, pair);
    expect_clean(link);
    BOOST_TEST(link.record.frames.size() == 2U);
    for (const auto& fpdu : link.record.fpdus) {
      BOOST_CHECK(fpdu.seen.crc == (crc ? Crc::right : Crc::unused));
      BOOST_CHECK(fpdu.seen.certainty == Certainty::certain);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_way_of_cutting_gives_the_same) {
  for (const bool crc : {true, false}) {
    try_sizes(false, false, crc);
    try_sizes(true, false, crc);
    try_sizes(false, true, crc);
    try_sizes(true, true, crc);
  }
}

BOOST_AUTO_TEST_CASE(split_at_each_octet) {
  Pair pair(true, false);
  pair.client.send(600);
  pair.client.send(20);
  const Octets& octets = pair.client.octets;
  for (std::size_t at = pair.client.origin + 1; at < octets.size(); ++at) {
    Link link;
    pair.start(link);
    link.carry(to_server, octets, pair.client.origin, at - pair.client.origin);
    link.carry(to_server, octets, at, octets.size() - at);
    expect_all(link, pair);
    expect_clean(link);
  }
}

BOOST_AUTO_TEST_CASE(markers_from_none_to_128_in_one_fpdu) {
  for (std::size_t payload = 0; payload <= 64000; payload += 500) {
    Pair pair(true, true);
    pair.client.send(payload);
    pair.client.send(4);
    pair.server.send(3);
    Link link;
    pair.start(link);
    carry_rest(link, pair, 1460);
    expect_all(link, pair);
    expect_clean(link);
    const std::size_t size = wire::fpdu_size(payload + wire::untagged_header_size);
    const std::size_t markers = (wire::length_with_markers(0, size) - size) / wire::marker_size;
    BOOST_TEST(link.record.fpdus.front().markers == markers);
  }
}

BOOST_AUTO_TEST_CASE(places_and_segments_are_reported) {
  Pair pair(false, false);
  const std::size_t first = pair.client.send(30);
  const std::size_t second = pair.client.send(40);
  Link link;
  pair.start(link);  // frames 1 to 4
  link.carry(to_server, pair.client.octets, first, second - first + 10);
  link.carry(to_server, pair.client.octets, second + 10, pair.client.octets.size() - second - 10);
  const auto& fpdus = link.record.fpdus;
  BOOST_REQUIRE(fpdus.size() == 2U);
  BOOST_TEST(fpdus[0].seen.begins_segment);
  BOOST_TEST(!fpdus[0].seen.ends_segment);
  BOOST_TEST(fpdus[0].seen.in_one_segment);
  BOOST_TEST(fpdus[0].seen.place.offset == first);
  BOOST_TEST(fpdus[0].seen.place.length == second - first);
  BOOST_TEST(fpdus[0].seen.place.first_frame == 5U);
  BOOST_TEST(!fpdus[1].seen.begins_segment);
  BOOST_TEST(fpdus[1].seen.ends_segment);
  BOOST_TEST(!fpdus[1].seen.in_one_segment);
  BOOST_TEST(fpdus[1].seen.place.first_frame == 5U);
  BOOST_TEST(fpdus[1].seen.place.last_frame == 6U);
  BOOST_CHECK(link.record.last_role == Role::initiator);
}

BOOST_AUTO_TEST_CASE(sequence_numbers_wrap) {
  for (const bool markers : {false, true}) {
    const Pair pair = busy_pair(markers, markers);
    Link link({}, 0xFFFFFF00U);
    pair.start(link);
    carry_rest(link, pair, 100);
    expect_all(link, pair);
    expect_clean(link);
  }
}

BOOST_AUTO_TEST_CASE(reordered_and_repeated_segments) {
  const Pair pair = busy_pair(true, false);
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::size_t> begins;
    for (std::size_t at = pair.client.origin; at < pair.client.octets.size(); at += 333) {
      begins.push_back(at);
      begins.push_back(at);
    }
    std::ranges::shuffle(begins, random);
    Link link;
    pair.start(link);
    // 400 octets from every 333rd on: each overlaps the next.
    for (const std::size_t at : begins)
      link.carry(to_server, pair.client.octets, at,
                 std::min<std::size_t>(400, pair.client.octets.size() - at));
    BOOST_CHECK(link.record.ulpdus(to_server) == pair.client.ulpdus);
    expect_clean(link);
    BOOST_TEST(link.record.noted(NoteKind::retransmission_differs) == 0U);
  }
}

BOOST_AUTO_TEST_CASE(a_hole_within_an_fpdu_costs_only_its_octets) {
  Pair pair(false, false);
  const std::size_t first = pair.client.send(3000);
  pair.client.send(100);
  Link link;
  pair.start(link);
  link.carry(to_server, pair.client.octets, first, 1000);
  link.carry(to_server, pair.client.octets, first + 2000, pair.client.octets.size() - first - 2000);
  BOOST_TEST(link.record.fpdus.size() == 0U);
  link.acknowledge_in_vain(to_client, pair.client.octets.size());
  BOOST_REQUIRE(link.record.fpdus.size() == 2U);
  BOOST_CHECK(link.record.fpdus[0].seen.crc == Crc::unknown);
  BOOST_TEST(link.record.fpdus[0].ulpdu.size() == 998U);
  BOOST_CHECK(link.record.fpdus[1].seen.crc == Crc::right);
  BOOST_CHECK(link.record.fpdus[1].seen.certainty == Certainty::certain);
  BOOST_TEST(link.record.noted(NoteKind::octets_missing) == 1U);
  BOOST_TEST(link.record.noted(NoteKind::framing_lost) == 0U);
  expect_clean(link);
}

BOOST_AUTO_TEST_CASE(framing_is_found_again_behind_a_hole) {
  for (const bool markers : {false, true})
    for (const bool crc : {true, false}) {
      Pair pair(markers, false, crc);
      for (int count = 0; count < 60; ++count)
        pair.client.send(300 + static_cast<std::size_t>(count));
      Link link;
      pair.start(link);
      const Octets& octets = pair.client.octets;
      const std::size_t begin = pair.client.origin;
      // Nothing is aligned to the segments: the hole ends in the middle of an FPDU.
      link.carry_all(
          to_server,
          Octets(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(begin + 5000)), begin,
          1000);
      link.carry_all(to_server, octets, begin + 7000, 1000);
      link.acknowledge_in_vain(to_client, octets.size());
      const auto found = link.record.ulpdus(to_server);
      BOOST_TEST_INFO("markers " << markers << " crc " << crc);
      BOOST_TEST(found.size() >= 50U);
      BOOST_CHECK(found.back() == pair.client.ulpdus.back());
      BOOST_CHECK(link.record.fpdus.back().seen.certainty == Certainty::likely);
      BOOST_TEST(link.record.noted(NoteKind::framing_lost) == 1U);
      BOOST_TEST(link.record.noted(NoteKind::framing_found) == 1U);
      expect_clean(link);
    }
}

BOOST_AUTO_TEST_CASE(connections_are_picked_up_in_the_middle) {
  for (const bool markers : {false, true}) {
    Pair pair(markers, false);
    for (int count = 0; count < 40; ++count) pair.client.send(100);
    pair.client.send(3000);
    for (int count = 0; count < 5; ++count) pair.client.send(700);
    for (std::size_t skipped = 0; skipped < 700; skipped += 13) {
      Link link;
      const std::size_t begin = pair.client.origin + 300 + skipped;
      link.carry_all(to_server, pair.client.octets, begin, 1000);
      link.analyzer.finish();
      const auto found = link.record.ulpdus(to_server);
      BOOST_TEST_INFO("markers " << markers << " from octet " << begin);
      BOOST_REQUIRE(found.size() >= 36U);
      // All from the first one found on, without a gap.
      BOOST_CHECK(std::ranges::equal(found, std::span(pair.client.ulpdus).last(found.size())));
      BOOST_TEST(link.record.noted(NoteKind::startup_not_seen) == 1U);
      BOOST_TEST(link.record.noted(NoteKind::direction_missing) == 1U);
      expect_clean(link);
    }
  }
}

BOOST_AUTO_TEST_CASE(picked_up_in_the_middle_without_crcs) {
  Pair pair(false, false, false);
  for (int count = 0; count < 40; ++count) pair.client.send(100);
  Link link;
  link.carry_all(to_server, pair.client.octets, pair.client.origin + 50, 1000);
  link.analyzer.finish();
  BOOST_TEST(link.record.fpdus.size() >= 38U);
  expect_clean(link);
}

BOOST_AUTO_TEST_CASE(cut_frames_leave_the_headers) {
  Pair pair(false, false);
  std::vector<std::size_t> begins;
  for (int count = 0; count < 8; ++count) begins.push_back(pair.client.send(1000));
  begins.push_back(pair.client.octets.size());
  for (const bool joined_late : {false, true}) {
    Link link;
    if (!joined_late) pair.start(link);
    for (std::size_t at = 0; at + 1 < begins.size(); ++at)
      link.carry(to_server, pair.client.octets, begins[at], begins[at + 1] - begins[at], 60);
    link.analyzer.finish();
    BOOST_TEST(link.record.fpdus.size() == (joined_late ? 6U : 8U));
    for (const auto& fpdu : link.record.fpdus) {
      BOOST_CHECK(fpdu.seen.crc == Crc::unknown);
      BOOST_TEST(fpdu.seen.ulpdu_length == 1018U);
      BOOST_TEST(fpdu.ulpdu.size() == 58U);
      BOOST_TEST(fpdu.seen.segment.has_value());
    }
    BOOST_TEST(link.record.noted(NoteKind::frame_cut) == 1U);
    expect_clean(link);
  }
}

BOOST_AUTO_TEST_CASE(a_startup_frame_cut_by_the_capture_is_none) {
  Pair pair(false, false);
  for (int count = 0; count < 20; ++count) pair.client.send(100);
  for (const bool from_syn : {false, true}) {
    Link link;
    if (from_syn) link.open();
    // Key and a part of the header: enough to begin, never enough to end.
    link.carry(to_server, pair.client.octets, 0, pair.client.origin, 18);
    link.carry(to_client, pair.server.octets, 0, pair.server.origin, 18);
    link.carry_all(to_server, pair.client.octets, pair.client.origin);
    link.analyzer.finish();
    BOOST_TEST(link.record.fpdus.size() == 20U);
    BOOST_TEST(link.record.noted(NoteKind::frame_cut) == 2U);
  }
}

BOOST_AUTO_TEST_CASE(a_cut_length_loses_framing_until_it_fits_again) {
  Pair pair(false, false);
  const std::size_t first = pair.client.send(50);
  pair.client.send(50);
  const std::size_t third = pair.client.send(50);
  Link link;
  pair.start(link);
  link.carry(to_server, pair.client.octets, first, third - first, 70);
  BOOST_TEST(link.record.fpdus.size() == 1U);
  link.carry_all(to_server, pair.client.octets, third);
  BOOST_TEST(link.record.fpdus.size() == 2U);
  BOOST_TEST(link.record.noted(NoteKind::framing_lost) == 1U);
  expect_clean(link);
}

BOOST_AUTO_TEST_CASE(one_direction_alone_is_enough) {
  for (const bool markers : {false, true}) {
    const Pair pair = busy_pair(markers, markers);
    Link link;
    link.carry_all(to_server, pair.client.octets);
    link.analyzer.finish();
    BOOST_CHECK(link.record.ulpdus(to_server) == pair.client.ulpdus);
    BOOST_TEST(link.record.noted(NoteKind::direction_missing) == 1U);
    expect_clean(link);
  }
}

BOOST_AUTO_TEST_CASE(octets_right_behind_the_reply_are_fpdus) {
  Pair pair(false, true);
  pair.server.send(10);
  pair.client.send(10);
  Link link;
  link.open();
  link.carry(to_server, pair.client.octets, 0, pair.client.origin);
  link.carry_all(to_client, pair.server.octets);
  link.carry_all(to_server, pair.client.octets, pair.client.origin);
  expect_all(link, pair);
  expect_clean(link);
}

BOOST_AUTO_TEST_CASE(mpa_may_start_behind_streaming_data) {
  const Pair pair = busy_pair(false, false);
  const Octets hello(100, std::byte{'x'});
  Link link;
  link.open();
  link.carry_all(to_server, hello);
  link.carry_all(to_client, hello);
  const auto later = [&](const Octets& octets) {
    Octets all = hello;
    all.insert(all.end(), octets.begin(), octets.end());
    return all;
  };
  const Octets client = later(pair.client.octets), server = later(pair.server.octets);
  link.carry(to_server, client, hello.size(), pair.client.origin);
  link.carry(to_client, server, hello.size(), pair.server.origin);
  link.carry_all(to_server, client, hello.size() + pair.client.origin);
  link.carry_all(to_client, server, hello.size() + pair.server.origin);
  expect_all(link, pair);
  expect_clean(link);
}

BOOST_AUTO_TEST_CASE(other_traffic_is_given_up) {
  std::mt19937 random(3);
  Octets noise(600000);
  for (std::byte& octet : noise) octet = static_cast<std::byte>(random());
  Link link;
  link.carry_all(to_server, noise);
  BOOST_TEST(link.record.noted(NoteKind::not_iwarp) == 1U);
  BOOST_TEST(link.record.fpdus.size() == 0U);
  BOOST_TEST(link.analyzer.memory() < 100000U);
  link.analyzer.finish();
  BOOST_TEST(link.record.noted(NoteKind::not_iwarp) == 1U);
  expect_clean(link);
}

BOOST_AUTO_TEST_CASE(hostile_octets_do_no_harm) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    Pair pair = busy_pair(round % 2 == 0, round % 3 == 0, round % 5 != 0);
    for (int spoilt = 0; spoilt < 1 + round % 7; ++spoilt) {
      pair.client.octets[random() % pair.client.octets.size()] = static_cast<std::byte>(random());
      pair.server.octets[random() % pair.server.octets.size()] = static_cast<std::byte>(random());
    }
    Link link({.reorder_octets = 20000});
    link.open();
    for (int count = 0; count < 60; ++count) {
      const Direction from = random() % 2 == 0 ? to_server : to_client;
      const Octets& octets = from == to_server ? pair.client.octets : pair.server.octets;
      const std::size_t begin = random() % octets.size();
      const std::size_t length = random() % std::min<std::size_t>(2000, octets.size() - begin);
      link.carry(from, octets, begin, length, random() % 4 == 0 ? random() % 100 : 100000);
      if (random() % 8 == 0) link.acknowledge(from, random() % octets.size());
    }
    link.analyzer.finish();
    BOOST_TEST(link.analyzer.memory() < 800000U);
  }
}

BOOST_AUTO_TEST_CASE(hostile_lengths) {
  Pair pair(false, false);
  pair.client.octets[18] = pair.client.octets[19] = std::byte{0xFF};  // PD_Length 65535
  Link link;
  pair.start(link);
  link.carry_all(to_server, Octets(200000, std::byte{0xFF}), pair.client.origin);
  link.analyzer.finish();
  BOOST_TEST(link.record.frames.size() == 2U);
  BOOST_TEST(link.record.fpdus.size() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace dissectors::analyzer::tests
