// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/session_cases.hpp"

#include <fmt/format.h>

#include <charconv>

#include "suite/cases/framework/family.hpp"
#include "suite/sessions/covering_sessions.hpp"
#include "suite/sessions/drawing.hpp"
#include "suite/sessions/player.hpp"
#include "suite/sessions/script.hpp"
#include "suite/sessions/session_file.hpp"

namespace suite::runner {

namespace {

using base::Family;
using cases::family_of;

constexpr std::string_view seed_prefix = "soak.session.", pairs_prefix = "soak.pairs.",
                           layer = "soak";

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

/// The session that the id names. The error is one line.
std::expected<sessions::Session, std::string> session_of(std::string_view id) {
  const auto script = sessions::script_of(id);
  if (const auto number = pairs_number_of(id)) return pairs().session(*number, *number);
  if (!script) return sessions::draw(number_after(seed_prefix, id).value_or(0));
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

}  // namespace

std::string session_id(std::uint64_t seed) { return fmt::format("{}{}", seed_prefix, seed); }

std::string pairs_id(std::uint64_t number) { return fmt::format("{}{}", pairs_prefix, number); }

std::optional<cases::Case> session_case(const SuiteParts& parts, const std::string& id) {
  if (parts.dat_session)
    if (auto one = parts.dat_session(id)) return one;
  const auto seed = number_after(seed_prefix, id);
  const auto number = pairs_number_of(id);
  const auto script = sessions::script_of(id);
  if (!seed && !number && !script) return std::nullopt;
  cases::Case one;
  one.id = id;
  one.title = seed     ? fmt::format("the random session of seed {}", *seed)
              : number ? fmt::format("session {} of those that cover all pairs", *number)
                       : fmt::format("the script {}", script->string());
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
