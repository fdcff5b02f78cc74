// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Verdicts: how the events in a body determine the outcome.
#include <algorithm>
#include <array>
#include <set>

#include <boost/test/unit_test.hpp>

#include "rules/catalogue.hpp"
#include "suite/cases/tests/fake_iut.hpp"

namespace suite::cases {

using namespace std::chrono_literals;

std::vector<Case> mpa_startup();

namespace {

Case find_case(std::string_view slug) {
  for (const Case& a_case : mpa_startup())
    if (a_case.id == "mpa.startup." + std::string(slug)) return a_case;
  throw std::runtime_error("no such case");
}

struct Fixture : FakeSetting {
  CaseOutcome run(std::string_view slug) { return run_case(find_case(slug), environment); }
  /// The agent takes a while to reply, and the first Receives complete a while later.
  void complete_receives(std::size_t most, base::Duration reply, base::Duration completion) {
    iut.posted.clear();
    iut.answer = [=, this](const iut::Command& command, iut::Reply&) {
      const auto* receive = std::get_if<iut::PostReceive>(&command);
      if (receive == nullptr) return;
      loop.run_until(loop.now() + reply, [] { return false; });
      if (iut.count<iut::PostReceive>() > most) return;
      iut::CompletionEvent event;
      event.endpoint = receive->endpoint;
      event.work = receive->work;
      event.status = "success";
      loop.schedule(loop.now() + completion, [this, event] { iut.events.emplace_back(event); });
    };
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(framework, Fixture)

BOOST_AUTO_TEST_CASE(a_case_that_expects_nothing_is_an_error) {
  const CaseOutcome outcome = run("expects_nothing");
  BOOST_TEST((outcome.verdict == Verdict::error));
  BOOST_TEST(outcome.reason == "the case expected nothing");
}

BOOST_AUTO_TEST_CASE(an_iut_is_reset_and_configured_in_the_time_of_a_reply) {
  iut.hello_.capabilities = {std::string(iut::capability::configure_crc)};
  const auto configured_within = [this](base::Duration time) {
    environment.current_configuration.reset();
    iut.answer = [this, time](const iut::Command& command, const iut::Reply&) {
      iut.takes = std::holds_alternative<iut::Configure>(command) ? time : base::Duration::zero();
    };
    return run("holds");
  };
  // Longer than the deadline of the case, which begins behind it.
  BOOST_TEST((configured_within(29s).verdict == Verdict::pass));
  const CaseOutcome late = configured_within(40s);
  BOOST_TEST((late.verdict == Verdict::error));
  BOOST_TEST(late.reason.find("no reply of the upper tester to: configure") == 0U);
  environment.reply_deadline = 60s;
  BOOST_TEST((configured_within(40s).verdict == Verdict::pass));
}

BOOST_AUTO_TEST_CASE(a_case_whose_expectations_hold_passes) {
  const CaseOutcome outcome = run("holds");
  BOOST_TEST((outcome.verdict == Verdict::pass));
  BOOST_TEST(outcome.reason.empty());
  BOOST_TEST(iut.count<iut::Reset>() == 2u);
}

BOOST_AUTO_TEST_CASE(a_failed_expectation_names_its_rule_and_ends_the_body) {
  const CaseOutcome outcome = run("does_not_hold");
  BOOST_TEST((outcome.verdict == Verdict::fail));
  BOOST_REQUIRE(outcome.expectations.size() == 2u);
  BOOST_TEST(outcome.expectations[0].rule == "mpa.crc.support-implemented");
  BOOST_TEST(outcome.expectations[0].actual == "truth");
  BOOST_TEST(outcome.expectations[1].rule == "mpa.crc.covers-length-to-pad");
  BOOST_TEST(outcome.expectations[1].actual == "a lie");
  BOOST_TEST(outcome.reason == "mpa.crc.covers-length-to-pad: a lie in place of truth");
}

BOOST_AUTO_TEST_CASE(what_rests_on_a_control_that_fails_shows_nothing_unless_it_is_about_that) {
  const CaseOutcome usual = run("rests_on_a_read");
  BOOST_TEST((usual.verdict == Verdict::fail));
  BOOST_TEST(usual.deciding_rule == "mpa.crc.covers-length-to-pad");
  environment.controls.read =
      FailedControl{"ddp.tagged.placed-at-to: nothing", "ddp.tagged.placed-at-to"};
  const CaseOutcome resting = run("rests_on_a_read");
  BOOST_TEST((resting.verdict == Verdict::inconclusive));
  BOOST_TEST(resting.deciding_rule.empty());
  BOOST_TEST((run("does_not_hold").verdict == Verdict::fail));
  environment.controls.read->rule = "mpa.crc.support-implemented";
  BOOST_TEST((run("rests_on_a_read").verdict == Verdict::fail));
  environment.controls = {.iut_read = FailedControl{"no completion", ""}};
  BOOST_TEST((run("rests_on_a_read").verdict == Verdict::fail));
}

BOOST_AUTO_TEST_CASE(a_should_that_does_not_hold_is_an_advisory_and_the_body_goes_on) {
  CaseOutcome outcome = run("should_does_not_hold");
  BOOST_TEST((outcome.verdict == Verdict::pass));
  BOOST_REQUIRE(outcome.expectations.size() == 2u);
  BOOST_TEST((outcome.expectations[0].judgement == Judgement::advisory));
  environment.strict = true;
  outcome = run("should_does_not_hold");
  BOOST_TEST((outcome.verdict == Verdict::fail));
  BOOST_TEST(outcome.expectations.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_should_that_never_comes_is_an_advisory_and_ends_the_body) {
  const CaseOutcome outcome = run("should_does_not_come");
  BOOST_TEST((outcome.verdict == Verdict::pass));
  BOOST_TEST(outcome.reason.empty());
  BOOST_REQUIRE(outcome.expectations.size() == 1u);
  BOOST_TEST((outcome.expectations[0].judgement == Judgement::advisory));
}

BOOST_AUTO_TEST_CASE(what_goes_beyond_a_limit_is_not_applicable_and_never_asked_for) {
  BOOST_TEST((run("wants_two_pieces").verdict == Verdict::pass));
  iut.hello_.limits = {{"max_pieces", 1}, {"max_send_depth", 8}};
  iut.posted.clear();
  const CaseOutcome outcome = run("wants_two_pieces");
  BOOST_TEST((outcome.verdict == Verdict::not_applicable));
  BOOST_TEST(outcome.reason.find("max_pieces 1") != std::string::npos);
  BOOST_REQUIRE(outcome.lack.has_value());
  BOOST_TEST((outcome.lack->kind == ::suite::results::Lack::Kind::limit));
  BOOST_TEST(outcome.lack->name == "max_pieces");
  BOOST_TEST(iut.count<iut::PostReceive>() == 0u);
  // What the case leaves open is kept within the limits.
  for (const iut::Command& command : iut.posted) {
    const auto* endpoint = std::get_if<iut::CreateEndpoint>(&command);
    if (endpoint != nullptr) BOOST_TEST((endpoint->max_pieces == 1 && endpoint->send_depth == 8));
  }
  BOOST_TEST(iut.count<iut::CreateEndpoint>() == 1u);
}

BOOST_AUTO_TEST_CASE(what_the_iut_lacks_makes_a_case_not_applicable) {
  CaseOutcome outcome = run("needs_atomics");
  BOOST_TEST((outcome.verdict == Verdict::not_applicable));
  BOOST_TEST(outcome.reason.find("does not offer atomics") != std::string::npos);
  BOOST_REQUIRE(outcome.lack.has_value());
  BOOST_TEST((outcome.lack->kind == ::suite::results::Lack::Kind::not_offered));
  BOOST_TEST(outcome.lack->name == "atomics");
  iut.hello_.capabilities = {"atomics"};
  BOOST_TEST((run("needs_atomics").verdict == Verdict::pass));
  environment.pics["atomics"] = false;
  outcome = run("needs_atomics");
  BOOST_TEST((outcome.verdict == Verdict::not_applicable));
  BOOST_TEST(outcome.reason.find("PICS") != std::string::npos);
  BOOST_REQUIRE(outcome.lack.has_value());
  BOOST_TEST((outcome.lack->kind == ::suite::results::Lack::Kind::denied));
}

BOOST_AUTO_TEST_CASE(an_iut_is_configured_once_for_cases_that_want_the_same) {
  BOOST_TEST((run("wants_markers").verdict == Verdict::not_applicable));
  iut.hello_.capabilities = {"configure.markers"};
  BOOST_TEST((run("wants_markers").verdict == Verdict::pass));
  BOOST_TEST((run("wants_markers").verdict == Verdict::pass));
  BOOST_TEST(iut.count<iut::Configure>() == 1u);
  iut.answer = [](const iut::Command& command, iut::Reply& reply) {
    if (std::holds_alternative<iut::Configure>(command)) reply.outcome = iut::Outcome::unsupported;
  };
  BOOST_TEST((run("holds").verdict == Verdict::not_applicable));
}

BOOST_AUTO_TEST_CASE(an_iut_that_speaks_revision_one_alone_need_not_be_configured_to) {
  BOOST_TEST((run("wants_revision_one").verdict == Verdict::pass));  // nothing contradicts
  environment.current_configuration.reset();
  iut.hello_.capabilities = {"enhanced_startup"};
  BOOST_TEST((run("wants_revision_one").verdict == Verdict::not_applicable));
  iut.hello_.capabilities.clear();
  environment.pics["enhanced_startup"] = true;
  BOOST_TEST((run("wants_revision_one").verdict == Verdict::not_applicable));
  environment.pics["enhanced_startup"] = false;
  BOOST_TEST((run("wants_revision_one").verdict == Verdict::pass));
}

BOOST_AUTO_TEST_CASE(an_iut_that_cannot_be_configured_is_not_asked_to) {
  iut.answer = [](const iut::Command& command, iut::Reply& reply) {
    if (std::holds_alternative<iut::Configure>(command)) reply.outcome = iut::Outcome::unsupported;
  };
  BOOST_TEST((run("holds").verdict == Verdict::pass));
  BOOST_TEST(iut.count<iut::Configure>() == 0u);
}

BOOST_AUTO_TEST_CASE(a_case_over_a_family_without_address_is_not_applicable) {
  Case over_ipv6 = find_case("holds");
  over_ipv6.family = base::Family::ipv6;
  iut.hello_.capabilities = {"ipv6"};
  BOOST_TEST((run_case(over_ipv6, environment).verdict == Verdict::pass));
  environment.iut_ipv6 = {.family = base::Family::ipv6};
  const CaseOutcome outcome = run_case(over_ipv6, environment);
  BOOST_TEST((outcome.verdict == Verdict::not_applicable));
  BOOST_TEST(outcome.reason.find("no IPv6 address") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_iut_that_has_ipv6_alone_is_judged_over_it) {
  environment.iut_ipv4 = {};
  BOOST_TEST(run("holds").reason == "the upper tester does not offer ipv6");
  iut.hello_.capabilities = {"ipv6"};
  BOOST_TEST((run("holds").verdict == Verdict::pass));
}

BOOST_AUTO_TEST_CASE(rows_have_verdicts_of_their_own) {
  const CaseOutcome outcome = run("has_rows");
  BOOST_TEST((outcome.verdict == Verdict::fail));
  BOOST_REQUIRE(outcome.rows.size() == 3u);
  BOOST_TEST(
      (outcome.rows[0].verdict == Verdict::pass && outcome.rows[1].verdict == Verdict::fail));
  BOOST_TEST((outcome.rows[2].verdict == Verdict::pass));
  BOOST_TEST(outcome.reason.find("row 2") != std::string::npos);
  BOOST_TEST(outcome.expectations[1].row == "row 2");
  BOOST_TEST(iut.count<iut::Reset>() == 4u);
}

// A control that has failed excuses what rests on it, and nothing else (docs/disputes.md D66).
BOOST_AUTO_TEST_CASE(where_no_read_works_what_was_judged_after_one_in_its_row_shows_nothing) {
  const auto verdicts = [&] {
    std::vector<Verdict> all;
    for (const RowOutcome& row : run("reads_in_rows").rows) all.push_back(row.verdict);
    return all;
  };
  constexpr auto pass = Verdict::pass, fail = Verdict::fail, nothing = Verdict::inconclusive;
  BOOST_TEST((verdicts() == std::vector{fail, fail, fail, pass, pass}));
  const auto silence_at = [](const char* rule) { return FailedControl{"silence", rule}; };
  environment.controls.read = silence_at("rdmap.read.one-request-one-response");  // the tester's
  BOOST_TEST((verdicts() == std::vector{fail, fail, fail, pass, pass}));
  environment.controls.iut_read = silence_at("rdmap.read.request-header-format");
  BOOST_TEST((verdicts() == std::vector{fail, fail, nothing, pass, nothing}));
  BOOST_TEST((run("reads_in_rows").verdict == fail));
  const CaseOutcome outcome = run("reads");
  BOOST_TEST((outcome.verdict == nothing));
  BOOST_TEST(outcome.reason.find("no lone RDMA Read of the IUT succeeds") == 0u);
  // Which the case is about:
  environment.controls.iut_read = silence_at("mpa.crc.support-implemented");
  BOOST_TEST((run("reads").verdict == pass));
  BOOST_TEST((verdicts() == std::vector{fail, fail, fail, pass, pass}));
}

// An IUT that hangs costs one deadline; what it misses in the shorter deadlines after it is no
// failure.
BOOST_AUTO_TEST_CASE(rows_after_one_that_used_up_its_deadline_get_a_tenth_of_it) {
  const CaseOutcome outcome = run("has_slow_rows");
  BOOST_TEST((outcome.verdict == Verdict::fail));
  BOOST_REQUIRE(outcome.rows.size() == 5u);
  const std::array expected{Verdict::pass, Verdict::fail, Verdict::inconclusive, Verdict::fail,
                            Verdict::pass};
  BOOST_TEST(std::ranges::equal(outcome.rows, expected, {}, &RowOutcome::verdict));
  BOOST_TEST(outcome.rows[2].reason.find("row slow 1") != std::string::npos);
  BOOST_TEST((outcome.expectations[2].judgement == Judgement::inconclusive));
  BOOST_TEST((outcome.duration >= std::chrono::milliseconds(5500)));
  BOOST_TEST((outcome.duration < std::chrono::seconds(7)));
}

// However long it takes altogether, on slow hosts: only one thing that does not come is missing.
BOOST_AUTO_TEST_CASE(the_deadline_is_that_of_each_thing_a_case_waits_for) {
  complete_receives(10, 4s, 4s);
  CaseOutcome outcome = run("waits_for_ten_completions");
  BOOST_TEST((outcome.verdict == Verdict::pass), outcome.reason);
  BOOST_TEST((outcome.duration == 80s));
  complete_receives(9, 4s, 4s);
  outcome = run("waits_for_ten_completions");
  BOOST_TEST((outcome.verdict == Verdict::fail), outcome.reason);
  BOOST_TEST((outcome.duration >= 81s && outcome.duration <= 82s));
}

BOOST_AUTO_TEST_CASE(a_look_is_longer_on_a_slow_host) {
  complete_receives(1, 0s, 500ms);
  BOOST_TEST((run("looks_for_a_completion").verdict == Verdict::fail));
  complete_receives(1, 80ms, 500ms);
  BOOST_TEST((run("looks_for_a_completion").verdict == Verdict::pass));
}

BOOST_AUTO_TEST_CASE(a_fault_of_the_harness_is_an_error) {
  const CaseOutcome outcome = run("throws");
  BOOST_TEST((outcome.verdict == Verdict::error));
  BOOST_TEST(outcome.reason.find("out of the blue") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_command_that_fails_is_an_error_and_an_unsupported_one_not_applicable) {
  iut::Outcome result = iut::Outcome::failed;
  iut.answer = [&](const iut::Command& command, iut::Reply& reply) {
    if (!std::holds_alternative<iut::RegisterMemory>(command)) return;
    reply.outcome = result;
    reply.error = "ENOMEM";
  };
  CaseOutcome outcome = run("registers");
  BOOST_TEST((outcome.verdict == Verdict::error));
  BOOST_TEST(outcome.reason.find("ENOMEM") != std::string::npos);
  result = iut::Outcome::unsupported;
  BOOST_TEST((run("registers").verdict == Verdict::not_applicable));
}

BOOST_AUTO_TEST_CASE(a_completion_is_judged_in_all_that_was_said_of_it) {
  const auto complete = [&](std::string status, std::uint32_t length) {
    iut.answer = [=, this](const iut::Command& command, iut::Reply&) {
      const auto* receive = std::get_if<iut::PostReceive>(&command);
      if (receive == nullptr) return;
      iut::CompletionEvent event;
      event.endpoint = receive->endpoint;
      event.work = receive->work;
      event.status = status;
      event.length = length;
      iut.events.emplace_back(event);
    };
    return run("waits_for_a_completion").verdict;
  };
  BOOST_TEST((complete("success", 5) == Verdict::pass));
  BOOST_TEST((complete("success", 6) == Verdict::fail));
  BOOST_TEST((complete("flushed", 5) == Verdict::fail));
  iut.answer = {};
  const auto before = loop.now();
  const CaseOutcome outcome = run("waits_for_a_completion");
  BOOST_TEST((outcome.verdict == Verdict::fail));
  BOOST_TEST(outcome.reason.find("no completion") != std::string::npos);
  // The case's deadline and, since it failed, a quiet window
  // for what may still come; all in simulated time.
  BOOST_TEST((loop.now() - before == std::chrono::seconds(5) + environment.quiet_window));
}

BOOST_AUTO_TEST_CASE(the_death_of_the_iut_fails_and_a_lost_agent_is_an_error) {
  const auto die = [&](iut::GoneEvent::Why why) {
    iut.events.clear();
    iut.answer = [=, this](const iut::Command& command, iut::Reply&) {
      if (std::holds_alternative<iut::PostReceive>(command))
        iut.events.emplace_back(iut::GoneEvent{why, "signal 11"});
    };
    return run("waits_for_a_completion");
  };
  BOOST_TEST((die(iut::GoneEvent::Why::crashed).verdict == Verdict::fail));
  BOOST_TEST((die(iut::GoneEvent::Why::transport_lost).verdict == Verdict::error));
  BOOST_TEST((die(iut::GoneEvent::Why::bad_protocol).verdict == Verdict::error));
}

BOOST_AUTO_TEST_CASE(a_connection_that_does_not_come_up_is_inconclusive) {
  iut.answer = [](const iut::Command& command, iut::Reply& reply) {
    if (std::holds_alternative<iut::Listen>(command)) reply.port = 7;
  };
  const CaseOutcome outcome = run("uses_the_peer");
  BOOST_TEST((outcome.verdict == Verdict::inconclusive));
  BOOST_TEST(outcome.reason.find("10.77.0.2:7") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(options_give_variants_with_ids_of_their_own) {
  std::set<std::string> ids;
  for (const Case& a_case : mpa_startup()) ids.insert(a_case.id);
  BOOST_TEST(ids.contains("mpa.startup.wants_markers"));
  BOOST_TEST(ids.contains("mpa.startup.wants_markers@initiator"));
  BOOST_TEST(ids.contains("mpa.startup.wants_markers@ipv6"));
  BOOST_TEST(ids.size() == 22u);
  const Case initiator = find_case("wants_markers@initiator");
  BOOST_TEST((initiator.role == Role::initiator && initiator.variant == "initiator"));
  BOOST_TEST(initiator.title == "wants markers");
  BOOST_TEST((initiator.deadline == std::chrono::seconds(9)));
  BOOST_TEST(initiator.file.find("suite/cases/tests/framework_cases.cpp:") == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(table)

BOOST_AUTO_TEST_CASE(ids_are_unique_name_their_file_and_have_rules) {
  std::set<std::string> ids;
  for (const Case& a_case : all_cases()) {
    BOOST_TEST_CONTEXT(a_case.id) {
      BOOST_TEST(ids.insert(a_case.id).second);
      BOOST_TEST(!a_case.rules.empty());
      std::string path = a_case.id.substr(0, a_case.id.find('.', a_case.id.find('.') + 1));
      std::ranges::replace(path, '.', '/');
      BOOST_TEST(a_case.file.find("suite/cases/" + path + ".cpp:") == 0u);
      for (const auto rule : a_case.rules) BOOST_TEST(::rules::find(rule) != nullptr);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace suite::cases
