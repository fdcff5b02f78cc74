// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-self-test: turns on each deviation in the reference RNIC and asserts that a case of its rule
// fails for it; or each lawful variant, and asserts that no case fails.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <ranges>
#include <set>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/did_you_mean.hpp"
#include "base/out_of_memory.hpp"
#include "base/record/json_writer.hpp"
#include "base/standard_streams.hpp"
#include "base/version.hpp"
#include "suite/runner/options.hpp"
#include "suite/runner/output_file.hpp"
#include "suite/runner/shipped_parts.hpp"
#include "suite/runner/test_network.hpp"
#include "suite/self_test/api_fault_run.hpp"
#include "suite/self_test/deviation_captures.hpp"
#include "suite/self_test/implementation_profiles.hpp"
#include "suite/self_test/lawful_run.hpp"
#include "suite/self_test/report.hpp"
#include "suite/self_test/varied_run.hpp"

namespace {

using namespace suite;

struct Arguments {
  std::string link = "memory", shard = "1/1";
  unsigned shard_number = 1, shards = 1;
  // With a deviation that makes the IUT silent, a case takes its whole deadline; over TCP that is real
  // time, and half of it is enough unless the build is slow.
  double deadline_scale_over_tcp = 0.5;
  bool every_case = false, complete = false;
  std::vector<std::string> deviations;
  bool lawful = false, list_lawful = false, under_lawful = false, api_faults = false;
  std::filesystem::path profiles;
  std::vector<std::string> variants;
  std::size_t combinations = 200;
  unsigned seed = 1;
  std::string select = "*";
  std::filesystem::path out, known, hidden, captures;
  std::set<std::string> known_names;  ///< what is in `known`
};

constexpr const char* footer =
    "examples:\n"
    "  rnic-self-test                                every deviation against the cases of its own "
    "rule, in simulated time\n"
    "  rnic-self-test --matrix --out matrix.json     every deviation against every case\n"
    "  rnic-self-test --link tcp --shard 1/2         half of the deviations, over TCP\n"
    "  rnic-self-test --lawful                       each lawful variant, and 200 combinations, "
    "against every case\n"
    "  rnic-self-test --lawful --variant no_terminate,smallest_fpdus\n"
    "                                                one combination\n"
    "  rnic-self-test --variant no_terminate         are the deviations noticed with this variant "
    "too?\n"
    "  rnic-self-test --under-lawful --seed 7        is each deviation noticed under lawful "
    "variants drawn for it?\n"
    "  rnic-self-test --profiles suite/self_test/implementation_profiles.yaml\n"
    "                                                other implementations: are the "
    "rules "
    "blamed\n"
    "                                                that they break, and no others?\n"
    "  rnic-self-test --api-faults --select 'kmem.*' is each rule of the verbs seen to fail in "
    "each "
    "of\n"
    "                                                its cases, where the API itself is wrong?\n"
    "  rnic-self-test --captures out/deviations      also a pcap of what each deviation puts on "
    "the "
    "wire\n"
    "exit: 0 every deviation is noticed at its rule (with --matrix also: every case fails for some "
    "deviation;\n"
    "      with --lawful: no case fails, and each variant shows in some case; with --profiles:\n"
    "      exactly the listed rules are blamed; with --under-lawful: except those that --hidden "
    "lists;\n"
    "      with --api-faults: each rule of the verbs in the head of a case fails there for some "
    "fault),\n"
    "      1 not so, 2 usage, 3 the test bed could not be made\n";

// The deviations that are known to go unnoticed: one name a line, # begins a comment.
std::set<std::string> read_known(const std::filesystem::path& path) {
  std::set<std::string> names;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line.front() != '#') names.insert(line);
  return names;
}

void check_deviation(const char* option, const std::string& name) {
  if (rnic::deviants::find_deviation(name)) return;
  const auto all = rnic::deviants::deviations();
  throw CLI::ValidationError(
      option,
      fmt::format("there is no deviation '{}'{}", name,
                  base::did_you_mean(
                      name, all | std::views::transform(&rnic::deviants::DeviationInfo::name))));
}

