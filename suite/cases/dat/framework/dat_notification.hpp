// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// CNOs with an EVD that triggers them, and agents that count their calls.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "suite/cases/dat/framework/dat_handle_cases.hpp"
#include "suite/cases/dat/framework/dat_threads.hpp"

namespace suite::cases::dat {

/// A CNO, and an EVD for software events that feeds it.
struct CnoWithEvd {
  explicit CnoWithEvd(const Ia& ia) : CnoWithEvd(ia, ia.cno()) {}
  CnoWithEvd(const Ia& ia, Cno with) : cno(std::move(with)), evd(feed(ia)) {}
  [[nodiscard]] Evd feed(const Ia& ia) const { return ia.evd(DAT_EVD_SOFTWARE_FLAG, 8, cno.get()); }
  Cno cno;
  Evd evd;
};

inline DAT_RETURN post(const Evd& evd) {
  DAT_EVENT event{};
  event.event_number = DAT_SOFTWARE_EVENT;
  return CALL(dat_evd_post_se, evd.get(), &event);
}

/// What an agent is called with.
struct AgentCalls {
  std::atomic<int> count = 0;
  std::atomic<DAT_EVD_HANDLE> evd = DAT_HANDLE_NULL;
  [[nodiscard]] DAT_OS_WAIT_PROXY_AGENT agent() {
    return {.instance_data = this, .proxy_agent_func = [](DAT_PVOID data, DAT_EVD_HANDLE by) {
              auto& told = *static_cast<AgentCalls*>(data);
              told.evd = by;
              ++told.count;
            }};
  }
  void wait() const {
    while (count == 0) std::this_thread::yield();
  }
  /// Whether it was called within that time.
  [[nodiscard]] bool within(std::chrono::milliseconds time) const {
    const auto latest = std::chrono::steady_clock::now() + time;
    while (count == 0 && std::chrono::steady_clock::now() < latest) std::this_thread::yield();
    return count > 0;
  }
};

[[nodiscard]] inline DAT_CNO_PARAM query(DatBody& body, DAT_CNO_HANDLE cno) {
  DAT_CNO_PARAM param{};
  param.proxy_type = DAT_PROXY_TYPE_FD;
  body.expect(CALL(dat_cno_query, cno, DAT_CNO_FIELD_ALL, &param), succeeds);
  return param;
}
inline DAT_RETURN wait(DAT_HANDLE handle, DAT_TIMEOUT timeout = 1000) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  return CALL(dat_cno_wait, handle, timeout, &evd);
}

}  // namespace suite::cases::dat
