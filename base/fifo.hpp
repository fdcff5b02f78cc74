// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A queue for objects of which there are many: one that has never been used has no memory, where a
// std::deque has 600 octets, and one in use allocates only when it becomes longer than ever before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <boost/circular_buffer.hpp>

namespace base {

/// As a std::deque, but that adding an element invalidates references and iterators.
template <typename T>
class Fifo : private boost::circular_buffer<T> {
  using Ring = boost::circular_buffer<T>;

 public:
  using typename Ring::const_iterator;
  using typename Ring::const_reference;
  using typename Ring::difference_type;
  using typename Ring::iterator;
  using typename Ring::reference;
  using typename Ring::size_type;
  using typename Ring::value_type;

  using Ring::operator[];
  using Ring::back;
  using Ring::begin;
  using Ring::clear;
  using Ring::empty;
  using Ring::end;
  using Ring::front;
  using Ring::pop_back;
  using Ring::pop_front;
  using Ring::rbegin;
  using Ring::rend;
  using Ring::size;

  void push_back(const T& element) {
    if (Ring::full()) return push_back(T(element));  // it may be one of the elements that move
    Ring::push_back(element);
  }
  void push_back(T&& element) {
    make_room();
    Ring::push_back(std::move(element));
  }
  void push_front(T element) {
    make_room();
    Ring::push_front(std::move(element));
  }
  template <typename... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    push_back(T{std::forward<Arguments>(arguments)...});
    return back();
  }
  /// Gives its memory back if it is empty.
  void release() {
    if (Ring::empty()) Ring().swap(*this);
  }
  /// Moves those on the shorter side of it.
  void erase(iterator element) {
    if (element - begin() < end() - element)
      Ring::rerase(element);
    else
      Ring::erase(element);
  }

 private:
  /// Moves the elements, whether that may throw or not: others may refer to what they own.
  void make_room() {
    if (!Ring::full()) return;
    Ring larger(std::max<size_type>(1, 2 * size()));
    for (T& element : *this) larger.push_back(std::move(element));
    Ring::swap(larger);
  }
};

}  // namespace base
