// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/soak.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>

#include "base/standard_streams.hpp"
#include "rules/catalogue.hpp"
#include "suite/model/fault.hpp"
#include "suite/runner/session_cases.hpp"
#include "suite/sessions/covering_sessions.hpp"
#include "suite/sessions/dat/session_file.hpp"
#include "suite/sessions/defaults.hpp"
#include "suite/sessions/script.hpp"
#include "suite/sessions/session_file.hpp"
#include "suite/sessions/shrinking.hpp"
#include "suite/sessions/soak.hpp"

namespace suite::runner {

using jobs::ExitCode;

namespace {

using sessions::Found;
using upper_tester::reference::Behaviour;

struct SoakOptions {
  std::string iut = "reference", link = "memory", out;
  std::vector<std::string> deviations, lawful;
  std::vector<std::string> at_default;  ///< members of streams and steps
  std::optional<std::uint64_t> seed, sessions;
  std::optional<double> seconds;
  std::string cover;  ///< pairs, triples, or empty
  std::string file;   ///< replay
};

ExitCode complain(ExitCode code, const std::string& why) {
  base::say(stderr, "rnic-suite: {}\n", why);
  return code;
}

/// Nothing to do but to end: help was printed, or the arguments are wrong.
std::optional<ExitCode> parse(CLI::App& app, std::vector<std::string> arguments) {
  std::ranges::reverse(arguments);  // as CLI11 wants them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    base::say(stdout, app.help());
    return ExitCode::good;
  } catch (const CLI::ParseError& problem) {
    return complain(ExitCode::usage, std::string(problem.what()) + "; see --help");
  }
  return std::nullopt;
}

/// The error is one line.
std::expected<Behaviour, std::string> behaviour_of(const std::vector<std::string>& deviations,
                                                   const std::vector<std::string>& lawful) {
  Behaviour behaviour;
  for (const std::string& name : deviations) {
    const auto found = rnic::deviants::find_deviation(name);
    if (!found) return std::unexpected(fmt::format("--deviation: there is no '{}'", name));
    behaviour.deviations.push_back(*found);
  }
  for (const std::string& name : lawful) {
    const auto found = rnic::lawful::find_lawful(name);
    if (!found) return std::unexpected(fmt::format("--lawful: there is no '{}'", name));
    behaviour.lawful.push_back(*found);
  }
  return behaviour;
}

sessions::MakeIut maker(const SuiteParts& parts, const Behaviour& behaviour) {
  return [&parts, behaviour](base::EventLoop& loop, rnic::llp::Network& network) {
    return parts.make_reference(loop, network, behaviour);
  };
}

void print(const Found& found, const char* what) {
  base::say(stdout, "{}\n", what);
  for (const std::string& id : found.rules) {
    const rules::Rule* rule = rules::find(id);
    base::say(stdout, "  {}{}\n", id, rule == nullptr ? "" : " (" + rules::place(*rule) + ")");
  }
  base::say(stdout, "  admissible: {}\n  came: {}\n", found.admissible, found.came);
}

/// Shortens the session and writes it, so that it can be played again.
std::expected<std::filesystem::path, std::string> keep(const SoakOptions& options,
                                                       const sessions::FindingGroup& group,
                                                       const sessions::MakeIut& make_iut) {
  const std::string rule = group.first.rules.empty() ? "" : group.first.rules.front();
  const auto still_fails = [&](const sessions::Session& session) {
    const auto played = sessions::play_in_memory(session, make_iut, sessions::Keep::findings);
    const Found* found = played.failure();
    return found != nullptr && (found->rules.empty() ? "" : found->rules.front()) == rule;
  };
  const sessions::SessionFile file{.session = sessions::shrink(group.session, still_fails),
                                   .deviations = options.deviations,
                                   .lawful = options.lawful,
                                   .rules = group.first.rules};
  const auto path = std::filesystem::path(options.out) /
                    fmt::format("{}-{}.json", group.session.seed, rule.empty() ? "session" : rule);
  if (const auto written = sessions::write_session(path, file); !written)
    return std::unexpected(written.error());
  return path;
}

bool is_of_dat(const SoakOptions& options) { return options.iut.starts_with("dat:"); }

std::string id_of(const SoakOptions& options, std::uint64_t number) {
  if (is_of_dat(options)) return fmt::format("soak.dat.{}", number);
  return options.cover.empty() ? session_id(number, options.at_default)
                               : pairs_id(number, options.at_default);
}

/// Each session is a case of a run.
ExitCode run_sessions(const SoakOptions& options, const std::vector<std::string>& others,
                      const PerformCommand& perform, std::uint64_t first, std::uint64_t count) {
  std::vector<std::string> run{"run", "--iut", options.iut};
  const auto add = [&](const char* name, const std::vector<std::string>& values) {
    for (const std::string& value : values) run.insert(run.end(), {name, value});
  };
  add("--deviation", options.deviations);
  add("--lawful", options.lawful);
  if (!options.out.empty()) add("--out", {options.out});
  run.insert(run.end(), others.begin(), others.end());
  for (std::uint64_t i = 0; i < count; ++i) add("--select", {id_of(options, first + i)});
  return perform(std::move(run));
}

/// Runs of so many sessions, one after another, until the time is over.
ExitCode run_for_a_time(SoakOptions options, const std::vector<std::string>& others,
                        const PerformCommand& perform, std::uint64_t seed) {
  constexpr std::uint64_t each = 50;
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(*options.seconds);
  const std::string out = options.out;
  jobs::Findings found;
  for (std::uint64_t first = seed; Clock::now() < end; first += each) {
    if (!out.empty())
      options.out = (std::filesystem::path(out) / fmt::format("{}", first)).string();
    const ExitCode how = run_sessions(options, others, perform, first, each);
    if (how == ExitCode::usage || how == ExitCode::harness) return how;
    found.new_failure = found.new_failure || how == ExitCode::new_failure;
    found.stale = found.stale || how == ExitCode::stale;
  }
  return jobs::exit_code(found);
}

ExitCode soak_as_run(const SoakOptions& options, const std::vector<std::string>& others,
                     const PerformCommand& perform) {
  if (is_of_dat(options) && !(options.cover.empty() && options.at_default.empty()))
    return complain(ExitCode::usage,
                    "soak: --cover and --at-default are not for sessions of the DAT API");
  for (const std::string& member : options.at_default)
    if (sessions::Session none; !sessions::set_to_default(none, member))
      return complain(ExitCode::usage,
                      fmt::format("soak: --at-default: no stream or step has '{}'; `rnic-suite "
                                  "replay --words` lists what they have",
                                  member));
  if (options.seconds && (!is_of_dat(options) || options.sessions))
    return complain(ExitCode::usage,
                    "soak: --seconds is for simulated time, and for DAT; give --sessions alone");
  if (options.cover == "triples")
    return complain(ExitCode::usage, "soak: --cover triples is for simulated time; give pairs");
  constexpr std::uint64_t usual = 100, most = 10000;
  const std::uint64_t count = options.sessions.value_or(
      options.cover.empty() ? usual : sessions::CoveringSessions(2).size());
  if (count == 0 || count > most)
    return complain(ExitCode::usage, fmt::format("soak: --sessions: 1 to {} over TCP", most));
  const std::uint64_t seed =
      options.seed.value_or(options.cover.empty() ? std::random_device{}() : 0);
  if (options.cover.empty()) base::say(stdout, "seed {}\n", seed);
  if (options.seconds) return run_for_a_time(options, others, perform, seed);
  return run_sessions(options, others, perform, seed, count);
}

/// The reactions to an error that the RFCs admit and no session has shown.
void print_reactions_not_seen(const model::Coverage& coverage) {
  for (const model::Fault* fault : model::all_faults()) {
    for (std::size_t i = 0; i < model::reaction_texts.size(); ++i) {
      const bool admissible =
          fault->may_be_dropped || i != static_cast<std::size_t>(model::Reaction::left_out);
      if (admissible && coverage.reactions(fault->what, i) == 0)
        base::say(stdout, "not seen: {}: {}\n", fault->what, model::reaction_texts[i]);
    }
  }
}

ExitCode report(const SoakOptions& options, const sessions::SoakResult& result,
                const sessions::MakeIut& make_iut) {
  for (const auto& [shape, group] : result.findings) {
    print(group.first,
          fmt::format("finding, {} times, first by seed {}:", group.count, group.session.seed)
              .c_str());
    if (options.out.empty()) continue;
    const auto kept = keep(options, group, make_iut);
    if (!kept) return complain(ExitCode::harness, kept.error());
    base::say(stdout, "  rnic-suite replay {}\n", kept->string());
  }
  for (std::size_t i = 0; i < model::transitions.size(); ++i) {
    const model::TransitionInfo& transition = model::transitions[i];
    if (result.coverage.taken(i) == 0)
      base::say(stdout, "not taken: {} ({}): {}\n", transition.name, transition.place,
                transition.text);
  }
  print_reactions_not_seen(result.coverage);
  base::say(
      stdout,
      "{} sessions of {} steps in {:.1f} s, {:.0f} a second; {} failed, {} kinds of findings, "
      "{} of advisories\n",
      result.sessions, result.steps, result.seconds, result.sessions_per_second(), result.failed,
      result.findings.size(), result.advisories.size());
  return result.failed == 0 ? ExitCode::good : ExitCode::new_failure;
}

ExitCode soak_in_memory(const SuiteParts& parts, SoakOptions options) {
  const auto behaviour = behaviour_of(options.deviations, options.lawful);
  if (!behaviour) return complain(ExitCode::usage, behaviour.error());
  if (!options.out.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.out, error);
    if (error)
      return complain(ExitCode::usage, fmt::format("--out {}: {}", options.out, error.message()));
  }
  sessions::SoakPlan plan;
  std::optional<sessions::CoveringSessions> covering;
  if (!options.cover.empty()) {
    covering.emplace(options.cover == "pairs" ? 2 : 3);
    plan.covering = &*covering;
    base::say(stdout, "{} sessions cover all {}\n", covering->size(), options.cover);
  } else if (!options.sessions && !options.seconds) {
    options.seconds = 10;
  }
  plan.seed = options.seed.value_or(std::random_device{}());
  plan.sessions = options.sessions;
  plan.seconds = options.seconds;
  base::say(stdout, "seed {}\n", plan.seed);
  const auto make_iut = maker(parts, *behaviour);
  return report(options, sessions::soak(plan, make_iut), make_iut);
}

