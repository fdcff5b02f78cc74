// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/dat/waiter.hpp"

#include <chrono>
#include <thread>

namespace suite::sessions::dat {

Waiter::Waiter(DAT_EVD_HANDLE evd, DAT_COUNT threshold) : evd_(evd) {
  std::thread([shared = shared_, evd, threshold] {
    suite::cases::dat::Waited waited;
    waited.code =
        CALL(dat_evd_wait, evd, DAT_TIMEOUT_INFINITE, threshold, &waited.event, &waited.more);
    const std::scoped_lock lock(shared->mutex);
    shared->result = waited;
    shared->changed.notify_all();
  }).detach();
}

DAT_RETURN Waiter::when_blocked() const {
  DAT_EVENT event{};
  while (true) {
    std::this_thread::yield();
    const DAT_RETURN got = CALL(dat_evd_dequeue, evd_, &event);
    const std::scoped_lock lock(shared_->mutex);
    if (DAT_GET_TYPE(got) != DAT_QUEUE_EMPTY || shared_->result) return got;
  }
}

std::optional<suite::cases::dat::Waited> Waiter::result(DAT_TIMEOUT patience) const {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait_for(lock, std::chrono::microseconds(patience),
                            [this] { return shared_->result.has_value(); });
  return shared_->result;
}

}  // namespace suite::sessions::dat
