// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/dat/shortening.hpp"

#include "suite/sessions/leaving_out.hpp"

namespace suite::sessions::dat {

namespace {

using StillFails = std::function<bool(const Session&)>;

bool make_steps_usual(Session& session, const StillFails& still_fails) {
  bool any = false;
  for (Step& step : session.steps) {
    const auto usual = [&](auto member, auto value) {
      const bool went = set_usual(session, step, member, value, still_fails);
      any = went || any;
      return went;
    };
    usual(&Step::lane, 0U);
    usual(&Step::wrong, Wrong::nothing);
    usual(&Step::times, 1U);
    usual(&Step::segments, 1U);
    usual(&Step::flags, usual_flags(step.action));
    usual(&Step::third, 0U);
    usual(&Step::other, 0U);
    usual(&Step::offset, 0U);
    // Nothing is often no step at all; a length or depth that is small is the next best.
    if (!usual(&Step::number, std::int64_t{0}) && step.number > 8)
      usual(&Step::number, std::int64_t{8});
    usual(&Step::object, 0U);
  }
  return any;
}

}  // namespace

Session shortened(const Session& session, const StillFails& still_fails) {
  Session shortest = session;
  for (bool shorter = true; shorter;) {
    shorter = leave_steps_out(shortest, still_fails);
    shorter = make_steps_usual(shortest, still_fails) || shorter;
  }
  return shortest;
}

}  // namespace suite::sessions::dat
