// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Plays a session against an IUT, judged by the model and by the judge of octets.
#pragma once

#include <set>
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
  /// The upper tester, or the IUT that it calls, has ended.
  std::optional<iut::GoneEvent> gone;
  std::size_t steps = 0;
  model::Coverage coverage;
  std::vector<lower_tester::Step> exchange;
  std::vector<lower_tester::ConnectionRecord> connections;
  /// Rules that the judge of octets has evaluated.
  std::set<std::string_view> judged;

  /// The first finding that is not an advisory, or nullptr.
  [[nodiscard]] const Found* failure() const;
};

/// The environment in which sessions are played.
struct Environment {
  base::EventLoop& loop;
  rnic::llp::Network& tester;
  iut::Iut& iut;
  base::Address iut_address;
  /// Nobody has configured the IUT yet: it has its defaults.
  bool is_unconfigured = false;
  /// How long the IUT may take for what it must do.
  base::Duration patience = std::chrono::milliseconds(100);
  /// How long it may take over the reply to a command: a driver may have to be loaded for it.
  base::Duration command_patience = std::chrono::seconds(30);
  /// In real time: the IUT is done if it owes nothing and nothing came for this long. 0: it always gets
  /// all its time, which costs nothing where time is simulated.
  base::Duration quiet{};
  /// How long it may take over a startup that neither side completes; 0: there are no such startups.
  base::Duration startup_patience = std::chrono::seconds(60);
  /// Whether the exchange, the octets and what was judged are kept.
  bool records = true;
};

/// The IUT is in the state after a Reset.
[[nodiscard]] Played play(const Session& session, const Environment& environment);

}  // namespace suite::sessions
