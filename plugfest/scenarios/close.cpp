// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/scenarios/plays.hpp"
#include "plugfest/scenarios/steps.hpp"

namespace plugfest::plays {

/// Both sides are told, and what waited on them is flushed.
void ending(Stage& stage, Side by, bool abortive) {
  const Link link = open(stage);
  const Region mine = stage.of(by).memory(64), theirs = stage.of(other(by)).memory(64);
  const auto my_receive = stage.of(by).receive(link.of(by), &mine);
  const auto their_receive = stage.of(other(by)).receive(link.of(other(by)), &theirs);
  stage.of(by).disconnect(link.of(by), abortive);
  expect_end(stage, link, by);
  stage.of(by).expect_completion(my_receive, "a receive on an ended connection", "flushed");
  stage.of(other(by)).expect_completion(their_receive, "a receive on an ended connection",
                                        "flushed");
}

}  // namespace plugfest::plays
