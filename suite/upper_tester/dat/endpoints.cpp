// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Endpoints and shared receive queues.
#include <algorithm>
#include <cerrno>

#include "suite/upper_tester/dat/dat_driver.hpp"
#include "suite/upper_tester/dat/names.hpp"

namespace suite::upper_tester::dat {
namespace {

constexpr std::uint64_t connection_events = 8;
constexpr DAT_COUNT usual_depth = 4;  ///< of RDMA Reads, until a connection asks for another

DAT_COUNT count(std::uint32_t wanted, DAT_COUNT most) {
  return static_cast<DAT_COUNT>(std::min<std::uint64_t>(wanted, static_cast<std::uint64_t>(most)));
}

}  // namespace

iut::Reply DatDriver::run(const iut::CreateSharedQueue& command) {
  if (command.queue == 0 || shared_queues_.count(command.queue) != 0)
    return exists("shared queue", command.queue);
  DAT_PZ_HANDLE zone = domain(command.domain);
  if (zone == nullptr) return no_such("domain", command.domain);
  DAT_SRQ_ATTR attr{};
  attr.max_recv_dtos = count(command.depth, attr_.max_recv_per_srq);
  attr.max_recv_iov = count(command.max_pieces, attr_.max_iov_segments_per_dto);
  attr.low_watermark = DAT_SRQ_LW_DEFAULT;
  Shared made;
  made.depth = command.depth;
  if (const DAT_RETURN code = dat_srq_create(ia_, zone, &attr, made.queue.out());
      code != DAT_SUCCESS)
    return failed("dat_srq_create", code);
  shared_queues_[command.queue] = std::move(made);
  return {};
}

iut::Reply DatDriver::run(const iut::ResizeSharedQueue& command) {
  const auto found = shared_queues_.find(command.queue);
  if (found == shared_queues_.end()) return no_such("shared queue", command.queue);
  if (const DAT_RETURN code =
          dat_srq_resize(found->second.queue.get(), static_cast<DAT_COUNT>(command.depth));
      code != DAT_SUCCESS)
    return failed("dat_srq_resize", code);
  return {};
}

iut::Reply DatDriver::run(const iut::DestroySharedQueue& command) {
  const auto found = shared_queues_.find(command.queue);
  if (found == shared_queues_.end()) return no_such("shared queue", command.queue);
  if (const DAT_RETURN code = found->second.queue.free_now(); code != DAT_SUCCESS)
    return failed("dat_srq_free", code);
  shared_queues_.erase(found);
  return {};
}

iut::Reply DatDriver::run(const iut::ArmSharedQueueLimit& command) {
  const auto found = shared_queues_.find(command.queue);
  if (found == shared_queues_.end()) return no_such("shared queue", command.queue);
  if (const DAT_RETURN code =
          dat_srq_set_lw(found->second.queue.get(), static_cast<DAT_COUNT>(command.limit));
      code != DAT_SUCCESS)
    return failed("dat_srq_set_lw", code);
  return {};
}

DAT_EP_ATTR DatDriver::attributes(const iut::CreateEndpoint& command) const {
  DAT_EP_ATTR attr{};
  attr.service_type = DAT_SERVICE_TYPE_RC;
  attr.max_message_size = attr_.max_message_size;
  attr.max_rdma_size = attr_.max_rdma_size;
  attr.qos = DAT_QOS_BEST_EFFORT;
  attr.recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
  attr.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
  attr.max_recv_dtos = count(command.receive_depth, attr_.max_dto_per_ep);
  attr.max_request_dtos = count(command.send_depth, attr_.max_dto_per_ep);
  attr.max_recv_iov = attr.max_request_iov =
      count(command.max_pieces, attr_.max_iov_segments_per_dto);
  attr.max_rdma_read_in = std::min(usual_depth, attr_.max_rdma_read_per_ep_in);
  attr.max_rdma_read_out = std::min(usual_depth, attr_.max_rdma_read_per_ep_out);
  attr.srq_soft_hw = DAT_HW_DEFAULT;
  attr.max_rdma_read_iov = count(command.max_pieces, attr_.max_iov_segments_per_rdma_read);
  attr.max_rdma_write_iov = count(command.max_pieces, attr_.max_iov_segments_per_rdma_write);
  return attr;
}

iut::Reply DatDriver::run(const iut::CreateEndpoint& command) {
  if (command.endpoint == 0 || endpoints_.count(command.endpoint) != 0)
    return exists("endpoint", command.endpoint);
  DAT_PZ_HANDLE zone = domain(command.domain);
  if (zone == nullptr) return no_such("domain", command.domain);
  DAT_SRQ_HANDLE shared = nullptr;
  std::uint64_t receive_depth = command.receive_depth;
  if (command.shared_queue != 0) {
    const auto found = shared_queues_.find(command.shared_queue);
    if (found == shared_queues_.end()) return no_such("shared queue", command.shared_queue);
    shared = found->second.queue.get();
    receive_depth = found->second.depth;
  }
  Endpoint made;
  made.drained = command.completion_depth == 0;
  if (!made.drained) receive_depth = command.completion_depth;
  const std::uint64_t send_depth = made.drained ? command.send_depth : command.completion_depth;
  for (std::string error :
       {make(made.receives, receive_depth, DAT_EVD_DTO_FLAG),
        make(made.requests, send_depth, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG),
        make(made.connection, connection_events, DAT_EVD_CONNECTION_FLAG)})
    if (!error.empty()) return refused(error, ENOMEM);
  const DAT_EP_ATTR attr = attributes(command);
  made.most_requests = static_cast<std::size_t>(attr.max_request_dtos);
  const DAT_RETURN code =
      shared == nullptr
          ? dat_ep_create(ia_, zone, made.receives.get(), made.requests.get(),
                          made.connection.get(), &attr, made.object.out())
          : dat_ep_create_with_srq(ia_, zone, made.receives.get(), made.requests.get(),
                                   made.connection.get(), shared, &attr, made.object.out());
  if (code != DAT_SUCCESS)
    return failed(shared == nullptr ? "dat_ep_create" : "dat_ep_create_with_srq", code);
  endpoints_[command.endpoint] = std::move(made);
  return {};
}

iut::Reply DatDriver::run(const iut::DestroyEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  give_up_waiting(found->second);
  const DAT_RETURN code = found->second.object.free_now();
  if (code != DAT_SUCCESS) return failed("dat_ep_free", code);
  endpoints_.erase(found);
  return {};
}

iut::Reply DatDriver::run(const iut::QueryEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
  DAT_BOOLEAN receives_idle = DAT_FALSE, requests_idle = DAT_FALSE;
  if (const DAT_RETURN code =
          dat_ep_get_status(found->second.object.get(), &state, &receives_idle, &requests_idle);
      code != DAT_SUCCESS)
    return failed("dat_ep_get_status", code);
  iut::Reply reply;
  reply.state = state_name(state);
  return reply;
}

iut::Reply DatDriver::run(const iut::AbortEndpoint&) {
  return unsupported("DAT has no error state to put an endpoint in that is not connected");
}

iut::Reply DatDriver::run(const iut::ResetEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  if (const DAT_RETURN code = dat_ep_reset(found->second.object.get()); code != DAT_SUCCESS)
    return failed("dat_ep_reset", code);
  return {};
}

}  // namespace suite::upper_tester::dat