void check_variant(const std::string& name) {
  if (rnic::lawful::find_lawful(name)) return;
  const auto all = rnic::lawful::lawful_variants();
  throw CLI::ValidationError(
      "--variant",
      fmt::format(
          "there is no lawful variant '{}'{}", name,
          base::did_you_mean(name, all | std::views::transform(&rnic::lawful::LawfulInfo::name))));
}

// Reads what the options name; throws if something is wrong with them.
void check(Arguments& arguments) {
  for (const std::string& name : arguments.deviations) check_deviation("--deviation", name);
  for (const std::string& name : arguments.variants) check_variant(name);
  arguments.known_names = read_known(arguments.known);
  for (const std::string& name : arguments.known_names) check_deviation("--known", name);
  int end = 0;
  const std::string& shard = arguments.shard;
  const bool read = std::sscanf(shard.c_str(), "%u/%u%n", &arguments.shard_number,
                                &arguments.shards, &end) == 2 &&
                    static_cast<std::size_t>(end) == shard.size();
  if (!read || arguments.shard_number < 1 || arguments.shard_number > arguments.shards)
    throw CLI::ValidationError("--shard", fmt::format("'{}' is not I/N with I from 1 to N", shard));
}

int report(const runner::SuiteParts& parts, const self_test::Matrix& matrix,
           const Arguments& arguments) {
  const std::set<std::string>& known = arguments.known_names;
  std::size_t unnoticed = 0, wrongly_listed = 0, unfailed = 0;
  for (const auto& result : matrix.deviations) {
    const std::string name(result.info->name);
    // Deviations that no case can provoke over TCP have to be noticed in memory.
    const bool excused = arguments.link == "tcp" && result.out_of_reach();
    if (result.own.empty() && !excused && !known.contains(name)) ++unnoticed;
    if (!result.own.empty() && result.at_own_rule() && known.contains(name)) {
      base::say(stdout, "STALE     {} is noticed now: take it out of {}\n", name,
                arguments.known.string());
      ++wrongly_listed;
    }
  }
  // With strict judgement, a permission that departs from a SHOULD does not pass.
  const std::size_t broken = arguments.variants.empty() ? matrix.broken.size() : 0;
  for (const std::string& one : matrix.broken)
    if (broken != 0) base::say(stdout, "BROKEN    {}\n", one);
  if (arguments.every_case || arguments.complete) {
    for (const std::string& id : never_failed(parts, matrix)) {
      base::say(stdout, "UNFAILED  {}: no deviation makes it fail\n", id);
      ++unfailed;
    }
  }
  if (!arguments.out.empty()) {
    const auto written = runner::write_output_file(
        arguments.out, base::record::to_json(record_of(matrix)).dump(1) + "\n");
    if (!written) {
      base::say(stderr, "rnic-self-test: --out: {}\n", written.error());
      return 3;
    }
  }
  base::say(
      stdout,
      "{} deviations with {} rules that they break, {} of these unexpectedly unnoticed; {} rows in "
      "the case table, {} not passing unless deviated, {} never failed\n",
      std::ranges::count_if(matrix.deviations, &self_test::DeviationResult::at_own_rule),
      matrix.deviations.size(), unnoticed, parts.table.size(), broken, unfailed);
  return unnoticed + wrongly_listed + unfailed + broken == 0 ? 0 : 1;
}

using Captures = std::optional<self_test::DeviationCaptures>;

// What writes into the folder of --captures, if it is given.
std::expected<Captures, std::string> open_captures(const Arguments& arguments) {
  if (arguments.captures.empty()) return std::nullopt;
  auto made = self_test::DeviationCaptures::create(arguments.captures);
  if (!made) return std::unexpected("--captures: " + made.error());
  return std::move(*made);
}

int list_lawful() {
  for (const auto& info : rnic::lawful::lawful_variants())
    base::say(stdout, "{:<38} {} ({}{}{})\n", info.name, info.text, info.rule,
              info.dispute.empty() ? "" : ", ", info.dispute);
  return 0;
}

