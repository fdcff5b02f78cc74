// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What all DAT objects have in common: a handle, a kind, an IA, the consumer's context, and a count
// of the objects that use them.
#pragma once

#include <cassert>
#include <cstdint>
#include <utility>

#include "reference_rnic/dat/api.hpp"

namespace rnic::dat {

class Ia;

/// In the order in which an IA destroys them when it closes.
enum class Kind : std::uint8_t { ssp, rsp, psp, csp, cr, ep, rmr, lmr, srq, evd, cno, pz, ia };

struct Object {
  Object(Kind the_kind, Ia* the_ia) : kind(the_kind), ia(the_ia) {}
  virtual ~Object() { assert(users == 0 && "an object goes while others use it"); }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  Kind kind;
  Ia* ia;               ///< of an IA: itself
  DAT_HANDLE handle{};  ///< set by the handle table
  DAT_CONTEXT context{};
  unsigned users = 0;  ///< objects that depend on it
};

/// Depends on another object as long as it lives; may be empty.
template <typename T>
class Use {
 public:
  Use() = default;
  explicit Use(T* object) : object_(object) {
    if (object_ != nullptr) ++object_->users;
  }
  Use(Use&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Use& operator=(Use&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Use() {
    if (object_ != nullptr) --object_->users;
  }
  [[nodiscard]] T* get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  [[nodiscard]] DAT_HANDLE handle() const {
    return object_ == nullptr ? DAT_HANDLE_NULL : object_->handle;
  }

 private:
  T* object_ = nullptr;
};

}  // namespace rnic::dat
