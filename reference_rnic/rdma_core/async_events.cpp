// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/rdma_core/async_events.hpp"

#include "reference_rnic/rdma_core/objects.hpp"

namespace rnic::rdma_core {

namespace {

template <typename Table, typename Handle>
auto* find(Table& table, Handle handle) {
  const auto found = table.find(handle.value);
  return found == table.end() ? nullptr : found->second;
}

/// The object that an event is about.
const void* object_of(const ibv_async_event& event) {
  switch (event.event_type) {
    case IBV_EVENT_CQ_ERR:
      return event.element.cq;
    case IBV_EVENT_SRQ_LIMIT_REACHED:
    case IBV_EVENT_SRQ_ERR:
      return event.element.srq;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return event.element.qp;
    default:
      return nullptr;
  }
}

void push(ibv_context* context, ibv_async_event event) { of(context).async_events.push(event); }

void announce_qp(Qp& qp, ibv_event_type type) {
  ibv_async_event event{};
  event.element.qp = qp.plain();
  event.event_type = type;
  push(qp.plain()->context, event);
}

}  // namespace

void announce(Engine& shared, const verbs::AsyncEvent& raised) {
  using enum verbs::AsyncKind;
  Qp* qp = find(shared.qp_by_handle, raised.queue_pair);
  ibv_async_event event{};
  switch (raised.kind) {
    case queue_pair_fatal:
    case terminate_received:
      if (qp != nullptr) announce_qp(*qp, IBV_EVENT_QP_FATAL);
      return;
    case queue_pair_access_error:
      if (qp != nullptr) announce_qp(*qp, IBV_EVENT_QP_ACCESS_ERR);
      return;
    case queue_pair_request_error:
      if (qp != nullptr) announce_qp(*qp, IBV_EVENT_QP_REQ_ERR);
      return;
    case last_buffer:
      if (qp != nullptr) announce_qp(*qp, IBV_EVENT_QP_LAST_WQE_REACHED);
      return;
    case completion_queue_error:
      if (Cq* cq = find(shared.cq_by_handle, raised.completion_queue)) {
        event.element.cq = cq->plain();
        event.event_type = IBV_EVENT_CQ_ERR;
        push(cq->shown.context, event);
      }
      return;
    case shared_queue_limit:
      if (Srq* srq = find(shared.srq_by_handle, raised.shared_queue)) {
        event.element.srq = srq;
        event.event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
        push(srq->context, event);
      }
      return;
    case device_fatal:
      return;
  }
}

int get_async_event(ibv_context* context, ibv_async_event* event) {
  Context& ours = of(context);
  if (ours.async_events.inherited()) {
    errno = ENODEV;
    return -1;
  }
  for (;;) {
    if (!EventQueue<ibv_async_event>::take_token(ours.async_events.descriptor())) return -1;
    const auto lock = engine().lock();
    const auto taken = ours.async_events.pop();
    if (!taken) continue;
    *event = *taken;
    const void* object = object_of(*event);
    if (object == nullptr) return 0;
    if (event->event_type == IBV_EVENT_CQ_ERR)
      ++of(event->element.cq).async_events_reported;
    else if (object == event->element.srq && event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED)
      ++of(event->element.srq).events_reported;
    else
      ++of(event->element.qp).events_reported;
    return 0;
  }
}

void ack_async_event(ibv_async_event* event) {
  const auto count = [](auto& object, std::uint32_t& completed) {
    pthread_mutex_lock(&object.mutex);
    ++completed;
    pthread_cond_signal(&object.cond);
    pthread_mutex_unlock(&object.mutex);
  };
  if (object_of(*event) == nullptr) return;
  switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
      return count(*event->element.cq, event->element.cq->async_events_completed);
    case IBV_EVENT_SRQ_LIMIT_REACHED:
    case IBV_EVENT_SRQ_ERR:
      return count(*event->element.srq, event->element.srq->events_completed);
    default:
      return count(*event->element.qp, event->element.qp->events_completed);
  }
}

void forget_events(ibv_context* context, const void* object) {
  of(context).async_events.remove(
      [&](const ibv_async_event& event) { return object_of(event) == object; },
      [](const ibv_async_event&) {});
}

}  // namespace rnic::rdma_core