std::vector<self_test::LawfulSet> lawful_sets(const Arguments& arguments) {
  if (!arguments.variants.empty()) {
    self_test::LawfulSet set;
    for (const std::string& name : arguments.variants)
      set.push_back(*rnic::lawful::find_lawful(name));
    return {set};
  }
  auto sets = self_test::single_variants();
  for (auto& set : self_test::random_sets(arguments.combinations, arguments.seed))
    sets.push_back(std::move(set));
  // Its share of them.
  std::vector<self_test::LawfulSet> chosen;
  for (std::size_t i = arguments.shard_number - 1; i < sets.size(); i += arguments.shards)
    chosen.push_back(sets[i]);
  return chosen;
}

// The cases with lawful variants: 0 if none of them fails, and if each set changes what some case
// sees. With --select the second is not required: a few cases may not see the change.
int run_lawful_sets(const runner::SuiteParts& parts, const runner::WorkerSetup& setup,
                    const Arguments& arguments) {
  std::size_t wrong = 0, unseen = 0;
  const auto show = [&](const self_test::LawfulResult& result) {
    base::say(stdout, "{}\n", line_of(result));
    for (const auto& verdict : result.wrong)
      base::say(stdout, "  {:<14} {}: {}\n", verdict.verdict, verdict.id, verdict.reason);
    wrong += result.wrong.size();
    if (result.changed == 0 && arguments.select == Arguments{}.select) ++unseen;
  };
  self_test::LawfulPlan plan{
      .setup = setup, .sets = lawful_sets(arguments), .select = arguments.select};
  auto captures = open_captures(arguments);
  if (!captures) {
    base::say(stderr, "rnic-self-test: {}\n", captures.error());
    return 3;
  }
  if (*captures)
    plan.observe = [&captures](const auto& set, const auto& one, const auto& outcome) {
      (*captures)->add(self_test::name_of(set), "", one.id, outcome);
    };
  const auto results = self_test::run_lawful(parts, plan, show);
  const auto written = *captures ? (*captures)->finish() : std::expected<void, std::string>();
  if (!results || !written) {
    base::say(stderr, "rnic-self-test: {}\n", results ? written.error() : results.error());
    return 3;
  }
  base::say(stdout, "{} sets of lawful variants, {} verdicts wrong, {} unseen; seed {}\n",
            results->size(), wrong, unseen, arguments.seed);
  return wrong == 0 && unseen == 0 ? 0 : 1;
}

// The deviations, each under lawful variants: 0 if all are noticed except those that `--hidden` lists.
int run_under_lawful(const runner::SuiteParts& parts, const runner::WorkerSetup& setup,
                     const Arguments& arguments) {
  self_test::VariedPlan plan{.setup = setup,
                             .chosen = arguments.deviations,
                             .shard = arguments.shard_number,
                             .shards = arguments.shards,
                             .set = {},
                             .seed = arguments.seed,
                             .hidden = {}};
  for (const std::string& name : arguments.variants)
    plan.set.push_back(*rnic::lawful::find_lawful(name));
  if (!arguments.hidden.empty()) {
    auto hidden = self_test::load_hidden(arguments.hidden);
    if (!hidden) {
      for (const std::string& fault : hidden.error())
        base::say(stderr, "rnic-self-test: --hidden: {}\n", fault);
      return 2;
    }
    plan.hidden = std::move(*hidden);
  }
  std::map<self_test::Noticed, std::size_t> count;
  const auto results =
      self_test::run_varied(parts, plan, [&](const self_test::VariedResult& result) {
        base::say(stdout, "{}\n", line_of(result));
        ++count[result.noticed];
      });
  if (!results) {
    base::say(stderr, "rnic-self-test: {}\n", results.error());
    return 3;
  }
  using self_test::Noticed;
  base::say(stdout,
            "{} deviations under lawful variants: {} caught, {} without a case, {} hidden with a "
            "reason, {} unnoticed; seed {}\n",
            results->size(), count[Noticed::caught], count[Noticed::no_case],
            count[Noticed::hidden], count[Noticed::unnoticed], arguments.seed);
  return count[Noticed::unnoticed] == 0 ? 0 : 1;
}

