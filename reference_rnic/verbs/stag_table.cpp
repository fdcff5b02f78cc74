// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which access right each use of an STag needs, and the checks of each use.
#include "reference_rnic/verbs/stag_table.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace rnic::verbs {

namespace {

/// How much a deviation makes up of memory that is not there.
constexpr std::size_t most_beyond = std::size_t{1} << 20;
constexpr std::uint32_t key_mask = 0xFF;

}  // namespace

Need need_of(stream::MemoryAccess access) {
  switch (access) {
    case stream::MemoryAccess::remote_write:
      return Need::remote_write;
    case stream::MemoryAccess::remote_read:
      return Need::remote_read;
    case stream::MemoryAccess::remote_atomic:
      return Need::remote_atomic;
    case stream::MemoryAccess::read_sink:
      return Need::read_sink;
  }
  return Need::remote_write;
}

bool permits(const Access& access, Need need) {
  switch (need) {
    case Need::remote_write:
      return access.remote_write;
    case Need::remote_read:
      return access.remote_read;
    case Need::remote_atomic:
      return access.remote_atomic;
    // The Response is a tagged write by the peer: DDP places it only where the STag lets the peer
    // write (RFC 5041 sections 5.1 and 7.1).
    case Need::read_sink:
      return access.remote_write;
    case Need::local_read:
      return true;
    case Need::local_write:
      return access.local_write;
  }
  std::unreachable();
}

Tag& StagTable::allocate() {
  const std::uint32_t index = draw_index();
  Tag& tag = tags_[index];
  tag.stag = index << 8 | draw_key();
  return tag;
}

void StagTable::release(std::uint32_t stag) {
  const auto found = tags_.find(stag >> 8);
  if (found == tags_.end()) return;
  if (decisions_.deviates(stream::Deviation::deregistered_stag_usable)) keep_ghost(found->second);
  retired_.push_back(stag >> 8);
  if (retired_.size() > retirement) retired_.pop_front();
  tags_.erase(found);
}

Tag* StagTable::at_index(std::uint32_t stag) {
  const auto found = tags_.find(stag >> 8);
  if (found != tags_.end()) return &found->second;
  return decisions_.deviates(stream::Deviation::stag_index_cut) ? alike(stag) : nullptr;
}

/// A tag whose STag differs in the upper half of the index only.
Tag* StagTable::alike(std::uint32_t stag) {
  constexpr std::uint32_t looked_at = 0x000FFFFF;
  const auto found = std::ranges::find_if(tags_, [&](const auto& item) {
    return (item.second.stag & looked_at) == (stag & looked_at);
  });
  return found == tags_.end() ? nullptr : &found->second;
}

std::expected<wire::MutableBytes, stream::MemoryFault> StagTable::resolve(
    const Requester& who, std::uint32_t stag, std::uint64_t offset, std::size_t length, Need need) {
  Tag* tag = usable(stag, need);
  if (!decisions_.conforming())
    if (tag == nullptr) return ghost(stag, offset, length, need);
  if (tag == nullptr) return std::unexpected(stream::MemoryFault::invalid_stag);
  if (!associated(*tag, who, need)) return std::unexpected(stream::MemoryFault::not_associated);
  if (length > std::numeric_limits<std::uint64_t>::max() - offset)
    return std::unexpected(stream::MemoryFault::to_wrap);
  auto octets = bounded(*tag, offset, length, need);
  if (!octets) return octets;
  if (!rights(*tag, need)) return std::unexpected(stream::MemoryFault::access_rights);
  return octets;
}

std::expected<Tag*, stream::MemoryFault> StagTable::may_invalidate(const Requester& who,
                                                                   std::uint32_t stag,
                                                                   bool shared) {
  Tag* tag = at_index(stag);
  if (tag == nullptr || tag->stag != stag || !tag->valid)
    return std::unexpected(stream::MemoryFault::invalid_stag);
  if (!associated(*tag, who, Need::remote_write) &&
      !decisions_.deviates(stream::Deviation::invalidates_foreign_stag))
    return std::unexpected(stream::MemoryFault::not_associated);
  const bool remote =
      tag->access.remote_read || tag->access.remote_write || tag->access.remote_atomic;
  const bool others_lose =
      shared && !tag->only_for && !decisions_.deviates(stream::Deviation::invalidates_shared_stag);
  if (!remote || others_lose) return std::unexpected(stream::MemoryFault::cannot_invalidate);
  return tag;
}

Tag* StagTable::usable(std::uint32_t stag, Need need) {
  Tag* tag = at_index(stag);
  if (tag == nullptr) return nullptr;
  const bool near_enough = tolerates(stream::Deviation::stag_key_unchecked, need) ||
                           (tolerates(stream::Deviation::stag_index_cut, need) &&
                            (tag->stag & key_mask) == (stag & key_mask));
  if (tag->stag != stag && !near_enough) return nullptr;
  if (!tag->valid &&
      !(tolerates(stream::Deviation::invalid_stag_usable, need) && !tag->memory.empty()))
    return nullptr;
  return tag;
}

bool StagTable::associated(const Tag& tag, const Requester& who, Need need) const {
  if (tag.domain != who.domain && !tolerates(stream::Deviation::domain_unchecked, need))
    return false;
  return !tag.only_for || *tag.only_for == who.queue_pair ||
         tolerates(stream::Deviation::stream_scope_unchecked, need);
}

