// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which mutant of a batch is turned on. It is put into a tree with a batch as base/mutant.hpp, and
// is no part of the product.
#pragma once

#include <cstdlib>
#include <memory>
#include <utility>

namespace base {

/// The tester has RDMA streams of its own, made of the same code as the IUT; they have to stay
/// right.
class TesterActs {
 public:
  TesterActs() { ++depth(); }
  ~TesterActs() { --depth(); }
  TesterActs(const TesterActs&) = delete;
  TesterActs& operator=(const TesterActs&) = delete;
  [[nodiscard]] static int& depth() {
    static thread_local int depth = 0;
    return depth;
  }
};

/// Owns an object of the tester. No mutant is turned on in what is called through it.
template <class T>
class OfTester {
 public:
  class Call {
   public:
    explicit Call(T* object) : object_(object) {}
    T* operator->() const { return object_; }

   private:
    TesterActs acts_;
    T* object_;
  };
  OfTester& operator=(std::unique_ptr<T> object) {
    object_ = std::move(object);
    return *this;
  }
  Call operator->() const { return Call(object_.get()); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  std::unique_ptr<T> object_;
};

/// Whether RNIC_MUTANT of the environment names this mutant. Read once, when it is first asked.
inline bool mutant(int number) {
  static const int chosen = [] {
    const char* text = std::getenv("RNIC_MUTANT");
    return text == nullptr ? 0 : std::atoi(text);
  }();
  return chosen == number && TesterActs::depth() == 0;
}

}  // namespace base
