// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The handles that consumers hold, and the objects that they name.
//
// libdat2 reads the first word of a handle to find the provider, even of a freed one. So a handle
// is a small block that outlives its object; a block is reused for another object only after many
// others. Whether a handle is valid is determined by looking it up, never by reading it.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reference_rnic/dat/object.hpp"

namespace rnic::dat {

class HandleTable {
 public:
  /// Adds the object and gives it its handle.
  template <typename T>
  T& add(const DAT_PROVIDER* provider, std::unique_ptr<T> object) {
    T& added = *object;
    insert(provider, std::move(object));
    return added;
  }
  void destroy(Object& object);
  /// The live object of that kind, or null.
  template <typename T>
  [[nodiscard]] T* find(DAT_HANDLE handle) const {
    Object* found = find_any(handle);
    return found != nullptr && found->kind == T::its_kind ? static_cast<T*>(found) : nullptr;
  }
  [[nodiscard]] Object* find_any(DAT_HANDLE handle) const;
  template <typename T>
  [[nodiscard]] std::vector<T*> all() const {
    std::vector<T*> found;
    for (const auto& [handle, object] : live_)
      if (object->kind == T::its_kind) found.push_back(static_cast<T*>(object.get()));
    return found;
  }
  /// All objects of an IA, itself included, in the order of their kinds.
  [[nodiscard]] std::vector<Object*> of(const Ia& ia) const;

 private:
  struct Block {
    const DAT_PROVIDER* provider = nullptr;  ///< the first word, by libdat2's contract
  };
  static constexpr std::size_t retirement = std::size_t{1} << 16;

  void insert(const DAT_PROVIDER* provider, std::unique_ptr<Object> object);

  std::deque<Block> blocks_;  ///< never moved, never given back
  std::deque<Block*> retired_;
  std::unordered_map<DAT_HANDLE, std::unique_ptr<Object>> live_;
};

}  // namespace rnic::dat