// The cases of the verbs: 0 if each of their rules fails at some fault of the API.
int run_with_api_faults(const runner::SuiteParts& parts, const runner::WorkerSetup& setup,
                        const std::string& select) {
  std::size_t seen = 0, wrong = 0;
  const auto results =
      self_test::run_api_faults(parts, setup, select, [&](const self_test::ApiFaultResult& result) {
        if (!result.broken.empty()) base::say(stdout, "BROKEN  {}: {}\n", result.id, result.broken);
        for (const std::string& rule : result.unseen)
          base::say(stdout, "UNSEEN  {} {}\n", result.id, rule);
        for (const auto& [rule, fault] : result.seen)
          base::say(stdout, "seen    {} {} by {}\n", result.id, rule, fault);
        seen += result.seen.size();
        wrong += result.unseen.size() + (result.broken.empty() ? 0 : 1);
      });
  if (!results) {
    base::say(stderr, "rnic-self-test: {}\n", results.error());
    return 3;
  }
  if (results->empty()) {
    base::say(stderr, "rnic-self-test: --select: no case of the verbs is called '{}'\n", select);
    return 2;
  }
  base::say(stdout, "{} cases of the verbs, {} of their rules seen to fail at a fault, {} not\n",
            results->size(), seen, wrong);
  return wrong == 0 ? 0 : 1;
}

// Each profile of the file: 0 if the cases blame the rules that it breaks and no others.
int run_all_profiles(const runner::SuiteParts& parts, const runner::WorkerSetup& setup,
                     const std::filesystem::path& file) {
  const auto profiles = self_test::load_profiles(file);
  if (!profiles) {
    for (const std::string& fault : profiles.error())
      base::say(stderr, "rnic-self-test: --profiles: {}\n", fault);
    return 2;
  }
  const auto results = self_test::run_profiles(parts, setup, *profiles);
  if (!results) {
    base::say(stderr, "rnic-self-test: {}\n", results.error());
    return 3;
  }
  std::size_t wrong = 0;
  for (const self_test::ProfileResult& result : *results) {
    base::say(stdout, "{}", text_of(result));
    if (!result.good()) ++wrong;
  }
  base::say(stdout, "{} profiles, {} judged wrongly\n", results->size(), wrong);
  return wrong == 0 ? 0 : 1;
}

int run(const Arguments& arguments) {
  const runner::SuiteParts parts = runner::shipped_wire_suite();
  const auto options =
      runner::parse_options({"run", "--link", arguments.link, "--strict", "--no-capture"});
  if (!options) throw std::logic_error(options.error().text);
  const auto network = runner::make_network(*options, [](const std::string&) {});
  if (!network) {
    base::say(stderr, "rnic-self-test: {}\n", network.error());
    return 3;
  }
  self_test::Plan plan{.setup = (*network)->setup(0),
                       .every_case = arguments.every_case,
                       .complete = arguments.complete,
                       .chosen = arguments.deviations,
                       .progress = {},
                       .observe = {}};
  if (!arguments.profiles.empty()) return run_all_profiles(parts, plan.setup, arguments.profiles);
  if (arguments.lawful) return run_lawful_sets(parts, plan.setup, arguments);
  plan.setup.strict = true;
  if (arguments.under_lawful) return run_under_lawful(parts, plan.setup, arguments);
  if (arguments.api_faults) return run_with_api_faults(parts, plan.setup, arguments.select);
  plan.setup.lawful = arguments.variants;
  plan.shard = arguments.shard_number;
  plan.shards = arguments.shards;
  if (arguments.link == "tcp") {
    plan.setup.deadline_scale = arguments.deadline_scale_over_tcp;
    plan.until_noticed = !arguments.every_case && !arguments.complete;
  }
  plan.progress = [](const self_test::DeviationResult& result) {
    base::say(stdout, "{}\n", line_of(result));
  };
  auto captures = open_captures(arguments);
  if (!captures) {
    base::say(stderr, "rnic-self-test: {}\n", captures.error());
    return 3;
  }
  if (*captures)
    plan.observe = [&captures](const auto* deviation, const auto& one, const auto& outcome) {
      (*captures)->add(deviation == nullptr ? "conforming" : deviation->name,
                       deviation == nullptr ? "" : deviation->rule, one.id, outcome);
    };
  const auto matrix = run_matrix(parts, plan);
  const auto written = *captures ? (*captures)->finish() : std::expected<void, std::string>();
  if (!matrix || !written) {
    base::say(stderr, "rnic-self-test: {}\n", matrix ? written.error() : matrix.error());
    return 3;
  }
  return report(parts, *matrix, arguments);
}

}  // namespace

