// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The messages between parent and worker: each is read as it was written, and what is none is refused.
#include <boost/test/unit_test.hpp>

#include "suite/jobs/message.hpp"
#include "suite/runner/worker_messages.hpp"

using namespace suite::runner;
using namespace std::chrono_literals;
using suite::jobs::MessageReader;
namespace results = suite::results;

namespace {

results::CaseOutcome an_outcome() {
  results::CaseOutcome outcome;
  outcome.verdict = results::Verdict::fail;
  outcome.reason = "tab\there, \"quotes\" and \xff";
  outcome.expectations.push_back({"rule",
                                  "row",
                                  {"one", "two"},
                                  "actual",
                                  "00ff",
                                  results::Judgement::advisory,
                                  results::Direction::from_iut,
                                  17ns});
  outcome.rows.push_back({"row", results::Verdict::inconclusive, "why"});
  outcome.exchange.push_back({5us, results::Direction::to_iut, "text", "aa"});
  results::ConnectionRecord connection;
  connection.tester = base::Address::parse("fd77::1", 4791).value();
  connection.iut = base::Address::parse("fd77::2", 50000).value();
  connection.opened_by_tester = false;
  connection.marks.push_back({results::ConnectionRecord::Mark::Kind::reset,
                              results::Direction::from_iut,
                              9ms,
                              {std::byte{7}, std::byte{0xFE}}});
  outcome.connections.push_back(connection);
  outcome.duration = 3s;
  return outcome;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_outcome_survives_the_trip) {
  const auto message =
      parse_worker_message(format(WorkerMessage(OutcomeMessage{an_outcome(), "stderr\nlines"})));
  BOOST_REQUIRE(message);
  const auto& outcome = std::get<OutcomeMessage>(*message).outcome;
  BOOST_TEST(std::get<OutcomeMessage>(*message).stderr_text == "stderr\nlines");
  BOOST_TEST((outcome.verdict == results::Verdict::fail));
  BOOST_TEST(outcome.reason == "tab\there, \"quotes\" and \xEF\xBF\xBD");
  BOOST_TEST(outcome.expectations.at(0).admissible.at(1) == "two");
  BOOST_TEST((outcome.expectations[0].judgement == results::Judgement::advisory));
  BOOST_TEST((outcome.expectations[0].at == 17ns));
  BOOST_TEST((outcome.rows.at(0).verdict == results::Verdict::inconclusive));
  BOOST_TEST((outcome.exchange.at(0).at == 5us));
  const auto& connection = outcome.connections.at(0);
  BOOST_TEST(connection.tester.text() == "[fd77::1]:4791");
  BOOST_TEST(!connection.opened_by_tester);
  BOOST_TEST((connection.marks.at(0).kind == results::ConnectionRecord::Mark::Kind::reset));
  BOOST_TEST((connection.marks[0].octets == std::vector<std::byte>{std::byte{7}, std::byte{0xFE}}));
  BOOST_TEST((outcome.duration == 3s));
}

BOOST_AUTO_TEST_CASE(the_other_messages_too) {
  suite::iut::Hello hello;
  hello.driver = "verbs";
  hello.kernel = "6.1";
  hello.capabilities = {"ipv6"};
  hello.limits = {{"max_ird", 128}};
  const auto ready = parse_worker_message(format(WorkerMessage(ReadyMessage{hello})));
  BOOST_REQUIRE(ready);
  BOOST_TEST(std::get<ReadyMessage>(*ready).hello.limits.at("max_ird") == 128);
  const auto gone = parse_worker_message(format(WorkerMessage(UnreachableMessage{"no route"})));
  BOOST_TEST(std::get<UnreachableMessage>(gone.value()).why == "no route");
  const auto died = parse_worker_message({R"({"type":"died","signal":11,"in_iut":true})", ""});
  BOOST_TEST(std::get<DiedMessage>(died.value()).signal == 11);

  WorkerSetup setup;
  setup.reach = WorkerSetup::Reach::socket;
  setup.socket = "/tmp/s";
  setup.agent = {"a", "b c"};
  setup.deviations = {"d"};
  setup.lawful = {"l"};
  setup.tester = {.network_namespace = "/proc/1/fd/3",
                  .ipv4 = "10.77.0.1",
                  .ipv6 = "fd77::1",
                  .max_segment = 1448};
  setup.tester.zone = "eth1";
  setup.deadline_scale = 2.5;
  setup.quiet_window = 7;
  setup.reply_deadline = 8;
  setup.pics = {{"atomics", false}};
  setup.strict = true;
  const auto back =
      std::get<WorkerSetup>(parse_parent_message(format(ParentMessage(setup))).value());
  BOOST_TEST((back.reach == WorkerSetup::Reach::socket));
  BOOST_TEST(back.agent == setup.agent, boost::test_tools::per_element());
  BOOST_TEST(back.lawful == setup.lawful, boost::test_tools::per_element());
  BOOST_TEST(back.tester.network_namespace == "/proc/1/fd/3");
  BOOST_TEST(back.tester.max_segment == 1448U);
  BOOST_TEST(back.tester.zone == "eth1");
  BOOST_TEST(back.deadline_scale == 2.5);
  BOOST_TEST(back.quiet_window == 7U);
  BOOST_TEST(back.reply_deadline == 8U);
  BOOST_TEST(!back.pics.at("atomics"));
  BOOST_TEST(back.strict);
  const auto run = std::get<RunMessage>(
      parse_parent_message(format(ParentMessage(RunMessage{
                               "a.b.c@ipv6",
                               2,
                               7,
                               1.5,
                               {.read = suite::cases::FailedControl{"no answer", "ddp.x"}}})))
          .value());
  BOOST_TEST(run.id == "a.b.c@ipv6");
  BOOST_TEST(run.attempt == 2U);
  BOOST_TEST(run.group == 7U);
  BOOST_TEST(run.deadline_scale == 1.5);
  BOOST_TEST(run.controls.read.value().reason == "no answer");
  BOOST_TEST(run.controls.read.value().rule == "ddp.x");
  BOOST_TEST(!run.controls.initiator);
}

BOOST_AUTO_TEST_CASE(nonsense_is_no_message) {
  for (const char* line :
       {"", "{", "[]", "{}", "null", R"({"type":"ready"})", R"({"type":"ready","hello":{}})",
        R"({"type":"outcome","outcome":{},"stderr":""})", R"({"type":"died","signal":"7"})",
        R"({"type":"outcome","outcome":null,"stderr":""})", R"({"type":"alive","more":1})"}) {
    BOOST_TEST(!parse_worker_message({line, ""}).has_value(), line);
    BOOST_TEST(!parse_parent_message({line, ""}).has_value(), line);
  }
}

BOOST_AUTO_TEST_CASE(messages_are_cut_wherever_the_pipe_cut_them) {
  suite::jobs::MessageReader reader;
  std::vector<std::string> lines, attachments;
  const auto take_all = [&] {
    while (const auto message = reader.next()) {
      lines.push_back(message->line);
      attachments.push_back(message->attachment);
    }
  };
  for (const char c : std::string_view("one\n\n5 two\na\n\nb\n\n42\nthr")) {
    reader.append({&c, 1});
    take_all();
  }
  BOOST_TEST(lines == (std::vector<std::string>{"one", "two", "42"}),
             boost::test_tools::per_element());
  BOOST_TEST(attachments == (std::vector<std::string>{"", "a\n\nb\n", ""}),
             boost::test_tools::per_element());
  BOOST_TEST(reader.in_message());
  reader.append("ee\n" + Message{"four", std::string(3, '\0')}.on_the_pipe());
  take_all();
  BOOST_TEST(lines[3] == "three");
  BOOST_TEST(lines[4] == "four");
  BOOST_TEST(attachments[4] == std::string(3, '\0'));
  BOOST_TEST(!reader.in_message());
  reader.append("5 five\nhalf");
  take_all();
  BOOST_TEST(reader.in_message());
  reader.append("!\n");
  take_all();
  BOOST_TEST(attachments[5] == "half!");
  BOOST_TEST(!reader.in_message());
}

BOOST_AUTO_TEST_CASE(attachment_has_exactly_the_octets_of_the_marks) {
  Message message = format(WorkerMessage(OutcomeMessage{an_outcome(), ""}));
  BOOST_TEST(parse_worker_message(message).has_value());
  message.attachment += 'x';
  BOOST_TEST(!parse_worker_message(message).has_value());
  message.attachment.resize(message.attachment.size() - 2);
  BOOST_TEST(!parse_worker_message(message).has_value());
}
