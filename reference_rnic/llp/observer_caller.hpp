// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the connections and listeners of a host call their observers: directly, or by way of a
// function that marks whose code runs.
#pragma once

#include <functional>

namespace rnic::llp {

class ObserverCaller {
 public:
  /// Gets a callback, and makes it once.
  using Function = void (*)(const std::function<void()>& callback);

  ObserverCaller() = default;
  explicit ObserverCaller(Function function) : function_(function) {}

  /// Nothing of the caller is touched after the callback, which may destroy it.
  template <class Callback>
  void operator()(const Callback& callback) const {
    if (function_ == nullptr) return callback();
    function_(callback);
  }

 private:
  Function function_ = nullptr;
};

}  // namespace rnic::llp
