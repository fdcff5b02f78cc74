// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which access right each use of an STag needs, and the checks of each use.
#include "reference_rnic/verbs/stag_table.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace rnic::verbs {

namespace {

using Resolved = std::expected<wire::MutableBytes, stream::MemoryFault>;

/// The base and bounds check (RFC 5041 section 7.1).
Resolved bounded(const Tag& tag, const TagUse& use) {
  const std::uint64_t size = tag.memory.size();
  const std::uint64_t start = use.offset - tag.base;  // wraps to a huge value below the base
  if (start < size && use.length <= size - start) return tag.memory.subspan(start, use.length);
  return std::unexpected(stream::MemoryFault::base_or_bounds);
}

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
    // The peer may invalidate only what is open to it (RFC 5040 section 5.3).
    case Need::remote_invalidate:
      return access.remote_read || access.remote_write || access.remote_atomic;
    // The Response is a tagged write by the peer: DDP places it only where the STag lets the peer
    // write (RFC 5041 sections 5.1 and 7.1).
    case Need::read_sink:
      return access.remote_write;
    case Need::local_read:
      return true;
    case Need::local_write:
      return access.local_write;
    case Need::window:
      return access.bind_window;
    case Need::local_invalidate:
      return true;
  }
  std::unreachable();
}

// ---- drawing ----

Tag& StagTable::allocate() {
  std::uint32_t stag = 0;
  do {
    stag = draw_stag();
    decisions_.ask(&Decisions::stag_chosen, tags_, stag);
  } while (stag >> 8 == 0 || tags_.contains(stag >> 8));
  Tag& tag = tags_[stag >> 8];
  tag.stag = stag;
  return tag;
}

/// Index and key are different bits of one draw, so that neither can be computed from the other
/// (RFC 5042 section 6.1.1).
std::uint32_t StagTable::draw_stag() {
  for (;;) {
    const auto stag = static_cast<std::uint32_t>(draw_() >> 32);
    if (std::ranges::find(retired_, stag >> 8) == retired_.end()) return stag;
  }
}

void StagTable::release(std::uint32_t stag) {
  const auto found = tags_.find(stag >> 8);
  if (found == tags_.end()) return;
  retired_.push_back(stag >> 8);
  if (retired_.size() > retirement) retired_.pop_front();
  latest_ = nullptr;
  tags_.erase(found);
}

Tag* StagTable::at_index(std::uint32_t stag) {
  if (latest_ != nullptr && latest_->stag >> 8 == stag >> 8 && decisions_.empty()) return latest_;
  const auto entry = tags_.find(stag >> 8);
  Tag* found = entry == tags_.end() ? nullptr : &entry->second;
  latest_ = found;
  decisions_.ask(&Decisions::tag_sought, tags_, stag, found);
  return found;
}

// ---- checks ----

std::expected<void, stream::MemoryFault> StagTable::usable(const Tag& tag,
                                                           const TagUse& use) const {
  // ddp.tagged.check-stag-valid
  if (!passes(TagCheck::key, tag, use, tag.stag == use.stag) ||
      !passes(TagCheck::valid, tag, use, tag.valid))
    return std::unexpected(stream::MemoryFault::invalid_stag);
  // sec.stag.pd-isolation, sec.stag.single-stream-isolation
  if (!passes(TagCheck::domain, tag, use, tag.domain == use.who.domain) ||
      !passes(TagCheck::stream, tag, use, !tag.only_for || *tag.only_for == use.who.queue_pair))
    return std::unexpected(stream::MemoryFault::not_associated);
  return {};
}

Resolved StagTable::resolve(const Requester& who, std::uint32_t stag, std::uint64_t offset,
                            std::size_t length, Need need) {
  const TagUse use{.who = who, .stag = stag, .need = need, .offset = offset, .length = length};
  const Tag* tag = at_index(stag);
  Resolved octets = std::unexpected(stream::MemoryFault::invalid_stag);
  if (tag == nullptr) {
    decisions_.ask(&Decisions::octets_reached, tag, use, octets);
    return octets;
  }
  if (const auto open = usable(*tag, use); !open) return std::unexpected(open.error());
  if (length > std::numeric_limits<std::uint64_t>::max() - offset)
    return std::unexpected(stream::MemoryFault::to_wrap);
  octets = bounded(*tag, use);
  decisions_.ask(&Decisions::octets_reached, tag, use, octets);
  if (!octets) return octets;
  if (!passes(TagCheck::rights, *tag, use, permits(tag->access, need)))
    return std::unexpected(stream::MemoryFault::access_rights);
  // verbs.endpoint.access-flags-enforced; the sink of a Read is the consumer's own choice.
  if (!passes(TagCheck::endpoint, *tag, use, !is_remote(need) || permits(who.access, need)))
    return std::unexpected(stream::MemoryFault::access_rights);
  return octets;
}

std::expected<Tag*, stream::MemoryFault> StagTable::may_invalidate(const Requester& who,
                                                                   std::uint32_t stag,
                                                                   bool shared) {
  const TagUse use{.who = who, .stag = stag, .need = Need::remote_invalidate};
  Tag* tag = at_index(stag);
  if (tag == nullptr) return std::unexpected(stream::MemoryFault::invalid_stag);
  if (const auto open = usable(*tag, use); !open) return std::unexpected(open.error());
  if (!passes(TagCheck::rights, *tag, use, permits(tag->access, use.need)) ||
      !passes(TagCheck::unshared, *tag, use, !shared || tag->only_for.has_value()))
    return std::unexpected(stream::MemoryFault::cannot_invalidate);
  return tag;
}

std::expected<Tag*, stream::MemoryFault> StagTable::may_invalidate_locally(const Requester& who,
                                                                           std::uint32_t stag) {
  const TagUse use{.who = who, .stag = stag, .need = Need::local_invalidate};
  Tag* tag = at_index(stag);
  if (tag == nullptr) return std::unexpected(stream::MemoryFault::invalid_stag);
  if (const auto open = usable(*tag, use); !open) return std::unexpected(open.error());
  return tag;
}

bool StagTable::may_rebind(const Requester& who, const Tag& window) const {
  const TagUse use{.who = who, .stag = window.stag, .need = Need::window};
  return !window.valid || passes(TagCheck::stream, window, use,
                                 !window.only_for || *window.only_for == who.queue_pair);
}

}  // namespace rnic::verbs
