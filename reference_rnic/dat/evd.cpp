// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How events are queued, awaited and taken; the calls on EVDs.
#include "reference_rnic/dat/evd.hpp"

#include "reference_rnic/dat/calls.hpp"
#include "reference_rnic/dat/ia.hpp"
#include "reference_rnic/dat/srq.hpp"

namespace rnic::dat {

namespace {

/// The consumer has seen the completion of a shared queue's receive, or never will.
void count_off(DAT_SRQ_HANDLE from_srq) {
  if (Srq* srq = find<Srq>(from_srq)) --srq->outstanding;
}

}  // namespace

Evd::~Evd() {
  while (take()) {
  }
  if (cno) cno->evd_freed(*this);
}

void Evd::post(DAT_EVENT event, Notice notice, DAT_SRQ_HANDLE from_srq) {
  if (full()) {
    count_off(from_srq);
    if (std::exchange(overflown_, true) || ia == nullptr) return;
    return ia->report(DAT_ASYNC_ERROR_EVD_OVERFLOW, *this, DAT_EVD_OVERFLOW_ERROR);
  }
  event.evd_handle = handle;
  queue_.push_back({event, from_srq});
  if (notice == Notice::silent) return;
  noticed_ = true;
  if (waited)
    wakeup_.wake_all();
  else if (enabled && cno)
    cno->trigger(*this);
}

std::optional<DAT_EVENT> Evd::take() {
  if (queue_.empty()) return std::nullopt;
  const Entry entry = queue_.front();
  queue_.pop_front();
  overflown_ = false;
  count_off(entry.from_srq);
  return entry.event;
}

DAT_RETURN Evd::wait(Engine::Lock& lock, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT* event,
                     DAT_COUNT* more) {
  if (size() < threshold) {
    waited = true;
    noticed_ = interrupted_ = false;
    const Engine::Waited how = engine().wait(lock, wakeup_, timeout, [&] {
      return closing_ || interrupted_ || (noticed_ && size() >= threshold);
    });
    waited = false;
    if (closing_) {
      wakeup_.wake_all();
      return failure(DAT_ABORT);
    }
    *more = size();
    if (interrupted_) return failure(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE);
    if (how == Engine::Waited::timed_out) return failure(DAT_TIMEOUT_EXPIRED);
    if (how == Engine::Waited::signaled) return failure(DAT_INTERRUPTED_CALL);
  } else if (!cno) {
    engine().keep_polling();
  }
  *event = *take();
  *more = size();
  return DAT_SUCCESS;
}

void Evd::attach(Cno* to) {
  if (cno) cno->forget(*this);
  cno = Use<Cno>(to);
}

void Evd::set_waitable(bool now) {
  waitable = now;
  interrupted_ = interrupted_ || !now;
  wakeup_.wake_all();
}

void Evd::abort_waiter(Engine::Lock& lock) {
  closing_ = true;
  wakeup_.wake_all();
  Engine::wait(lock, wakeup_, [this] { return !waited; });
}

DAT_EVD_STATE Evd::state() const {
  const unsigned state =
      static_cast<unsigned>(enabled ? DAT_EVD_STATE_ENABLED : DAT_EVD_STATE_DISABLED) |
      static_cast<unsigned>(waitable ? DAT_EVD_STATE_WAITABLE : DAT_EVD_STATE_UNWAITABLE) |
      static_cast<unsigned>(selective_streams > 0 ? DAT_EVD_STATE_CONFIG_NOTIFY
                                                  : DAT_EVD_STATE_CONFIG_THRESHOLD);
  return static_cast<DAT_EVD_STATE>(state);
}

Evd* find_evd(DAT_EVD_HANDLE handle, unsigned streams) {
  Evd* evd = find<Evd>(handle);
  return evd != nullptr && evd->takes(streams) ? evd : nullptr;
}

// ---- calls ----

namespace calls {

namespace {

constexpr unsigned all_streams = DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DEFAULT_FLAG;

DAT_RETURN admit_length(DAT_COUNT length, int position) {
  if (length <= 0) return invalid_parameter(position);
  if (length > limits::evd_length) return failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD);
  return DAT_SUCCESS;
}

}  // namespace

DAT_RETURN evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT min_length, DAT_CNO_HANDLE cno_handle,
                      DAT_EVD_FLAGS flags, DAT_EVD_HANDLE* evd_handle) {
  return call_on<Ia>(ia_handle, [&](Ia& ia) -> DAT_RETURN {
    Cno* cno = find<Cno>(cno_handle);
    if (cno_handle != DAT_HANDLE_NULL && (cno == nullptr || cno->ia != &ia))
      return invalid_handle(Cno::subtype);
    if (const DAT_RETURN fault = admit_length(min_length, 2); fault != DAT_SUCCESS) return fault;
    if (flags == 0 || exceeds(flags, all_streams)) return invalid_parameter(4);
    if (evd_handle == nullptr) return invalid_parameter(5);
    *evd_handle = ia.add(std::make_unique<Evd>(&ia, min_length, cno, flags)).handle;
    return DAT_SUCCESS;
  });
}

