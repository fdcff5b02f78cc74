// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Event dispatchers: their lengths, states and waits.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "suite/sessions/dat/player.hpp"
#include "suite/sessions/dat/waiter.hpp"

namespace suite::sessions::dat {

namespace {

static_assert(usual_flags(Action::make_dispatcher) ==
              (DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG |
               DAT_EVD_RMR_BIND_FLAG));

/// Only the consumer feeds it: what is in it is known.
bool is_software_only(const Model& model, std::uint32_t at) {
  const Dispatcher& dispatcher = model.dispatchers[at];
  return model.possible(at) == static_cast<DAT_COUNT>(dispatcher.software.size()) &&
         !model.dispatcher_is_fed(at);
}

}  // namespace

DAT_COUNT Player::length_of(Turn& turn, DAT_EVD_HANDLE handle) {
  DAT_EVD_PARAM param{};
  expect("dat.evd-query.success",
         call(turn, [&] { return CALL(dat_evd_query, handle, DAT_EVD_FIELD_ALL, &param); }),
         succeeds);
  return param.evd_qlen;
}

// ---------------------------------------------------------------- objects

void Player::make_dispatcher(const Step& step, Turn& turn) {
  Dispatcher& dispatcher = model_.dispatchers[step.object % dispatcher_places];
  if (dispatcher.handle != DAT_HANDLE_NULL || turn.lane != 0 || !model_.able.may_merge(step.flags))
    return;
  std::optional<std::uint32_t> notifier;
  if (step.other > 0) notifier = (step.other - 1) % notifier_places;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  if (notifier) cno = model_.notifiers[*notifier].handle;
  if (cno == DAT_HANDLE_NULL) notifier.reset();
  ++played_;
  const auto length = static_cast<DAT_COUNT>(step.number);
  const bool none = length < 1;
  DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
  const DAT_RETURN got = call(turn, [&] {
    return CALL(dat_evd_create, ia_->get(), length, cno, static_cast<DAT_EVD_FLAGS>(step.flags),
                &handle);
  });
  if (!expect(none ? "dat.evd-create.invalid-parameter" : "dat.evd-create.success", got,
              none ? returns(DAT_INVALID_PARAMETER) : succeeds))
    return;
  demand(handle != DAT_HANDLE_NULL, "dat.evd-create.success", "a handle", "DAT_HANDLE_NULL");
  dispatcher = {.handle = handle, .flags = step.flags, .notifier = notifier};
  dispatcher.length = length_of(turn, handle);
  demand(dispatcher.length >= length, "dat.evd-create.success",
         fmt::format("room for at least {} events", length),
         fmt::format("room for {}", dispatcher.length));
}

void Player::free_dispatcher(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % dispatcher_places;
  Dispatcher& dispatcher = model_.dispatchers[at];
  if (dispatcher.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  const bool fed = model_.dispatcher_is_fed(at);
  const DAT_RETURN got = call(turn, [&] { return CALL(dat_evd_free, dispatcher.handle); });
  if (!expect(fed ? "dat.evd-free.invalid-state" : "dat.evd-free.success", got,
              fed ? returns(DAT_INVALID_STATE) : succeeds))
    return;
  for (Notifier& notifier : model_.notifiers) std::erase(notifier.triggers, at);
  is_freed(Object::dispatcher, dispatcher.handle);
  const auto fed_by_it = std::exchange(dispatcher, {}).notifier;
  if (!fed_by_it) return;
  if (!model_.notifier_is_fed(*fed_by_it))
    calls_agent(turn, *fed_by_it, DAT_HANDLE_NULL, "dat.cno-wait.evds-freed");
  // A trigger of it may be left, or not.
  Notifier& notifier = model_.notifiers[*fed_by_it];
  notifier.triggered = false;
  notifier.doubtful = true;
}

void Player::query_dispatcher(const Step& step, Turn& turn) {
  const Dispatcher& dispatcher = model_.dispatchers[step.object % dispatcher_places];
  if (dispatcher.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  DAT_EVD_PARAM param{};
  if (step.wrong == Wrong::fields) {
    expect("dat.evd-query.invalid-parameter",
           call(turn,
                [&] {
                  return CALL(dat_evd_query, dispatcher.handle,
                              dat_case::flags_of<DAT_EVD_PARAM_MASK>(0x1000), &param);
                }),
           returns(DAT_INVALID_PARAMETER));
    return;
  }
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_evd_query, dispatcher.handle, DAT_EVD_FIELD_ALL, &param); });
  if (!expect("dat.evd-query.success", got, succeeds)) return;
  const auto same = [](const char* rule, const char* what, bool is) {
    demand(is, rule, what, "another value");
  };
  const DAT_CNO_HANDLE cno =
      dispatcher.notifier ? model_.notifiers[*dispatcher.notifier].handle : DAT_HANDLE_NULL;
  same("dat.evd-query.success", "the IA", param.ia_handle == ia_->get());
  same("dat.evd-query.success", "its CNO", param.cno_handle == cno);
  same("dat.evd-query.success", "its flags",
       static_cast<unsigned>(param.evd_flags) == dispatcher.flags);
  same("dat.evd-query.success", "its length", param.evd_qlen == dispatcher.length);
  const auto state = static_cast<unsigned>(param.evd_state);
  same("dat.evd-query.state", dispatcher.enabled ? "enabled" : "disabled",
       (state & (DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_DISABLED)) ==
           static_cast<unsigned>(dispatcher.enabled ? DAT_EVD_STATE_ENABLED
                                                    : DAT_EVD_STATE_DISABLED));
  same("dat.evd-query.state", dispatcher.waitable ? "waitable" : "unwaitable",
       (state & (DAT_EVD_STATE_WAITABLE | DAT_EVD_STATE_UNWAITABLE)) ==
           static_cast<unsigned>(dispatcher.waitable ? DAT_EVD_STATE_WAITABLE
                                                     : DAT_EVD_STATE_UNWAITABLE));
}

