// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Endpoints and shared receive queues, and the asynchronous events about them.
#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>

#include "suite/upper_tester/common_replies.hpp"
#include "suite/upper_tester/kverbs/kverbs_driver.hpp"
#include "suite/upper_tester/verbs/names.hpp"

namespace suite::upper_tester::kverbs {

using verbs::failed;

namespace {

/// In a completion queue that endpoints share, for two requests of each of them.
constexpr std::uint32_t room_for_drains = 32;

}  // namespace

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::CreateSharedQueue& command) {
  if (command.queue == 0 || shared_queues_.count(command.queue) != 0)
    return exists("shared queue", command.queue);
  const auto owner = domains_.find(command.domain);
  if (owner == domains_.end()) return no_such("domain", command.domain);
  rnic_kagent_srq made{};
  made.pd = owner->second.object;
  made.max_wr = command.depth;
  made.max_sge = command.max_pieces;
  if (const int error = file_.call(RNIC_KAGENT_CREATE_SRQ, made); error != 0)
    return failed("ib_create_srq", error);
  shared_queues_[command.queue] = made.handle;
  return iut::Reply{};
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::ResizeSharedQueue& command) {
  const auto found = shared_queues_.find(command.queue);
  if (found == shared_queues_.end()) return no_such("shared queue", command.queue);
  if ((device_.device_cap_flags & IBV_DEVICE_SRQ_RESIZE) == 0)
    return unsupported("the device does not resize shared receive queues");
  rnic_kagent_modify_srq modify{};
  modify.srq = found->second;
  modify.mask = IBV_SRQ_MAX_WR;
  modify.max_wr = command.depth;
  if (const int error = file_.call(RNIC_KAGENT_MODIFY_SRQ, modify); error != 0)
    return failed("ib_modify_srq", error);
  return iut::Reply{};
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::DestroySharedQueue& command) {
  const auto found = shared_queues_.find(command.queue);
  if (found == shared_queues_.end()) return no_such("shared queue", command.queue);
  if (const int error = file_.destroy(found->second); error != 0)
    return failed("ib_destroy_srq", error);
  shared_queues_.erase(found);
  return iut::Reply{};
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::ArmSharedQueueLimit& command) {
  const auto found = shared_queues_.find(command.queue);
  if (found == shared_queues_.end()) return no_such("shared queue", command.queue);
  rnic_kagent_modify_srq modify{};
  modify.srq = found->second;
  modify.mask = IBV_SRQ_LIMIT;
  modify.srq_limit = command.limit;
  if (const int error = file_.call(RNIC_KAGENT_MODIFY_SRQ, modify); error != 0)
    return failed("ib_modify_srq", error);
  return iut::Reply{};
}

/// Of a shared queue, whose consumer the kernel wakes for every completion.
KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::CreateCompletionQueue& command) {
  if (command.queue == 0 || completion_queues_.count(command.queue) != 0)
    return exists("completion queue", command.queue);
  if (command.solicited_only || command.armed_once.value_or(false))
    return unsupported("ib_alloc_cq arms its queue for all completions, again and again");
  rnic_kagent_cq made{};
  made.entries =
      std::min(command.depth + room_for_drains, static_cast<std::uint32_t>(device_.max_cqe));
  made.poll = RNIC_KAGENT_POLL_SOFTIRQ;
  if (const int error = file_.call(RNIC_KAGENT_CREATE_CQ, made); error != 0)
    return failed("ib_alloc_cq", error);
  completion_queues_[command.queue] = made.handle;
  return iut::Reply{};
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::DestroyCompletionQueue& command) {
  const auto found = completion_queues_.find(command.queue);
  if (found == completion_queues_.end()) return no_such("completion queue", command.queue);
  if (const int error = file_.destroy(found->second); error != 0)
    return failed("ib_free_cq", error);
  completion_queues_.erase(found);
  return iut::Reply{};
}

