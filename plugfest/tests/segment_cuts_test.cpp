// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which segments count against a sender.
#include <boost/test/unit_test.hpp>

#include "plugfest/segment_cuts.hpp"

using namespace plugfest;
using dissectors::analyzer::Direction;
using dissectors::analyzer::FpduSeen;

namespace {

constexpr std::uint64_t length = 1000;

/// FPDUs of one direction, one after the other.
struct Traffic {
  SegmentCuts cuts;
  Direction direction = Direction::from_first;
  std::uint64_t connection = 1, offset = 0;
  std::uint32_t frame = 1;
  std::optional<Side> sender = Side::initiator;

  void pass(bool begins_segment, bool whole, bool told = false) {
    FpduSeen seen;
    seen.place = {direction, offset, length, frame, frame + (whole ? 0U : 1U), 0};
    seen.begins_segment = begins_segment;
    seen.in_one_segment = whole;
    if (told) cuts.lost(connection, seen.place);
    cuts.fpdu(connection, sender, seen);
    offset += length;
    frame = seen.place.last_frame + (whole ? 1 : 0);
  }
  [[nodiscard]] Cuts only() const {
    const auto all = cuts.counted();
    BOOST_REQUIRE(all.size() == 1U);
    return all.front();
  }
};

bool unaligned_with(std::uint64_t segments, std::uint64_t within) {
  return unaligned({.side = {}, .segments = segments, .within = within});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(segment_cuts)

BOOST_AUTO_TEST_CASE(each_segment_counts_once) {
  Traffic traffic;
  traffic.pass(true, true);
  traffic.pass(false, true);  // packed after it
  traffic.pass(true, true);
  BOOST_TEST(traffic.only().segments == 2U);
  BOOST_TEST(traffic.only().within == 0U);
  BOOST_TEST(traffic.only().frame == 0U);
}

BOOST_AUTO_TEST_CASE(what_is_lost_counts_until_it_is_regained) {
  Traffic traffic;
  traffic.pass(true, false, true);  // frames 1 and 2
  traffic.pass(false, false);       // the analyzer reports a loss once
  traffic.pass(false, true);
  traffic.pass(true, true);
  BOOST_TEST(traffic.only().segments == 4U);
  BOOST_TEST(traffic.only().within == 2U);
  BOOST_TEST(traffic.only().frame == 2U);
}

BOOST_AUTO_TEST_CASE(a_cut_that_the_analyzer_excuses_does_not_count) {
  Traffic traffic;
  traffic.pass(true, false);
  traffic.pass(false, false);
  traffic.pass(true, false, true);
  BOOST_TEST(traffic.only().segments == 3U);
  BOOST_TEST(traffic.only().within == 1U);
}

BOOST_AUTO_TEST_CASE(a_loss_is_of_its_own_connection_and_direction) {
  Traffic traffic;
  traffic.pass(true, false, true);
  traffic.connection = 2;
  traffic.pass(false, false);
  traffic.connection = 1;
  traffic.direction = Direction::from_second;
  traffic.sender = Side::responder;
  traffic.pass(false, false);
  traffic.pass(true, true);
  const auto all = traffic.cuts.counted();
  BOOST_REQUIRE(all.size() == 2U);
  BOOST_TEST(all[0].within == 1U);
  BOOST_TEST(all[1].within == 0U);
  BOOST_TEST(all[1].segments == 1U);
}

BOOST_AUTO_TEST_CASE(seven_of_eight_segments_are_a_habit) {
  BOOST_TEST(!unaligned_with(99, 99));
  BOOST_TEST(unaligned_with(104, 91));
  BOOST_TEST(!unaligned_with(104, 90));
  BOOST_TEST(unaligned_with(725, 724));
  BOOST_TEST(!unaligned_with(725, 580));
}

BOOST_AUTO_TEST_SUITE_END()
