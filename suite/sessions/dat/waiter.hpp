// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A thread that waits on an event dispatcher, for as long as it takes: one that is never woken does
// not hold up the session.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "suite/cases/dat/framework/dat_endpoint.hpp"

namespace suite::sessions::dat {

class Waiter {
 public:
  Waiter(DAT_EVD_HANDLE evd, DAT_COUNT threshold);
  /// What a dequeue returns once the thread waits, or has come back.
  [[nodiscard]] DAT_RETURN when_blocked() const;
  /// Nothing: it does not come back in this time, of microseconds.
  [[nodiscard]] std::optional<suite::cases::dat::Waited> result(DAT_TIMEOUT patience) const;

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<suite::cases::dat::Waited> result;
  };
  DAT_EVD_HANDLE evd_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace suite::sessions::dat
