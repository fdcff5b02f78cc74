// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One STag: the octets that it gives access to, for whom, with which rights; and one use of it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "reference_rnic/stream/memory.hpp"
#include "reference_rnic/verbs/rnic.hpp"

namespace rnic::verbs {

/// The use of an STag: a peer's access or invalidation, the sink of one's own Read, the owner's own
/// access through a Piece, a window over it, or the owner's own invalidation.
enum class Need : std::uint8_t {
  remote_write,
  remote_read,
  remote_atomic,
  remote_invalidate,
  read_sink,
  local_read,
  local_write,
  window,  ///< the owner binds one
  local_invalidate
};
[[nodiscard]] Need need_of(stream::MemoryAccess access);
/// A right of the RDMAP peer, not of the owner.
[[nodiscard]] constexpr bool is_remote(Need need) { return need <= Need::remote_invalidate; }
[[nodiscard]] bool permits(const Access& access, Need need);

/// One STag: of a region, or of a window, bound or not.
struct Tag {
  std::uint32_t stag = 0;
  bool valid = false;
  DomainHandle domain{};
  /// Bound to one queue pair's stream.
  std::optional<QueuePairHandle> only_for{};
  wire::MutableBytes memory{};
  std::uint64_t base = 0;
  Access access{};
  /// Itself, or the region under the window.
  RegionHandle region{};
  /// None for a region.
  WindowHandle window{};
};
/// By index, which is the STag without its key.
using TagMap = std::unordered_map<std::uint32_t, Tag>;

/// Who uses an STag.
struct Requester {
  DomainHandle domain{};
  QueuePairHandle queue_pair{};
  /// What the peer may do through this queue pair.
  Access access{.remote_read = true, .remote_write = true, .remote_atomic = true};
};

/// One use of an STag.
struct TagUse {
  const Requester& who;
  std::uint32_t stag = 0;
  Need need = Need::remote_write;
  /// Tagged offset and octets; an invalidation has none.
  std::uint64_t offset = 0;
  std::size_t length = 0;
};

/// The checks of a use of an STag, in this order; the bounds are checked before the rights.
enum class TagCheck : std::uint8_t {
  key,       ///< the STag's is that of the tag
  valid,     ///< the tag is in the valid state
  domain,    ///< the tag is of the user's protection domain
  stream,    ///< the tag is not bound to another stream
  rights,    ///< the tag grants what is needed
  endpoint,  ///< the queue pair lets the peer do it
  unshared,  ///< invalidation: no other stream loses the tag
};

}  // namespace rnic::verbs
