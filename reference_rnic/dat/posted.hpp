// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The data that are kept about a posted DTO until it completes.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

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

/// By the id of the work request.
using PostedTable = std::unordered_map<std::uint64_t, Posted>;

}  // namespace rnic::dat
