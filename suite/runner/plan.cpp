// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/plan.hpp"

#include <algorithm>

namespace suite::runner {

namespace {

using Cases = std::vector<const cases::Case*>;

// Bringing up another copy of the IUT takes as long as some dozens of cases.
constexpr std::size_t worth_another_copy = 40;

bool rests_on(const cases::Case& one, const Control& control) {
  if (control.place == &cases::Controls::loopback_read) return one.layer == "loopback";
  return one.layer != "dat" && one.layer != "kdat" && one.layer != "loopback";
}

Plan plan_of(const SuiteParts& parts, const Cases& together, const Cases& apart) {
  Plan plan;
  std::vector<cases::Configuration> groups;
  const auto add = [&](const cases::Case* one, bool alone) {
    auto group = std::ranges::find(groups, one->configuration);
    if (group == groups.end()) group = groups.insert(groups.end(), one->configuration);
    plan.jobs.push_back({.number = plan.list.size(),
                         .attempt = 1,
                         .group = static_cast<std::size_t>(group - groups.begin()),
                         .alone = alone});
    plan.list.push_back(one);
  };
  add(&parts.sentinel, true);
  for (const Control& control : parts.controls) {
    const auto rests_on_it = [&control](const cases::Case* one) { return rests_on(*one, control); };
    if (std::ranges::any_of(together, rests_on_it) || std::ranges::any_of(apart, rests_on_it))
      add(&control.one, true);
  }
  for (const cases::Case* one : together) add(one, false);
  for (const cases::Case* one : apart) add(one, true);
  add(&parts.sentinel, true);
  return plan;
}

}  // namespace

std::vector<Plan> make_plans(const SuiteParts& parts, const Cases& selected,
                             const std::vector<expectations::Isolation>& apart,
                             std::size_t copies) {
  Cases alone, plain, configured;
  for (const expectations::Isolation& isolation : apart) {
    const auto found = std::ranges::find(selected, isolation.case_id,
                                         [](const cases::Case* one) { return one->id; });
    if (found != selected.end()) alone.push_back(*found);
  }
  for (const cases::Case* one : selected) {
    if (std::ranges::find(alone, one) != alone.end()) continue;
    (one->configuration == cases::Configuration() ? plain : configured).push_back(one);
  }
  const std::size_t others = configured.size() + alone.size();
  if (copies > 1 && plain.size() >= worth_another_copy && others >= worth_another_copy)
    return {plan_of(parts, plain, {}), plan_of(parts, configured, alone)};
  Cases together;  // in the order in which they were selected
  std::ranges::copy_if(selected, std::back_inserter(together), [&](const cases::Case* one) {
    return std::ranges::find(alone, one) == alone.end();
  });
  return {plan_of(parts, together, alone)};
}

void mark_known_hangs(Plan& plan, const std::vector<expectations::Entry>& entries) {
  for (const expectations::Entry& entry : entries)
    for (jobs::Job& job : plan.jobs)
      if (entry.hangs && plan.list[job.number]->id == entry.case_id) job.known_to_hang = true;
}

}  // namespace suite::runner
