// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The STag table: which octets of memory an STag opens, to whom and with which rights, and every
// check of such an access.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <expected>
#include <optional>
#include <random>
#include <unordered_map>
#include <vector>

#include "reference_rnic/stream/memory.hpp"
#include "reference_rnic/verbs/rnic.hpp"

namespace rnic::verbs {

/// What is asked of an STag: a peer's access, the sink of one's own Read, or the owner's own access
/// through a Piece.
enum class Need : std::uint8_t {
  remote_write,
  remote_read,
  remote_atomic,
  read_sink,
  local_read,
  local_write
};
[[nodiscard]] Need need_of(stream::MemoryAccess access);
/// A right of the RDMAP peer, not of the owner.
[[nodiscard]] constexpr bool is_remote(Need need) { return need <= Need::remote_atomic; }
[[nodiscard]] bool permits(const Access& access, Need need);

/// One STag: region, or window bound or not.
struct Tag {
  std::uint32_t stag = 0;
  bool valid = false;
  DomainHandle domain{};
  std::optional<QueuePairHandle> only_for{};  ///< bound to one queue pair's stream
  wire::MutableBytes memory{};
  std::uint64_t base = 0;
  Access access{};
  RegionHandle region{};  ///< itself, or the region under the window
  WindowHandle window{};  ///< none for a region
};

/// Who uses an STag.
struct Requester {
  DomainHandle domain{};
  QueuePairHandle queue_pair{};
};

template <typename Policy>
class StagTable {
 public:
  StagTable(const Policy& policy, std::uint64_t seed)
      : policy_(policy), draw_(seed), next_key_(seed) {}

  /// A new, invalid tag with an index that no other has and that was not used lately (RFC 5042
  /// section 6.1.1).
  Tag& allocate() {
    const std::uint32_t index = draw_index();
    Tag& tag = tags_[index];
    tag.stag = index << 8 | draw_key();
    return tag;
  }
  void release(std::uint32_t stag) {
    const auto found = tags_.find(stag >> 8);
    if (found == tags_.end()) return;
    if (policy_.deviates(stream::Deviation::deregistered_stag_usable)) keep_ghost(found->second);
    retired_.push_back(stag >> 8);
    if (retired_.size() > retirement) retired_.pop_front();
    tags_.erase(found);
  }
  /// The tag with this index, whatever key and state.
  [[nodiscard]] Tag* at_index(std::uint32_t stag) {
    const auto found = tags_.find(stag >> 8);
    return found == tags_.end() ? nullptr : &found->second;
  }

  /// The octets behind [offset, offset + length), length > 0, if `who` may use them so.
  [[nodiscard]] std::expected<wire::MutableBytes, stream::MemoryFault> resolve(const Requester& who,
                                                                               std::uint32_t stag,
                                                                               std::uint64_t offset,
                                                                               std::size_t length,
                                                                               Need need) {
    Tag* tag = usable(stag, need);
    if (tag == nullptr) return ghost(stag, offset, length, need);
    if (!associated(*tag, who, need)) return std::unexpected(stream::MemoryFault::not_associated);
    if (offset + length < offset) return std::unexpected(stream::MemoryFault::to_wrap);
    auto octets = bounded(*tag, offset, length, need);
    if (!octets) return octets;
    if (!rights(*tag, need)) return std::unexpected(stream::MemoryFault::access_rights);
    return octets;
  }

  /// The tag that a peer may invalidate (RFC 5040 section 5.3), or why not. `shared`: more than one
  /// stream can use the STags of the domain, and a peer must not take them away from the others
  /// (RFC 5040 section 8.1.1, item 7).
  [[nodiscard]] std::expected<Tag*, stream::MemoryFault> may_invalidate(const Requester& who,
                                                                        std::uint32_t stag,
                                                                        bool shared) {
    Tag* tag = at_index(stag);
    if (tag == nullptr || tag->stag != stag || !tag->valid)
      return std::unexpected(stream::MemoryFault::invalid_stag);
    if (!associated(*tag, who, Need::remote_write) &&
        !policy_.deviates(stream::Deviation::invalidates_foreign_stag))
      return std::unexpected(stream::MemoryFault::not_associated);
    const bool remote =
        tag->access.remote_read || tag->access.remote_write || tag->access.remote_atomic;
    const bool others_lose =
        shared && !tag->only_for && !policy_.deviates(stream::Deviation::invalidates_shared_stag);
    if (!remote || others_lose) return std::unexpected(stream::MemoryFault::cannot_invalidate);
    return tag;
  }

 private:
  static constexpr std::size_t retirement =
      4096;  ///< freed indices that are not handed out again yet

