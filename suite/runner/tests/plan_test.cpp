// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which cases a copy of the IUT gets, and in which order.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include "suite/runner/plan.hpp"

using namespace suite::runner;
using suite::jobs::Job;

namespace {

// A hundred cases, of which every other one requires peer-to-peer startup.
struct Fixture {
  SuiteParts parts;
  std::vector<const suite::cases::Case*> all;

  Fixture() {
    parts.sentinel.id = "harness.sentinel.alive";
    for (int number = 0; number < 100; ++number) {
      suite::cases::Case one;
      one.id = fmt::format("case.{}", number);
      one.configuration.peer_to_peer = number % 2 == 1;
      parts.table.push_back(one);
    }
    for (const auto& one : parts.table) all.push_back(&one);
  }
  static std::vector<suite::expectations::Isolation> isolate(std::initializer_list<int> numbers) {
    std::vector<suite::expectations::Isolation> list;
    for (const int number : numbers) {
      list.emplace_back();
      list.back().case_id = fmt::format("case.{}", number);
    }
    return list;
  }
};

std::size_t count_alone(const Plan& plan) {
  return static_cast<std::size_t>(std::ranges::count(plan.jobs, true, &Job::alone));
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(plans, Fixture)

BOOST_AUTO_TEST_CASE(one_copy_runs_the_isolated_ones_after_all_others) {
  const auto made = make_plans(parts, all, isolate({7, 4, 200}), 1);
  BOOST_REQUIRE(made.size() == 1U);
  const Plan& plan = made.front();
  BOOST_REQUIRE(plan.list.size() == 102U);
  BOOST_TEST(plan.list.front() == &parts.sentinel);
  BOOST_TEST(plan.list.back() == &parts.sentinel);
  BOOST_TEST(plan.list[99]->id == "case.7");
  BOOST_TEST(plan.list[100]->id == "case.4");
  BOOST_TEST(count_alone(plan) == 4U);
  for (std::size_t number = 0; number < plan.jobs.size(); ++number)
    BOOST_TEST(plan.jobs[number].number == number);
}

BOOST_AUTO_TEST_CASE(a_second_copy_gets_what_is_configured_and_what_is_isolated) {
  const auto made = make_plans(parts, all, isolate({4}), 2);
  BOOST_REQUIRE(made.size() == 2U);
  BOOST_TEST(made[0].list.size() == 51U);  // 49 plain ones and two sentinels
  BOOST_TEST(made[1].list.size() == 53U);
  BOOST_TEST(count_alone(made[0]) == 2U);
  BOOST_TEST(count_alone(made[1]) == 3U);
  BOOST_TEST(made[1].list[51]->id == "case.4");
  for (std::size_t number = 1; number < 50; ++number)
    BOOST_TEST(!made[0].list[number]->configuration.peer_to_peer);
}

BOOST_AUTO_TEST_CASE(only_the_controls_on_which_cases_rest_are_run) {
  parts.controls = {{suite::cases::Case(), &suite::cases::Controls::read},
                    {suite::cases::Case(), &suite::cases::Controls::loopback_read}};
  const std::vector<const suite::cases::Case*> one{all.front()};
  const auto control_for = [&](const char* layer) {
    parts.table.front().layer = layer;
    return make_plans(parts, one, {}, 1).front().list.at(1);
  };
  BOOST_TEST(control_for("rdmap") == &parts.controls[0].one);
  BOOST_TEST(control_for("loopback") == &parts.controls[1].one);
  BOOST_TEST(control_for("dat") == all.front());
}

BOOST_AUTO_TEST_CASE(cases_of_a_known_hang_are_marked) {
  auto plan = make_plans(parts, all, {}, 1).front();
  std::vector<suite::expectations::Entry> entries(3);
  entries[0].case_id = "case.4";
  entries[0].hangs = true;
  entries[1].case_id = "case.5";
  entries[2].case_id = "case.200";
  entries[2].hangs = true;
  mark_known_hangs(plan, entries);
  for (const Job& job : plan.jobs)
    BOOST_TEST(job.known_to_hang == (plan.list[job.number]->id == "case.4"));
}

BOOST_AUTO_TEST_CASE(a_handful_gets_no_second_copy) {
  const std::vector<const suite::cases::Case*> few(all.begin(), all.begin() + 20);
  BOOST_TEST(make_plans(parts, few, {}, 2).size() == 1U);
  std::vector<const suite::cases::Case*> alike;  // many, and all of one kind
  std::ranges::copy_if(all, std::back_inserter(alike),
                       [](const auto* one) { return !one->configuration.peer_to_peer; });
  BOOST_TEST(make_plans(parts, alike, {}, 2).size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
