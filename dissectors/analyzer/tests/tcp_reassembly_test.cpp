// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One direction of TCP, put together from what a capture shows.
#include <algorithm>
#include <random>
#include <string>

#include <boost/test/unit_test.hpp>

#include "dissectors/analyzer/tcp_reassembly.hpp"

namespace dissectors::analyzer {

BOOST_AUTO_TEST_SUITE(tcp_reassembly)

namespace {

struct RecordedStream final : StreamReceiver {
  void octets(const Chunk& chunk) override {
    BOOST_TEST(chunk.offset == next);
    next = chunk.offset + chunk.length;
    for (const std::byte octet : chunk.octets) text += static_cast<char>(octet);
    text.append(static_cast<std::size_t>(chunk.length - chunk.octets.size()), '.');
    frames.push_back(chunk.segment.frame);
    last_data = chunk.octets.data();
  }
  void hole(std::uint64_t offset, std::uint64_t length, bool for_want_of_room,
            const SegmentFacts&) override {
    BOOST_TEST(offset == next);
    next = offset + length;
    text.append(static_cast<std::size_t>(length), '-');
    bounded += for_want_of_room ? 1 : 0;
  }
  void out_of_window(const SegmentFacts&) override { ++outside; }
  void differs(std::uint64_t offset, std::uint64_t length, const SegmentFacts&) override {
    differing.emplace_back(offset, length);
  }
  void ended(Ending ending, std::uint64_t, const SegmentFacts&) override {
    text += ending == Ending::fin ? '$' : '!';
  }
  std::string text;
  std::uint64_t next = 0;
  std::vector<std::uint32_t> frames;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> differing;
  const std::byte* last_data = nullptr;
  int bounded = 0, outside = 0;
};

struct Direction {
  explicit Direction(std::uint32_t sequence, std::size_t limit = 1 << 20)
      : origin(sequence), stream(limit) {}
  void data(std::uint32_t offset, std::string_view octets, std::size_t kept = 1000) {
    capture::Segment segment = at(offset);
    segment.payload = std::as_bytes(std::span(octets)).first(std::min(kept, octets.size()));
    segment.payload_length = octets.size();
    segment.payload_stays = octets_stay;
    stream.add(segment, ++frame, time, recorded);
  }
  void syn() {
    capture::Segment segment = at(0);
    segment.sequence = origin - 1;
    segment.syn = true;
    stream.add(segment, ++frame, time, recorded);
  }
  void fin(std::uint32_t offset) {
    capture::Segment segment = at(offset);
    segment.fin = true;
    stream.add(segment, ++frame, time, recorded);
  }
  void acknowledge(std::uint32_t offset) {
    stream.acknowledged(origin + offset, ++frame, time, recorded);
  }
  [[nodiscard]] capture::Segment at(std::uint32_t offset) const {
    capture::Segment segment;
    segment.sequence = origin + offset;
    return segment;
  }
  std::uint64_t time = 0;  ///< of the next segment; 0: not known
  bool octets_stay = false;
  std::uint32_t origin;
  TcpReassembly stream;
  RecordedStream recorded;
  std::uint32_t frame = 0;
};

}  // namespace

BOOST_AUTO_TEST_CASE(in_order_octets_are_not_copied) {
  Direction to(5);
  to.syn();
  const std::string_view octets = "hello";
  to.data(0, octets);
  BOOST_TEST(to.recorded.text == "hello");
  BOOST_TEST(static_cast<const void*>(to.recorded.last_data) == octets.data());
  BOOST_TEST(to.stream.from_syn());
}

BOOST_AUTO_TEST_CASE(order_is_restored_across_the_wrap) {
  for (const std::uint32_t origin : {1000U, 0xFFFFFFFDU}) {
    Direction to(origin);
    to.syn();
    to.data(4, "ef");
    to.data(2, "cd");
    BOOST_TEST(to.stream.memory() > 4U);
    to.data(0, "ab");
    BOOST_TEST(to.recorded.text == "abcdef");
    BOOST_TEST(to.recorded.frames == (std::vector<std::uint32_t>{4, 3, 2}));
    BOOST_TEST(to.stream.memory() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(overlaps_count_once) {
  Direction to(1);
  to.syn();
  to.data(3, "def");
  to.data(1, "bcdefgh");
  to.data(5, "fghi");
  to.data(0, "abcd");
  BOOST_TEST(to.recorded.text == "abcdefghi");
  to.data(0, "abcdefghijk");
  BOOST_TEST(to.recorded.text == "abcdefghijk");
  BOOST_TEST(to.recorded.differing.empty());
}

BOOST_AUTO_TEST_CASE(a_retransmission_with_other_octets_is_noticed) {
  for (const bool octets_stay : {false, true}) {
    Direction to(1);
    to.octets_stay = octets_stay;
    to.syn();
    to.data(0, "abcd");
    to.data(0, "abcd");
    BOOST_TEST(to.recorded.differing.empty());
    to.data(0, "abXd");
    BOOST_TEST(to.recorded.differing.size() == 1U);
    to.data(8, "ijkl");
    to.data(6, "ghiX");  // differs from what waits
    BOOST_TEST(to.recorded.differing.size() == 2U);
    to.data(4, "efghij");  // and so does what is there by now
    BOOST_TEST(to.recorded.text == "abcdefghijkl");
    to.data(8, "ijkl");  // the copy that waited is gone
    BOOST_TEST(to.recorded.differing.size() == 2U);
  }
}

BOOST_AUTO_TEST_CASE(keep_alives_and_old_segments_are_silent) {
  Direction to(1);
  to.syn();
  to.data(0, "abcd");
  to.data(3, "?");
  to.data(static_cast<std::uint32_t>(-1), "?");
  BOOST_TEST(to.recorded.text == "abcd");
  BOOST_TEST(to.recorded.differing.empty());
}

BOOST_AUTO_TEST_CASE(octets_that_were_acknowledged_but_not_seen_are_a_hole) {
  Direction to(1);
  to.syn();
  to.data(0, "ab");
  to.data(5, "f");
  to.acknowledge(2);
  BOOST_TEST(to.recorded.text == "ab");
  to.acknowledge(6);
  BOOST_TEST(to.recorded.text == "ab---f");
  to.acknowledge(7);  // a FIN that was not captured, perhaps
  BOOST_TEST(to.recorded.text == "ab---f");
  to.acknowledge(0x70000000);  // nonsense
  to.data(6, "g");
  BOOST_TEST(to.recorded.text == "ab---fg");
}

BOOST_AUTO_TEST_CASE(what_waits_is_bounded) {
  Direction to(1, 2000);
  to.syn();
  for (std::uint32_t at = 0; at < 1000; ++at) {
    to.data(10 + 2 * at, "x");
    BOOST_TEST(to.stream.memory() <= 2000U);
  }
  BOOST_TEST(to.recorded.bounded > 0);
  to.stream.finish(to.recorded);
  BOOST_TEST(to.stream.memory() == 0U);
  BOOST_TEST(std::ranges::count(to.recorded.text, 'x') == 1000);
}

BOOST_AUTO_TEST_CASE(what_lies_outside_the_window_is_passed_over) {
  constexpr std::uint32_t far = 5000;
  for (const std::uint64_t reach : {std::uint64_t{1000}, std::uint64_t{far}}) {
    Direction to(1);
    to.stream.reach(reach);
    to.syn();
    to.data(0, "ab");
    to.data(far, "X");
    to.data(4, "ef");
    to.data(2, "cd");
    to.stream.finish(to.recorded);
    const bool within = reach == far;
    BOOST_TEST(to.recorded.text ==
               (within ? "abcdef" + std::string(far - 6, '-') + "X" : "abcdef"));
    BOOST_TEST(to.recorded.outside == (within ? 0 : 1));
    BOOST_TEST(to.stream.memory() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(cut_segments_tell_how_much_is_missing) {
  Direction to(1);
  to.syn();
  to.data(4, "efgh", 2);
  to.data(0, "abcd", 3);
  BOOST_TEST(to.recorded.text == "abc.ef..");
}

BOOST_AUTO_TEST_CASE(a_fin_is_reported_when_all_before_it_is_there) {
  Direction to(1);
  to.syn();
  to.fin(4);
  to.data(2, "cd");
  BOOST_TEST(to.recorded.text == "");
  to.data(0, "ab");
  BOOST_TEST(to.recorded.text == "abcd$");
  to.fin(4);
  BOOST_TEST(to.recorded.text == "abcd$");
}

BOOST_AUTO_TEST_CASE(a_syn_may_carry_octets) {
  Direction to(1);
  capture::Segment segment = to.at(0);
  segment.sequence -= 1;
  segment.syn = true;
  const std::string_view octets = "ab";
  segment.payload = std::as_bytes(std::span(octets));
  segment.payload_length = octets.size();
  to.stream.add(segment, 1, 1, to.recorded);
  to.data(2, "cd");
  BOOST_TEST(to.recorded.text == "abcd");
}

BOOST_AUTO_TEST_CASE(an_acknowledgement_may_be_captured_before_its_data) {
  constexpr std::uint64_t millisecond = 1'000'000;
  Direction to(1);
  to.time = millisecond;
  to.data(0, "ab");
  to.acknowledge(6);
  to.time += millisecond / 2;
  to.data(2, "cdef");
  BOOST_TEST(to.recorded.text == "abcdef");
  to.acknowledge(8);
  to.time += 6 * millisecond;
  to.data(8, "ij");
  BOOST_TEST(to.recorded.text == "abcdef--ij");
  to.acknowledge(12);
  to.stream.finish(to.recorded);
  BOOST_TEST(to.recorded.text == "abcdef--ij--");
}

BOOST_AUTO_TEST_CASE(an_acknowledgement_says_what_is_lacking) {
  Direction to(1);
  BOOST_TEST(!to.stream.lacks(7));  // nothing is known yet
  to.syn();
  to.data(0, "ab");
  BOOST_TEST(!to.stream.lacks(3));
  BOOST_TEST(!to.stream.lacks(4));  // a FIN, perhaps
  BOOST_TEST(to.stream.lacks(5));
  to.data(3, "d");
  BOOST_TEST(to.stream.lacks(4));
  BOOST_TEST(!to.stream.lacks(2));
  BOOST_TEST(!to.stream.lacks(0x70000000));  // nonsense
}

BOOST_AUTO_TEST_CASE(a_bare_acknowledgement_says_what_is_lacking_of_a_stream_not_begun) {
  Direction to(1);
  to.stream.add(to.at(10), 1, 1, to.recorded);
  BOOST_TEST(!to.stream.started());
  BOOST_TEST(!to.stream.lacks(to.at(11).sequence));  // a FIN, perhaps
  BOOST_TEST(to.stream.lacks(to.at(12).sequence));
}

BOOST_AUTO_TEST_CASE(a_segment_continues_the_stream_if_its_next_octet_is_in_it) {
  Direction to(1);
  to.data(10, "abc");  // joined in mid-stream
  const auto continues = [&](std::uint32_t offset, std::size_t length) {
    capture::Segment segment = to.at(offset);
    segment.payload_length = length;
    return to.stream.continued_by(segment);
  };
  BOOST_TEST(continues(13, 1));
  BOOST_TEST(continues(10, 4));
  BOOST_TEST(!continues(10, 3));
  BOOST_TEST(!continues(14, 9));
  BOOST_TEST(!continues(13, 0));
  BOOST_TEST(!continues(9, 9));  // before the first octet seen: all of it is dropped
}

namespace {

/// Two ends get the same segments and acknowledgements. One adds all of them; the other takes by the short
/// way those that are next.
struct TwoWays {
  explicit TwoWays(std::mt19937& numbers) : chance(numbers) {}

  [[nodiscard]] bool one_of(unsigned count) { return chance() % count == 0; }
  void give(std::uint32_t offset, std::size_t length) {
    capture::Segment segment = added.at(offset);
    segment.ack = !one_of(16);
    segment.fin = one_of(100);
    segment.payload = std::as_bytes(std::span(one_of(20) ? others : octets));
    segment.payload = segment.payload.subspan(offset % 7, one_of(12) ? length / 2 : length);
    segment.payload_length = length;
    segment.payload_stays = one_of(2);
    step();
    added.stream.add(segment, frame, time, added.recorded, frame);
    if (segment.ack && !segment.fin && taken.stream.is_at(segment.sequence)) {
      taken.stream.take_next(segment, frame, time, taken.recorded, frame);
      ++by_the_short_way;
    } else {
      taken.stream.add(segment, frame, time, taken.recorded, frame);
      ++by_the_long_way;
    }
  }
  void acknowledge(std::uint32_t offset) {
    step();
    const std::uint32_t number = added.origin + offset;
    added.stream.acknowledged(number, frame, time, added.recorded);
    if (!taken.stream.has_all_before(number))
      taken.stream.acknowledged(number, frame, time, taken.recorded);
    else
      BOOST_TEST(!taken.stream.lacks(number));
  }
  void step() {
    ++frame;
    time += capture_disorder / 4;
  }
  void compare() const {
    BOOST_TEST(added.recorded.text == taken.recorded.text);
    BOOST_TEST(added.recorded.frames == taken.recorded.frames);
    BOOST_TEST((added.recorded.differing == taken.recorded.differing));
    BOOST_TEST(added.stream.next() == taken.stream.next());
    BOOST_TEST(added.stream.memory() == taken.stream.memory());
  }

  std::mt19937& chance;
  const std::string octets = std::string(60, 'a'), others = std::string(60, 'b');
  Direction added{0xFFFFFF00U}, taken{0xFFFFFF00U};
  std::uint32_t frame = 0;
  std::uint64_t time = 1;
  int by_the_short_way = 0, by_the_long_way = 0;
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_short_way_of_the_next_segment_makes_no_difference) {
  std::mt19937 chance(21);
  int by_the_short_way = 0, by_the_long_way = 0;
  for (int round = 0; round < 300; ++round) {
    TwoWays both(chance);
    std::uint32_t at = 0;
    for (int i = 0; i < 60; ++i) {
      const auto length = static_cast<std::uint32_t>(chance() % 50);
      if (both.one_of(20)) both.give(at + length, 20);  // early
      if (both.one_of(20)) both.acknowledge(at + static_cast<std::uint32_t>(chance() % 60));
      if (!both.one_of(30)) both.give(at, length);
      if (both.one_of(20)) both.give(at - std::min(at, 30U), length);  // once more
      if (both.one_of(3)) both.acknowledge(at);
      at += length;
    }
    both.compare();
    by_the_short_way += both.by_the_short_way;
    by_the_long_way += both.by_the_long_way;
  }
  BOOST_TEST(by_the_short_way > 1000);
  BOOST_TEST(by_the_long_way > 1000);
}

BOOST_AUTO_TEST_CASE(a_reset_is_reported_at_once) {
  Direction to(1);
  to.syn();
  to.data(2, "cd");
  capture::Segment segment = to.at(4);
  segment.rst = true;
  to.stream.add(segment, 9, 9, to.recorded);
  BOOST_TEST(to.recorded.text == "!");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace dissectors::analyzer
