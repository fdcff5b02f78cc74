// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Endpoints and shared receive queues, and the asynchronous events about them.
#include <algorithm>
#include <cerrno>

#include "suite/upper_tester/verbs/names.hpp"
#include "suite/upper_tester/verbs/verbs_driver.hpp"

namespace suite::upper_tester::verbs {
namespace {

int move(ibv_qp* queue_pair, ibv_qp_state state, int more_mask = 0, unsigned access = 0) {
  ibv_qp_attr attributes{};
  attributes.qp_state = state;
  attributes.qp_access_flags = access;
  return ibv_modify_qp(queue_pair, &attributes, IBV_QP_STATE | more_mask);
}

}  // namespace

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::CreateSharedQueue& command) {
  if (command.queue == 0 || shared_queues_.count(command.queue) != 0)
    return exists("shared queue", command.queue);
  ibv_pd* owner = domain(command.domain);
  if (owner == nullptr) return no_such("domain", command.domain);
  ibv_srq_init_attr init{};
  init.attr.max_wr = command.depth;
  init.attr.max_sge = command.max_pieces;
  SharedReceiveQueue made(ibv_create_srq(owner, &init));
  if (made == nullptr) return failed("ibv_create_srq", errno);
  shared_queues_[command.queue] = std::move(made);
  return iut::Reply{};
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::ResizeSharedQueue& command) {
  const auto found = shared_queues_.find(command.queue);
  if (found == shared_queues_.end()) return no_such("shared queue", command.queue);
  if ((device_.attributes.device_cap_flags & IBV_DEVICE_SRQ_RESIZE) == 0)
    return unsupported("the device does not resize shared receive queues");
  ibv_srq_attr attributes{};
  attributes.max_wr = command.depth;
  if (const int error = ibv_modify_srq(found->second.get(), &attributes, IBV_SRQ_MAX_WR);
      error != 0)
    return failed("ibv_modify_srq", error);
  return iut::Reply{};
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::DestroySharedQueue& command) {
  const auto found = shared_queues_.find(command.queue);
  if (found == shared_queues_.end()) return no_such("shared queue", command.queue);
  if (const int error = destroy_now(found->second); error != 0)
    return failed("ibv_destroy_srq", error);
  shared_queues_.erase(found);
  return iut::Reply{};
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::ArmSharedQueueLimit& command) {
  const auto found = shared_queues_.find(command.queue);
  if (found == shared_queues_.end()) return no_such("shared queue", command.queue);
  ibv_srq_attr attributes{};
  attributes.srq_limit = command.limit;
  if (const int error = ibv_modify_srq(found->second.get(), &attributes, IBV_SRQ_LIMIT); error != 0)
    return failed("ibv_modify_srq", error);
  return iut::Reply{};
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::CreateCompletionQueue& command) {
  if (command.queue == 0 || completion_queues_.count(command.queue) != 0)
    return exists("completion queue", command.queue);
  SharedCompletions made;
  made.token = next_token_++;
  made.solicited_only = command.solicited_only;
  made.armed_once = command.armed_once.value_or(false);
  made.queue.reset(ibv_create_cq(device_.context.get(), static_cast<int>(command.depth),
                                 reinterpret_cast<void*>(made.token), completion_channel_.get(),
                                 0));
  if (made.queue == nullptr) return failed("ibv_create_cq", errno);
  if (const int error = ibv_req_notify_cq(made.queue.get(), made.solicited_only ? 1 : 0);
      error != 0)
    return failed("ibv_req_notify_cq", error);
  completion_queues_[command.queue] = std::move(made);
  return iut::Reply{};
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::DestroyCompletionQueue& command) {
  const auto found = completion_queues_.find(command.queue);
  if (found == completion_queues_.end()) return no_such("completion queue", command.queue);
  if (const int error = destroy_now(found->second.queue); error != 0)
    return failed("ibv_destroy_cq", error);
  completion_queues_.erase(found);
  return iut::Reply{};
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::ArmCompletionQueue& command) {
  const auto found = completion_queues_.find(command.queue);
  if (found == completion_queues_.end()) return no_such("completion queue", command.queue);
  if (const int error =
          ibv_req_notify_cq(found->second.queue.get(), command.solicited_only ? 1 : 0);
      error != 0)
    return failed("ibv_req_notify_cq", error);
  return iut::Reply{};
}

