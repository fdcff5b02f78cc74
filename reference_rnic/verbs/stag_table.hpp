// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The STag table: which octets of memory an STag opens, to whom and with which rights, and every
// check of such an access.
#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <optional>
#include <random>
#include <unordered_map>
#include <vector>

#include "reference_rnic/stream/memory.hpp"
#include "reference_rnic/verbs/decisions.hpp"
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

class StagTable {
 public:
  StagTable(const RnicDecisions& decisions, std::uint64_t seed)
      : decisions_(decisions), draw_(seed), next_key_(seed) {}

  /// A new, invalid tag with an index that no other has and that was not used lately (RFC 5042
  /// section 6.1.1).
  Tag& allocate();
  void release(std::uint32_t stag);
  /// The tag with this index, whatever key and state.
  [[nodiscard]] Tag* at_index(std::uint32_t stag);
  [[nodiscard]] Tag* alike(std::uint32_t stag);

  /// The octets behind [offset, offset + length), length > 0, if `who` may use them so.
  [[nodiscard]] std::expected<wire::MutableBytes, stream::MemoryFault> resolve(const Requester& who,
                                                                               std::uint32_t stag,
                                                                               std::uint64_t offset,
                                                                               std::size_t length,
                                                                               Need need);

  /// The tag that a peer may invalidate (RFC 5040 section 5.3), or why not. `shared`: more than one
  /// stream can use the STags of the domain, and a peer must not take them away from the others
  /// (RFC 5040 section 8.1.1, item 7). invalidation.cpp carries it out.
  [[nodiscard]] std::expected<Tag*, stream::MemoryFault> may_invalidate(const Requester& who,
                                                                        std::uint32_t stag,
                                                                        bool shared);

 private:
  static constexpr std::size_t retirement =
      4096;  ///< freed indices that are not handed out again yet

  /// A tag that is there, has this key and is valid.
  [[nodiscard]] Tag* usable(std::uint32_t stag, Need need);
  [[nodiscard]] bool associated(const Tag& tag, const Requester& who, Need need) const;
  [[nodiscard]] bool rights(const Tag& tag, Need need) const;
  /// The base and bounds check (RFC 5041 section 7.1).
  [[nodiscard]] std::expected<wire::MutableBytes, stream::MemoryFault> bounded(const Tag& tag,
                                                                               std::uint64_t offset,
                                                                               std::size_t length,
                                                                               Need need);
  /// Whether the implementation is wrong in this way towards a peer.
  [[nodiscard]] bool tolerates(stream::Deviation deviation, Need need) const;
  // Only deviations ask for these.
  [[nodiscard]] std::expected<wire::MutableBytes, stream::MemoryFault> overlook_bounds(
      const Tag& tag, std::uint64_t start, std::size_t length, Need need);
  /// A deviating RNIC lets accesses through that reach outside of what is registered; they must not
  /// reach outside of what this process owns. So they get octets of its own: what lies inside is
  /// copied, the rest is zero.
  [[nodiscard]] wire::MutableBytes beyond(const Tag& tag, std::uint64_t start, std::size_t length);
  void keep_ghost(const Tag& tag);
  [[nodiscard]] std::expected<wire::MutableBytes, stream::MemoryFault> ghost(std::uint32_t stag,
                                                                             std::uint64_t offset,
                                                                             std::size_t length,
                                                                             Need need);

  std::uint32_t draw_index();
  std::uint32_t next_index();
  std::uint32_t draw_key();

  const RnicDecisions& decisions_;
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
