// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// However many jobs there are: the same records in the same order, with the same numbers.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include "dissectors/lint/sharding.hpp"
#include "dissectors/lint/tests/traffic.hpp"

using namespace dissectors;
using namespace dissectors::lint;

namespace {

std::string line_of(const Record& record) {
  return fmt::format("{} #{} {} {}", record.frame, record.connection.number,
                     record.connection.first.port, record.what.index());
}

struct Reported {
  std::vector<std::string> lines;
  Totals totals;
};

Reported run(unsigned jobs, const std::vector<capture::Frame>& frames, bool flush_often = false) {
  Reported reported;
  ShardingOptions options;
  options.jobs = jobs;
  options.collector.messages = true;
  Sharding sharding(capture::LinkType::ethernet, options,
                    [&](Record&& record) { reported.lines.push_back(line_of(record)); });
  for (std::size_t i = 0; i < frames.size(); ++i) {
    sharding.frame(lint::tests::view(frames[i]));
    if (flush_often && i % 7 == 0) sharding.flush();
  }
  reported.totals = sharding.finish();
  return reported;
}

// Connections that open, send and end in turns, some between the same ports as before.
std::vector<capture::Frame> busy() {
  capture::Synthesizer maker;
  std::uint64_t now = 1;
  for (int round = 0; round < 20; ++round) {
    for (std::uint16_t port = 1000; port < 1040; ++port) {
      const auto flow = lint::tests::flow(port);
      if (round % 5 == port % 5) maker.opened(flow, ++now);
      const std::string_view payload = port % 4 == 0 ? "Bad" : port % 4 == 1 ? "Fpdu" : "Note";
      maker.data(round % 2 == 0 ? flow : flow.reversed(), ++now, lint::tests::text(payload));
    }
  }
  return maker.frames();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sharding)

BOOST_AUTO_TEST_CASE(jobs_change_nothing_that_is_told) {
  const auto frames = busy();
  const Reported one = run(1, frames);
  BOOST_TEST(one.lines.size() > 800U);
  for (const unsigned jobs : {2U, 3U, 8U}) {
    const Reported many = run(jobs, frames);
    BOOST_TEST(many.lines == one.lines, boost::test_tools::per_element());
    BOOST_TEST(many.totals.connections == one.totals.connections);
    BOOST_TEST(many.totals.iwarp_connections == one.totals.iwarp_connections);
    BOOST_TEST(many.totals.fpdus == one.totals.fpdus);
    BOOST_TEST(many.totals.notes == one.totals.notes, boost::test_tools::per_element());
  }
  BOOST_TEST(run(2, frames, true).lines == one.lines, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(connections_count_from_1_in_the_order_of_their_first_frames) {
  const Reported reported = run(4, busy());
  std::uint64_t next = 1;
  for (const std::string& line : reported.lines)
    if (line.ends_with(" 0"))
      BOOST_TEST(line.find(fmt::format("#{} ", next++)) != std::string::npos, line);
  BOOST_TEST(next - 1 == reported.totals.connections);
}

BOOST_AUTO_TEST_CASE(more_octets_than_a_round_holds) {
  capture::Synthesizer maker;
  const std::vector<std::byte> large(60'000, std::byte{'F'});
  for (std::uint64_t i = 0; i < 200; ++i)
    maker.data(lint::tests::flow(static_cast<std::uint16_t>(1000 + i % 3)), i + 1, large);
  BOOST_TEST(run(2, maker.frames()).lines == run(1, maker.frames()).lines,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(nothing_at_all) {
  for (const unsigned jobs : {1U, 4U}) {
    const Reported reported = run(jobs, {});
    BOOST_TEST(reported.lines.empty());
    BOOST_TEST(reported.totals.frames.frames == 0U);
  }
}

BOOST_AUTO_TEST_CASE(frames_that_hold_no_segment_are_counted) {
  capture::Synthesizer maker;
  maker.data(lint::tests::flow(1000), 1, lint::tests::text("Fpdu"));
  auto frames = maker.frames();
  auto fragment = frames[0], other = frames[0], nonsense = frames[0], cut = frames[0];
  fragment.octets[20] = std::byte{0x20};  // more fragments
  other.octets[23] = std::byte{17};       // UDP
  nonsense.octets[14] = std::byte{0x44};  // a header of 16 octets
  cut.octets.resize(cut.octets.size() - 2);
  for (const auto& frame : {fragment, other, nonsense, cut}) frames.push_back(frame);
  const Reported reported = run(1, frames);
  BOOST_TEST(reported.totals.frames.frames == 5U);
  BOOST_TEST(reported.totals.frames.tcp == 2U);
  BOOST_TEST(reported.totals.frames.fragments == 1U);
  BOOST_TEST(reported.totals.frames.malformed == 1U);
  BOOST_TEST(reported.totals.frames.cut == 1U);
}

BOOST_AUTO_TEST_CASE(it_may_be_given_up_half_way) {
  ShardingOptions options;
  options.jobs = 4;
  Sharding sharding(capture::LinkType::ethernet, options, [](Record&&) {});
  for (const auto& frame : busy()) sharding.frame(lint::tests::view(frame));
}

BOOST_AUTO_TEST_SUITE_END()
