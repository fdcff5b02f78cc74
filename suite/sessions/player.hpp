// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Plays a session against an IUT, judged by the model and by the judge of octets.
#pragma once

#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "suite/iut/iut.hpp"
#include "suite/lower_tester/evidence.hpp"
#include "suite/lower_tester/wire_end.hpp"
#include "suite/model/coverage.hpp"
#include "suite/sessions/session.hpp"

namespace suite::sessions {

/// What a session has found.
struct Found {
  /// The broken rules; the one that fits best comes first.
  std::vector<std::string> rules;
  std::string admissible, came;
  /// Lawful, or only against a SHOULD.
  bool advisory = false;
  /// Played when it was found, counted from 0.
  std::size_t step = 0;
};

struct Played {
  std::vector<Found> found;
  std::size_t steps = 0;
  model::Coverage coverage;
  std::vector<lower_tester::Step> exchange;

  /// The first finding that is not an advisory, or nullptr.
  [[nodiscard]] const Found* failure() const;
};

/// The environment in which sessions are played.
struct Stage {
  base::EventLoop& loop;
  rnic::llp::Network& tester;
  iut::Iut& iut;
  base::Address iut_address;
  /// How long the IUT may take for what it must do.
  base::Duration patience = std::chrono::milliseconds(100);
};

/// The IUT is in the state after a Reset.
[[nodiscard]] Played play(const Session& session, const Stage& stage);

}  // namespace suite::sessions
