// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What shortening a session consists of, whatever its steps are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

namespace suite::sessions {

/// Leaves out runs of steps, long ones first (delta debugging). Whether any went.
template <class Session, class StillFails>
bool leave_steps_out(Session& session, const StillFails& still_fails) {
  bool shorter = false;
  for (std::size_t run = std::max<std::size_t>(session.steps.size() / 2, 1); run > 0; run /= 2) {
    for (std::size_t at = 0; at < session.steps.size();) {
      Session tried = session;
      const auto from = tried.steps.begin() + static_cast<std::ptrdiff_t>(at);
      const auto count = std::min(run, session.steps.size() - at);
      tried.steps.erase(from, from + static_cast<std::ptrdiff_t>(count));
      if (still_fails(tried)) {
        session = std::move(tried);
        shorter = true;
      } else {
        at += run;
      }
    }
  }
  return shorter;
}

/// Resets a value that the failure does not need to its default. Whether it went.
template <class Session, class Owner, class Value, class StillFails>
bool set_usual(Session& session, Owner& owner, Value Owner::* member, const Value& usual,
               const StillFails& still_fails) {
  if (owner.*member == usual) return false;
  const Value before = std::exchange(owner.*member, usual);
  if (still_fails(session)) return true;
  owner.*member = before;
  return false;
}

}  // namespace suite::sessions