/// Has room for all that can be posted at one time, or is so small that it overflows, since no
/// completion is taken from it.
VerbsDriver::Answer VerbsDriver::make_completion_queue(Endpoint& endpoint,
                                                       const iut::CreateEndpoint& command) {
  const bool drained = command.completion_depth == 0;
  const auto entries = std::min<std::uint64_t>(
      drained ? std::uint64_t{command.send_depth} + std::max(command.receive_depth, 1U)
              : command.completion_depth,
      static_cast<std::uint64_t>(device_.attributes.max_cqe));
  endpoint.completions.reset(ibv_create_cq(device_.context.get(), static_cast<int>(entries),
                                           reinterpret_cast<void*>(endpoint.token),
                                           completion_channel_.get(), 0));
  if (endpoint.completions == nullptr) return failed("ibv_create_cq", errno);
  if (!drained) return std::nullopt;
  if (const int error = ibv_req_notify_cq(endpoint.completions.get(), 0); error != 0)
    return failed("ibv_req_notify_cq", error);
  return std::nullopt;
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::CreateEndpoint& command) {
  if (command.endpoint == 0 || endpoints_.count(command.endpoint) != 0)
    return exists("endpoint", command.endpoint);
  ibv_pd* owner = domain(command.domain);
  if (owner == nullptr) return no_such("domain", command.domain);
  ibv_qp_init_attr init{};
  if (command.shared_queue != 0) {
    const auto shared = shared_queues_.find(command.shared_queue);
    if (shared == shared_queues_.end()) return no_such("shared queue", command.shared_queue);
    init.srq = shared->second.get();
  }

  Endpoint endpoint;
  endpoint.link = Link(command.endpoint);
  endpoint.token = next_token_++;
  endpoint.access = access_of(command);
  endpoint.link.signal_all(command.signal_all.value_or(false));
  if (command.completion_queue != 0) {
    const auto shared = completion_queues_.find(command.completion_queue);
    if (shared == completion_queues_.end())
      return no_such("completion queue", command.completion_queue);
    init.send_cq = init.recv_cq = shared->second.queue.get();
  } else {
    if (auto reply = make_completion_queue(endpoint, command)) return reply;
    init.send_cq = init.recv_cq = endpoint.completions.get();
  }
  init.cap.max_inline_data = command.max_inline;
  init.cap.max_send_wr = command.send_depth;
  init.cap.max_recv_wr = command.receive_depth;  // ignored if there is a shared queue
  init.cap.max_send_sge = init.cap.max_recv_sge = command.max_pieces;
  init.qp_type = IBV_QPT_RC;
  init.sq_sig_all = command.signal_all.value_or(false) ? 1 : 0;
  endpoint.queue_pair.reset(ibv_create_qp(owner, &init));
  if (endpoint.queue_pair == nullptr) return failed("ibv_create_qp", errno);
  endpoint.capacity = init.cap;
  if (const int error = make_ready(endpoint); error != 0)
    return failed("ibv_modify_qp to INIT", error);
  endpoints_[command.endpoint] = std::move(endpoint);
  return iut::Reply{};
}

/// Open to what regions and windows allow, unless the command says less.
unsigned VerbsDriver::access_of(const iut::CreateEndpoint& command) const {
  if (command.access) return static_cast<unsigned>(access_flags(*command.access));
  unsigned access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  if (device_.attributes.atomic_cap != IBV_ATOMIC_NONE) access |= IBV_ACCESS_REMOTE_ATOMIC;
  return access;
}

/// The state in which rdma_create_qp would leave it: ready to take receives.
int VerbsDriver::make_ready(const Endpoint& endpoint) {
  return move(endpoint.queue_pair.get(), IBV_QPS_INIT, IBV_QP_ACCESS_FLAGS, endpoint.access);
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::DestroyEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  if (const auto cancelled = found->second.link.cancelled()) emit(*cancelled);
  const std::string error = release(found->second);
  endpoints_.erase(found);
  if (!error.empty()) return refused(error, EBUSY);
  return iut::Reply{};
}