// Where events are on their way, the queue stays long enough for all of them. One that holds more than
// what is asked may be refused, or keeps them whatever its length.
void Player::resize_dispatcher(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % dispatcher_places;
  Dispatcher& dispatcher = model_.dispatchers[at];
  if (dispatcher.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  const auto length = static_cast<DAT_COUNT>(step.number);
  const DAT_COUNT held = model_.possible(at);
  const char* rule = "dat.evd-resize.success";
  Returns wanted = succeeds;
  if (length < 1) {
    rule = "dat.evd-resize.invalid-parameter";
    wanted = returns(DAT_INVALID_PARAMETER);
  } else if (length < held) {
    if (!is_software_only(model_, at)) return;
    rule = "dat.evd-resize.invalid-state";
    wanted = returns(DAT_INVALID_STATE).or_tolerably(DAT_SUCCESS);
  } else if (length > model_.able.longest_dispatcher) {
    return;
  }
  ++played_;
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_evd_resize, dispatcher.handle, length); });
  const bool done = expect(rule, got, wanted);
  const DAT_COUNT now = length_of(turn, dispatcher.handle);
  const DAT_COUNT least = done ? length : dispatcher.length;
  demand(now >= least && (done || now == dispatcher.length), rule,
         fmt::format("room for {} events", least), fmt::format("room for {}", now));
  dispatcher.length = now;
}