  /// A tag that is there, has this key and is valid.
  [[nodiscard]] Tag* usable(std::uint32_t stag, Need need) {
    Tag* tag = at_index(stag);
    if (tag == nullptr) return nullptr;
    if (tag->stag != stag && !tolerates(stream::Deviation::stag_key_unchecked, need))
      return nullptr;
    if (!tag->valid &&
        !(tolerates(stream::Deviation::invalid_stag_usable, need) && !tag->memory.empty()))
      return nullptr;
    return tag;
  }
  [[nodiscard]] bool associated(const Tag& tag, const Requester& who, Need need) const {
    if (tag.domain != who.domain && !tolerates(stream::Deviation::domain_unchecked, need))
      return false;
    return !tag.only_for || *tag.only_for == who.queue_pair ||
           tolerates(stream::Deviation::stream_scope_unchecked, need);
  }
  [[nodiscard]] bool rights(const Tag& tag, Need need) const {
    if (permits(tag.access, need)) return true;
    return (need == Need::remote_write &&
            policy_.deviates(stream::Deviation::remote_write_right_unchecked)) ||
           (need == Need::remote_read &&
            policy_.deviates(stream::Deviation::remote_read_right_unchecked)) ||
           (need == Need::remote_atomic &&
            policy_.deviates(stream::Deviation::remote_atomic_right_unchecked)) ||
           (is_remote(need) && tag.window &&
            policy_.deviates(stream::Deviation::window_rights_ignored));
  }
  [[nodiscard]] std::expected<wire::MutableBytes, stream::MemoryFault> bounded(const Tag& tag,
                                                                               std::uint64_t offset,
                                                                               std::size_t length,
                                                                               Need need) {
    const std::uint64_t size = tag.memory.size();
    const std::uint64_t start = offset - tag.base;  // wraps to a huge value below the base
    if (start < size && length <= size - start) return tag.memory.subspan(start, length);
    if (tolerates(stream::Deviation::bounds_unchecked, need)) return beyond(tag, start, length);
    const bool one_too_far = start <= size && length == size - start + 1;
    if (one_too_far && size != 0 && tolerates(stream::Deviation::bounds_one_octet_too_wide, need))
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
  /// Whether the implementation is wrong in this way towards a peer.
  [[nodiscard]] bool tolerates(stream::Deviation deviation, Need need) const {
    return is_remote(need) && policy_.deviates(deviation);
  }
  /// A deviating RNIC lets accesses through that reach outside of what is registered; they must not
  /// reach outside of what this process owns. So they get octets of its own: what lies inside is
  /// copied, the rest is zero.
  [[nodiscard]] wire::MutableBytes beyond(const Tag& tag, std::uint64_t start, std::size_t length) {
    outside_.assign(length, std::byte{0});
    for (std::size_t i = 0; i < length; ++i)
      if (start + i < tag.memory.size()) outside_[i] = tag.memory[start + i];
    return outside_;
  }
  void keep_ghost(const Tag& tag) {
    ghosts_[tag.stag] = {std::vector<std::byte>(tag.memory.begin(), tag.memory.end()), tag.base};
  }
  [[nodiscard]] std::expected<wire::MutableBytes, stream::MemoryFault> ghost(std::uint32_t stag,
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

  std::uint32_t draw_index() {
    if (policy_.deviates(stream::Deviation::stags_reused_at_once) && !retired_.empty()) {
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
  std::uint32_t next_index() {
    constexpr std::uint32_t all = 0xFFFFFF, a_small_part = 0xFFFF;
    const auto drawn = static_cast<std::uint32_t>(draw_() >> 40);
    if (policy_.deviates(stream::Deviation::stags_predictable)) return ++counted_ & all;
    if (policy_.deviates(stream::Deviation::stags_mostly_predictable))
      return counted_ = (drawn % 4 == 0 ? drawn : counted_ + 1) & all;
    return policy_.deviates(stream::Deviation::stags_crowded) ? drawn & a_small_part : drawn;
  }
  std::uint32_t draw_key() {
    if (policy_.deviates(stream::Deviation::stags_predictable) ||
        policy_.deviates(stream::Deviation::stags_mostly_predictable) ||
        policy_.deviates(stream::Deviation::stags_reused_at_once))
      return 1;
    return static_cast<std::uint32_t>(next_key_() >> 56);
  }

  const Policy& policy_;
  std::unordered_map<std::uint32_t, Tag> tags_;  ///< by index; pointers to elements stay valid
  std::deque<std::uint32_t> retired_;
  std::mt19937_64 draw_, next_key_;
  std::uint32_t counted_ = 0;
  std::vector<std::byte> outside_;
  struct Ghost {
    std::vector<std::byte> octets;
    std::uint64_t base = 0;
  };
  std::unordered_map<std::uint32_t, Ghost> ghosts_;  ///< only of a deviating RNIC
};

}  // namespace rnic::verbs
