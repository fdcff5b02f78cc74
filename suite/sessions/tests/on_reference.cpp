// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Sessions on the reference: none fails if it conforms, also with permissions of the RFCs, and the
// deviations that only sessions have found are found.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "reference_rnic/deviants/deviation.hpp"
#include "reference_rnic/lawful/lawful.hpp"
#include "suite/sessions/drawing.hpp"
#include "suite/sessions/soak.hpp"
#include "suite/upper_tester/reference/reference_iut.hpp"

namespace {

using suite::sessions::Found;
using suite::sessions::MakeIut;
using suite::sessions::SoakPlan;
using suite::sessions::SoakResult;
using suite::upper_tester::reference::Behaviour;

MakeIut reference(const Behaviour& behaviour) {
  return [behaviour](base::EventLoop& loop, rnic::llp::Network& network) {
    return suite::upper_tester::reference::make_reference_iut(loop, network, behaviour);
  };
}

void show(const std::map<std::string, suite::sessions::FindingGroup>& groups, const char* what) {
  for (const auto& [shape, group] : groups) {
    fmt::print("  {} x{}, first by seed {} at step {}: wanted {}; came {}\n", what, group.count,
               group.session.seed, group.first.step, group.first.admissible, group.first.came);
    for (const std::string& rule : group.first.rules) fmt::print("      {}\n", rule);
  }
}

/// Two to four lawful variants at the same time.
Behaviour several(std::mt19937_64& draw) {
  Behaviour behaviour;
  std::set<rnic::lawful::Lawful> chosen;
  for (std::uint64_t left = 2 + draw() % 3; left > 0; --left)
    chosen.insert(rnic::lawful::lawful_variants()[draw() % rnic::lawful::lawful_count].lawful);
  behaviour.lawful = {chosen.begin(), chosen.end()};
  return behaviour;
}

std::string names_of(const Behaviour& behaviour) {
  std::string names;
  for (const auto& info : rnic::lawful::lawful_variants())
    if (std::ranges::find(behaviour.lawful, info.lawful) != behaviour.lawful.end())
      names += (names.empty() ? "" : "+") + std::string(info.name);
  return names;
}

/// None of the conforming ones fails.
bool run_lawful(const SoakPlan& plan, const std::string& only, std::uint64_t combinations) {
  bool good = true;
  const auto run = [&](std::string_view name, const Behaviour& behaviour) {
    const SoakResult result = suite::sessions::soak(plan, reference(behaviour));
    fmt::print("{}: {} sessions, {} failed, {:.0f}/s\n", name, result.sessions, result.failed,
               result.sessions_per_second());
    show(result.findings, "finding");
    good = good && result.failed == 0;
  };
  if (only.empty() || only == "reference") run("reference", {});
  for (const auto& info : rnic::lawful::lawful_variants())
    if (only.empty() || only == info.name)
      run(info.name, {.deviations = {}, .lawful = {info.lawful}});
  std::mt19937_64 draw(plan.seed);
  for (std::uint64_t i = 0; i < combinations; ++i) {
    const Behaviour behaviour = several(draw);
    run(names_of(behaviour), behaviour);
  }
  return good;
}

enum class Noticed { at_its_rule, elsewhere, never };

Noticed noticed(const SoakResult& result, std::string_view rule) {
  const auto names = [rule](const auto& groups) {
    return std::ranges::any_of(
        groups, [&](const auto& each) { return each.second.rules.contains(std::string(rule)); });
  };
  if (names(result.findings) || names(result.advisories)) return Noticed::at_its_rule;
  return result.failed > 0 ? Noticed::elsewhere : Noticed::never;
}

/// With all that was done and seen.
void show_one(const suite::sessions::Session& session, const Behaviour& behaviour) {
  const auto played = suite::sessions::play_in_memory(session, reference(behaviour));
  for (const auto& line : played.exchange)
    fmt::print("{:>9} {:>8} {}\n", line.at.count() / 1000, name(line.direction), line.text);
  for (const Found& found : played.found)
    fmt::print("{}: wanted {}; came {}\n", found.advisory ? "advisory" : "finding",
               found.admissible, found.came);
}

/// By deviation, the seed of a session that finds it at its rule.
using Seeds = std::map<std::string, std::uint64_t>;

/// Whether the session of the seed that found it in the past still does: most of the time of the
/// others passes in sessions that find nothing.
bool found_again(const rnic::deviants::DeviationInfo& info, const Seeds& seeds) {
  const auto seed = seeds.find(std::string(info.name));
  if (seed == seeds.end()) return false;
  SoakPlan plan;
  plan.seed = seed->second;
  plan.sessions = 1;
  const Behaviour behaviour{.deviations = {info.deviation}, .lawful = {}};
  return noticed(suite::sessions::soak(plan, reference(behaviour)), info.rule) ==
         Noticed::at_its_rule;
}

/// Those that no session has found at their rule.
/// `known`: those that are not found yet get `again` sessions. `seeds` is brought up to date.
std::set<std::string> run_deviations(SoakPlan plan, const std::string& only, bool verbose,
                                     const std::set<std::string>& known, std::uint64_t again,
                                     Seeds& seeds) {
  const auto sessions = plan.sessions;
  std::set<std::string> missed;
  std::size_t elsewhere = 0, all = 0;
  for (const auto& info : rnic::deviants::deviations()) {
    if (!only.empty() && only != info.name) continue;
    ++all;
    if (!verbose && found_again(info, seeds)) continue;
    plan.sessions = known.contains(std::string(info.name)) ? again : sessions;
    plan.is_enough = [&](const SoakResult& so_far) {
      return !verbose && noticed(so_far, info.rule) == Noticed::at_its_rule;
    };
    const SoakResult result =
        suite::sessions::soak(plan, reference({.deviations = {info.deviation}, .lawful = {}}));
    const Noticed how = noticed(result, info.rule);
    if (how == Noticed::at_its_rule && !verbose) {
      seeds[std::string(info.name)] = plan.seed + result.sessions - 1;
      continue;
    }
    if (how != Noticed::at_its_rule) missed.insert(std::string(info.name));
    if (how == Noticed::elsewhere) ++elsewhere;
    if (!verbose) continue;
    fmt::print("{} ({}): {}, {} of {} sessions failed\n", info.name, info.rule,
               how == Noticed::never       ? "not found"
               : how == Noticed::elsewhere ? "found elsewhere"
                                           : "found",
               result.failed, result.sessions);
    show(result.findings, "finding");
    show(result.advisories, "advisory");
  }
  fmt::print("{} of {} deviations found at their rule, {} more at another\n", all - missed.size(),
             all, elsewhere);
  return missed;
}

/// Names of a file, the first word of each line; `#` begins a remark.
std::set<std::string> names_in(const std::string& file) {
  std::set<std::string> names;
  std::ifstream input(file);
  for (std::string line; std::getline(input, line);)
    if (const auto end = line.find_first_of(" #"); end != 0 && !line.empty())
      names.insert(line.substr(0, end));
  return names;
}

/// Lines of a name and a number; `#` begins a remark.
Seeds seeds_in(const std::string& file) {
  Seeds seeds;
  std::ifstream input(file);
  std::string name;
  for (std::string line; std::getline(input, line);)
    if (std::istringstream words(line); words >> name && !name.starts_with('#'))
      words >> seeds[name];
  return seeds;
}

bool write_seeds(const Seeds& seeds, const std::string& file) {
  std::ofstream output(file);
  output << "# By deviation, the seed of a session that finds it at its rule, which is played "
            "first; any other may do. Write it anew when the drawing has changed:\n"
            "# sessions_on_reference --sessions 2500 deviations --write-seeds FILE\n";
  for (const auto& [name, seed] : seeds) output << name << ' ' << seed << '\n';
  return static_cast<bool>(output.flush());
}

/// The list of those that are known to go unfound may only get shorter.
bool as_known(const std::set<std::string>& missed, const std::set<std::string>& known) {
  bool good = true;
  for (const std::string& name : missed) {
    if (known.contains(name)) continue;
    fmt::print("{} is not found any more\n", name);
    good = false;
  }
  for (const std::string& name : known) {
    if (missed.contains(name)) continue;
    fmt::print("{} is found: take it off the list\n", name);
    good = false;
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Sessions against the reference and its variants.", "sessions_on_reference"};
  SoakPlan plan;
  std::uint64_t sessions = 100, again = 20, combinations = 0;
  std::string only, known, seeds_file, new_seeds;
  bool verbose = false, fresh = false;
  std::optional<suite::sessions::CoveringSessions> covering;
  app.require_subcommand(1);
  app.add_option("--seed", plan.seed, "of the first session");
  app.add_option("--sessions", sessions, "how many for each variant");
  app.add_option("--only", only, "this variant alone");
  app.add_flag("--fresh", fresh, "a fresh seed, which is printed");
  app.add_option_function<std::string>(
         "--cover",
         [&](const std::string& strength) { covering.emplace(strength == "pairs" ? 2 : 3); },
         "in place of --sessions: those in which all pairs, or triples, of values meet")
      ->check(CLI::IsMember({"pairs", "triples"}));
  app.add_flag("--verbose", verbose, "what was found");
  CLI::App* lawful = app.add_subcommand("lawful", "none may fail");
  lawful->add_option("--combinations", combinations, "that many sets of variants as well");
  CLI::App* deviations = app.add_subcommand("deviations", "those not on the list must be found");
  deviations->add_option("--known", known, "the file of those that are not found yet");
  deviations->add_option("--again", again, "how many for each of these");
  deviations->add_option("--seeds", seeds_file, "the file of the seeds that are tried first")
      ->check(CLI::ExistingFile);
  deviations->add_option("--write-seeds", new_seeds, "those that have found each");
  CLI::App* one = app.add_subcommand("one", "show the session of the seed");
  CLI11_PARSE(app, argc, argv);
  plan.sessions = sessions;
  if (covering) {
    plan.covering = &*covering;
    sessions = again = covering->size();
    plan.sessions = sessions;
  }
  if (fresh) plan.seed = std::random_device{}();
  if (fresh) fmt::print("--seed {}\n", plan.seed);
  if (one->parsed()) {
    Behaviour behaviour;
    if (const auto variant = rnic::lawful::find_lawful(only)) behaviour.lawful = {*variant};
    if (const auto variant = rnic::deviants::find_deviation(only))
      behaviour.deviations = {*variant};
    // The first of those that cover has seed 1.
    show_one(
        covering ? covering->session(plan.seed - 1, plan.seed) : suite::sessions::draw(plan.seed),
        behaviour);
    return 0;
  }
  if (lawful->parsed()) return run_lawful(plan, only, combinations) ? 0 : 1;
  const std::set<std::string> listed = known.empty() ? std::set<std::string>() : names_in(known);
  Seeds seeds = seeds_in(seeds_file);
  const std::set<std::string> missed = run_deviations(plan, only, verbose, listed, again, seeds);
  if (!new_seeds.empty() && !write_seeds(seeds, new_seeds)) {
    fmt::print(stderr, "{} cannot be written\n", new_seeds);
    return 2;
  }
  if (!known.empty()) return as_known(missed, listed) ? 0 : 1;
  for (const std::string& name : missed) fmt::print("{}\n", name);
  return 0;
}
