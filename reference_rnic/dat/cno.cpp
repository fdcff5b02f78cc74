// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Triggers, and the threads and proxies that take them; the calls on CNOs.
#include "reference_rnic/dat/cno.hpp"

#include <sys/eventfd.h>

#include <algorithm>

#include "reference_rnic/dat/calls.hpp"
#include "reference_rnic/dat/evd.hpp"
#include "reference_rnic/dat/ia.hpp"

namespace rnic::dat {

void Cno::trigger(Evd& evd) {
  if (std::ranges::find(triggered_, &evd) == triggered_.end()) triggered_.push_back(&evd);
  wakeup_.wake_all();
  if (signal) eventfd_write(signal.get(), 1);
  tell_agent(evd.handle);
}

void Cno::tell_agent(DAT_EVD_HANDLE evd) {
  const DAT_OS_WAIT_PROXY_AGENT told = std::exchange(agent, {});
  prompt.set(static_cast<bool>(signal));
  if (told.proxy_agent_func == nullptr) return;
  engine().call_unlocked([told, evd] { told.proxy_agent_func(told.instance_data, evd); });
}

void Cno::set_agent(const DAT_OS_WAIT_PROXY_AGENT& now) {
  agent = now;
  prompt.set(agent.proxy_agent_func != nullptr);
}

void Cno::forget(const Evd& evd) {
  std::erase(triggered_, &evd);
  eventfd_t count = 0;
  if (signal && triggered_.empty()) eventfd_read(signal.get(), &count);
}

void Cno::evd_freed(const Evd& evd) {
  forget(evd);
  if (users > 1) return;  // the EVD that is being freed still counts
  ++deserted_;
  tell_agent(DAT_HANDLE_NULL);
  wakeup_.wake_all();
}

Evd* Cno::take() {
  if (triggered_.empty()) return nullptr;
  Evd* first = triggered_.front();
  forget(*first);
  return first;
}

DAT_RETURN Cno::wait(Engine::Lock& lock, DAT_TIMEOUT timeout, DAT_EVD_HANDLE* evd) {
  *evd = DAT_HANDLE_NULL;
  ++waiters;
  const unsigned deserted = deserted_;
  const Engine::Waited how = engine().wait(lock, wakeup_, timeout, [&] {
    return closing_ || deserted_ != deserted || !triggered_.empty();
  });
  --waiters;
  if (closing_) wakeup_.wake_all();
  if (closing_) return DAT_SUCCESS;
  if (how == Engine::Waited::timed_out) return failure(DAT_QUEUE_EMPTY);
  if (how == Engine::Waited::signaled) return failure(DAT_INTERRUPTED_CALL);
  if (const Evd* first = take()) *evd = first->handle;
  return DAT_SUCCESS;
}

void Cno::abort_waiters(Engine::Lock& lock) {
  closing_ = true;
  tell_agent(DAT_HANDLE_NULL);
  wakeup_.wake_all();
  Engine::wait(lock, wakeup_, [this] { return waiters == 0; });
}

// ---- calls ----

namespace calls {

DAT_RETURN cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent,
                      DAT_CNO_HANDLE* cno_handle) {
  return call_on<Ia>(ia_handle, [&](Ia& ia) -> DAT_RETURN {
    if (cno_handle == nullptr) return invalid_parameter(3);
    Cno& cno = ia.add(std::make_unique<Cno>(&ia));
    cno.set_agent(agent);
    *cno_handle = cno.handle;
    return DAT_SUCCESS;
  });
}

DAT_RETURN cno_fd_create(DAT_IA_HANDLE ia_handle, DAT_FD* fd, DAT_CNO_HANDLE* cno_handle) {
  return call_on<Ia>(ia_handle, [&](Ia& ia) -> DAT_RETURN {
    if (fd == nullptr) return invalid_parameter(2);
    if (cno_handle == nullptr) return invalid_parameter(3);
    base::FileDescriptor signal(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!signal) return failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE);
    Cno& cno = ia.add(std::make_unique<Cno>(&ia));
    cno.signal = std::move(signal);
    cno.prompt.set(true);
    *fd = cno.signal.get();
    *cno_handle = cno.handle;
    return DAT_SUCCESS;
  });
}

DAT_RETURN cno_modify_agent(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent) {
  return call_on<Cno>(cno_handle, [&](Cno& cno) -> DAT_RETURN {
    if (cno.signal) return invalid_parameter(2);  // its proxy is the descriptor
    cno.set_agent(agent);
    return DAT_SUCCESS;
  });
}

DAT_RETURN cno_query(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK mask, DAT_CNO_PARAM* param) {
  return call_on<Cno>(cno_handle, [&](Cno& cno) -> DAT_RETURN {
    constexpr unsigned all = DAT_CNO_FIELD_ALL | DAT_CNO_FIELD_PROXY;
    if (exceeds(mask, all)) return invalid_parameter(2);
    if (param == nullptr) return invalid_parameter(3);
    param->ia_handle = cno.ia->consumers_handle();
    if (cno.signal) {
      param->proxy_type = DAT_PROXY_TYPE_FD;
      param->proxy.fd = cno.signal.get();
    } else if (cno.agent.proxy_agent_func != nullptr) {
      param->proxy_type = DAT_PROXY_TYPE_AGENT;
      param->proxy.agent = cno.agent;
    } else {
      param->proxy_type = DAT_PROXY_TYPE_NONE;
      param->proxy.none = nullptr;
    }
    return DAT_SUCCESS;
  });
}

DAT_RETURN cno_free(DAT_CNO_HANDLE cno_handle) {
  return call_on<Cno>(cno_handle, [&](Cno& cno) -> DAT_RETURN {
    if (cno.users != 0 || cno.waiters != 0)
      return failure(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE);
    engine().handles().destroy(cno);
    return DAT_SUCCESS;
  });
}

DAT_RETURN cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout, DAT_EVD_HANDLE* evd_handle) {
  return call([&](Engine& shared, Engine::Lock& lock) -> DAT_RETURN {
    Cno* cno = shared.handles().find<Cno>(cno_handle);
    if (cno == nullptr) return invalid_handle(Cno::subtype);
    if (evd_handle == nullptr) return invalid_parameter(3);
    cno->ia->drain();
    return cno->wait(lock, timeout, evd_handle);
  });
}

DAT_RETURN cno_trigger(DAT_CNO_HANDLE cno_handle, DAT_EVD_HANDLE* evd_handle) {
  return call_on<Cno>(cno_handle, [&](Cno& cno) -> DAT_RETURN {
    if (evd_handle == nullptr) return invalid_parameter(2);
    *evd_handle = DAT_HANDLE_NULL;
    if (!cno.signal) return failure(DAT_INVALID_STATE);
    Evd* evd = cno.take();
    if (evd == nullptr) return failure(DAT_QUEUE_EMPTY);
    *evd_handle = evd->handle;
    return DAT_SUCCESS;
  });
}

}  // namespace calls

}  // namespace rnic::dat
