// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Frame numbers of a case's evidence: by its octets if they are in the stream, else by time.
#include <boost/test/unit_test.hpp>

#include "base/hex.hpp"
#include "suite/runner/frame_finder.hpp"
#include "suite/runner/worker_messages.hpp"

using namespace suite::runner;
using namespace std::chrono_literals;
using dissectors::capture::LinkType;
using dissectors::capture::StreamIndex;
using suite::results::ConnectionRecord;
using suite::results::Direction;

namespace {

using Kind = ConnectionRecord::Mark::Kind;

// Frames 1 to 3 are the handshake; then aabb to the IUT (4), ccdd back (5), aabb again (6), ccee
// back (7), FIN from the IUT (8).
ConnectionRecord a_connection(std::uint16_t port = 1000) {
  ConnectionRecord connection;
  connection.tester = base::Address::parse("10.77.0.1", port).value();
  connection.iut = base::Address::parse("10.77.0.2", 4791).value();
  connection.marks = {{Kind::opened, Direction::to_iut, 0ms, {}},
                      {Kind::data, Direction::to_iut, 10ms, base::leading_hex("aabb")},
                      {Kind::data, Direction::from_iut, 20ms, base::leading_hex("ccdd")},
                      {Kind::data, Direction::to_iut, 30ms, base::leading_hex("aabb")},
                      {Kind::data, Direction::from_iut, 40ms, base::leading_hex("ccee")},
                      {Kind::fin, Direction::from_iut, 50ms, {}}};
  return connection;
}

FrameFinder finder(const std::vector<ConnectionRecord>& connections) {
  const auto frames = synthesize(connections, 1'000'000'000);
  return {connections, StreamIndex(LinkType::ethernet, frames)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(our_own_octets_are_noted_before_they_leave) {
  const auto find = finder({a_connection()});
  BOOST_TEST(find.find(Direction::to_iut, 9ms, "aabb").value() == 4U);
  BOOST_TEST(find.find(Direction::to_iut, 10ms, "aabb").value() == 4U);
  BOOST_TEST(find.find(Direction::to_iut, 11ms, "aabb").value() == 6U);
  BOOST_TEST(find.find(Direction::to_iut, 60ms, "aabb").value() ==
             6U);  // the nearest where none left later
}

BOOST_AUTO_TEST_CASE(the_iuts_octets_are_noted_after_they_came) {
  const auto find = finder({a_connection()});
  BOOST_TEST(find.find(Direction::from_iut, 60ms, "ccdd").value() == 5U);
  BOOST_TEST(find.find(Direction::from_iut, 60ms, "cc").value() == 7U);
  BOOST_TEST(find.find(Direction::from_iut, 39ms, "cc").value() == 5U);
  BOOST_TEST(find.find(Direction::from_iut, 5ms, "cc").value() ==
             5U);  // the nearest where none had come
  BOOST_TEST(find.find(Direction::from_iut, 39ms, "ddcc").value() ==
             5U);  // its last octet came later
  BOOST_TEST(find.find(Direction::from_iut, 60ms, "ddcc").value() ==
             5U);  // begins in one frame, ends in the next
}

BOOST_AUTO_TEST_CASE(without_octets_what_passed_last) {
  const auto find = finder({a_connection()});
  BOOST_TEST(find.find(Direction::from_iut, 45ms, "").value() == 7U);
  BOOST_TEST(find.find(Direction::from_iut, 60ms, "").value() == 8U);  // the FIN
  BOOST_TEST(find.find(Direction::from_iut, 45ms, "123456").value() ==
             7U);  // not as such on the wire
  BOOST_TEST(!find.find(Direction::from_iut, 5ms, "").has_value());
  BOOST_TEST(find.find(Direction::to_iut, 5ms, "").value() == 1U);  // the SYN
}

BOOST_AUTO_TEST_CASE(of_several_connections_the_one_that_fits) {
  auto second = a_connection(1001);
  for (auto& mark : second.marks) mark.at += 100ms;
  second.marks[1].octets = base::leading_hex("0102");
  const auto find = finder({a_connection(), second});
  BOOST_TEST(find.find(Direction::to_iut, 105ms, "0102").value() == 12U);
  BOOST_TEST(find.find(Direction::from_iut, 160ms, "").value() == 16U);
  BOOST_TEST(find.find(Direction::from_iut, 60ms, "").value() == 8U);
}

BOOST_AUTO_TEST_CASE(made_up_frames_are_in_order_of_time_across_connections) {
  auto second = a_connection(1001);
  for (auto& mark : second.marks) mark.at += 15ms;
  second.opened_by_tester = false;
  const auto frames = synthesize(std::vector{a_connection(), second}, 1'000'000'000);
  BOOST_TEST(frames.size() == 16U);
  BOOST_TEST(std::ranges::is_sorted(frames, {}, &dissectors::capture::Frame::time));
  const auto opening = dissectors::capture::parse_segment(LinkType::ethernet, frames[4].octets);
  BOOST_TEST(opening->syn);
  BOOST_TEST(opening->flow.from.text() == "10.77.0.2:4791");
}
