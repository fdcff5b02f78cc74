// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/self_test/implementation_profiles.hpp"

#include <fmt/format.h>

#include "base/strict_yaml.hpp"
#include "reference_rnic/deviants/deviation.hpp"
#include "reference_rnic/lawful/lawful.hpp"
#include "rules/catalogue.hpp"
#include "suite/self_test/lawful_run.hpp"

namespace suite::self_test {

namespace {

using cases::CaseOutcome;
using cases::Judgement;
using cases::Verdict;

class Loader {
 public:
  explicit Loader(const std::filesystem::path& file) : file_(file), yaml_(file.string()) {}

  std::expected<std::vector<ImplementationProfile>, std::vector<std::string>> load() {
    const auto text = base::read_text(file_);
    if (!text) return std::unexpected(text.error());
    if (const auto root = yaml_.parse(*text)) {
      yaml_.each(*root, "the file", [&](const std::string& key, const YAML::Node& value) {
        if (key != "profiles" || !value.IsSequence())
          return yaml_.fault_of_key("must be a list named `profiles`");
        for (const YAML::Node& node : value) take(node);
      });
    }
    if (!yaml_.faults().empty()) return std::unexpected(yaml_.faults());
    return std::move(list_);
  }

 private:
  void take(const YAML::Node& node) {
    ImplementationProfile one;
    yaml_.each(node, "a profile", [&](const std::string& key, const YAML::Node& value) {
      if (key == "name") {
        one.name = yaml_.text(value, key).value_or("");
      } else if (key == "what") {
        one.what = yaml_.text(value, key).value_or("");
      } else if (key == "deviations") {
        one.deviations = names(value, [](const std::string& name) {
          return rnic::deviants::find_deviation(name).has_value();
        });
      } else if (key == "lawful") {
        one.lawful = names(value, [](const std::string& name) {
          return rnic::lawful::find_lawful(name).has_value();
        });
      } else if (key == "breaks") {
        const auto rules =
            names(value, [](const std::string& name) { return rules::find(name) != nullptr; });
        one.breaks = {rules.begin(), rules.end()};
      } else {
        yaml_.fault_of_key(fmt::format("unknown member `{}`", key));
      }
    });
    if (one.name.empty()) yaml_.fault(node, "`name` is missing");
    list_.push_back(std::move(one));
  }

  std::vector<std::string> names(const YAML::Node& value, bool (*exists)(const std::string&)) {
    std::vector<std::string> list;
    if (!YAML::convert<std::vector<std::string>>::decode(value, list))
      yaml_.fault_of_key("must be a list of names");
    for (const std::string& name : list)
      if (!exists(name)) yaml_.fault_of_key(fmt::format("there is no '{}'", name));
    return list;
  }

  std::filesystem::path file_;
  base::StrictYaml yaml_;
  std::vector<ImplementationProfile> list_;
};

bool blames(Judgement judgement) {
  return judgement == Judgement::fail || judgement == Judgement::also_seen;
}

void judge(const std::string& id, const CaseOutcome& outcome, ProfileResult& result) {
  bool named = false;
  for (const auto& record : outcome.expectations) {
    if (!blames(record.judgement)) continue;
    named |= record.judgement == Judgement::fail;
    result.blamed.emplace(record.rule, fmt::format("{}: {}", id, record.actual));
  }
  if (outcome.verdict == Verdict::error || (outcome.verdict == Verdict::fail && !named))
    result.unexplained.push_back(fmt::format("{}: {}", id, outcome.reason));
}

std::expected<std::unique_ptr<runner::TestBed>, std::string> test_bed_of(
    const runner::SuiteParts& parts, runner::WorkerSetup setup,
    const ImplementationProfile& profile) {
  setup.strict = false;
  setup.deviations = profile.deviations;
  setup.lawful = profile.lawful;
  auto test_bed = runner::make_test_bed(setup, parts);
  if (!test_bed) return test_bed;
  if (const auto alive = (*test_bed)->revive(); !alive) return std::unexpected(alive.error());
  return test_bed;
}

std::expected<ProfileResult, std::string> run(const runner::SuiteParts& parts,
                                              const runner::WorkerSetup& setup,
                                              const ImplementationProfile& profile) {
  auto usual = test_bed_of(parts, setup, ImplementationProfile());
  if (!usual) return std::unexpected(usual.error());
  auto test_bed = test_bed_of(parts, setup, profile);
  if (!test_bed) return std::unexpected(test_bed.error());
  cases::Environment& environment = (*test_bed)->environment();
  deny_what_is_missing((*usual)->environment().iut.hello(), environment);
  for (const runner::Control& control : parts.controls) {
    const CaseOutcome outcome = parts.execute(control.one, environment);
    if (outcome.verdict == Verdict::fail || outcome.verdict == Verdict::inconclusive)
      environment.controls.*control.place = {outcome.reason, outcome.deciding_rule};
  }
  ProfileResult result{.profile = &profile, .blamed = {}, .unexplained = {}};
  for (const cases::Case& one : parts.table) judge(one.id, parts.execute(one, environment), result);
  return result;
}

}  // namespace

std::vector<std::string> ProfileResult::wrongly_blamed() const {
  std::vector<std::string> list;
  for (const auto& [rule, first] : blamed)
    if (!profile->breaks.contains(rule)) list.push_back(fmt::format("{} by {}", rule, first));
  return list;
}

std::vector<std::string> ProfileResult::not_blamed() const {
  std::vector<std::string> list;
  for (const std::string& rule : profile->breaks)
    if (!blamed.contains(rule)) list.push_back(rule);
  return list;
}

std::expected<std::vector<ImplementationProfile>, std::vector<std::string>> load_profiles(
    const std::filesystem::path& file) {
  return Loader(file).load();
}

std::expected<std::vector<ProfileResult>, std::string> run_profiles(
    const runner::SuiteParts& parts, const runner::WorkerSetup& setup,
    const std::vector<ImplementationProfile>& profiles) {
  std::vector<ProfileResult> results;
  for (const ImplementationProfile& profile : profiles) {
    auto result = run(parts, setup, profile);
    if (!result) return std::unexpected(result.error());
    results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace suite::self_test