/// The one that the command names; or one of its own with so many entries, or that is so small that
/// it overflows, since no completion is taken from it.
KverbsDriver::Answer KverbsDriver::make_completions(Endpoint& endpoint,
                                                    const iut::CreateEndpoint& command,
                                                    std::uint64_t entries) {
  if (command.completion_queue != 0) {
    const auto found = completion_queues_.find(command.completion_queue);
    if (found == completion_queues_.end())
      return no_such("completion queue", command.completion_queue);
    endpoint.completions = found->second;
    endpoint.shares_completions = true;
    return std::nullopt;
  }
  const bool taken = command.completion_depth == 0;
  rnic_kagent_cq made{};
  made.entries = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      taken ? entries : command.completion_depth, static_cast<std::uint64_t>(device_.max_cqe)));
  made.poll = taken ? RNIC_KAGENT_POLL_SOFTIRQ : RNIC_KAGENT_POLL_NEVER;
  if (const int error = file_.call(RNIC_KAGENT_CREATE_CQ, made); error != 0)
    return failed(taken ? "ib_alloc_cq" : "ib_create_cq", error);
  endpoint.completions = made.handle;
  return std::nullopt;
}

/// The queues have room for the request by which ib_drain_qp finds their end.
KverbsDriver::Answer KverbsDriver::make_queues(Endpoint& endpoint,
                                               const iut::CreateEndpoint& command, Object domain,
                                               Object shared) {
  const auto with_drain = [this](std::uint32_t depth) {
    const auto most = static_cast<std::uint32_t>(device_.max_qp_wr);
    return depth < most ? depth + 1 : depth;
  };
  rnic_kagent_qp made{};
  made.max_send_wr = with_drain(command.send_depth);
  made.max_recv_wr = with_drain(command.receive_depth);  // ignored if there is a shared queue
  const auto entries =
      std::uint64_t{made.max_send_wr} + std::max(with_drain(command.receive_depth), 1U);
  if (auto reply = make_completions(endpoint, command, entries)) return reply;
  endpoint.drainable = command.completion_depth == 0 && made.max_send_wr > command.send_depth &&
                       (shared != 0 || made.max_recv_wr > command.receive_depth);

  made.pd = domain;
  made.cq = endpoint.completions;
  made.srq = shared;
  made.sq_sig_all = command.signal_all.value_or(false) ? 1 : 0;
  made.max_send_sge = made.max_recv_sge = command.max_pieces;
  if (const int error = file_.call(RNIC_KAGENT_CREATE_QP, made); error != 0) {
    if (!endpoint.shares_completions) static_cast<void>(file_.destroy(endpoint.completions));
    return failed("ib_create_qp", error);
  }
  endpoint.queue_pair = made.handle;
  return std::nullopt;
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::CreateEndpoint& command) {
  if (command.endpoint == 0 || endpoints_.count(command.endpoint) != 0)
    return exists("endpoint", command.endpoint);
  const auto owner = domains_.find(command.domain);
  if (owner == domains_.end()) return no_such("domain", command.domain);
  Object shared = 0;
  if (command.shared_queue != 0) {
    const auto found = shared_queues_.find(command.shared_queue);
    if (found == shared_queues_.end()) return no_such("shared queue", command.shared_queue);
    shared = found->second;
  }
  Endpoint endpoint;
  endpoint.link = verbs::Link(command.endpoint);
  endpoint.link.signal_all(command.signal_all.value_or(false));
  endpoint.access = access_of(command);
  if (auto reply = make_queues(endpoint, command, owner->second.object, shared)) return reply;
  if (const int error = modify(endpoint.queue_pair, RNIC_KAGENT_QPS_INIT, endpoint.access);
      error != 0) {
    static_cast<void>(release(endpoint));
    return failed("ib_modify_qp to INIT", error);
  }
  endpoints_[command.endpoint] = std::move(endpoint);
  return iut::Reply{};
}

/// Open to what regions allow, as rdma_create_qp leaves it, unless the command says less.
std::uint32_t KverbsDriver::access_of(const iut::CreateEndpoint& command) const {
  if (command.access) return static_cast<std::uint32_t>(verbs::access_flags(*command.access));
  std::uint32_t access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  if (device_.atomic_cap != IBV_ATOMIC_NONE) access |= IBV_ACCESS_REMOTE_ATOMIC;
  return access;
}

