// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/session_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "suite/cases/framework/family.hpp"
#include "suite/sessions/covering_sessions.hpp"
#include "suite/sessions/defaults.hpp"
#include "suite/sessions/drawing.hpp"
#include "suite/sessions/player.hpp"
#include "suite/sessions/script.hpp"
#include "suite/sessions/session_file.hpp"

namespace suite::runner {

namespace {

using base::Family;
using cases::family_of;

constexpr std::string_view seed_prefix = "soak.session.", pairs_prefix = "soak.pairs.",
                           default_prefix = ".default.", layer = "soak";

std::string with_defaults(std::string id, const std::vector<std::string>& at_default) {
  for (const std::string& member : at_default) id.append(default_prefix).append(member);
  return id;
}

/// The id of a drawn session, and the members that it leaves at their defaults.
struct DrawnId {
  std::string_view name;
  std::vector<std::string_view> at_default;
};

DrawnId split(std::string_view id) {
  DrawnId parts{id, {}};
  for (auto at = id.rfind(default_prefix); at != id.npos; at = parts.name.rfind(default_prefix)) {
    parts.at_default.push_back(parts.name.substr(at + default_prefix.size()));
    parts.name = parts.name.substr(0, at);
  }
  return parts;
}

std::optional<std::uint64_t> number_after(std::string_view prefix, std::string_view id) {
  if (!id.starts_with(prefix)) return std::nullopt;
  id.remove_prefix(prefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  if (error != std::errc() || end != id.data() + id.size()) return std::nullopt;
  return number;
}

const sessions::CoveringSessions& pairs() {
  static const sessions::CoveringSessions made(2);
  return made;
}

/// The one of those that cover all pairs.
std::optional<std::uint64_t> pairs_number_of(std::string_view id) {
  const auto number = number_after(pairs_prefix, id);
  return number && *number < pairs().size() ? number : std::nullopt;
}

/// Nothing: the id is none of a drawn session, or names what is no member.
std::optional<DrawnId> drawn_id(std::string_view id) {
  DrawnId parts = split(id);
  if (!number_after(seed_prefix, parts.name) && !pairs_number_of(parts.name)) return std::nullopt;
  sessions::Session none;
  for (const std::string_view member : parts.at_default)
    if (!sessions::set_to_default(none, member)) return std::nullopt;
  return parts;
}

sessions::Session draw(const DrawnId& id) {
  const auto number = pairs_number_of(id.name);
  sessions::Session session = number ? pairs().session(*number, *number)
                                     : sessions::draw(*number_after(seed_prefix, id.name));
  for (const std::string_view member : id.at_default) sessions::set_to_default(session, member);
  return session;
}

/// The session that the id names. The error is one line.
std::expected<sessions::Session, std::string> session_of(const std::string& id) {
  if (const auto drawn = drawn_id(id)) return draw(*drawn);
  const auto script = sessions::script_of(id);
  if (!script) return std::unexpected(fmt::format("'{}' names no session", id));
  auto file = sessions::read_session(*script);
  if (!file) return std::unexpected(file.error());
  return std::move(file->session);
}

/// One expectation, of the rule that fits best.
cases::ExpectationRecord record_of(const sessions::Found& found) {
  using results::Judgement;
  cases::ExpectationRecord record;
  record.rule = found.rules.empty() ? "" : found.rules.front();
  record.admissible = {found.admissible};
  record.actual = found.came;
  record.judgement = found.advisory        ? Judgement::advisory
                     : record.rule.empty() ? Judgement::inconclusive
                                           : Judgement::also_seen;
  return record;
}

void bring_to_start(iut::Iut& iut, base::TimePoint deadline) {
  const std::uint64_t number = iut.post(iut::Reset{});
  while (const auto event = iut.is_gone() ? std::nullopt : iut.next_event(deadline)) {
    const auto* reply = std::get_if<iut::Reply>(&*event);
    if (reply != nullptr && reply->command == number) return;
  }
}

/// An agent that gives no reply, or breaks the rules of its own protocol, breaks no rule of an RFC.
cases::Verdict verdict_of(const sessions::Played& played) {
  if (played.gone)
    return played.gone->why == iut::GoneEvent::Why::crashed ? cases::Verdict::fail
                                                            : cases::Verdict::error;
  const sessions::Found* failure = played.failure();
  return failure != nullptr && failure->rules.empty() ? cases::Verdict::inconclusive
                                                      : cases::Verdict::pass;
}

std::string title_of(const DrawnId& id) {
  const auto& [name, at_default] = id;
  const auto number = pairs_number_of(name);
  const std::string title =
      number ? fmt::format("session {} of those that cover all pairs", *number)
             : fmt::format("the random session of seed {}", *number_after(seed_prefix, name));
  return at_default.empty()
             ? title
             : fmt::format("{}, with the default of {}", title, fmt::join(at_default, ", "));
}

}  // namespace

std::string session_id(std::uint64_t seed, const std::vector<std::string>& at_default) {
  return with_defaults(fmt::format("{}{}", seed_prefix, seed), at_default);
}

std::string pairs_id(std::uint64_t number, const std::vector<std::string>& at_default) {
  return with_defaults(fmt::format("{}{}", pairs_prefix, number), at_default);
}

std::optional<cases::Case> session_case(const SuiteParts& parts, const std::string& id) {
  if (parts.dat_session)
    if (auto one = parts.dat_session(id)) return one;
  const auto script = sessions::script_of(id);
  const auto drawn = drawn_id(id);
  if (!script && !drawn) return std::nullopt;
  cases::Case one;
  one.id = id;
  one.title = script ? fmt::format("the script {}", script->string()) : title_of(*drawn);
  one.layer = layer;
  one.file = "suite/sessions/drawing.cpp";
  // Every case has a rule; this one holds for any session, which consists of RDMAP messages.
  one.rules = {"rdmap.stream.only-rdma-messages"};
  one.deadline = std::chrono::minutes(2);
  return one;
}

bool is_session(const cases::Case& one) { return one.layer == layer && !one.make; }

cases::CaseOutcome play_session(const cases::Case& one, cases::Environment& environment) {
  using std::chrono::milliseconds;
  const auto scaled = [&](milliseconds time) {
    return std::chrono::duration_cast<base::Duration>(time * environment.deadline_scale);
  };
  constexpr milliseconds patience{1500}, quiet{10};
  // An agent that does not reply is given up first, and started again.
  const base::Duration command_patience = environment.reply_deadline + std::chrono::seconds(1);
  environment.current_configuration.reset();
  bring_to_start(environment.iut, environment.loop.now() + command_patience);
  const auto start = environment.loop.now();
  const auto session = session_of(one.id);
  if (!session) {
    cases::CaseOutcome outcome;  // its verdict is error
    outcome.reason = session.error();
    return outcome;
  }
  sessions::Played played = sessions::play(
      *session, {.loop = environment.loop,
                 .tester = environment.tester,
                 .iut = environment.iut,
                 .iut_address = family_of(one, environment) == Family::ipv6 ? environment.iut_ipv6
                                                                            : environment.iut_ipv4,
                 .patience = scaled(patience),
                 .command_patience = command_patience,
                 .quiet = scaled(quiet),
                 .startup_patience = {}});
  cases::CaseOutcome outcome;
  outcome.verdict = verdict_of(played);
  for (const sessions::Found& found : played.found)
    outcome.expectations.push_back(record_of(found));
  if (outcome.verdict != cases::Verdict::pass) outcome.reason = played.failure()->came;
  outcome.judged_in_frames.assign(played.judged.begin(), played.judged.end());
  outcome.exchange = std::move(played.exchange);
  outcome.connections = std::move(played.connections);
  outcome.duration = environment.loop.now() - start;
  return outcome;
}

SuiteParts with_sessions(const SuiteParts& parts, const std::vector<std::string>& selected) {
  SuiteParts all = parts;
  for (const std::string& id : selected)
    if (auto one = session_case(parts, id)) all.table.push_back(std::move(*one));
  return all;
}

}  // namespace suite::runner
