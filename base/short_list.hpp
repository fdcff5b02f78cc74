// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A list for what has one or two elements nearly always, and then allocates nothing.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <boost/container/small_vector.hpp>

namespace base {

/// A boost::container::small_vector of elements that are copied as they are: to move or to copy a
/// short one takes no call of a function, as it does there.
template <typename T, std::size_t N>
class ShortList : public boost::container::small_vector<T, N> {
  static_assert(std::is_trivially_copyable_v<T>);
  using Vector = boost::container::small_vector<T, N>;

 public:
  using Vector::Vector;
  ShortList() = default;
  ~ShortList() = default;
  ShortList(const ShortList& other) : Vector() { append(other); }
  ShortList(ShortList&& other) noexcept : Vector() { take(other); }
  ShortList& operator=(const ShortList& other) {
    if (this == &other) return *this;
    this->clear();
    append(other);
    return *this;
  }
  ShortList& operator=(ShortList&& other) noexcept {
    if (this == &other) return *this;
    this->clear();
    take(other);
    return *this;
  }

 private:
  void append(const ShortList& other) {
    for (const T& element : other) this->push_back(element);
  }
  void take(ShortList& other) {
    if (other.size() > N)
      Vector::operator=(static_cast<Vector&&>(other));
    else
      append(other);
    other.clear();
  }
};

}  // namespace base
