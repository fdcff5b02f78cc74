// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How blocks are allocated, retired and reused.
#include "reference_rnic/dat/handle_table.hpp"

#include <algorithm>

namespace rnic::dat {

void HandleTable::insert(const DAT_PROVIDER* provider, std::unique_ptr<Object> object) {
  Block* block = nullptr;
  if (retired_.size() > retirement) {
    block = retired_.front();
    retired_.pop_front();
  } else {
    block = &blocks_.emplace_back();
  }
  block->provider = provider;
  object->handle = block;
  live_.emplace(block, std::move(object));
}

void HandleTable::destroy(Object& object) {
  const auto found = live_.find(object.handle);
  if (found == live_.end()) return;
  retired_.push_back(static_cast<Block*>(object.handle));
  const std::unique_ptr<Object> last = std::move(found->second);
  live_.erase(found);
}

Object* HandleTable::find_any(DAT_HANDLE handle) const {
  const auto found = live_.find(handle);
  return found == live_.end() ? nullptr : found->second.get();
}

std::vector<Object*> HandleTable::of(const Ia& ia) const {
  std::vector<Object*> found;
  for (const auto& [handle, object] : live_)
    if (object->ia == &ia) found.push_back(object.get());
  std::ranges::sort(found, {}, &Object::kind);
  return found;
}

}  // namespace rnic::dat