int KverbsDriver::modify(Object queue_pair, std::uint32_t state, std::uint32_t access) const {
  rnic_kagent_qp_attr attributes{};
  attributes.qp = queue_pair;
  attributes.state = state;
  attributes.access = access;
  return file_.call(RNIC_KAGENT_MODIFY_QP, attributes);
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::SetEndpointAccess& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  const auto access = static_cast<std::uint32_t>(verbs::access_flags(command.access));
  if (const int error = modify(found->second.queue_pair, RNIC_KAGENT_QPS_KEPT, access); error != 0)
    return failed("ib_modify_qp of the access flags", error);
  found->second.access = access;
  return iut::Reply{};
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::DestroyEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  if (const auto cancelled = found->second.link.cancelled()) emit(*cancelled);
  const std::string error = release(found->second);
  endpoints_.erase(found);
  if (!error.empty()) return refused(error, EBUSY);
  return iut::Reply{};
}

/// Ends a connection abortively, waits for the end of what is posted, as kernel consumers do, and
/// releases everything.
std::string KverbsDriver::release(Endpoint& endpoint) {
  std::string errors;
  if (endpoint.link.state() != verbs::Link::State::idle)  // it may be in this state already
    static_cast<void>(modify(endpoint.queue_pair, RNIC_KAGENT_QPS_ERR));
  if (endpoint.link.has_been_connected() && endpoint.drainable) {
    rnic_kagent_object queue_pair{};
    queue_pair.handle = endpoint.queue_pair;
    note_failure(errors, "ib_drain_qp", file_.call(RNIC_KAGENT_DRAIN_QP, queue_pair));
  }
  note_failure(errors, "ib_destroy_qp", file_.destroy(endpoint.queue_pair));
  note_failure(errors, "rdma_destroy_id", file_.destroy(endpoint.id));
  if (!endpoint.shares_completions)
    note_failure(errors, "ib_free_cq", file_.destroy(endpoint.completions));
  return errors;
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::QueryEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  rnic_kagent_qp_attr attributes{};
  attributes.qp = found->second.queue_pair;
  if (const int error = file_.call(RNIC_KAGENT_QUERY_QP, attributes); error != 0)
    return failed("ib_query_qp", error);
  iut::Reply reply;
  reply.state = found->second.link.state_name();
  // The queue pair knows of an error before the connection manager reports it.
  if (attributes.state == IBV_QPS_ERR) reply.state = "error";
  return reply;
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::AbortEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  if (const int error = modify(found->second.queue_pair, RNIC_KAGENT_QPS_ERR); error != 0)
    return failed("ib_modify_qp to ERROR", error);
  found->second.link.aborted();
  return iut::Reply{};
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::ResetEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  Endpoint& endpoint = found->second;
  if (auto reply = endpoint.link.refuse_reset()) return reply;
  if (const int error = file_.destroy(endpoint.id); error != 0)
    return failed("rdma_destroy_id", error);
  endpoint.id = 0;
  if (const int error = modify(endpoint.queue_pair, RNIC_KAGENT_QPS_RESET); error != 0)
    return failed("ib_modify_qp to RESET", error);
  if (const int error = modify(endpoint.queue_pair, RNIC_KAGENT_QPS_INIT, endpoint.access);
      error != 0)
    return failed("ib_modify_qp to INIT", error);
  endpoint.link.reset();
  return iut::Reply{};
}

void KverbsDriver::take_asynchronous_event(const rnic_kagent_event& event) {
  iut::AsynchronousEvent reported;
  if (event.type == RNIC_KAGENT_EVENT_REMOVED) {
    reported.kind = "device_fatal";
    reported.detail = "the device was removed, and with it all that it had";
    return emit(reported);
  }
  const auto type = static_cast<ibv_event_type>(event.code);
  const auto kind = verbs::asynchronous_name(type);
  if (!kind) return;
  reported.kind = *kind;
  reported.detail = ibv_event_type_str(type);
  if (const Endpoint* endpoint = endpoint_of(event.handle))
    reported.endpoint = endpoint->link.endpoint();
  for (const auto& [handle, queue] : shared_queues_)
    if (queue == event.handle) reported.detail += " on shared queue " + std::to_string(handle);
  emit(reported);
}

}  // namespace suite::upper_tester::kverbs