DAT_RETURN evd_query(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK mask, DAT_EVD_PARAM* param) {
  return call_on<Evd>(evd_handle, [&](Evd& evd) -> DAT_RETURN {
    if (exceeds(mask, DAT_EVD_FIELD_ALL)) return invalid_parameter(2);
    if (param == nullptr) return invalid_parameter(3);
    *param = {.ia_handle = evd.ia->consumers_handle(),
              .evd_qlen = evd.length,
              .evd_state = evd.state(),
              .cno_handle = evd.cno.handle(),
              .evd_flags = evd.flags};
    return DAT_SUCCESS;
  });
}

DAT_RETURN evd_modify_cno(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle) {
  return call_on<Evd>(evd_handle, [&](Evd& evd) -> DAT_RETURN {
    Cno* cno = find<Cno>(cno_handle);
    if (cno_handle != DAT_HANDLE_NULL && (cno == nullptr || cno->ia != evd.ia))
      return invalid_handle(Cno::subtype);
    evd.attach(cno);
    return DAT_SUCCESS;
  });
}

DAT_RETURN evd_enable(DAT_EVD_HANDLE evd_handle) {
  return call_on<Evd>(evd_handle, [&](Evd& evd) -> DAT_RETURN {
    evd.enabled = true;
    return DAT_SUCCESS;
  });
}

DAT_RETURN evd_disable(DAT_EVD_HANDLE evd_handle) {
  return call_on<Evd>(evd_handle, [&](Evd& evd) -> DAT_RETURN {
    evd.enabled = false;
    return DAT_SUCCESS;
  });
}

DAT_RETURN evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold,
                    DAT_EVENT* event, DAT_COUNT* more) {
  return call([&](Engine& shared, Engine::Lock& lock) -> DAT_RETURN {
    Evd* evd = shared.handles().find<Evd>(evd_handle);
    if (evd == nullptr) return invalid_handle(Evd::subtype);
    if (threshold <= 0 || threshold > evd->length) return invalid_parameter(3);
    if (event == nullptr) return invalid_parameter(4);
    if (more == nullptr) return invalid_parameter(5);
    if (!evd->waitable) return failure(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE);
    if (evd->waited) return failure(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER);
    if (threshold > 1 && evd->selective_streams > 0)
      return failure(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_CONFIG_NOTIFY);
    evd->ia->drain();
    return evd->wait(lock, timeout, threshold, event, more);
  });
}

DAT_RETURN evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT min_length) {
  return call_on<Evd>(evd_handle, [&](Evd& evd) -> DAT_RETURN {
    if (const DAT_RETURN fault = admit_length(min_length, 2); fault != DAT_SUCCESS) return fault;
    if (evd.size() > min_length) return failure(DAT_INVALID_STATE);
    evd.length = min_length;
    return DAT_SUCCESS;
  });
}

DAT_RETURN evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT* event) {
  return call_on<Evd>(evd_handle, [&](Evd& evd) -> DAT_RETURN {
    if (!evd.takes(DAT_EVD_SOFTWARE_FLAG)) return invalid_handle(Evd::subtype);
    if (event == nullptr || event->event_number != DAT_SOFTWARE_EVENT) return invalid_parameter(2);
    if (evd.full()) return failure(DAT_QUEUE_FULL);
    evd.post(*event);
    return DAT_SUCCESS;
  });
}

DAT_RETURN evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT* event) {
  return call_on<Evd>(evd_handle, [&](Evd& evd) -> DAT_RETURN {
    if (event == nullptr) return invalid_parameter(2);
    if (evd.waited) return failure(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER);
    evd.ia->drain();
    if (evd.size() == 0 && !evd.cno) {  // else the consumer may wait for the CNO
      engine().poll();
      evd.ia->drain();
    } else if (!evd.cno) {
      engine().keep_polling();
    }
    const auto taken = evd.take();
    if (!taken) return failure(DAT_QUEUE_EMPTY);
    *event = *taken;
    return DAT_SUCCESS;
  });
}

DAT_RETURN evd_free(DAT_EVD_HANDLE evd_handle) {
  return call_on<Evd>(evd_handle, [&](Evd& evd) -> DAT_RETURN {
    if (evd.users != 0 || evd.waited || evd.of_open)
      return failure(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE);
    engine().handles().destroy(evd);
    return DAT_SUCCESS;
  });
}

DAT_RETURN evd_set_unwaitable(DAT_EVD_HANDLE evd_handle) {
  return call_on<Evd>(evd_handle, [&](Evd& evd) -> DAT_RETURN {
    evd.set_waitable(false);
    return DAT_SUCCESS;
  });
}

DAT_RETURN evd_clear_unwaitable(DAT_EVD_HANDLE evd_handle) {
  return call_on<Evd>(evd_handle, [&](Evd& evd) -> DAT_RETURN {
    evd.set_waitable(true);
    return DAT_SUCCESS;
  });
}

}  // namespace calls

}  // namespace rnic::dat