ExitCode replay_as_run(const SoakOptions& options, const std::vector<std::string>& others,
                       const PerformCommand& perform) {
  const auto id = sessions::script_id(options.file);
  if (!id) return complain(ExitCode::usage, id.error());
  std::vector<std::string> run{"run", "--iut", options.iut, "--select", *id};
  if (!options.out.empty()) run.insert(run.end(), {"--out", options.out});
  run.insert(run.end(), others.begin(), others.end());
  return perform(std::move(run));
}

ExitCode replay_of_dat(const SoakOptions& options, const std::vector<std::string>& others,
                       const PerformCommand& perform) {
  const auto file = sessions::dat::read_session(options.file);
  if (!file) return complain(ExitCode::usage, file.error());
  if (!is_of_dat(options))
    return complain(ExitCode::usage,
                    options.file + ": it is a session of the DAT API; give --iut dat:NAME");
  return replay_as_run(options, others, perform);
}

}  // namespace

ExitCode soak(const SuiteParts& parts, std::vector<std::string> arguments,
              const PerformCommand& perform) {
  SoakOptions options;
  CLI::App app{
      "Plays random sessions, judged by a model of what the RFCs and the texts of DAT admit.",
      "rnic-suite soak"};
  app.allow_extras();
  app.add_option("--iut", options.iut, "as for `rnic-suite run` (default: reference)");
  app.add_option("--link", options.link,
                 "memory: the reference in this process, in simulated time (its default); tcp")
      ->check(CLI::IsMember({"memory", "tcp"}));
  app.add_option("--seed", options.seed, "of the first session; by default a fresh one");
  app.add_option("--sessions", options.sessions, "how many; over TCP by default 100");
  app.add_option("--seconds", options.seconds,
                 "how long, in simulated time (by default 10, unless --sessions is given), or of "
                 "the DAT API, in runs of 50 sessions")
      ->check(CLI::PositiveNumber);
  app.add_option(
         "--cover", options.cover,
         "pairs or triples: first the sessions in which all pairs, or triples, of values of "
         "the dimensions of a session meet (docs/soak.md); only these, unless --sessions or "
         "--seconds is given; over TCP --seed is the first of them, from 0")
      ->check(CLI::IsMember({"pairs", "triples"}));
  app.add_option(
         "--at-default", options.at_default,
         "over TCP: members of streams and steps, as `rnic-suite replay --words` lists them, "
         "that keep their defaults, so that a known fault does not end each session that has "
         "them, such as peer_markers,early")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--deviation", options.deviations, "the reference is wrong in this way");
  app.add_option("--lawful", options.lawful, "the reference uses this permission");
  app.add_option("--out", options.out,
                 "a folder for the findings, each as a shortened session that can be replayed; "
                 "over TCP the folder of the run");
  app.footer(
      "exit: 0 nothing found, 1 findings, 2 usage, 3 harness\n"
      "Over TCP and on other IUTs each session is a case of a run, and the options of "
      "`rnic-suite run` apply as well.\n"
      "On a DAT provider (--iut dat:NAME) sessions are calls of the DAT API.");
  if (const auto ended = parse(app, std::move(arguments))) return *ended;
  if (options.iut != "reference" || options.link == "tcp")
    return soak_as_run(options, app.remaining(), perform);
  const std::string other = !app.remaining().empty()      ? app.remaining().front()
                            : !options.at_default.empty() ? "--at-default"
                                                          : "";
  if (!other.empty())
    return complain(
        ExitCode::usage,
        fmt::format("soak: '{}' is not an option in simulated time; see --help", other));
  return soak_in_memory(parts, options);
}

