// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the capture of a case shows against the IUT, and what it does to the case's verdict.
#include <boost/test/unit_test.hpp>

#include "base/hex.hpp"
#include "base/octets.hpp"
#include "reference_rnic/wire/fpdu.hpp"
#include "suite/runner/capture_judge.hpp"
#include "suite/runner/frame_finder.hpp"
#include "suite/runner/worker_messages.hpp"

using namespace suite::runner;
using namespace std::chrono_literals;
using dissectors::capture::Flow;
using dissectors::capture::LinkType;
using suite::results::ConnectionRecord;
using suite::results::Direction;
namespace results = suite::results;

namespace {

using Kind = ConnectionRecord::Mark::Kind;
using base::Octets;

constexpr std::uint64_t start = 1'000'000'000;
constexpr const char* request = "4d504120494420526571204672616d6540010000";
constexpr const char* reply = "4d504120494420526570204672616d6540010000";
constexpr const char* reply_with_reserved_flag = "4d504120494420526570204672616d6541010000";

// A Send of one octet: MSN, the pad as given, the right CRC.
Octets send(const char* msn, const char* pad) {
  Octets fpdu = base::leading_hex(
      "0013414300000000"
      "0000"
      "0000"
      "0000" +
      std::string(msn) + "00000000aa" + std::string(pad));
  const auto crc = rnic::wire::crc32c_trailer(fpdu);
  fpdu.insert(fpdu.end(), crc.begin(), crc.end());
  return fpdu;
}

Octets and_then(Octets octets, const Octets& more) {
  octets.insert(octets.end(), more.begin(), more.end());
  return octets;
}

// The tester opens, asks and sends; the IUT answers so.
ConnectionRecord a_connection(const char* answer, const Octets& from_tester,
                              const Octets& from_iut) {
  ConnectionRecord connection;
  connection.tester = base::Address::parse("10.77.0.1", 1000).value();
  connection.iut = base::Address::parse("10.77.0.2", 4791).value();
  connection.marks = {{Kind::opened, Direction::to_iut, 0ms, {}},
                      {Kind::data, Direction::to_iut, 10ms, base::leading_hex(request)},
                      {Kind::data, Direction::from_iut, 20ms, base::leading_hex(answer)},
                      {Kind::data, Direction::to_iut, 30ms, from_tester},
                      {Kind::data, Direction::from_iut, 40ms, from_iut}};
  return connection;
}

std::vector<CaptureFinding> findings(const ConnectionRecord& connection) {
  const auto frames = synthesize({{connection}}, start);
  const std::vector<Flow> flows{flow_to_iut(connection)};
  return judge_capture(LinkType::ethernet, frames, flows).findings;
}

// Its case is about the rules that the IUTs here break.
results::CaseRecord passed() {
  results::CaseRecord record;
  record.rules = {"mpa.framing.pad-sent-as-zero", "mpa.startup.reserved-bits-sent-as-zero",
                  "mpa.segmentation.segments-begin-with-fpdu"};
  record.outcome.verdict = results::Verdict::pass;
  record.outcome.expectations.emplace_back().rule = "mpa.startup.revision-one-sent";
  return record;
}

const auto good = send("0001", "000000"), padded = send("0001", "000100");

}  // namespace

BOOST_AUTO_TEST_CASE(a_conforming_iut_has_no_finding) {
  BOOST_TEST(findings(a_connection(reply, good, good)).empty());
}

BOOST_AUTO_TEST_CASE(what_the_tester_breaks_is_not_laid_to_the_iut) {
  BOOST_TEST(findings(a_connection(reply, padded, good)).empty());
  Octets bad_crc = good;
  bad_crc.back() ^= std::byte{1};
  BOOST_TEST(findings(a_connection(reply, bad_crc, good)).empty());
  BOOST_TEST(
      findings(a_connection(reply, and_then(good, base::leading_hex("ffffffffffffffff")), good))
          .empty());
}

BOOST_AUTO_TEST_CASE(a_broken_must_fails_the_case_with_rule_octets_and_frame) {
  // The tester's own fault does not hide that of the IUT.
  const Octets garbage = and_then(good, base::leading_hex("ffffffffffffffff"));
  const auto found = findings(a_connection(reply, garbage, padded));
  BOOST_REQUIRE(found.size() == 1U);
  BOOST_TEST(found[0].rule == "mpa.framing.pad-sent-as-zero");
  BOOST_TEST(found[0].frame == 7U);  // after the handshake of three, two startup frames, one FPDU
  auto record = passed();
  add_findings(record, found, start, false);
  BOOST_TEST((record.outcome.verdict == results::Verdict::fail));
  BOOST_TEST(record.outcome.reason.starts_with("mpa.framing.pad-sent-as-zero: "));
  BOOST_REQUIRE(record.outcome.expectations.size() == 2U);
  const auto& made = record.outcome.expectations.back();
  BOOST_TEST((made.judgement == results::Judgement::fail));
  BOOST_TEST((made.direction == results::Direction::from_iut));
  BOOST_TEST(made.frame.value() == 7U);
  BOOST_TEST(made.hex ==
             "41430000000000000000000000010000"
             "0000aa");
  BOOST_TEST((made.at == std::chrono::milliseconds(40)));
}

