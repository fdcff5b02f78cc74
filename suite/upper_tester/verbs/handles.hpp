// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Owners of the objects of libibverbs and librdmacm.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <memory>

namespace suite::upper_tester::verbs {

template <class T, int (*destroy)(T*)>
struct Destroy {
  void operator()(T* object) const { destroy(object); }
};
template <class T, int (*destroy)(T*)>
using Owner = std::unique_ptr<T, Destroy<T, destroy>>;

/// ibv_dealloc_mw is an inline function of each translation unit, which no type may depend on.
inline int free_window(ibv_mw* window) { return ibv_dealloc_mw(window); }

using Context = Owner<ibv_context, ibv_close_device>;
using ProtectionDomain = Owner<ibv_pd, ibv_dealloc_pd>;
using MemoryRegion = Owner<ibv_mr, ibv_dereg_mr>;
using MemoryWindow = Owner<ibv_mw, free_window>;
using CompletionChannel = Owner<ibv_comp_channel, ibv_destroy_comp_channel>;
using CompletionQueue = Owner<ibv_cq, ibv_destroy_cq>;
using SharedReceiveQueue = Owner<ibv_srq, ibv_destroy_srq>;
using QueuePair = Owner<ibv_qp, ibv_destroy_qp>;
using CmId = Owner<rdma_cm_id, rdma_destroy_id>;

struct DestroyChannel {
  void operator()(rdma_event_channel* channel) const { rdma_destroy_event_channel(channel); }
};
using CmChannel = std::unique_ptr<rdma_event_channel, DestroyChannel>;

/// Destroys at once and returns the result; on failure the object remains.
template <class T, int (*destroy)(T*)>
int destroy_now(Owner<T, destroy>& object) {
  if (object == nullptr) return 0;
  const int error = destroy(object.get());
  if (error == 0) static_cast<void>(object.release());
  return error;
}

}  // namespace suite::upper_tester::verbs