ExitCode replay(const SuiteParts& parts, std::vector<std::string> arguments,
                const PerformCommand& perform) {
  SoakOptions options;
  options.iut.clear();
  CLI::App app{"Plays a session that a soak has written, and shows all that went by.",
               "rnic-suite replay"};
  app.allow_extras();
  bool words = false;
  auto* file_option = app.add_option("file", options.file,
                                     "the session, or a script of your own (.yaml, docs/soak.md)");
  app.add_flag("--words", words,
               "lists what a script may consist of, with all defaults; with --iut dat:NAME, of the "
               "DAT API");
  app.add_option(
      "--iut", options.iut,
      "as for `rnic-suite run`, whose options apply as well; by default the reference in "
      "this process, in simulated time");
  app.add_option("--out", options.out, "with --iut: the folder of the run");
  app.footer(
      "examples:\n"
      "  rnic-suite replay findings/12-ddp.tagged.base-or-bounds.json\n"
      "  rnic-suite replay bug.yaml\n"
      "  rnic-suite replay soak-dat/sessions/soak.dat.12.1.json --iut dat:reference\n"
      "  rnic-suite replay bug.yaml --iut verbs:cxgb4_0 --host ssh:root@dut --address 192.0.2.7\n"
      "exit: 0 nothing found, 1 a finding, 2 usage, 3 harness");
  if (const auto ended = parse(app, std::move(arguments))) return *ended;
  if (words) {
    base::say(stdout, "{}",
              is_of_dat(options) ? sessions::dat::script_words() : sessions::script_words());
    return ExitCode::good;
  }
  if (file_option->empty()) return complain(ExitCode::usage, "replay: name a file; see --help");
  if (sessions::dat::is_session(options.file))
    return replay_of_dat(options, app.remaining(), perform);
  const auto file = sessions::read_session(options.file);
  if (!file) return complain(ExitCode::usage, file.error());
  if (is_of_dat(options))
    return complain(ExitCode::usage, options.file + ": a session of the DAT API says `api: dat`");
  if (!options.iut.empty()) return replay_as_run(options, app.remaining(), perform);
  if (!options.out.empty() || !app.remaining().empty())
    return complain(ExitCode::usage,
                    fmt::format("replay: '{}' goes with --iut; see --help",
                                options.out.empty() ? app.remaining().front() : "--out"));
  const auto behaviour = behaviour_of(file->deviations, file->lawful);
  if (!behaviour) return complain(ExitCode::usage, options.file + ": " + behaviour.error());
  const auto played = sessions::play_in_memory(file->session, maker(parts, *behaviour));
  for (const auto& line : played.exchange)
    base::say(stdout, "{:>10.3f} ms {:>8}  {}\n", static_cast<double>(line.at.count()) / 1e6,
              line.direction == lower_tester::Direction::none ? "" : name(line.direction),
              line.text);
  const Found* failure = played.failure();
  if (failure == nullptr) {
    base::say(stdout, "nothing found\n");
    return ExitCode::good;
  }
  print(*failure, fmt::format("finding at step {}:", failure->step).c_str());
  return ExitCode::new_failure;
}

}  // namespace suite::runner