bool StagTable::rights(const Tag& tag, Need need) const {
  if (permits(tag.access, need)) return true;
  return (need == Need::remote_write &&
          decisions_.deviates(stream::Deviation::remote_write_right_unchecked)) ||
         (need == Need::remote_read &&
          decisions_.deviates(stream::Deviation::remote_read_right_unchecked)) ||
         (need == Need::remote_atomic &&
          decisions_.deviates(stream::Deviation::remote_atomic_right_unchecked)) ||
         (is_remote(need) && tag.window &&
          decisions_.deviates(stream::Deviation::window_rights_ignored));
}

std::expected<wire::MutableBytes, stream::MemoryFault> StagTable::bounded(const Tag& tag,
                                                                          std::uint64_t offset,
                                                                          std::size_t length,
                                                                          Need need) {
  const std::uint64_t size = tag.memory.size();
  const std::uint64_t shift = tolerates(stream::Deviation::stag_range_shifted, need) ? 8 : 0;
  const std::uint64_t start = offset - tag.base - shift;  // wraps to a huge value below the base
  if (start < size && length <= size - start) return tag.memory.subspan(start, length);
  if (!decisions_.conforming()) return overlook_bounds(tag, start, length, need);
  return std::unexpected(stream::MemoryFault::base_or_bounds);
}

/// What a deviation makes of a range, `start` octets into the tag's memory, that is not all in it.
std::expected<wire::MutableBytes, stream::MemoryFault> StagTable::overlook_bounds(
    const Tag& tag, std::uint64_t start, std::size_t length, Need need) {
  const std::uint64_t size = tag.memory.size();
  if (length > most_beyond) return std::unexpected(stream::MemoryFault::base_or_bounds);
  if (tolerates(stream::Deviation::bounds_unchecked, need)) return beyond(tag, start, length);
  const bool one_too_far = start <= size && length == size - start + 1;
  if (one_too_far && size != 0 && tolerates(stream::Deviation::bounds_one_octet_too_wide, need))
    return beyond(tag, start, length);
  constexpr std::uint64_t line = 64;
  if (start < size && length <= (size + line - 1) / line * line - start &&
      tolerates(stream::Deviation::bounds_rounded_to_cache_line, need))
    return beyond(tag, start, length);
  if (start == ~std::uint64_t{0} && size != 0 &&
      tolerates(stream::Deviation::base_one_octet_too_low, need))
    return beyond(tag, start, length);
  if (size == 0 && tag.valid && tolerates(stream::Deviation::empty_region_gives_all_memory, need))
    return beyond(tag, start, length);
  if (tag.window && tolerates(stream::Deviation::window_bounds_ignored, need))
    return beyond(tag, start, length);
  return std::unexpected(stream::MemoryFault::base_or_bounds);
}

bool StagTable::tolerates(stream::Deviation deviation, Need need) const {
  return is_remote(need) && decisions_.deviates(deviation);
}

wire::MutableBytes StagTable::beyond(const Tag& tag, std::uint64_t start, std::size_t length) {
  outside_.assign(length, std::byte{0});
  for (std::size_t i = 0; i < length; ++i)
    if (start + i < tag.memory.size()) outside_[i] = tag.memory[start + i];
  return outside_;
}

void StagTable::keep_ghost(const Tag& tag) {
  ghosts_[tag.stag] = {std::vector<std::byte>(tag.memory.begin(), tag.memory.end()), tag.base};
}

std::expected<wire::MutableBytes, stream::MemoryFault> StagTable::ghost(std::uint32_t stag,
                                                                        std::uint64_t offset,
                                                                        std::size_t length,
                                                                        Need need) {
  const auto found = ghosts_.find(stag);
  if (found == ghosts_.end() || !is_remote(need))
    return std::unexpected(stream::MemoryFault::invalid_stag);
  auto& [octets, base] = found->second;
  const std::uint64_t start = offset - base;
  if (start >= octets.size() || length > octets.size() - start)
    return std::unexpected(stream::MemoryFault::base_or_bounds);
  return wire::MutableBytes(octets).subspan(start, length);
}

std::uint32_t StagTable::draw_index() {
  if (decisions_.deviates(stream::Deviation::stags_reused_at_once) && !retired_.empty()) {
    const std::uint32_t index = retired_.back();
    retired_.pop_back();
    return index;
  }
  for (;;) {
    const std::uint32_t index = next_index();
    const bool lately = std::ranges::find(retired_, index) != retired_.end();
    if (index != 0 && !lately && !tags_.contains(index)) return index;
  }
}

std::uint32_t StagTable::next_index() {
  constexpr std::uint32_t all = 0xFFFFFF, a_small_part = 0xFFFF;
  const auto drawn = static_cast<std::uint32_t>(draw_() >> 40);
  if (decisions_.deviates(stream::Deviation::stags_predictable)) return ++counted_ & all;
  if (decisions_.deviates(stream::Deviation::stags_mostly_predictable))
    return counted_ = (drawn % 4 == 0 ? drawn : counted_ + 1) & all;
  return decisions_.deviates(stream::Deviation::stags_crowded) ? drawn & a_small_part : drawn;
}

std::uint32_t StagTable::draw_key() {
  if (decisions_.deviates(stream::Deviation::stags_predictable) ||
      decisions_.deviates(stream::Deviation::stags_mostly_predictable) ||
      decisions_.deviates(stream::Deviation::stags_reused_at_once))
    return 1;
  return static_cast<std::uint32_t>(next_key_() >> 56);
}

}  // namespace rnic::verbs
