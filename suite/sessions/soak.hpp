// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Session after session against the reference in simulated time, and what comes of it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "suite/sessions/player.hpp"

namespace suite::sessions {

using MakeIut =
    std::function<std::unique_ptr<iut::Iut>(base::EventLoop& loop, rnic::llp::Network& network)>;

/// Plays one session against an IUT made for it, over an in-memory link in simulated time.
[[nodiscard]] Played play_in_memory(const Session& session, const MakeIut& make_iut);

/// Findings are alike if the first rule that they name and what was admissible are the same, numbers
/// aside.
struct FindingGroup {
  Found first;
  std::uint64_t seed = 0, count = 0;
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
  std::optional<std::uint64_t> sessions;
  std::optional<double> seconds;
  /// Asked after each session; empty: it is never enough.
  std::function<bool(const SoakResult&)> is_enough{};
};

[[nodiscard]] SoakResult soak(const SoakPlan& plan, const MakeIut& make_iut);

}  // namespace suite::sessions
