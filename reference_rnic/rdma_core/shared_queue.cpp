// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Shared receive queues.
#include <algorithm>

#include "reference_rnic/rdma_core/async_events.hpp"
#include "reference_rnic/rdma_core/objects.hpp"

namespace rnic::rdma_core {

ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* asked) {
  const ibv_srq_attr& attributes = asked->attr;
  if (attributes.max_wr > limits::work_requests || attributes.max_sge > limits::pieces) {
    errno = EINVAL;
    return nullptr;
  }
  return make<Srq>([&](Engine& shared, Srq& srq) {
    const auto queue = shared.rnic().create_shared_queue(
        of(pd).domain,
        {.depth = std::max(attributes.max_wr, 1U), .max_pieces = std::max(attributes.max_sge, 1U)});
    if (!queue) return errno_of(queue.error());
    srq.queue = *queue;
    srq.context = pd->context;
    srq.srq_context = asked->srq_context;
    srq.pd = pd;
    srq.handle = shared.next_number++;
    prepare_events(srq);
    shared.srq_by_handle[queue->value] = &srq;
    asked->attr.max_wr = std::max(attributes.max_wr, 1U);
    asked->attr.max_sge = std::max(attributes.max_sge, 1U);
    return 0;
  });
}

int modify_srq(ibv_srq* srq, const ibv_srq_attr* attributes, int mask) {
  return call([&](Engine& shared, Engine::Lock&) {
    if ((mask & IBV_SRQ_MAX_WR) != 0) {
      const auto done = shared.rnic().resize_shared_queue(of(srq).queue, attributes->max_wr);
      if (!done) return errno_of(done.error());
    }
    if ((mask & IBV_SRQ_LIMIT) == 0) return 0;
    const auto done = shared.rnic().arm_limit(of(srq).queue, attributes->srq_limit);
    return done ? 0 : errno_of(done.error());
  });
}

int query_srq(ibv_srq* srq, ibv_srq_attr* attributes) {
  return call([&](Engine& shared, Engine::Lock&) {
    const auto info = shared.rnic().query_shared_queue(of(srq).queue);
    if (!info) return errno_of(info.error());
    *attributes = {.max_wr = info->attributes.depth,
                   .max_sge = info->attributes.max_pieces,
                   .srq_limit = info->limit};
    return 0;
  });
}

int destroy_srq(ibv_srq* srq) {
  Srq& ours = of(srq);
  const int result = call([&](Engine& shared, Engine::Lock&) {
    const auto done = shared.rnic().destroy_shared_queue(ours.queue);
    if (!done) return errno_of(done.error());
    shared.srq_by_handle.erase(ours.queue.get().value);
    forget_events(srq->context, srq);
    return 0;
  });
  if (result != 0) return result;
  await_acknowledgements(*srq, [&] { return srq->events_completed == ours.events_reported; });
  delete &ours;
  return 0;
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad) {
  return call([&](Engine& shared, Engine::Lock&) {
    for (; wr != nullptr; wr = wr->next) {
      *bad = wr;
      verbs::ReceiveRequest request;
      if (const int error = fill(request, *wr); error != 0) return error;
      const auto done = shared.rnic().post_receive(of(srq).queue, std::span(&request, 1));
      if (!done) return errno_of(done.error().error);
    }
    return 0;
  });
}

}  // namespace rnic::rdma_core