int main(int argc, char** argv) try {
  base::keep_standard_streams();
  base::outlive_the_terminal();
  Arguments arguments;
  CLI::App app{
      "Turns on each deviation in the reference RNIC and asserts that a case of its rule fails at "
      "that rule.",
      "rnic-self-test"};
  app.add_option("--link", arguments.link, "memory (simulated time) or tcp")
      ->check(CLI::IsMember({"memory", "tcp"}))
      ->capture_default_str();
  app.add_flag("--matrix", arguments.every_case, "every deviation against every case");
  app.add_flag("--complete", arguments.complete,
               "run cases that no deviation of their rules fails with the others, until one does");
  app.add_option("--deviation", arguments.deviations, "only this one; may be repeated");
  app.add_flag("--lawful", arguments.lawful,
               "each lawful variant, and combinations of them, against every case");
  app.add_option("--profiles", arguments.profiles,
                 "file of profiles (other implementations), against every case")
      ->check(CLI::ExistingFile);
  app.add_flag("--under-lawful", arguments.under_lawful,
               "each deviation under lawful variants: a set drawn for it, or those of --variant");
  app.add_option("--hidden", arguments.hidden,
                 "with --under-lawful: file of deviations that a variant hides, with reasons")
      ->check(CLI::ExistingFile);
  app.add_flag("--list-lawful", arguments.list_lawful, "list the lawful variants");
  app.add_option("--variant", arguments.variants,
                 "these lawful variants together; without --lawful, they are on for each deviation")
      ->delimiter(',');
  app.add_option("--combinations", arguments.combinations, "with --lawful: how many are drawn")
      ->capture_default_str();
  app.add_option("--seed", arguments.seed, "with --lawful, --under-lawful: seed of the draw")
      ->capture_default_str();
  app.add_flag("--api-faults", arguments.api_faults,
               "each case of the verbs under faults of the API itself");
  app.add_option("--select", arguments.select,
                 "with --lawful, --api-faults: only cases whose id matches")
      ->capture_default_str();
  app.add_option("--shard", arguments.shard,
                 "the I-th of N parts of the deviations, or of the lawful sets")
      ->capture_default_str();
  app.add_option("--deadline-scale", arguments.deadline_scale_over_tcp,
                 "over TCP: multiply the cases' deadlines by this")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--known", arguments.known,
                 "file of deviations that are known to go unnoticed, one per line")
      ->check(CLI::ExistingFile);
  app.add_option(
      "--captures", arguments.captures,
      "write a pcap of the traffic of each deviation, or of each lawful set, into this folder");
  app.add_option("--out", arguments.out, "write the matrix to this file (JSON)");
  app.set_version_flag("--version", base::version_text("rnic-self-test"));
  app.footer(footer);
  try {
    app.parse(argc, argv);
    check(arguments);
    if (arguments.list_lawful) return list_lawful();
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app.exit(problem);
    base::say(stderr, "rnic-self-test: {}; see --help\n", problem.what());
    return 2;
  }
  if (const auto fault = runner::output_file_fault(arguments.out);
      fault && !arguments.out.empty()) {
    base::say(stderr, "rnic-self-test: --out: {}\n", *fault);
    return 3;
  }
  return run(arguments);
} catch (const std::exception& fault) {
  base::say(stderr, "rnic-self-test: {}\n", base::words_of(fault));
  return 3;
}
