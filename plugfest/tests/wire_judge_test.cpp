// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What of a capture is judged: the cell's connections, and not what others send past the same place.
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dissectors/capture/synthesizer.hpp"
#include "plugfest/wire_judge.hpp"

namespace plugfest {
namespace {

namespace capture = dissectors::capture;

capture::Flow flow(const char* from, std::uint16_t source, const char* to, std::uint16_t port) {
  return {capture::Endpoint::parse(from, source).value(),
          capture::Endpoint::parse(to, port).value()};
}

/// An MPA frame of revision 1 without private data (RFC 5044, 7.1).
std::vector<std::byte> startup_frame(std::string_view key, std::uint8_t flags) {
  std::vector<std::byte> octets;
  for (const char each : key) octets.push_back(static_cast<std::byte>(each));
  for (const std::uint8_t each : {flags, std::uint8_t{1}, std::uint8_t{0}, std::uint8_t{0}})
    octets.push_back(static_cast<std::byte>(each));
  return octets;
}

/// A connection whose initiator sets a reserved bit of its Request.
std::vector<capture::Frame> faulty(const capture::Flow& forth) {
  constexpr std::uint8_t crc = 0x40, reserved = 0x01;
  capture::Synthesizer made;
  made.opened(forth, 1);
  made.data(forth, 2, startup_frame("MPA ID Req Frame", crc | reserved));
  made.data(forth.reversed(), 3, startup_frame("MPA ID Rep Frame", crc));
  made.closed(forth, 4);
  return made.frames();
}

Outcome judged(const std::vector<capture::Frame>& frames, const CellTraffic& cell) {
  Outcome outcome;
  judge_wire(frames, {.cell = cell, .expectation = {}}, outcome);
  return outcome;
}

BOOST_AUTO_TEST_SUITE(wire_judge)

BOOST_AUTO_TEST_CASE(the_cells_own_connection) {
  const auto frames = faulty(flow("10.0.0.1", 4000, "10.0.0.2", 5000));
  // A port mapper may have another port on the wire than the one the consumer listens at.
  for (const std::vector<std::uint16_t>& ports : {std::vector<std::uint16_t>{5000}, {7000}, {}}) {
    const Outcome outcome = judged(frames, {"10.0.0.1", "10.0.0.2", ports});
    BOOST_TEST_REQUIRE(outcome.findings.size() == 1U);
    BOOST_TEST((outcome.findings.front().side == Side::initiator));
    BOOST_TEST(outcome.wire.size() == 2U);
  }
}

BOOST_AUTO_TEST_CASE(from_another_address_of_a_host) {
  const auto frames = faulty(flow("10.0.9.1", 4000, "10.0.0.2", 5000));
  const Outcome outcome = judged(frames, {"10.0.0.1", "10.0.0.2", {5000}});
  BOOST_TEST_REQUIRE(outcome.findings.size() == 1U);
  BOOST_TEST((outcome.findings.front().side == Side::initiator));
}

BOOST_AUTO_TEST_CASE(what_others_send) {
  const auto frames = faulty(flow("10.0.0.1", 4000, "10.0.0.3", 6000));
  const Outcome outcome = judged(frames, {"10.0.0.1", "10.0.0.2", {5000}});
  BOOST_TEST(outcome.findings.empty());
  BOOST_TEST(outcome.wire.empty());
}

// What both ends report is not confirmed by a capture that has seen neither.
BOOST_AUTO_TEST_CASE(a_capture_without_the_cells_connection) {
  const auto strangers = faulty(flow("10.0.0.3", 4000, "10.0.0.4", 5000));
  const CellTraffic cell("10.0.0.1", "10.0.0.2", {5000});
  WireExpectation expectation;
  expectation.revision = 1;
  for (const auto& frames : {strangers, std::vector<capture::Frame>{}}) {
    Outcome outcome;
    outcome.checks.push_back({Side::initiator, "established", "yes", "yes", true});
    judge_wire(frames, {.cell = cell, .expectation = expectation}, outcome);
    judge(outcome, std::nullopt);
    BOOST_TEST((outcome.verdict == Verdict::inconclusive));
    BOOST_TEST(outcome.reason.find("no connection between the two ends") != std::string::npos,
               outcome.reason);
    Outcome stopped;
    judge_wire(frames, {.cell = cell, .expectation = expectation, .played_to_the_end = false},
               stopped);
    BOOST_TEST(stopped.capture_trouble.empty());
  }
}

BOOST_AUTO_TEST_CASE(two_ends_at_one_address) {
  const auto frames = faulty(flow("127.0.0.1", 4000, "127.0.0.1", 5000));
  BOOST_TEST(judged(frames, {"127.0.0.1", "127.0.0.1", {5000}}).findings.size() == 1U);
  // Another program's: the port alone tells.
  BOOST_TEST(judged(frames, {"127.0.0.1", "127.0.0.1", {5001}}).findings.empty());
  BOOST_TEST(judged(frames, {"127.0.0.1", "127.0.0.1", {}}).findings.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace plugfest