void Player::switch_dispatcher(const Step& step, Turn& turn) {
  std::uint32_t at = step.object % dispatcher_places;
  // Rather one on which the call has an effect.
  for (std::uint32_t i = 0; i < dispatcher_places; ++i) {
    const Dispatcher& one = model_.dispatchers[i];
    if (one.handle != DAT_HANDLE_NULL && ((step.action == Action::make_waitable && !one.waitable) ||
                                          (step.action == Action::enable && !one.enabled)))
      at = i;
  }
  Dispatcher& dispatcher = model_.dispatchers[at];
  if (dispatcher.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  const DAT_EVD_HANDLE evd = dispatcher.handle;
  switch (step.action) {
    case Action::make_unwaitable:
      expect("dat.evd-set-unwaitable.success",
             call(turn, [&] { return CALL(dat_evd_set_unwaitable, evd); }), succeeds);
      dispatcher.waitable = false;
      break;
    case Action::make_waitable:
      expect("dat.evd-clear-unwaitable.success",
             call(turn, [&] { return CALL(dat_evd_clear_unwaitable, evd); }), succeeds);
      dispatcher.waitable = true;
      break;
    case Action::enable:
      expect("dat.evd-enable.success", call(turn, [&] { return CALL(dat_evd_enable, evd); }),
             succeeds);
      dispatcher.enabled = true;
      if (dispatcher.notifier) may_call_agent(*dispatcher.notifier);
      break;
    default:
      expect("dat.evd-disable.success", call(turn, [&] { return CALL(dat_evd_disable, evd); }),
             succeeds);
      dispatcher.enabled = false;
  }
  query_dispatcher({.object = at}, turn);
}

// ---------------------------------------------------------------- software events

void Player::post_software_once(Turn& turn, std::uint32_t at) {
  Dispatcher& dispatcher = model_.dispatchers[at];
  const bool takes = (dispatcher.flags & DAT_EVD_SOFTWARE_FLAG) != 0;
  const bool full = model_.possible(at) >= dispatcher.length;
  if (takes && full && !is_software_only(model_, at)) return;
  ++played_;
  const std::uintptr_t number = ++last_software_;
  const bool comes = takes && !full;
  if (comes) {
    dispatcher.software.push_back(number);
    ++dispatcher.seen;
  }
  const DAT_RETURN got = call(turn, [&] {
    DAT_EVENT event{};
    event.event_number = DAT_SOFTWARE_EVENT;
    event.event_data.software_event_data.pointer = reinterpret_cast<DAT_PVOID>(number);  // NOLINT
    return CALL(dat_evd_post_se, dispatcher.handle, &event);
  });
  // D41
  expect(!takes ? "dat.evd-post-se.no-software-stream"
         : full ? "dat.evd-post-se.queue-full"
                : "dat.evd-post-se.success",
         got,
         !takes ? returns_one_of({DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER})
         : full ? returns(DAT_QUEUE_FULL)
                : succeeds);
  if (!comes || !dispatcher.notifier || !dispatcher.enabled) return;
  Notifier& notifier = model_.notifiers[*dispatcher.notifier];
  notifier.triggered = true;
  notifier.may_be_triggered_by(at);
  calls_agent(turn, *dispatcher.notifier, dispatcher.handle, "dat.cno-create.agent");
}

void Player::post_software(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % dispatcher_places;
  if (turn.lane != 0) return;
  for (std::int64_t i = 0; i < std::max<std::int64_t>(step.number, 1); ++i)
    if (model_.dispatchers[at].handle != DAT_HANDLE_NULL) post_software_once(turn, at);
}

// ---------------------------------------------------------------- waits

void Player::dequeue(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % dispatcher_places;
  Dispatcher& dispatcher = model_.dispatchers[at];
  if (dispatcher.handle == DAT_HANDLE_NULL || !may_take(turn, at)) return;
  ++played_;
  DAT_EVENT event{};
  const DAT_COUNT seen = dispatcher.seen;
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_evd_dequeue, dispatcher.handle, &event); });
  if (seen > 0) {
    expect("dat.evd-dequeue.success", got, succeeds);
  } else {
    expect("dat.evd-dequeue.queue-empty", got, returns_one_of({DAT_SUCCESS, DAT_QUEUE_EMPTY}));
  }
  if (got == DAT_SUCCESS) model_.observe(at, event);
}

void Player::wait(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % dispatcher_places;
  Dispatcher& dispatcher = model_.dispatchers[at];
  if (dispatcher.handle == DAT_HANDLE_NULL || !may_take(turn, at)) return;
  ++played_;
  const auto threshold = static_cast<DAT_COUNT>(step.number);
  const bool invalid = threshold < 1 || threshold > dispatcher.length;
  const DAT_COUNT certain = model_.certain(at), most = model_.possible(at), seen = dispatcher.seen;
  const bool comes = threshold <= certain && !invalid && dispatcher.waitable;
  const DAT_TIMEOUT timeout = comes ? patience_ : step.offset % 2 == 0 ? a_moment : 0;
  DAT_EVENT event{};
  DAT_COUNT more = -1;
  const DAT_RETURN got = call(turn, [&] {
    return CALL(dat_evd_wait, dispatcher.handle, timeout, threshold, &event, &more);
  });
  if (invalid || !dispatcher.waitable) {
    Returns wanted;
    if (invalid) wanted.types.push_back(DAT_INVALID_PARAMETER);
    if (!dispatcher.waitable) wanted.types.push_back(DAT_INVALID_STATE);
    expect(invalid ? "dat.evd-wait.threshold" : "dat.evd-wait.unwaitable", got, wanted);
    return;
  }
  if (comes) {
    if (DAT_GET_TYPE(got) == DAT_TIMEOUT_EXPIRED && more < threshold)
      throw Finding{model_.missing(at)};
    expect("dat.evd-wait.success", got, succeeds);
  } else if (threshold > most) {
    expect("dat.evd-wait.timeout", got, returns(DAT_TIMEOUT_EXPIRED));
  } else {
    expect("dat.evd-wait.timeout", got, returns_one_of({DAT_SUCCESS, DAT_TIMEOUT_EXPIRED}));
  }
  const bool taken = got == DAT_SUCCESS;
  const DAT_COUNT least = taken ? std::max(threshold, seen) - 1 : seen;
  const DAT_COUNT left = taken ? most - 1 : std::min(most, threshold - 1);
  demand(more >= least && more <= left, taken ? "dat.evd-wait.success" : "dat.evd-wait.timeout",
         fmt::format("{} to {} events left", least, left), fmt::format("{} events left", more));
  if (taken) model_.observe(at, event);
  dispatcher.seen = std::max(dispatcher.seen, more);
}

