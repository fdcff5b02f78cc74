// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An STag table with one valid tag of 64 octets, and questions to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "reference_rnic/verbs/stag_table.hpp"
#include "reference_rnic/verbs/tests/two_rnics.hpp"

namespace rnic::verbs::test {

inline constexpr DomainHandle ours{1}, theirs{2};
inline constexpr QueuePairHandle pair{7}, other_pair{8};
inline constexpr Requester who{ours, pair};
inline constexpr std::uint64_t region_base = 0x1000;

struct OneTag {
  explicit OneTag(RnicDecisions the_decisions = {})
      : decisions(std::move(the_decisions)), table(decisions, 99), tag(table.allocate()) {
    tag.domain = ours;
    tag.memory = memory;
    tag.base = region_base;
    tag.access = all_access;
    tag.valid = true;
  }
  OneTag(const OneTag&) = delete;
  OneTag& operator=(const OneTag&) = delete;

  /// Why such an access is refused, if it is.
  std::optional<stream::MemoryFault> fault(std::uint32_t stag, std::uint64_t offset,
                                           std::size_t length, Need need = Need::remote_write,
                                           const Requester& requester = who) {
    const auto result = table.resolve(requester, stag, offset, length, need);
    return result ? std::nullopt : std::optional(result.error());
  }

  RnicDecisions decisions;
  std::vector<std::byte> memory = std::vector<std::byte>(64);
  StagTable table;
  Tag& tag;
};

}  // namespace rnic::verbs::test
