// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Event files as organisers write them, and faulty ones.
#include <boost/test/unit_test.hpp>

#include <array>
#include <fstream>
#include <random>

#include "plugfest/cell.hpp"
#include "plugfest/event_file.hpp"
#include "plugfest/test_network.hpp"

using namespace plugfest;

namespace {

constexpr std::array<std::string_view, 3> names{"send.plain", "send.solicited", "read.sizes"};

std::expected<Event, Faults> parse(const std::string& text, bool trust = false) {
  return parse_event(text, "e.yaml", {.trust = trust, .scenarios = names, .folder = "."});
}

const std::string two =
    "event: small\n"
    "participants:\n"
    "  - {name: a, agent: {reference: }}\n"
    "  - {name: b, agent: {reference: {deviations: [x_y]}}, parallel: 3, vendor: V, alias: W}\n";

/// The one fault of the text.
std::string fault_of(const std::string& text, bool trust = false) {
  const auto event = parse(text, trust);
  BOOST_REQUIRE(!event);
  return event.error().front();
}

void expect_fault(const std::string& text, const std::string& with) {
  const auto event = parse(text, true);
  BOOST_REQUIRE_MESSAGE(!event, "taken: " + text);
  std::string all;
  for (const std::string& fault : event.error()) all += fault + '\n';
  BOOST_CHECK_MESSAGE(all.find(with) != std::string::npos, "expected '" + with + "' in: " + all);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(event_file)

BOOST_AUTO_TEST_CASE(a_small_event) {
  const auto event = parse(two + "scenarios: ['send.*']\nrepeats: 2\ndeadline: 7\n");
  BOOST_REQUIRE(event);
  BOOST_TEST(event->name == "small");
  BOOST_REQUIRE(event->scenarios.size() == 2);
  BOOST_TEST(event->scenarios[1] == "send.solicited");
  BOOST_TEST(event->participants[1].parallel == 3);
  BOOST_TEST(std::get<LocalReference>(event->participants[1].agent).deviations.front() == "x_y");
  BOOST_TEST(event->deadline.count() == 7);
  BOOST_TEST(plays_in_lab(*event));
  const auto cells = cells_of(*event, [](std::string_view) { return 1.0; });
  BOOST_REQUIRE(cells.size() == 8);  // two roles, two scenarios, two repetitions
  BOOST_TEST(cells.front().id == "a/b/send.plain#1");
  BOOST_TEST(cells.back().id == "b/a/send.solicited#2");
}

BOOST_AUTO_TEST_CASE(no_name_is_what_others_are_called_in_a_bundle) {
  const auto with = [](const std::string& names) {
    return "event: small\nparticipants:\n  - {name: a, agent: {reference: {}}}\n  - {" + names +
           ", agent: {reference: {}}}\nscenarios: [send.plain]\n";
  };
  expect_fault(with("name: b, alias: peer-2"), "e.yaml:4: \"peer-2\": ");
  expect_fault(with("name: Peer-10"), "e.yaml:4: \"Peer-10\": ");
  for (const char* name : {"peer", "peer-", "peer-x", "peer-1a", "speer-1"})
    BOOST_TEST(parse(with(std::string("name: ") + name)).has_value(), name);
}

BOOST_AUTO_TEST_CASE(results_outlive_a_change_of_expectations_only) {
  const std::string plain = two + "scenarios: [send.plain]\n";
  const std::string expected = "expectations:\n  - {cells: '*', verdict: fail, reason: x}\n";
  const std::string digest = parse(plain)->digest;
  BOOST_TEST(parse(plain + expected)->digest == digest);
  BOOST_TEST(parse(plain + "deadline: 7\n")->digest != digest);
  BOOST_TEST(parse(two + "scenarios: [send.solicited]\n")->digest != digest);
}

BOOST_AUTO_TEST_CASE(cells_that_are_not_played) {
  const std::string rest = "scenarios: ['*']\nexcept: ['a/*/send.*', '*/read.sizes#1']\n";
  const auto event = parse(two + rest);
  BOOST_REQUIRE(event);
  const auto cells = cells_of(*event, [](std::string_view) { return 1.0; });
  BOOST_REQUIRE(cells.size() == 2);
  BOOST_TEST(cells.front().id == "b/a/send.plain#1");
  BOOST_TEST(cells.back().id == "b/a/send.solicited#1");
  const std::string reasoned =
      "except:\n  - {cells: 'a/*/send.*', reason: too slow}\n  - '*/read.*'\n";
  const auto left_out = left_out_of(parse(two + "scenarios: ['*']\n" + reasoned).value());
  BOOST_REQUIRE(left_out.size() == 4U);
  BOOST_TEST(left_out.front().cell.id == "a/b/send.plain#1");
  BOOST_TEST(left_out.front().reason == "too slow");
  BOOST_TEST(left_out.back().cell.id == "b/a/read.sizes#1");
  BOOST_TEST(!left_out.back().reason.empty());
  expect_fault(two + "scenarios: ['*']\nexcept: [{cells: '*'}]\n",
               "e.yaml:6: an entry needs either a reason or a harm");
  expect_fault(two + "scenarios: [send.plain]\nexcept: ['*/read.sizes']\n",
               "e.yaml:6: no cell fits \"*/read.sizes\"");
  expect_fault(two + "scenarios: ['*']\nexcept: send.plain\n", "e.yaml:6: except must be a list");
}

BOOST_AUTO_TEST_CASE(of_a_crash_only_its_effect_is_said) {
  const std::string rest = "scenarios: ['*']\n";
  const auto entry = [&](const std::string& more) {
    return two + rest + "expectations:\n  - {cells: x, verdict: fail, " + more + "}\n";
  };
  const std::string crash = "observed: [nothing, '*ended by SIGSEGV']";
  const auto read = parse(entry(crash + ", harm: process"));
  BOOST_REQUIRE(read);
  BOOST_TEST(read->expectations.front().reason == "It ends or blocks the process.");
  const auto left_out = parse(two + rest + "except: [{cells: 'a/*', harm: kernel}]\n");
  BOOST_REQUIRE(left_out);
  BOOST_TEST(left_out->except.front().reason == "It stops the kernel.");
  expect_fault(entry(crash + ", reason: a race"), "e.yaml:7: where a crash was observed, harm");
  expect_fault(entry("observed: \"the responder's kernel complained: *\", reason: a race"),
               "e.yaml:7: where a crash was observed, harm");
  expect_fault(entry("harm: fire"), "e.yaml:7: harm is one of kernel, process");
  expect_fault(entry("harm: kernel, reason: a race"), "e.yaml:7: an entry needs either");
  expect_fault(entry("intermittent: true"), "e.yaml:7: an entry needs either");
}

BOOST_AUTO_TEST_CASE(a_race_has_tries) {
  const auto entry = [](const std::string& more) {
    return two + "scenarios: ['*']\nexpectations:\n  - {cells: x, verdict: fail, reason: x, " +
           more + "}\n";
  };
  const Expectation race = parse(entry("tries: 6, observed: [a*, '*b']"))->expectations.front();
  BOOST_TEST(race.tries == 6);
  BOOST_TEST(race.intermittent);
  BOOST_TEST(race.observed.size() == 2U);
  BOOST_TEST(parse(entry("again: 3"))->expectations.front().again == 3);
  expect_fault(entry("again: 3, tries: 3"), "e.yaml:7: again is for rare outcomes");
  const Expectation usual = parse(entry("observed: a*"))->expectations.front();
  BOOST_TEST(usual.tries == 1);
  BOOST_TEST(!usual.intermittent);
  BOOST_TEST(usual.observed.front() == "a*");
  for (const char* wrong : {"1", "21", "many"})
    expect_fault(entry(std::string("tries: ") + wrong),
                 "e.yaml:7: tries must be an integer from 2 to 20");
}

BOOST_AUTO_TEST_CASE(a_ring_and_listed_pairs) {
  const std::string three = two + "  - {name: c, agent: {reference: }}\nscenarios: [read.sizes]\n";
  const auto count = [](const std::string& text) {
    return cells_of(parse(text).value(), [](std::string_view) { return 1.0; }).size();
  };
  BOOST_TEST(count(three) == 6);
  BOOST_TEST(count(three + "pairs: ring\n") == 6);
  BOOST_TEST(count(three + "pairs: [[a, c]]\n") == 2);
  expect_fault(three + "pairs: [[a, z]]\n", "e.yaml:7: there is no participant \"z\"");
  expect_fault(three + "pairs: [[a, a]]\n", "does not play against itself");
  expect_fault(three + "pairs: some\n", "e.yaml:7: pairs must be all, ring, or a list");
}

BOOST_AUTO_TEST_CASE(a_made_up_scenario_is_refused) {
  expect_fault(two + "scenarios:\n  - send.plain\n  - send.quickly\n",
               "e.yaml:7: there is no scenario \"send.quickly\"");
}

BOOST_AUTO_TEST_CASE(programs_run_only_where_the_author_is_trusted) {
  const std::string text =
      "event: e\nparticipants:\n  - {name: a, address: 1.2.3.4, agent: {argv: [/bin/x, '; rm']}}\n"
      "  - {name: b, address: 1.2.3.5, agent: {ssh: {host: root@dut}}, device: siw0}\n"
      "scenarios: ['*']\n";
  BOOST_TEST(fault_of(text).find("--trust-event") != std::string::npos);
  const auto event = parse(text, true);
  BOOST_REQUIRE(event);
  BOOST_TEST(!plays_in_lab(*event));
  const auto argv = agent_command(*event, 0, "1.2.3.4", "own");
  BOOST_TEST(argv.at(1) == "; rm");  // a word, for no shell
  const auto ssh = agent_command(*event, 1, "1.2.3.5", "own");
  BOOST_TEST(ssh.front() == "ssh");
  BOOST_TEST(ssh.back() == "siw0");
}

BOOST_AUTO_TEST_CASE(agents_that_connect_to_this_host) {
  const auto with = [](const std::string& first, const std::string& second,
                       const std::string& rest =
                           "tls: {certificate: t.pem, key: t.key, ca: /c}\n") {
    return "event: e\nparticipants:\n  - {name: a, address: 1.2.3.4, agent: {tls: " + first +
           "}}\n  - {name: b, address: 1.2.3.5, agent: {tls: " + second + "}}\nscenarios: ['*']\n" +
           rest;
  };
  const std::string one = "{name: a.dut, listen: '192.0.2.1:7471'}";
  const std::string other = "{name: b.dut, listen: '[fd00::1]:7472'}";
  const auto event = parse(with(one, other));
  BOOST_REQUIRE(event);
  BOOST_TEST(!plays_in_lab(*event));
  const auto argv = agent_command(*event, 0, "1.2.3.4", "own");
  const std::vector<std::string> words{
      "--listen", "192.0.2.1:7471", "--peer",  "a.dut", "--certificate",
      "./t.pem",  "--key",          "./t.key", "--ca",  "/c"};
  BOOST_TEST(std::vector<std::string>(argv.begin() + 1, argv.end()) == words,
             boost::test_tools::per_element());
  // New certificates do not change what was played.
  BOOST_TEST(parse(with(one, other, "tls: {certificate: u, key: u, ca: u}\n"))->digest ==
             event->digest);
  expect_fault(with(one, other, ""), "e.yaml:3: the event needs \"tls\"");
  expect_fault(with(one, "{name: b, listen: '192.0.2.1:7471'}"), "e.yaml:4: \"a\" listens at");
  expect_fault(with(one, "{name: b, listen: '70000'}"), "is not [ADDRESS:]PORT");
  expect_fault(with(one, "{name: '$(x)', listen: '7472'}"), "cannot be the name of a certificate");
  expect_fault(with(one, "{name: b}"), "needs \"listen\"");
}

BOOST_AUTO_TEST_CASE(guests_of_this_machine) {
  const auto with = [](const std::string& guest,
                       const std::string& other = "agent: {reference: }") {
    return "event: e\nparticipants:\n  - {name: g, " + guest + "}\n  - {name: o, " + other +
           "}\nscenarios: ['*']\n";
  };
  const auto event = parse(with("agent: {siw-vm: {kernel: '6.12', checks: true}}, driver: dat"));
  BOOST_REQUIRE(event);
  BOOST_TEST(plays_in_lab(*event));
  const auto& guest = std::get<SiwGuest>(event->participants[0].agent);
  BOOST_TEST(guest.kernel == "6.12");
  BOOST_TEST(guest.checks);
  expect_fault(
      with("agent: {siw-vm: {kernel: '6.1'}}", "agent: {ssh: {host: h}}, address: 1.2.3.4"),
      "e.yaml:3: a guest is on a network of this machine");
  expect_fault(with("agent: {siw-vm: {kernel: '6.1'}}, parallel: 2"), "in one cell at a time");
  expect_fault(with("agent: {siw-vm: {kernel: '6.1'}}, driver: reference"),
               "verbs, kverbs, dat or kdat");
  expect_fault(with("agent: {siw-vm: {kernel: '$(reboot)'}}"), "e.yaml:3: kernel must be made of");
  expect_fault(with("agent: {siw-vm: {kernel: [6, 1]}}"), "kernel");
  expect_fault(with("agent: {siw-vm: {kernel: '6.1', checks: perhaps}}"), "true or false");
  expect_fault(with("agent: {siw-vm: {}}"), "needs \"kernel\"");
  expect_fault(with("agent: {reference: }, node: 'n1;reboot'"), "e.yaml:3: node must be made of");
  BOOST_TEST(parse(with("agent: {reference: }, driver: dat_sockets")).has_value());
  expect_fault(with("agent: {reference: }, driver: kdat"), "dat or dat_sockets");
  expect_fault(with("agent: {reference: {deviations: [rtr_not_sent]}}, driver: dat"),
               "no deviations");
}

BOOST_AUTO_TEST_CASE(metacharacters_stay_out) {
  for (const std::string name :
       {"'a b'", "'$(reboot)'", "'-oProxyCommand=x'", "a/b", "'a;b'", "''"}) {
    expect_fault(
        "event: e\nparticipants:\n  - {name: " + name +
            ", agent: {reference: }}\n  - {name: b, agent: {reference: }}\nscenarios: ['*']\n",
        "e.yaml:3: name must be made of");
    expect_fault(
        "event: e\nparticipants:\n  - {name: a, address: 1.2.3.4, agent: {ssh: {host: " + name +
            "$}}}\n  - {name: b, address: 1.2.3.5, agent: {ssh: {host: h}}}\nscenarios: ['*']\n",
        "");
  }
}

BOOST_AUTO_TEST_CASE(wrong_types_are_told_with_their_lines) {
  const std::string rest = "scenarios: ['*']\n";
  expect_fault("", "an event file is a mapping");
  expect_fault("[1, 2]", "an event must be a mapping");
  expect_fault("just words", "mapping");
  expect_fault("event: e\nparticipants: 7\n" + rest, "e.yaml:2: participants must be a list");
  expect_fault("event: e\nparticipants: []\n" + rest, "e.yaml:2: participants must be a list");
  expect_fault("event: e\nparticipants:\n  - 3\n" + rest,
               "e.yaml:3: a participant must be a mapping");
  expect_fault(two + rest + "repeats: many\n", "e.yaml:6: repeats must be an integer");
  expect_fault(two + rest + "repeats: 0\n", "e.yaml:6: repeats must be an integer from 1");
  expect_fault(two + rest + "deadline: 99999999999999999999\n", "e.yaml:6: deadline must be");
  expect_fault(two + rest + "colour: red\n", "e.yaml:6: an event has no key \"colour\"");
  expect_fault(two + rest + rest, "e.yaml:6: \"scenarios\" is there twice");
  expect_fault(two, "an event needs \"scenarios\"");
  expect_fault(two + rest + "expectations:\n  - {cells: '*', verdict: red, reason: x}\n",
               "e.yaml:7: there is no verdict \"red\"");
  expect_fault(
      two + rest + "expectations:\n  - {cells: x, verdict: fail, reason: x, intermittent: 1}\n",
      "e.yaml:7: intermittent must be true or false");
  expect_fault("event: e\nparticipants:\n  - {name: a, agent: {}}\n" + rest, "exactly one of");
  expect_fault("event: e\nparticipants:\n  - {name: a, agent: {reference: , argv: [x]}}\n" + rest,
               "exactly one of");
  expect_fault("event: e\nparticipants:\n  - {name: a, agent: {reference: }}\n" + rest,
               "two participants or more");
  expect_fault(
      "event: e\nparticipants:\n  - {name: a, agent: {reference: }}\n"
      "  - {name: a, agent: {reference: }}\n" +
          rest,
      "another participant \"a\"");
  expect_fault(
      "event: e\nparticipants:\n  - {name: a, agent: {reference: }, pics: /nowhere}\n" + rest,
      "e.yaml:3: pics:");
}

BOOST_AUTO_TEST_CASE(every_fault_is_told_at_once) {
  const auto event = parse("event: 'a b'\nparticipants: 1\nscenarios: [nothing]\nrepeats: x\n");
  BOOST_REQUIRE(!event);
  BOOST_TEST(event.error().size() == 4);
}

BOOST_AUTO_TEST_CASE(hostile_text_neither_throws_nor_takes_long) {
  std::mt19937 numbers(7);
  const std::string good =
      two + "scenarios: ['*']\nexpectations:\n  - {cells: x, verdict: fail, reason: y}\n";
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (unsigned change = 0; change < 1 + numbers() % 4; ++change) {
      const std::size_t at = numbers() % text.size();
      switch (numbers() % 3) {
        case 0:
          text[at] = static_cast<char>(numbers());
          break;
        case 1:
          text.erase(at, numbers() % 20);
          break;
        default:
          text.insert(at, text.substr(numbers() % text.size(), numbers() % 30));
      }
      if (text.empty()) text = "x";
    }
    static_cast<void>(parse(text));
  }
  expect_fault(std::string(2'000'000, 'x'), "at most");
  expect_fault(std::string(20'000, '['), "not YAML");
  expect_fault("event: &a [*a]\n", "");
}

BOOST_AUTO_TEST_SUITE_END()