// A thread waits for so many events, and the wait ends in one of the ways that end one.
void Player::wait_blocked(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % dispatcher_places;
  Dispatcher& dispatcher = model_.dispatchers[at];
  if (dispatcher.handle == DAT_HANDLE_NULL || turn.lane != 0 || !dispatcher.waitable ||
      (dispatcher.flags & DAT_EVD_SOFTWARE_FLAG) == 0 || !dispatcher.software.empty() ||
      !is_software_only(model_, at))
    return;
  ++played_;
  const DAT_COUNT threshold =
      1 + static_cast<DAT_COUNT>(step.number % std::min<DAT_COUNT>(3, dispatcher.length));
  const DAT_EVD_HANDLE evd = dispatcher.handle;
  enum class End : std::uint8_t { events, unwaitable, both, freed };
  const auto end = static_cast<End>(step.other % 4);
  turn.lock.unlock();
  Waiter waiter(evd, threshold);
  const DAT_RETURN dequeued = waiter.when_blocked();
  turn.lock.lock();
  expect("dat.evd-wait.second-waiter", dequeued, returns(DAT_INVALID_STATE));
  // While a thread waits, its events do not trigger the CNO.
  const auto notifier = std::exchange(dispatcher.notifier, std::nullopt);
  const DAT_COUNT posted = end == End::events || end == End::both ? threshold - 1 : 0;
  for (DAT_COUNT i = 0; i < posted; ++i) post_software_once(turn, at);
  DAT_EVENT event{};
  DAT_COUNT more = 0;
  expect("dat.evd-wait.second-waiter",
         call(turn, [&] { return CALL(dat_evd_wait, evd, 0, 1, &event, &more); }),
         returns(DAT_INVALID_STATE));
  bool freed = false;
  if (end == End::freed) {  // D42
    const DAT_RETURN got = call(turn, [&] { return CALL(dat_evd_free, evd); });
    freed = expect("dat.evd-free.waiter", got, returns_one_of({DAT_SUCCESS, DAT_INVALID_STATE}));
  }
  if (end == End::unwaitable || end == End::both) {
    expect("dat.evd-set-unwaitable.success",
           call(turn, [&] { return CALL(dat_evd_set_unwaitable, evd); }), succeeds);
    dispatcher.waitable = false;
  } else if (!freed) {
    while (static_cast<DAT_COUNT>(dispatcher.software.size()) < threshold)
      post_software_once(turn, at);
  }
  dispatcher.notifier = notifier;
  turn.lock.unlock();
  const auto result = waiter.result(patience_);
  turn.lock.lock();
  if (!result) fail_at("dat.evd-wait.success", "the wait ends", "it does not");
  if (freed) {
    expect("dat.evd-wait.abort", result->code, returns(DAT_ABORT));
    for (Notifier& one : model_.notifiers) std::erase(one.triggers, at);
    if (notifier) may_call_agent(*notifier);
    is_freed(Object::dispatcher, evd);
    dispatcher = {};
    return;
  }
  if (!dispatcher.waitable) {
    expect("dat.evd-wait.unwaitable", result->code, returns(DAT_INVALID_STATE));
    return;
  }
  expect("dat.evd-wait.success", result->code, succeeds);
  demand(result->more == threshold - 1, "dat.evd-wait.success",
         fmt::format("{} events left", threshold - 1), fmt::format("{} events left", result->more));
  model_.observe(at, result->event);
}

}  // namespace suite::sessions::dat
