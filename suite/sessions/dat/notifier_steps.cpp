// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// CNOs: which dispatchers trigger them.
#include <algorithm>

#include "suite/sessions/dat/player.hpp"

namespace suite::sessions::dat {

void Player::make_notifier(const Step& step, Turn& turn) {
  Notifier& notifier = model_.notifiers[step.object % notifier_places];
  if (notifier.handle != DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  DAT_CNO_HANDLE handle = DAT_HANDLE_NULL;
  const DAT_RETURN got = call(turn, [&] {
    return CALL(dat_cno_create, ia_->get(), DAT_OS_WAIT_PROXY_AGENT_NULL, &handle);
  });
  if (!expect("dat.cno-create.success", got, succeeds)) return;
  demand(handle != DAT_HANDLE_NULL, "dat.cno-create.success", "a handle", "DAT_HANDLE_NULL");
  notifier = {.handle = handle};
}

void Player::free_notifier(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % notifier_places;
  Notifier& notifier = model_.notifiers[at];
  if (notifier.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  const bool fed = model_.notifier_is_fed(at);
  const DAT_RETURN got = call(turn, [&] { return CALL(dat_cno_free, notifier.handle); });
  if (!expect(fed ? "dat.cno-free.invalid-state" : "dat.cno-free.success", got,
              fed ? returns(DAT_INVALID_STATE) : succeeds))
    return;
  forget_context(notifier.handle);
  notifier = {};
}

// Only of software events is it known when they arrive; and no text says how many triggers are kept.
void Player::wait_for_notifier(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % notifier_places;
  Notifier& notifier = model_.notifiers[at];
  if (notifier.handle == DAT_HANDLE_NULL || turn.lane != 0 || !model_.notifier_is_fed(at)) return;
  bool holds = false;
  for (std::uint32_t i = 0; i < dispatcher_places; ++i) {
    const Dispatcher& one = model_.dispatchers[i];
    if (one.handle == DAT_HANDLE_NULL || one.notifier != at) continue;
    holds = holds || !one.software.empty();
  }
  // Whether a trigger outlives the events that were taken meanwhile, no text says.
  const bool certain = notifier.triggered && holds;
  ++played_;
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  const DAT_TIMEOUT timeout = certain ? patience_ : a_moment;
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_cno_wait, notifier.handle, timeout, &evd); });
  if (certain) {
    expect("dat.cno-wait.success", got, succeeds);
  } else if (!notifier.doubtful && notifier.triggers.empty()) {
    expect("dat.cno-wait.timeout", got, returns(DAT_QUEUE_EMPTY));
  } else {
    expect("dat.cno-wait.timeout", got, returns_one_of({DAT_SUCCESS, DAT_QUEUE_EMPTY}));
  }
  notifier.triggered = false;
  if (got == DAT_SUCCESS) {
    const bool its_own =
        evd != DAT_HANDLE_NULL &&
        (notifier.doubtful || std::ranges::any_of(notifier.triggers, [&](std::uint32_t one) {
           return model_.dispatchers[one].handle == evd;
         }));
    demand(its_own, "dat.cno-wait.success", "a dispatcher that has triggered it", "another handle");
    return;
  }
  demand(evd == DAT_HANDLE_NULL, "dat.cno-wait.timeout", "no dispatcher", "a handle");
  notifier.triggers.clear();
}

void Player::move_dispatcher(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % dispatcher_places;
  Dispatcher& dispatcher = model_.dispatchers[at];
  if (dispatcher.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  std::optional<std::uint32_t> to;
  if (step.other > 0) to = (step.other - 1) % notifier_places;
  if (to && model_.notifiers[*to].handle == DAT_HANDLE_NULL) return;
  ++played_;
  const DAT_CNO_HANDLE cno = to ? model_.notifiers[*to].handle : DAT_HANDLE_NULL;
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_evd_modify_cno, dispatcher.handle, cno); });
  if (!expect("dat.evd-modify-cno.success", got, succeeds)) return;
  // What it has triggered may still be there, or not; what it holds may trigger the new one, or not.
  if (dispatcher.notifier) model_.notifiers[*dispatcher.notifier].triggered = false;
  dispatcher.notifier = to;
  query_dispatcher({.object = at}, turn);
  if (!to) return;
  Notifier& notifier = model_.notifiers[*to];
  notifier.doubtful = notifier.doubtful || dispatcher.was_fed;
  notifier.may_be_triggered_by(at);
}

}  // namespace suite::sessions::dat
