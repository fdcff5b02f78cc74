// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Plays one session after another against the reference in simulated time, and groups the findings.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "suite/sessions/covering_sessions.hpp"
#include "suite/sessions/player.hpp"

namespace suite::sessions {

using MakeIut =
    std::function<std::unique_ptr<iut::Iut>(base::EventLoop& loop, rnic::llp::Network& network)>;

/// What is kept of a session: its findings, or also the exchange, the octets and what was judged.
enum class Keep : std::uint8_t { findings, evidence };

/// Plays one session against an IUT made for it, over an in-memory link in simulated time.
[[nodiscard]] Played play_in_memory(const Session& session, const MakeIut& make_iut,
                                    Keep keep = Keep::evidence);

/// Findings are alike if their first rule and what was admissible are the same, apart from numbers.
struct FindingGroup {
  Found first;
  Session session;  ///< in which it was found first
  std::uint64_t count = 0;
  /// Of all of them.
  std::set<std::string> rules{};
};

struct SoakResult {
  std::uint64_t sessions = 0, steps = 0, failed = 0;
  double seconds = 0;
  model::Coverage coverage;
  /// By rule and shape.
  std::map<std::string, FindingGroup> findings, advisories;
  [[nodiscard]] double sessions_per_second() const {
    return seconds > 0 ? static_cast<double>(sessions) / seconds : 0;
  }
};

struct SoakPlan {
  /// Of the first session; each one after it has the next number.
  std::uint64_t seed = 1;
  /// These come first, each with the next seed; the rest is drawn. Without an end of its own, a soak of
  /// these ends after them.
  const CoveringSessions* covering = nullptr;
  std::optional<std::uint64_t> sessions;
  std::optional<double> seconds;
  /// Called after each session; empty: the soak has no such end.
  std::function<bool(const SoakResult&)> is_enough{};
};

[[nodiscard]] SoakResult soak(const SoakPlan& plan, const MakeIut& make_iut);

}  // namespace suite::sessions
