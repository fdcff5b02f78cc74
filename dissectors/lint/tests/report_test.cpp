// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Each form of report of the same records, with hostile text in them.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dissectors/lint/report.hpp"
#include "dissectors/lint/tests/traffic.hpp"
#include "rules/catalogue.hpp"

using namespace dissectors;
using namespace dissectors::lint;
using nlohmann::json;

namespace {

constexpr const char* hostile = "\x1b]0;owned\x07 \xff\n";

analyzer::Connection a_connection() {
  const auto flow = lint::tests::flow(4000);
  return {.number = 7,
          .first = flow.from,
          .second = flow.to,
          .role_of_first = analyzer::Role::initiator};
}

Record record_of(decltype(Record::what) what) {
  return {.frame = 9, .time = 1'000'500'000, .connection = a_connection(), .what = std::move(what)};
}

Violation a_violation() {
  return {.finding = {.rule = "ddp.terminate.tagged-base-or-bounds",
                      .place = {.direction = analyzer::Direction::from_first,
                                .offset = 40,
                                .length = 24,
                                .first_frame = 8,
                                .last_frame = 9},
                      .actual = hostile,
                      .admissible = "inside"},
          .also = {"mpa.startup.reserved-bits-ignored"},
          .octets = "00 01"};
}

ConnectionSummary a_summary() {
  ConnectionSummary summary{.connection = a_connection(), .first_frame = 1, .last_frame = 12};
  summary.negotiated.revision = 1;
  summary.from_first.operations[3] = 2;
  summary.from_first.fpdus = 2;
  summary.violations["ddp.terminate.tagged-base-or-bounds"] = 1;
  summary.notes[0] = 5;
  summary.iwarp = true;
  return summary;
}

void tell_all(Report& report) {
  report.record(
      {.frame = 1, .time = 1'000'000'000, .connection = a_connection(), .what = Opened{}});
  report.record(record_of(Message{.place = {.direction = analyzer::Direction::from_second},
                                  .text = hostile,
                                  .request_frame = 3,
                                  .response_time = 1'500'000}));
  report.record(record_of(a_violation()));
  for (int i = 0; i < 5; ++i)
    report.record(record_of(
        analyzer::Note{.kind = analyzer::NoteKind::octets_missing, .place = {}, .text = hostile}));
  report.record(record_of(a_summary()));
  Totals totals;
  totals.frames = {.frames = 20, .tcp = 15, .fragments = 1, .malformed = 1, .cut = 2};
  totals.connections = 7;
  totals.iwarp_connections = 1;
  totals.notes[0] = 5;
  totals.violations["ddp.terminate.tagged-base-or-bounds"] = {.times = 1, .first_frame = 9};
  totals.tear = capture::Tear{.offset = 812, .frames = 20, .reason = hostile};
  totals.live = capture::CaptureCounts{.received = 20, .dropped = 3, .interface_dropped = 1};
  report.finish(totals);
}

std::string said_by(const std::function<std::unique_ptr<Report>(std::FILE*)>& make) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* file = ::open_memstream(&text, &size);
  tell_all(*make(file));
  std::fclose(file);
  std::string said(text, size);
  std::free(text);
  return said;
}

void expect(const std::string& text, std::string_view part) {
  BOOST_TEST(text.find(part) != std::string::npos, part << " in:\n" << text);
}
void expect_harmless(const std::string& text) {
  for (const char c : text) BOOST_TEST(((c >= ' ' && c <= '~') || c == '\n'));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(report)

BOOST_AUTO_TEST_CASE(text_for_people) {
  const auto text = said_by([](std::FILE* file) { return text_report(file, {}); });
  expect_harmless(text);
  expect(text, "ddp.terminate.tagged-base-or-bounds  RFC 5041 section ");
  expect(text, "  frames 8 to 9, connection 7, 10.0.0.1:4000 > 10.0.0.2:5000 (initiator)\n");
  expect(text, "  came        \\x1b]0;owned\\x07 \\xff\\x0a\n");
  expect(text, "  admissible  inside\n");
  expect(text, "  also        mpa.startup.reserved-bits-ignored  RFC 5044 section ");
  expect(text, "  octets      40 to 63 of the stream: 00 01\n");
  expect(text, "0.000500 #7 frame 9 < \\x1b]0;owned");
  expect(text, "(answers frame 3 after 1.500 ms)");
  expect(text, "connection 7  10.0.0.1:4000 - 10.0.0.2:5000, frames 1 to 12\n");
  expect(text, "  initiator   10.0.0.1:4000: 2 Send; 2 FPDUs, 0 octets\n");
  expect(text, "  not judged  5 octets missing\n");
  expect(text, "further ones of this connection are only counted");
  expect(text, "20 frames: 15 TCP, 3 other\n");
  expect(text, "not judged: 1 fragment of IP packets");
  expect(text, "the capture is torn at octet 812 of the file, after frame 20: \\x1b]0;owned");
  expect(text, "4 frames dropped by the capture");
  expect(text,
         "1 x ddp.terminate.tagged-base-or-bounds  RFC 5041 section 7.2, MUST, first at frame 9\n");
  BOOST_TEST(text.ends_with("\n1 violation\n"));
}

BOOST_AUTO_TEST_CASE(violations_of_one_rule_are_shown_up_to_a_bound) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* file = ::open_memstream(&text, &size);
  const auto report = text_report(file, {});
  for (int count = 0; count < 166; ++count) report->record(record_of(a_violation()));
  Totals totals;
  totals.iwarp_connections = 1;
  totals.violations["ddp.terminate.tagged-base-or-bounds"] = {.times = 166, .first_frame = 9};
  report->finish(totals);
  std::fclose(file);
  const std::string said(text, size);
  std::free(text);
  const std::string sign = "  admissible  ";
  std::size_t shown = 0;
  for (auto at = said.find(sign); at != std::string::npos; at = said.find(sign, at + 1)) ++shown;
  BOOST_TEST(shown == 5U);
  expect(said, "further violations of this rule are only counted");
  expect(said, "166 x ddp.terminate.tagged-base-or-bounds");
  BOOST_TEST(said.ends_with("\n166 violations\n"));
}

BOOST_AUTO_TEST_CASE(a_capture_without_iwarp_is_not_called_clean) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* file = ::open_memstream(&text, &size);
  text_report(file, {})->finish({});
  std::fclose(file);
  BOOST_TEST(std::string(text, size).ends_with("\nno iWARP in this capture: nothing was judged\n"));
  std::free(text);
}

BOOST_AUTO_TEST_CASE(a_summary_leaves_the_single_things_out) {
  const auto text = said_by([](std::FILE* file) { return text_report(file, {.summary = true}); });
  BOOST_TEST(text.find("came") == std::string::npos);
  BOOST_TEST(text.find("answers") == std::string::npos);
  expect(text, "connection 7  ");
  expect(text, "1 x ddp.terminate.tagged-base-or-bounds");
}

BOOST_AUTO_TEST_CASE(colour_is_the_only_control_sequence) {
  const auto text = said_by([](std::FILE* file) { return text_report(file, {.colour = true}); });
  expect(text, "\x1b[31mddp.terminate.tagged-base-or-bounds\x1b[0m");
  BOOST_TEST(text.find("\x1b]") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(json_lines) {
  const auto text = said_by([](std::FILE* file) { return json_report(file, false); });
  expect_harmless(text);
  std::map<std::string, json> last;
  std::size_t begin = 0, lines = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const json line = json::parse(text.substr(begin, end - begin));
    last[line.at("type")] = line;
    ++lines;
  }
  BOOST_TEST(lines == 9U);  // message, violation, 5 notes, connection, summary
  const json& violation = last.at("violation");
  BOOST_TEST(violation.at("rule") == "ddp.terminate.tagged-base-or-bounds");
  BOOST_TEST(violation.at("rfc") == 5041);
  BOOST_TEST(violation.at("level") == "must");
  BOOST_TEST(violation.at("frame") == 9);
  BOOST_TEST(violation.at("first_frame") == 8);
  BOOST_TEST(violation.at("connection") == 7);
  BOOST_TEST(violation.at("also").at(0) == "mpa.startup.reserved-bits-ignored");
  BOOST_TEST(violation.at("octets") == "00 01");
  BOOST_TEST(violation.at("certainty") == "certain");
  BOOST_TEST(last.at("message").at("request_frame") == 3);
  BOOST_TEST(last.at("note").at("kind") == "octets missing");
  BOOST_TEST(last.at("connection").at("first").at("operations").at("Send") == 2);
  BOOST_TEST(last.at("connection").at("options").at("crc").is_null());
  BOOST_TEST(last.at("summary").at("torn").at("offset") == 812);
  BOOST_TEST(last.at("summary").at("dropped") == 4);
  BOOST_TEST(last.at("summary").at("violations") == 1);
}

BOOST_AUTO_TEST_CASE(sarif) {
  const auto text =
      said_by([](std::FILE* file) { return sarif_report(file, "my trace\x1b.pcap"); });
  expect_harmless(text);
  const json document = json::parse(text);
  BOOST_TEST(document.at("version") == "2.1.0");
  const json& run = document.at("runs").at(0);
  BOOST_TEST(run.at("results").size() == 1U);
  const json& result = run.at("results").at(0);
  BOOST_TEST(result.at("ruleId") == "ddp.terminate.tagged-base-or-bounds");
  BOOST_TEST(result.at("level") == "error");
  BOOST_TEST(result.at("properties").at("frame") == 9);
  BOOST_TEST(result.at("locations").at(0).at("physicalLocation").at("artifactLocation").at("uri") ==
             "my%20trace%1B.pcap");
  const json& driver = run.at("tool").at("driver");
  BOOST_TEST(driver.at("name") == "rnic-lint");
  const json& described = driver.at("rules").at(0);
  BOOST_TEST(described.at("id") == "ddp.terminate.tagged-base-or-bounds");
  const rules::Rule& rule = *rules::find("ddp.terminate.tagged-base-or-bounds");
  const std::string help = described.at("help").at("text");
  for (const std::string_view words : {rule.text, rule.quote})
    BOOST_TEST(help.find(words) != std::string::npos, help);
  BOOST_TEST(described.at("helpUri") == rules::href(rule));
  const json& invocation = run.at("invocations").at(0);
  BOOST_TEST(invocation.at("executionSuccessful") == true);
  BOOST_TEST(invocation.at("toolExecutionNotifications").size() == 3U);
}

BOOST_AUTO_TEST_CASE(sarif_without_any_violation_is_a_document_too) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* file = ::open_memstream(&text, &size);
  sarif_report(file, "x")->finish({});
  std::fclose(file);
  BOOST_TEST(json::parse(std::string(text, size)).at("runs").at(0).at("results").empty());
  std::free(text);
}

BOOST_AUTO_TEST_SUITE_END()
