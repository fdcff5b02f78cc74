// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The kinds of events of a connection manager, as numbers of its channel. They are those of
// rdma/rdma_cma.h, which cannot be included beside rdma/rdma_user_cm.h; rdma_cm_event_kind.cpp
// compares them.
#pragma once

#include <cstdint>

namespace rnic::rdma_core {

enum class CmEventKind : std::uint32_t {
  address_resolved = 0,
  address_error = 1,
  route_resolved = 2,
  connect_request = 4,
  connect_error = 6,
  unreachable = 7,
  rejected = 8,
  established = 9,
  disconnected = 10,
};

}  // namespace rnic::rdma_core