/// Ends a connection abortively and releases everything, in the order that librdmacm requires.
std::string VerbsDriver::release(Endpoint& endpoint) {
  if (endpoint.link.state() != Link::State::idle && endpoint.queue_pair != nullptr)
    move(endpoint.queue_pair.get(), IBV_QPS_ERR);  // it may be in this state already
  if (const int error = destroy_now(endpoint.queue_pair); error != 0)
    return failed("ibv_destroy_qp", error).error;
  if (destroy_now(endpoint.id) != 0) return failed("rdma_destroy_id", errno).error;
  if (const int error = destroy_now(endpoint.completions); error != 0)
    return failed("ibv_destroy_cq", error).error;
  return {};
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::SetEndpointAccess& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  ibv_qp_attr attributes{};
  attributes.qp_access_flags = static_cast<unsigned>(access_flags(command.access));
  if (const int error =
          ibv_modify_qp(found->second.queue_pair.get(), &attributes, IBV_QP_ACCESS_FLAGS);
      error != 0)
    return failed("ibv_modify_qp of the access flags", error);
  found->second.access = attributes.qp_access_flags;
  return iut::Reply{};
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::QueryEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  const Endpoint& endpoint = found->second;
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  constexpr int wanted = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS;
  if (const int error = ibv_query_qp(endpoint.queue_pair.get(), &attributes, wanted, &init);
      error != 0)
    return failed("ibv_query_qp", error);
  iut::Reply reply;
  reply.state = endpoint.link.state_name();
  // The queue pair knows of an error before the connection manager reports it.
  if (attributes.qp_state == IBV_QPS_ERR) reply.state = "error";
  const ibv_qp_cap& cap = endpoint.capacity;
  // Of a queue pair with a shared receive queue the capacity for receives is not its own.
  const std::uint32_t pieces =
      init.srq != nullptr ? cap.max_send_sge : std::min(cap.max_send_sge, cap.max_recv_sge);
  reply.attributes = {cap.max_send_wr, cap.max_recv_wr, pieces, cap.max_inline_data,
                      access_named(attributes.qp_access_flags)};
  return reply;
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::AbortEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  if (const int error = move(found->second.queue_pair.get(), IBV_QPS_ERR); error != 0)
    return failed("ibv_modify_qp to ERROR", error);
  found->second.link.aborted();
  return iut::Reply{};
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::ResetEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  Endpoint& endpoint = found->second;
  if (auto reply = endpoint.link.refuse_reset()) return reply;
  if (destroy_now(endpoint.id) != 0) return failed("rdma_destroy_id", errno);
  if (const int error = move(endpoint.queue_pair.get(), IBV_QPS_RESET); error != 0)
    return failed("ibv_modify_qp to RESET", error);
  if (const int error = make_ready(endpoint); error != 0)
    return failed("ibv_modify_qp to INIT", error);
  endpoint.link.reset();
  return iut::Reply{};
}

void VerbsDriver::take_asynchronous_events() {
  ibv_async_event event{};
  while (ibv_get_async_event(device_.context.get(), &event) == 0) {
    if (const auto kind = asynchronous_name(event.event_type)) take(event, *kind);
    ibv_ack_async_event(&event);
  }
}

void VerbsDriver::take(const ibv_async_event& event, const char* kind) {
  iut::AsynchronousEvent reported;
  reported.kind = kind;
  reported.detail = ibv_event_type_str(event.event_type);
  switch (event.event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      for (const auto& [handle, endpoint] : endpoints_)
        if (endpoint.queue_pair.get() == event.element.qp) reported.endpoint = handle;
      break;
    case IBV_EVENT_CQ_ERR:
      for (const auto& [handle, endpoint] : endpoints_)
        if (endpoint.completions.get() == event.element.cq) reported.endpoint = handle;
      for (const auto& [handle, shared] : completion_queues_)
        if (shared.queue.get() == event.element.cq) reported.completion_queue = handle;
      break;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      for (const auto& [handle, queue] : shared_queues_)
        if (queue.get() == event.element.srq) reported.shared_queue = handle;
      break;
    default:
      break;
  }
  emit(reported);
}

}  // namespace suite::upper_tester::verbs
