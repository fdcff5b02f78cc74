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

  /// A part of the call that is a point of cancellation, if the consumer has left that enabled.
  class Exception {
   public:
    explicit Exception(const NoCancellation* whole) : whole_(whole) {
      if (whole_ != nullptr) pthread_setcancelstate(whole_->before_, nullptr);
    }
    ~Exception() {
      if (whole_ != nullptr) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    }
    Exception(const Exception&) = delete;
    Exception& operator=(const Exception&) = delete;

   private:
    const NoCancellation* whole_;
  };

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace rnic::access
