// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Each check of framing strikes at its fault, and reads on after it.
#include <boost/test/unit_test.hpp>

#include "dissectors/analyzer/framing_rules.hpp"
#include "dissectors/analyzer/tests/traffic.hpp"

namespace dissectors::analyzer::tests {

BOOST_AUTO_TEST_SUITE(framing_rules)

namespace {

/// Three FPDUs to the server; `spoil` gets the pair and the place of the second of them.
struct DamagedFpdu {
  template <typename Spoil>
  DamagedFpdu(bool markers, bool crc, std::size_t payload, Spoil&& spoil)
      : pair(markers, false, crc) {
    pair.client.send(300);
    begin = pair.client.send(payload);
    end = pair.client.octets.size();
    spoil(*this);
    pair.client.send(40);
    pair.client.send(41);
    pair.start(link);
    link.carry_all(to_server, pair.client.octets, pair.client.origin, 5000);
    link.close(to_server, pair.client.octets.size());
    link.analyzer.finish();
  }
  std::byte& octet(std::size_t at) { return pair.client.octets[begin + at]; }
  void reseal() { pair.client.reseal(begin, end); }
  void expect_only(std::string_view rule) const {
    BOOST_TEST(link.record.broken(rule), "not said: " << rule << "; said: " << link.record.texts);
    const auto first = [&] { return link.record.texts.substr(0, link.record.texts.find('\n')); };
    BOOST_TEST(std::ranges::count(link.record.texts, '\n') == 1, link.record.texts << first());
    // The last FPDU is read as ever.
    BOOST_REQUIRE(!link.record.fpdus.empty());
    BOOST_CHECK(link.record.fpdus.back().ulpdu == pair.client.ulpdus.back());
  }
  Pair pair;
  Link link;
  std::size_t begin = 0, end = 0;
};

}  // namespace

BOOST_AUTO_TEST_CASE(one_wrong_bit_in_a_crc) {
  DamagedFpdu(false, true, 100, [](DamagedFpdu& it) {
    it.pair.client.octets.back() ^= std::byte{1};
  }).expect_only("mpa.crc.field-holds-crc32c");
}

BOOST_AUTO_TEST_CASE(a_crc_with_its_octets_reversed) {
  DamagedFpdu(false, true, 100, [](DamagedFpdu& it) {
    std::ranges::reverse(std::span(it.pair.client.octets).last(4));
  }).expect_only("mpa.crc.crc32c-as-in-iscsi");
}

BOOST_AUTO_TEST_CASE(a_crc_without_the_length_field) {
  DamagedFpdu(false, true, 100, [](DamagedFpdu& it) {
    const auto all = wire::Bytes(it.pair.client.octets).subspan(it.begin);
    const auto crc = wire::crc32c_trailer(all.subspan(2, all.size() - 6));
    std::ranges::copy(crc, it.pair.client.octets.end() - 4);
  }).expect_only("mpa.crc.covers-length-to-pad");
}

BOOST_AUTO_TEST_CASE(a_crc_without_the_markers) {
  DamagedFpdu(true, true, 900, [](DamagedFpdu& it) {
    Sender bare(false);
    bare.fpdu(it.pair.client.ulpdus.back());
    std::ranges::copy(std::span(bare.octets).last(4), it.pair.client.octets.end() - 4);
  }).expect_only("mpa.markers.counted-in-containing-crc");
}

BOOST_AUTO_TEST_CASE(pad_octets_that_are_not_zero) {
  DamagedFpdu(false, true, 101, [](DamagedFpdu& it) {
    it.octet(2 + 18 + 101) = std::byte{0x55};
    it.reseal();
  }).expect_only("mpa.framing.pad-sent-as-zero");
}

BOOST_AUTO_TEST_CASE(a_pad_left_out) {
  DamagedFpdu(false, true, 101, [](DamagedFpdu& it) {
    Octets& octets = it.pair.client.octets;
    octets.resize(octets.size() - 3);
    it.pair.client.reseal(it.begin, octets.size());
  }).expect_only("mpa.framing.pad-fills-to-four");
}

BOOST_AUTO_TEST_CASE(a_length_that_counts_itself_or_the_pad) {
  for (const unsigned excess : {1U, 2U, 3U})
    DamagedFpdu(false, true, 97 + (4 - excess), [&](DamagedFpdu& it) {
      it.octet(1) = static_cast<std::byte>(18 + 97 + (4 - excess) + excess);
      it.reseal();
    }).expect_only("mpa.framing.length-counts-ulpdu-only");
}

BOOST_AUTO_TEST_CASE(a_little_endian_length) {
  DamagedFpdu(false, true, 100, [](DamagedFpdu& it) {
    std::swap(it.octet(0), it.octet(1));
    it.reseal();
    it.pair.client.send(90);
    std::swap(it.pair.client.octets[it.end], it.pair.client.octets[it.end + 1]);
    it.pair.client.reseal(it.end, it.pair.client.octets.size());
  });
  Link link;
  Pair pair(false, false);
  for (int count = 0; count < 5; ++count) {
    const std::size_t begin = pair.client.send(100);
    std::swap(pair.client.octets[begin], pair.client.octets[begin + 1]);
    pair.client.reseal(begin, pair.client.octets.size());
  }
  pair.start(link);
  link.carry_all(to_server, pair.client.octets, pair.client.origin);
  link.close(to_server, pair.client.octets.size());
  BOOST_TEST(link.record.broken("mpa.framing.fpdu-layout"));
  BOOST_CHECK(link.record.ulpdus(to_server) == pair.client.ulpdus);
}

BOOST_AUTO_TEST_CASE(marker_fields) {
  // The second FPDU, at position 328, has its first Marker 512 - 328 octets after its beginning.
  const auto spoil = [](std::size_t at, std::uint8_t value) {
    return [=](DamagedFpdu& it) {
      it.octet(184 + at) = static_cast<std::byte>(value);
      it.reseal();
    };
  };
  DamagedFpdu(true, true, 300, spoil(1, 1)).expect_only("mpa.markers.reserved-sent-as-zero");
  DamagedFpdu(true, true, 300, spoil(3, 184 | 2))
      .expect_only("mpa.markers.pointer-low-bits-sent-as-zero");
  DamagedFpdu(true, true, 300, spoil(3, 184 + 8))
      .expect_only("mpa.markers.pointer-distance-to-header");
  DamagedFpdu(true, true, 300, spoil(3, 0)).expect_only("mpa.markers.pointer-distance-to-header");
  DamagedFpdu(true, true, 900, spoil(3, 8)).expect_only("mpa.markers.several-in-fpdu-same-target");
  DamagedFpdu(true, true, 300, [](DamagedFpdu& it) {
    std::swap(it.octet(186), it.octet(187));
    it.reseal();
  }).expect_only("mpa.markers.field-layout");
  // The same of one who counts the Marker before ULPDU_Length as well.
  DamagedFpdu(true, true, 300, [](DamagedFpdu& it) {
    it.octet(186) = std::byte{184 + 4};
    it.octet(187) = std::byte{0};
    it.reseal();
  }).expect_only("mpa.markers.field-layout");
  // Points to the first FPDU after the Marker before.
  DamagedFpdu(true, true, 300, [](DamagedFpdu& it) {
    it.octet(186) = std::byte{(512 - 4) >> 8};
    it.octet(187) = std::byte{(512 - 4) & 0xFF};
    it.reseal();
  }).expect_only("mpa.markers.small-fpdus-point-to-container");
}

BOOST_AUTO_TEST_CASE(a_marker_between_fpdus_that_is_not_zero) {
  Pair pair(true, false);
  pair.client.octets.reserve(2000);
  const std::size_t begin = pair.client.send(20);
  pair.client.octets[begin + 3] = std::byte{4};
  pair.client.reseal(begin, pair.client.octets.size());
  Link link;
  pair.start(link);
  link.carry_all(to_server, pair.client.octets, pair.client.origin);
  BOOST_TEST(link.record.broken("mpa.markers.first-pointer-zero"));
  BOOST_CHECK(link.record.ulpdus(to_server) == pair.client.ulpdus);
}

namespace {

/// FPDUs with or without Markers, the opposite of what startup has.
void against_startup(bool sent, std::string_view rule, bool first_fpdu_long) {
  Pair promised(!sent, false);
  Sender client(sent);
  client.origin = promised.client.origin;
  client.octets = promised.client.octets;
  client.send(first_fpdu_long ? 900 : 100);
  for (int count = 0; count < 10; ++count) client.send(200);
  Link link;
  promised.start(link);
  link.carry_all(to_server, client.octets, client.origin);
  link.analyzer.finish();
  BOOST_TEST(link.record.broken(rule), link.record.texts);
  BOOST_CHECK(link.record.ulpdus(to_server) == client.ulpdus);
  BOOST_TEST(std::ranges::count(link.record.texts, '\n') == 1, link.record.texts);
}

}  // namespace

BOOST_AUTO_TEST_CASE(markers_against_what_startup_says) {
  for (const bool first_fpdu_long : {false, true}) {
    against_startup(false, "mpa.markers.first-before-first-fpdu", first_fpdu_long);
    against_startup(true, "mpa.markers.none-when-peer-m-zero", first_fpdu_long);
  }
}

namespace {

/// A direction without Markers, and from some FPDU on with Markers so many octets into an interval.
struct Late {
  explicit Late(std::size_t into) : pair(false, false), late(true) {
    for (int count = 0; count < 9; ++count) pair.client.send(200);
    late.octets = pair.client.octets;
    begin = late.octets.size();
    late.origin = begin - into;
    for (int count = 0; count < 10; ++count) late.send(200 + into);
  }
  void carry(std::size_t from, std::size_t segment) {
    link.carry_all(to_server, late.octets, from, segment);
    link.analyzer.finish();
  }
  [[nodiscard]] std::vector<Octets> sent() const {
    std::vector<Octets> all = pair.client.ulpdus;
    all.insert(all.end(), late.ulpdus.begin(), late.ulpdus.end());
    return all;
  }
  Pair pair;
  Sender late;
  Link link;
  std::size_t begin = 0;  ///< of the first FPDU with Markers
};

}  // namespace

BOOST_AUTO_TEST_CASE(markers_that_come_late_are_unasked_by_the_startup_frame) {
  for (const std::size_t into : {0U, 4U, 200U, 508U})
    for (const std::size_t segment : {7000U, 1448U, 700U, 100U, 13U, 4U, 1U}) {
      Late it(into);
      it.pair.start(it.link);
      it.carry(it.pair.client.origin, segment);
      BOOST_TEST_INFO(into << " octets into an interval, segments of " << segment << ": "
                           << it.link.record.texts);
      BOOST_TEST(it.link.record.findings.size() == 1U);
      BOOST_TEST(it.link.record.broken("mpa.markers.none-when-peer-m-zero"));
      BOOST_CHECK(it.link.record.ulpdus(to_server) == it.sent());
    }
}

BOOST_AUTO_TEST_CASE(the_fpdu_in_which_markers_begin_lies_in_the_frames_that_carried_it) {
  Late it(200);
  it.pair.start(it.link);
  const std::uint32_t before = it.link.frame;
  it.carry(it.pair.client.origin, 100);
  const std::size_t from = it.begin - it.pair.client.origin;
  const std::size_t size =
      wire::length_with_markers(200, wire::fpdu_size(it.late.ulpdus.front().size()));
  const Place& place = it.link.record.fpdus.at(9).seen.place;
  BOOST_TEST(place.first_frame == before + 1 + from / 100);
  BOOST_TEST(place.last_frame == before + 1 + (from + size - 1) / 100);
}

BOOST_AUTO_TEST_CASE(an_fpdu_is_not_judged_when_what_tells_of_markers_in_it_did_not_come) {
  for (const bool goes_on : {false, true}) {
    Late it(200);
    it.pair.start(it.link);
    const std::size_t origin = it.pair.client.origin;
    // As long as it would be without Markers.
    const std::size_t bare = wire::fpdu_size(it.late.ulpdus.front().size());
    it.link.carry(to_server, it.late.octets, origin, it.begin + bare - origin);
    if (goes_on)
      it.link.carry_all(to_server, it.late.octets, it.begin + bare + 300);
    else
      it.link.close(to_server, it.begin + bare);
    it.link.analyzer.finish();
    BOOST_TEST_INFO(it.link.record.texts);
    if (goes_on) {
      // The FPDUs after the hole show the Markers.
      BOOST_TEST(it.link.record.findings.size() == 1U);
      BOOST_TEST(it.link.record.broken("mpa.markers.none-when-peer-m-zero"));
      BOOST_TEST(it.link.record.noted(NoteKind::framing_lost) == 1U);
      BOOST_TEST(it.link.record.ulpdus(to_server).size() == 9U + 8U);
    } else {
      BOOST_TEST(it.link.record.findings.empty());
      BOOST_TEST(it.link.record.noted(NoteKind::not_judged) == 1U);
      BOOST_TEST(it.link.record.ulpdus(to_server).size() == 9U);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_looks_like_a_marker_does_not_excuse_a_wrong_crc) {
  for (const std::size_t segment : {7000U, 100U, 13U, 1U}) {
    Pair pair(false, false);
    pair.client.send(300);
    const std::size_t begin = pair.client.send(200);
    // Where a Marker 100 octets into the FPDU would point to its front.
    for (const std::size_t at : {100U, 101U, 102U}) pair.client.octets[begin + at] = std::byte{0};
    pair.client.octets[begin + 103] = std::byte{100};
    for (int count = 0; count < 5; ++count) pair.client.send(300);
    Link link;
    pair.start(link);
    link.carry_all(to_server, pair.client.octets, pair.client.origin, segment);
    BOOST_TEST_INFO("segments of " << segment << ": " << link.record.texts);
    BOOST_TEST(link.record.findings.size() == 1U);
    BOOST_TEST(link.record.broken("mpa.crc.field-holds-crc32c"));
    BOOST_TEST(link.record.ulpdus(to_server).size() == 7U);
  }
}

BOOST_AUTO_TEST_CASE(a_wrong_crc_is_reported_without_waiting_for_more) {
  Pair pair(false, false);
  pair.client.send(300);
  pair.client.octets.back() ^= std::byte{1};
  Link link;
  pair.start(link);
  link.carry_all(to_server, pair.client.octets, pair.client.origin, 100);
  BOOST_TEST(link.record.broken("mpa.crc.field-holds-crc32c"));
}

BOOST_AUTO_TEST_CASE(markers_that_stop_where_one_would_stand_before_an_fpdu) {
  for (const std::size_t segment : {7000U, 100U, 13U, 1U}) {
    Pair pair(true, false);
    // A Marker first, 2 + 18 + 484 + 4 octets: the next FPDU is at 512.
    pair.client.send(484);
    Sender plain(false);
    plain.octets = pair.client.octets;
    plain.origin = pair.client.origin;
    for (int count = 0; count < 10; ++count) plain.send(200);
    Link link;
    pair.start(link);
    link.carry_all(to_server, plain.octets, plain.origin, segment);
    link.analyzer.finish();
    BOOST_TEST_INFO("segments of " << segment << ": " << link.record.texts);
    BOOST_TEST(link.record.findings.size() == 1U);
    BOOST_TEST(link.record.broken("mpa.markers.added-when-peer-m-one"));
    BOOST_TEST(link.record.ulpdus(to_server).size() == 11U);
  }
}

BOOST_AUTO_TEST_CASE(markers_that_come_late_though_asked_for_are_not_unasked_too) {
  Pair promised(true, false);
  Sender plain(false), late(true);
  plain.octets = promised.client.octets;
  plain.origin = late.origin = promised.client.origin;
  for (int count = 0; count < 9; ++count) plain.send(200);
  late.octets = plain.octets;
  for (int count = 0; count < 10; ++count) late.send(200);
  Link link;
  promised.start(link);
  link.carry_all(to_server, late.octets, promised.client.origin, 7000);
  link.analyzer.finish();
  BOOST_TEST(link.record.findings.size() == 1U, link.record.texts);
  BOOST_TEST(link.record.broken("mpa.markers.first-before-first-fpdu"), link.record.texts);
  BOOST_TEST(link.record.ulpdus(to_server).size() == 19U);
}

BOOST_AUTO_TEST_CASE(markers_placed_without_counting_crcs) {
  for (const std::size_t payload : {44, 90, 300, 1400}) {
    BOOST_TEST_CONTEXT("payload " << payload) {
      Pair pair(true, false);
      pair.client.counts_crcs = false;
      for (int count = 0; count < 300; ++count) pair.client.send(payload);
      Link link;
      pair.start(link);
      link.carry_all(to_server, pair.client.octets, pair.client.origin, 7000);
      link.analyzer.finish();
      BOOST_TEST(link.record.findings.size() == 1U, link.record.texts);
      BOOST_TEST(link.record.broken("mpa.markers.interval-from-first-marker"), link.record.texts);
      BOOST_TEST((link.record.ulpdus(to_server) == pair.client.ulpdus));
    }
  }
}

BOOST_AUTO_TEST_CASE(markers_in_host_order_placed_without_counting_crcs) {
  for (const std::size_t payload : {300, 1400}) {
    BOOST_TEST_CONTEXT("payload " << payload) {
      Pair pair(true, false);
      pair.client.counts_crcs = false;
      pair.client.swaps_pointers = true;
      for (int count = 0; count < 300; ++count) pair.client.send(payload);
      Link link;
      pair.start(link);
      link.carry_all(to_server, pair.client.octets, pair.client.origin, 7000);
      link.analyzer.finish();
      BOOST_TEST(link.record.broken("mpa.markers.interval-from-first-marker"), link.record.texts);
      BOOST_TEST(std::ranges::all_of(link.record.findings,
                                     [](const Finding& it) {
                                       return it.breaks("mpa.markers.interval-from-first-marker") ||
                                              it.breaks("mpa.markers.field-layout");
                                     }),
                 link.record.texts);
      BOOST_TEST((link.record.ulpdus(to_server) == pair.client.ulpdus));
    }
  }
}

BOOST_AUTO_TEST_CASE(who_did_not_see_startup_does_not_say_that_markers_are_unasked) {
  for (const std::size_t into : {0U, 4U, 200U, 508U})
    for (const std::size_t segment : {7000U, 100U, 13U}) {
      Late it(into);
      it.carry(it.pair.client.origin, segment);
      BOOST_TEST_INFO(into << " octets into an interval, segments of " << segment << ": "
                           << it.link.record.texts);
      BOOST_TEST(it.link.record.findings.empty());
      BOOST_TEST(it.link.record.noted(NoteKind::not_judged) == 1U);
      BOOST_TEST(it.link.record.ulpdus(to_server).size() == 19U);
    }
}

BOOST_AUTO_TEST_CASE(a_crc_field_left_out) {
  Pair pair(false, false, false);
  for (int count = 0; count < 6; ++count) {
    pair.client.send(101);
    pair.client.octets.resize(pair.client.octets.size() - 4);
  }
  for (const std::size_t size : {std::size_t{124}, std::size_t{1448}}) {
    Link link;
    pair.start(link);
    link.carry_all(to_server, pair.client.octets, pair.client.origin, size);
    link.close(to_server, pair.client.octets.size());
    BOOST_TEST(link.record.broken("mpa.crc.field-present-when-disabled"));
    // Once seen it is expected of the next FPDUs: each is found, and nothing else is wrong with them.
    BOOST_TEST(link.record.ulpdus(to_server).size() == 6U);
    BOOST_TEST(link.record.findings.size() == 6U);
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_fpdu) {
  Pair pair(false, false);
  const Octets noise(300, std::byte{0x11});
  pair.client.octets.insert(pair.client.octets.end(), noise.begin(), noise.end());
  for (int count = 0; count < 80; ++count) pair.client.send(50);
  Link link;
  pair.start(link);
  link.carry_all(to_server, pair.client.octets, pair.client.origin);
  BOOST_TEST(link.record.broken("mpa.startup.first-octets-are-length"));
  BOOST_CHECK(link.record.ulpdus(to_server) == pair.client.ulpdus);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace dissectors::analyzer::tests
