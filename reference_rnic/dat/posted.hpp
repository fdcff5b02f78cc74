// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The data that are kept about a posted DTO until it completes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/fifo.hpp"
#include "reference_rnic/dat/api.hpp"
#include "reference_rnic/verbs/rnic.hpp"

namespace rnic::dat {

struct Posted {
  DAT_DTOS operation = DAT_DTO_SEND;
  DAT_CONTEXT cookie{};
  unsigned flags = DAT_COMPLETION_DEFAULT_FLAG;
  DAT_SEG_LENGTH length = 0;             ///< of the whole DTO
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;  ///< of a bind
  verbs::RegionHandle sink{};            ///< made for this one RDMA Read, destroyed with it
  bool last = true;                      ///< an RDMA Read into several segments is several Reads
  std::shared_ptr<bool> told{};          ///< shared by those: its completion has been reported
};

/// By the id of the work request. Ids ascend, and most DTOs complete in the order in which they were
/// posted.
class PostedTable {
 public:
  Posted& add(std::uint64_t id, const Posted& posted) {
    entries_.push_back({id, posted});
    return entries_.back().posted;
  }
  std::optional<Posted> take(std::uint64_t id) {
    const bool is_first = !entries_.empty() && entries_.front().id == id;
    const auto found =
        is_first ? entries_.begin() : std::ranges::lower_bound(entries_, id, {}, &Entry::id);
    if (found == entries_.end() || found->id != id) return std::nullopt;
    std::optional<Posted> taken(std::move(found->posted));
    entries_.erase(found);
    return taken;
  }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& entry : entries_) visit(entry.posted);
  }

 private:
  struct Entry {
    std::uint64_t id = 0;
    Posted posted{};
  };
  base::Fifo<Entry> entries_;
};

}  // namespace rnic::dat
