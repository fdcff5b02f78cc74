// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Captures of one exchange at two places: what one of them lacks, and what is another octet there.
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "dissectors/capture/synthesizer.hpp"
#include "plugfest/capture_comparison.hpp"

namespace plugfest {
namespace {

namespace capture = dissectors::capture;

constexpr std::size_t piece = 1000, pieces = 10;
const CellTraffic ends("10.0.0.1", "10.0.0.2", {});

capture::Flow flow(const char* from, const char* to) {
  return {capture::Endpoint::parse(from, 4000).value(), capture::Endpoint::parse(to, 5000).value()};
}

/// A SYN each way, and then ten segments of 1000 octets: frame 3 is the first of them.
Captured captured(const std::string& place, const char* to = "10.0.0.2") {
  capture::Synthesizer made;
  const capture::Flow forth = flow("10.0.0.1", to);
  made.opened(forth, 1);
  for (std::size_t at = 0; at < pieces; ++at)
    made.data(forth, 10 + at, std::vector<std::byte>(piece, static_cast<std::byte>(at)));
  made.closed(forth, 100);
  return {.place = place,
          .link = capture::LinkType::ethernet,
          .frames = made.frames(),
          .dropped = 0,
          .trouble = {}};
}

/// The frame that carries piece number `at`.
std::size_t frame_with(const Captured& all, std::size_t at) {
  std::size_t seen = 0;
  for (std::size_t number = 0; number < all.frames.size(); ++number) {
    const auto segment = capture::parse_segment(all.link, all.frames[number].octets);
    if (segment && !segment->payload.empty() && seen++ == at) return number;
  }
  return all.frames.size();
}

void drop(Captured& from, std::size_t at) {
  from.frames.erase(from.frames.begin() + static_cast<std::ptrdiff_t>(frame_with(from, at)));
}

BOOST_AUTO_TEST_SUITE(captures)

BOOST_AUTO_TEST_CASE(the_same_octets_are_no_difference) {
  BOOST_TEST(difference(captured("a"), captured("b"), ends) == "");
  // However the frames came there: repeated, and in another order.
  Captured other = captured("b");
  const std::size_t at = frame_with(other, 4);
  other.frames.push_back(other.frames[at]);
  std::swap(other.frames[at], other.frames[at + 1]);
  BOOST_TEST(difference(captured("a"), other, ends) == "");
}

BOOST_AUTO_TEST_CASE(what_one_of_them_lacks) {
  Captured poor = captured("b");
  drop(poor, 4);
  const std::string words = "b lacks 1000 octets of 10.0.0.1:4000 > 10.0.0.2:5000";
  BOOST_TEST(difference(captured("a"), poor, ends) == words);
  BOOST_TEST(difference(poor, captured("a"), ends) == words);
  // Its end, which no later octet shows to be missing.
  Captured shorter = captured("b");
  drop(shorter, pieces - 1);
  BOOST_TEST(difference(captured("a"), shorter, ends) == words);
  Captured nothing = captured("b");
  nothing.frames.clear();
  BOOST_TEST(difference(captured("a"), nothing, ends) ==
             "b lacks 10000 octets of 10.0.0.1:4000 > 10.0.0.2:5000");
}

BOOST_AUTO_TEST_CASE(what_a_capture_has_lost_explains_what_it_lacks) {
  Captured poor = captured("b");
  drop(poor, 4);
  poor.trouble = "the kernel dropped 1 frames of the capture";
  BOOST_TEST(difference(captured("a"), poor, ends) == "");
  BOOST_TEST(difference(poor, captured("a"), ends) == "");
}

BOOST_AUTO_TEST_CASE(other_octets) {
  Captured other = captured("b");
  other.frames[frame_with(other, 9)].octets.back() = std::byte{0x5A};
  BOOST_TEST(difference(captured("a"), other, ends) ==
             "a and b have other octets of 10.0.0.1:4000 > 10.0.0.2:5000, within 4096 from offset "
             "8192 on");
  // Also where other octets of the stream are missing, in another block.
  drop(other, 0);
  other.trouble = "the kernel dropped 1 frames of the capture";
  BOOST_TEST(difference(captured("a"), other, ends).find("from offset 8192 on") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_others_say_to_each_other_does_not_matter) {
  Captured one = captured("a"), more = captured("b");
  const Captured strangers = captured("b", "10.0.0.3");
  more.frames.insert(more.frames.end(), strangers.frames.begin(), strangers.frames.end());
  BOOST_TEST(difference(one, more, ends) == "");
  BOOST_TEST(difference(one, strangers, ends) ==
             "b lacks 10000 octets of 10.0.0.1:4000 > 10.0.0.2:5000");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace plugfest
