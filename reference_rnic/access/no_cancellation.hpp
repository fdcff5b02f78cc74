// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A consumer may cancel its thread anywhere in a call. The calls of libibverbs and DAT are no points of
// cancellation, but the system calls below them are, and would leave the RNIC half changed.
#pragma once

#include <pthread.h>

namespace rnic::access {

class NoCancellation {
 public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancellation() { pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace rnic::access
