// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A session as the body of a case.
#include <fmt/format.h>

#include <memory>
#include <mutex>

#include "suite/cases/dat/framework/dat_session.hpp"
#include "suite/sessions/dat/drawing.hpp"
#include "suite/sessions/dat/player.hpp"
#include "suite/sessions/dat/session_text.hpp"

namespace suite::cases::dat {

namespace {

namespace sessions = suite::sessions::dat;

/// With its own rule it counts once for all sessions.
ExpectationRecord record_of(const sessions::Found& found) {
  ExpectationRecord record;
  record.rule = found.rule;
  record.admissible = {found.admissible};
  record.actual = found.came;
  record.judgement = found.advisory ? Judgement::advisory : Judgement::also_seen;
  return record;
}

void play(DatContext& context, const sessions::Session& session) {
  std::mutex mutex;
  const auto note = [&](std::string_view text) {
    const std::scoped_lock lock(mutex);
    context.report.step(text);
  };
  std::unique_ptr<sessions::Player> player;
  try {
    player = std::make_unique<sessions::Player>(context.target, note);
    // What is not found leaves no record: that the IA is open is what is left to say.
    const std::string open = "an open IA";
    ExpectationRecord opened;
    opened.rule = "dat.ia-open.success";
    opened.admissible = {open};
    opened.actual = open;
    opened.judgement = Judgement::pass;
    context.report.expectation(opened);
    player->play(session);
  } catch (const sessions::Finding& finding) {
    if (player)
      for (const auto& advisory : player->model().advisories)
        context.report.expectation(record_of(advisory));
    context.report.expectation(record_of(finding.found));
    // A provider that is wrong may not let its objects go: the end of the process takes them.
    static_cast<void>(player.release());
    return;
  }
  for (const auto& advisory : player->model().advisories)
    context.report.expectation(record_of(advisory));
  context.report.step(fmt::format("{} steps played", player->steps_played()));
}

}  // namespace

std::optional<std::string> session_text(const std::string& id, const std::string& text) {
  if (!text.empty()) return sessions::session_of(text) ? std::optional(text) : std::nullopt;
  const auto seed = seed_of_session(id);
  return seed ? std::optional(sessions::text_of(sessions::draw(*seed))) : std::nullopt;
}

std::function<void(DatContext&)> session_body(const std::string& text) {
  return [session = sessions::session_of(text).value_or(sessions::Session())](DatContext& context) {
    play(context, session);
  };
}

}  // namespace suite::cases::dat
