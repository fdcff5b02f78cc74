// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a process is told of fork(): which objects it has made, and which it has from its parent.
#pragma once

namespace rnic::rdma_core {

/// How often fork() lies between the first process that used the library and this one.
[[nodiscard]] unsigned forks();

/// Notes in which process an object is made. Its RNIC stays the parent's (docs/verbs-provider.md).
class Origin {
 public:
  [[nodiscard]] bool inherited() const { return made_after_ != forks(); }

 private:
  unsigned made_after_ = forks();
};

/// A handle of this process's RNIC; of an inherited object it is none, and the RNIC refuses it.
template <typename Handle>
class Owned {
 public:
  Owned& operator=(Handle handle) {
    handle_ = handle;
    return *this;
  }
  [[nodiscard]] Handle get() const { return origin_.inherited() ? Handle{} : handle_; }
  operator Handle() const { return get(); }  // NOLINT(google-explicit-constructor): as the handle

 private:
  Handle handle_{};
  Origin origin_{};
};

}  // namespace rnic::rdma_core
