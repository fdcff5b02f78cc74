// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The STag table: how STags are drawn, and every check of a use of one.
#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <random>

#include "reference_rnic/verbs/decisions.hpp"

namespace rnic::verbs {

class StagTable {
 public:
  StagTable(const RnicDecisions& decisions, std::uint64_t seed)
      : decisions_(decisions), draw_(seed) {}

  /// A new, invalid tag with an index that no other tag has and that was not used recently (RFC
  /// 5042 section 6.1.1).
  Tag& allocate();
  void release(std::uint32_t stag);
  /// The tag with this index, whatever its key and state.
  [[nodiscard]] Tag* at_index(std::uint32_t stag);

  /// The octets at [offset, offset + length), length > 0, if `who` may use them in this way.
  [[nodiscard]] std::expected<wire::MutableBytes, stream::MemoryFault> resolve(const Requester& who,
                                                                               std::uint32_t stag,
                                                                               std::uint64_t offset,
                                                                               std::size_t length,
                                                                               Need need);

  /// The tag that a peer may invalidate (RFC 5040 section 5.3), or why not. `shared`: more than one
  /// stream can use the STags of the domain, and a peer must not invalidate them for the others
  /// (RFC 5040 section 8.1.1, item 7). invalidation.cpp performs the invalidation.
  [[nodiscard]] std::expected<Tag*, stream::MemoryFault> may_invalidate(const Requester& who,
                                                                        std::uint32_t stag,
                                                                        bool shared);
  /// The tag that its owner may invalidate by work on `who.queue_pair`, or why not.
  [[nodiscard]] std::expected<Tag*, stream::MemoryFault> may_invalidate_locally(
      const Requester& who, std::uint32_t stag);
  /// Whether work on `who.queue_pair` may bind this window anew, or unbind it.
  [[nodiscard]] bool may_rebind(const Requester& who, const Tag& window) const;

 private:
  /// Freed indices that are not used again yet.
  static constexpr std::size_t retirement = 4096;

  [[nodiscard]] std::uint32_t draw_stag();
  [[nodiscard]] bool passes(TagCheck check, const Tag& tag, const TagUse& use, bool found) const {
    decisions_.ask(&Decisions::use_checked, check, tag, use, found);
    return found;
  }
  /// The STag names a valid tag that `use.who` may use at all.
  [[nodiscard]] std::expected<void, stream::MemoryFault> usable(const Tag& tag,
                                                                const TagUse& use) const;

  const RnicDecisions& decisions_;
  TagMap tags_;            ///< pointers to elements stay valid
  Tag* latest_ = nullptr;  ///< that was found: the next segment often names it again
  std::deque<std::uint32_t> retired_;
  std::mt19937_64 draw_;
};

}  // namespace rnic::verbs
