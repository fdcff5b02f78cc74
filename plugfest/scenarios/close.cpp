// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/scenarios/scenario_table.hpp"
#include "plugfest/scenarios/steps.hpp"

namespace plugfest::scenario_table {

/// Both sides are notified, and waiting work is flushed.
void ending(ScenarioRun& run, Side by, bool abortive) {
  const Link link = open(run);
  const Work my_receive = run.of(by).post_receive(64, link.of(by));
  const Work their_receive = run.of(other(by)).post_receive(64, link.of(other(by)));
  run.of(by).disconnect(link.of(by), abortive);
  expect_end(run, link, by);
  run.of(by).expect_completion(my_receive, "a receive on an ended connection", "flushed");
  run.of(other(by)).expect_completion(their_receive, "a receive on an ended connection", "flushed");
}

}  // namespace plugfest::scenario_table
