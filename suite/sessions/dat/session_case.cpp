// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A session as the body of a case.
#include <fmt/format.h>

#include <memory>
#include <mutex>

#include "suite/cases/dat/framework/dat_session.hpp"
#include "suite/sessions/dat/drawing.hpp"
#include "suite/sessions/dat/player.hpp"

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

sessions::Session session_of(const SessionId& id) {
  sessions::Session drawn = sessions::draw(id.seed);
  if (id.steps.empty()) return drawn;
  sessions::Session part{.seed = id.seed, .steps = {}};
  for (const std::size_t step : id.steps)
    if (step < drawn.steps.size()) part.steps.push_back(drawn.steps[step]);
  return part;
}

void play(DatContext& context, const SessionId& id) {
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
    player->play(session_of(id));
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

std::function<void(DatContext&)> session_body(const SessionId& id) {
  return [id](DatContext& context) { play(context, id); };
}

}  // namespace suite::cases::dat
