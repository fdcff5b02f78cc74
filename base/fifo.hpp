// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A queue for objects of which there are many: one that has never been used has no memory, where a
// std::deque has 600 octets, and one in use allocates only when it becomes longer than ever before.
#pragma once

#include <algorithm>
#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace base {

/// As a std::deque, but that adding an element invalidates references and iterators, and that it
/// cannot be copied. An element is made where it stays.
template <typename T>
class Fifo {
  template <typename Owner>
  class Iterator;

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = Iterator<Fifo>;
  using const_iterator = Iterator<const Fifo>;

  Fifo() = default;
  ~Fifo() {
    clear();
    std::allocator<T>().deallocate(slots_, room_);
  }
  Fifo(Fifo&& other) noexcept { swap(other); }
  Fifo& operator=(Fifo&& other) noexcept {
    Fifo(std::move(other)).swap(*this);
    return *this;
  }
  void swap(Fifo& other) noexcept {
    std::swap(slots_, other.slots_);
    std::swap(room_, other.room_);
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
  }

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] size_type size() const { return size_; }
  [[nodiscard]] T& operator[](size_type index) { return *slot(index); }
  [[nodiscard]] const T& operator[](size_type index) const { return *slot(index); }
  [[nodiscard]] T& front() { return *slot(0); }
  [[nodiscard]] const T& front() const { return *slot(0); }
  [[nodiscard]] T& back() { return *slot(size_ - 1U); }
  [[nodiscard]] const T& back() const { return *slot(size_ - 1U); }

  [[nodiscard]] iterator begin() { return {*this, 0}; }
  [[nodiscard]] iterator end() { return {*this, size_}; }
  [[nodiscard]] const_iterator begin() const { return {*this, 0}; }
  [[nodiscard]] const_iterator end() const { return {*this, size_}; }
  [[nodiscard]] auto rbegin() { return std::reverse_iterator(end()); }
  [[nodiscard]] auto rend() { return std::reverse_iterator(begin()); }
  [[nodiscard]] auto rbegin() const { return std::reverse_iterator(end()); }
  [[nodiscard]] auto rend() const { return std::reverse_iterator(begin()); }

  template <typename Element = T>
  void push_back(Element&& element) {
    add([&]() -> T { return T(std::forward<Element>(element)); });
  }
  template <typename... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    return add([&]() -> T { return T{std::forward<Arguments>(arguments)...}; });
  }
  void push_front(T element) {
    if (size_ == room_) grow();
    ::new (place(room_ - 1U)) T(std::move(element));
    first_ = wrapped(room_ - 1U);
    ++size_;
  }
  void pop_front() {
    std::destroy_at(slot(0));
    first_ = wrapped(1);
    --size_;
  }
  void pop_back() {
    std::destroy_at(slot(size_ - 1U));
    --size_;
  }
  /// Moves those on the shorter side of it.
  void erase(iterator element) {
    if (element - begin() < end() - element) {
      std::move_backward(begin(), element, element + 1);
      pop_front();
    } else {
      std::move(element + 1, end(), element);
      pop_back();
    }
  }
  void clear() {
    while (!empty()) pop_back();
  }
  /// Gives its memory back if it is empty.
  void release() {
    if (empty()) Fifo().swap(*this);
  }

 private:
  /// `make` returns the element.
  template <typename Make>
  T& add(const Make& make) {
    if (size_ < room_) return counted(::new (place(size_)) T(make()));
    T made = make();  // perhaps from one of the elements that move
    grow();
    return counted(::new (place(size_)) T(std::move(made)));
  }
  T& counted(T* added) {
    ++size_;
    return *added;
  }
  /// Moves the elements, whether that may throw or not: others may refer to what they own.
  void grow() {
    assert(room_ <= std::numeric_limits<std::uint32_t>::max() / 2);
    Fifo larger;
    const std::uint32_t room = std::max(std::uint32_t{1}, 2 * room_);
    larger.slots_ = std::allocator<T>().allocate(room);
    larger.room_ = room;
    for (T& element : *this) larger.push_back(std::move(element));
    swap(larger);
  }
  [[nodiscard]] std::uint32_t wrapped(size_type index) const {
    return static_cast<std::uint32_t>(first_ + index) & (room_ - 1);
  }
  [[nodiscard]] void* place(size_type index) { return slots_ + wrapped(index); }
  [[nodiscard]] T* slot(size_type index) const {
    assert(index < size_);
    return slots_ + wrapped(index);
  }

  T* slots_ = nullptr;
  std::uint32_t room_ = 0;  ///< slots: a power of two, or none
  std::uint32_t first_ = 0, size_ = 0;
};

/// By the number of the element, so that it stays at its place in the order if one comes or leaves.
template <typename T>
template <typename Owner>
class Fifo<T>::Iterator {
  using Element = std::conditional_t<std::is_const_v<Owner>, const T, T>;

 public:
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using reference = Element&;
  using pointer = Element*;
  using iterator_category = std::random_access_iterator_tag;

  Iterator() = default;
  Iterator(Owner& owner, size_type index) : owner_(&owner), index_(index) {}
  /// One of elements that may change is also one of constant elements.
  template <typename Other>
    requires std::is_same_v<const Other, Owner>
  // NOLINTNEXTLINE(google-explicit-constructor)
  Iterator(const Iterator<Other>& other) : owner_(other.owner_), index_(other.index_) {}

  [[nodiscard]] Element& operator*() const { return (*owner_)[index_]; }
  [[nodiscard]] Element* operator->() const { return &(*owner_)[index_]; }
  [[nodiscard]] Element& operator[](difference_type by) const { return *(*this + by); }
  Iterator& operator+=(difference_type by) {
    index_ += static_cast<size_type>(by);
    return *this;
  }
  Iterator& operator-=(difference_type by) { return *this += -by; }
  Iterator& operator++() { return *this += 1; }
  Iterator& operator--() { return *this += -1; }
  Iterator operator++(int) { return std::exchange(*this, *this + 1); }
  Iterator operator--(int) { return std::exchange(*this, *this - 1); }
  [[nodiscard]] friend Iterator operator+(Iterator from, difference_type by) { return from += by; }
  [[nodiscard]] friend Iterator operator+(difference_type by, Iterator from) { return from += by; }
  [[nodiscard]] friend Iterator operator-(Iterator from, difference_type by) { return from -= by; }
  [[nodiscard]] friend difference_type operator-(const Iterator& one, const Iterator& other) {
    return static_cast<difference_type>(one.index_ - other.index_);
  }
  [[nodiscard]] bool operator==(const Iterator& other) const { return index_ == other.index_; }
  [[nodiscard]] auto operator<=>(const Iterator& other) const { return index_ <=> other.index_; }

 private:
  friend class Iterator<std::add_const_t<Owner>>;
  Owner* owner_ = nullptr;
  size_type index_ = 0;
};

}  // namespace base
