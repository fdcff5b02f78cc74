// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/rdma_core/rdma_cm_event_kind.hpp"

#include <rdma/rdma_cma.h>

namespace rnic::rdma_core {

namespace {

constexpr bool is(CmEventKind kind, rdma_cm_event_type type) {
  return static_cast<std::uint32_t>(kind) == static_cast<std::uint32_t>(type);
}

static_assert(is(CmEventKind::address_resolved, RDMA_CM_EVENT_ADDR_RESOLVED));
static_assert(is(CmEventKind::address_error, RDMA_CM_EVENT_ADDR_ERROR));
static_assert(is(CmEventKind::route_resolved, RDMA_CM_EVENT_ROUTE_RESOLVED));
static_assert(is(CmEventKind::connect_request, RDMA_CM_EVENT_CONNECT_REQUEST));
static_assert(is(CmEventKind::connect_error, RDMA_CM_EVENT_CONNECT_ERROR));
static_assert(is(CmEventKind::unreachable, RDMA_CM_EVENT_UNREACHABLE));
static_assert(is(CmEventKind::rejected, RDMA_CM_EVENT_REJECTED));
static_assert(is(CmEventKind::established, RDMA_CM_EVENT_ESTABLISHED));
static_assert(is(CmEventKind::disconnected, RDMA_CM_EVENT_DISCONNECTED));

}  // namespace

}  // namespace rnic::rdma_core