BOOST_AUTO_TEST_CASE(a_case_about_something_else_also_sees_a_broken_must) {
  auto record = passed();
  record.rules = {"mpa.startup.revision-one-sent"};
  add_findings(record, findings(a_connection(reply, good, padded)), start, false);
  BOOST_TEST((record.outcome.verdict == results::Verdict::pass));
  BOOST_TEST(record.advisories.empty());
  BOOST_REQUIRE(record.outcome.expectations.size() == 2U);
  BOOST_TEST((record.outcome.expectations.back().judgement == results::Judgement::also_seen));
  const auto gathered = results::gather_findings({record, record});
  BOOST_REQUIRE(gathered.size() == 1U);
  BOOST_TEST(gathered.front().rule == "mpa.framing.pad-sent-as-zero");
  BOOST_TEST(gathered.front().cases == 2U);
  BOOST_TEST(gathered.front().observed.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_rule_broken_often_is_told_once) {
  const Octets twice = and_then(padded, send("0002", "010000"));
  const auto found = findings(a_connection(reply, good, twice));
  BOOST_REQUIRE(found.size() == 1U);
  BOOST_TEST(found[0].count == 2U);
}

BOOST_AUTO_TEST_CASE(what_was_found_while_the_case_ran_is_recorded_once) {
  const auto found = findings(a_connection(reply_with_reserved_flag, good, good));
  BOOST_REQUIRE(found.size() == 1U);
  BOOST_REQUIRE(!found[0].also.empty());
  suite::results::ExpectationRecord live;
  live.place = found[0].place;
  for (const std::string& rule : {found[0].rule, found[0].also.front()}) {
    live.rule = rule;
    auto record = passed();
    record.outcome.expectations.push_back(live);
    add_findings(record, found, start, false);
    BOOST_TEST((record.outcome.verdict == results::Verdict::pass));
    BOOST_TEST(record.outcome.expectations.size() == 2U);
  }
  // What the case expected of the same rule, or found elsewhere, does not concern this fault.
  live.rule = found[0].rule;
  for (const auto place : {std::optional<suite::results::StreamPlace>{},
                           std::optional(suite::results::StreamPlace{.connection = 1})}) {
    live.place = place;
    auto record = passed();
    record.outcome.expectations.push_back(live);
    add_findings(record, found, start, false);
    BOOST_TEST((record.outcome.verdict == results::Verdict::fail));
  }
}

BOOST_AUTO_TEST_CASE(a_broken_should_is_an_advisory_unless_strict) {
  CaptureFinding one;
  one.rule = "mpa.segmentation.segments-begin-with-fpdu";
  one.frame = 3;
  one.time = start;
  const std::vector<CaptureFinding> found{one};
  auto record = passed(), strict = passed();
  add_findings(record, found, start, false);
  BOOST_TEST((record.outcome.verdict == results::Verdict::pass));
  BOOST_TEST(record.advisories.size() == 1U);
  add_findings(strict, found, start, true);
  BOOST_TEST((strict.outcome.verdict == results::Verdict::fail));
}

BOOST_AUTO_TEST_CASE(an_error_of_the_harness_stays_one) {
  auto record = passed();
  record.outcome.verdict = results::Verdict::error;
  record.outcome.reason = "the test bed is broken";
  add_findings(record, findings(a_connection(reply, good, padded)), start, false);
  BOOST_TEST((record.outcome.verdict == results::Verdict::error));
  BOOST_TEST(record.outcome.reason == "the test bed is broken");
}

BOOST_AUTO_TEST_CASE(lost_frames_leave_no_pass) {
  auto record = passed();
  doubt(record, 0);
  BOOST_TEST((record.outcome.verdict == results::Verdict::pass));
  doubt(record, 3);
  BOOST_TEST((record.outcome.verdict == results::Verdict::inconclusive));
  record.outcome.verdict = results::Verdict::fail;
  doubt(record, 3);
  BOOST_TEST((record.outcome.verdict == results::Verdict::fail));
}
