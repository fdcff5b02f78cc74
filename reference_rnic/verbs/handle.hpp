// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Handles of RNIC objects: opaque values that distinguish a stale or foreign handle from a live
// one, and the table of the objects.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace rnic::verbs {

enum class Kind : std::uint8_t {
  domain = 1,
  region,
  window,
  completion_queue,
  shared_queue,
  queue_pair
};

/// Kind, generation and index in one value, so that a consumer API may use it as an opaque number.
/// 0 is no object.
template <Kind K>
struct Handle {
  std::uint64_t value = 0;
  explicit operator bool() const { return value != 0; }
  auto operator<=>(const Handle&) const = default;
};
using DomainHandle = Handle<Kind::domain>;
using RegionHandle = Handle<Kind::region>;
using WindowHandle = Handle<Kind::window>;
using CompletionQueueHandle = Handle<Kind::completion_queue>;
using SharedQueueHandle = Handle<Kind::shared_queue>;
using QueuePairHandle = Handle<Kind::queue_pair>;

/// Owns the objects of one kind. A slot's generation grows at each removal, so an old handle never
/// finds a newer object.
template <typename Object, Kind K>
class HandleTable {
 public:
  /// `make(handle)` returns the new object.
  template <typename Make>
  Handle<K> insert(Make&& make) {
    std::uint32_t index = 0;
    if (free_.empty()) {
      index = static_cast<std::uint32_t>(slots_.size());
      slots_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    Handle<K> handle = handle_of(index);
    slots_[index].object = std::forward<Make>(make)(handle);
    ++size_;
    return handle;
  }
  [[nodiscard]] Object* find(Handle<K> handle) const {
    const auto index = static_cast<std::uint32_t>(handle.value) - 1U;
    if (index >= slots_.size() || handle != handle_of(index)) return nullptr;
    return slots_[index].object.get();
  }
  /// The object lives as long as the returned pointer.
  std::unique_ptr<Object> remove(Handle<K> handle) {
    if (find(handle) == nullptr) return nullptr;
    const auto index = static_cast<std::uint32_t>(handle.value) - 1U;
    Slot& slot = slots_[index];
    slot.generation = (slot.generation + 1) & generation_mask;
    free_.push_back(index);
    --size_;
    return std::move(slot.object);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].object) visit(*slots_[i].object);
  }

 private:
  static constexpr std::uint32_t generation_mask = 0xFFFFFF;
  struct Slot {
    std::unique_ptr<Object> object;
    std::uint32_t generation = 0;
  };
  [[nodiscard]] Handle<K> handle_of(std::uint32_t index) const {
    return {(std::uint64_t{static_cast<std::uint8_t>(K)} << 56) |
            (std::uint64_t{slots_[index].generation} << 32) | (std::uint64_t{index} + 1)};
  }
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t size_ = 0;
};

}  // namespace rnic::verbs
