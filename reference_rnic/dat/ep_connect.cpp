// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The connections of an Endpoint: requested, accepted, established, ended.
#include <netinet/in.h>

#include <algorithm>
#include <chrono>

#include "reference_rnic/access/consumer_setup.hpp"
#include "reference_rnic/dat/calls.hpp"
#include "reference_rnic/dat/cr.hpp"
#include "reference_rnic/dat/csp.hpp"
#include "reference_rnic/dat/ep.hpp"
#include "reference_rnic/dat/private_data.hpp"
#include "reference_rnic/dat/rmr.hpp"

namespace rnic::dat {

// ---- the queue pair ----

std::expected<void, verbs::Error> Ep::open_pair() {
  const auto at_least_one = [](DAT_COUNT count) {
    return static_cast<std::uint32_t>(std::max(count, 1));
  };
  const auto made = ia->rnic().create_queue_pair(
      {.domain = pz->domain,
       .send_completions = ia->completions(),
       .receive_completions = ia->completions(),
       .shared_queue = srq ? srq->queue : verbs::SharedQueueHandle{},
       .send_depth = at_least_one(attr.max_request_dtos * std::max(attr.max_rdma_read_iov, 1)),
       .receive_depth = at_least_one(attr.max_recv_dtos),
       .max_pieces = limits::segments});
  if (!made) return std::unexpected(made.error());
  pair = *made;
  ia->by_pair[pair.value] = this;
  const std::vector<verbs::ReceiveRequest> waiting(preposted_.begin(), preposted_.end());
  if (const auto posted = ia->rnic().post_receive(pair, waiting); !posted && !srq)
    return std::unexpected(posted.error().error);
  return {};
}

void Ep::close_pair() {
  if (!pair) return;
  ia->manager().drop(pair);
  static_cast<void>(ia->rnic().destroy_queue_pair(pair));
  for (Rmr* rmr : engine().handles().all<Rmr>())
    if (rmr->ia == ia) rmr->outlive(pair);
  ia->by_pair.erase(pair.value);
  pair = {};
}

access::ConnectParameters Ep::parameters(std::span<const std::byte> private_data) const {
  return {.ird = static_cast<std::uint16_t>(attr.max_rdma_read_in),
          .ord = static_cast<std::uint16_t>(attr.max_rdma_read_out),
          .private_data = {private_data.begin(), private_data.end()}};
}

// ---- requested ----

namespace {

/// If the consumer sets no limit, the LLP's own limits end the attempt.
base::Duration startup_timeout(DAT_TIMEOUT timeout) {
  if (timeout == DAT_TIMEOUT_INFINITE) return std::chrono::hours(24);
  return std::chrono::microseconds(timeout);
}

}  // namespace

DAT_RETURN Ep::connect(const Request& request) {
  if (const DAT_RETURN fault = admits(EpInput::connect_asked); fault != DAT_SUCCESS) return fault;
  if (!configured()) return invalid_state(shown());
  if (!open_pair()) {
    close_pair();
    return failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
  }
  const auto started = start(request);
  if (!started) {
    close_pair();
    borrowed.reset();
    return failure(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNREACHABLE);
  }
  cause_ = {};
  limited_ = request.timeout != DAT_TIMEOUT_INFINITE;
  target = remote = request.remote;
  comm = tcp_comm(remote.family);
  move(EpInput::connect_asked);
  preposted_.clear();
  return DAT_SUCCESS;
}

auto Ep::start(const Request& request) -> std::expected<access::ConnectionId, access::Failure> {
  access::StartupOptions options = access::consumer_startup();
  options.startup_timeout = startup_timeout(request.timeout);
  const access::ConnectParameters said = parameters(request.private_data);
  borrowed.reset();
  if (!request.socket) return ia->manager().connect(pair, request.remote, options, said);
  borrowed =
      std::make_shared<BorrowedSocket>(BorrowedSocket{.socket = *request.socket, .down = nullptr});
  return ia->manager().connect_over(borrow(ia->loop(), borrowed), pair, options, said);
}

DAT_RETURN Ep::accept(const Cr& cr, std::span<const std::byte> private_data) {
  if (const DAT_RETURN fault = admits(EpInput::accepted_here); fault != DAT_SUCCESS) return fault;
  if (!configured()) return invalid_state(shown());
  if (!open_pair()) {
    close_pair();
    return failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
  }
  cause_ = {};
  comm = tcp_comm(ia->registration().address.family);
  local = cr.local;
  remote = cr.remote;
  move(EpInput::accepted_here);
  preposted_.clear();
  access::ConnectParameters said = parameters(private_data);
  // The peer would have to refuse more Reads than it serves (RFC 6581 section 9.1).
  if (cr.depths && cr.depths->ird != wire::read_depth_unnegotiated)
    said.ord = std::min(*said.ord, cr.depths->ird);
  const auto accepted = ia->manager().accept(cr.connection, pair, said);
  if (!accepted) {  // the peer has given up; reported to the consumer like any failure
    static_cast<void>(ia->rnic().abort(pair));
    end_attempt(DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
  }
  return DAT_SUCCESS;
}

DAT_RETURN Ep::disconnect(bool abrupt) {
  if (const DAT_RETURN fault = admits(EpInput::disconnect_asked); fault != DAT_SUCCESS)
    return fault;
  const DAT_EP_STATE before = state;
  if (before == DAT_EP_STATE_DISCONNECTED) return DAT_SUCCESS;
  move(EpInput::disconnect_asked);
  if (before == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING ||
      before == DAT_EP_STATE_COMPLETION_PENDING) {
    ia->manager().drop(pair);
    static_cast<void>(ia->rnic().abort(pair));
    post_connection_event(DAT_CONNECTION_EVENT_DISCONNECTED);
    release_held();
    return DAT_SUCCESS;
  }
  cause_.asked_here = true;
  // With no outstanding work, an abrupt close is the same as a graceful one.
  const bool cut = abrupt && requests > 0;
  if (before == DAT_EP_STATE_CONNECTED || cut)
    static_cast<void>(ia->manager().disconnect(pair, cut));
  return DAT_SUCCESS;
}

void Ep::rejected() {
  borrowed.reset();
  local = remote = {};
  move(EpInput::rejected_here);
}

void Ep::reset() {
  if (state == DAT_EP_STATE_UNCONNECTED) return;
  close_pair();
  posted_receives_ = {};
  std::exchange(posted_, {}).for_each([this](const Posted& posted) {
    if (posted.sink) static_cast<void>(ia->rnic().deregister(posted.sink));
  });
  receives = requests = 0;
  local = remote = target = {};
  comm = {};
  private_data_.clear();
  borrowed.reset();
  move(EpInput::reset_asked);
}

// ---- events of the connection ----

/// What came with an acceptance is the consumer's until the endpoint is unconnected again, also after
/// the event of the end, which has no data (dat_evd_wait).
void Ep::post_connection_event(DAT_EVENT_NUMBER number, std::vector<std::byte> data) {
  const std::size_t size = data.size();
  if (size > 0) private_data_ = std::move(data);
  if (!connect_evd) return;
  DAT_EVENT event{};
  event.event_number = number;
  event.event_data.connect_event_data = {
      .ep_handle = handle,
      .private_data_size = static_cast<DAT_COUNT>(size),
      .private_data = size == 0 ? nullptr : private_data_.data()};
  connect_evd->post(event);
}

void Ep::happened(const access::ConnectionEstablished& event) {
  if (state != DAT_EP_STATE_ACTIVE_CONNECTION_PENDING && state != DAT_EP_STATE_COMPLETION_PENDING)
    return;
  move(EpInput::established);
  read_credits = event.negotiated.ord;
  if (borrowed) borrowed->kept = true;
  if (const auto addresses = ia->manager().addresses(pair)) {
    local = addresses->local;
    remote = addresses->remote;
  }
  post_connection_event(DAT_CONNECTION_EVENT_ESTABLISHED, event.private_data);
  release_held();
}

void Ep::end_attempt(DAT_EVENT_NUMBER number, std::vector<std::byte> data) {
  move(EpInput::not_established);
  post_connection_event(number, std::move(data));
  ia->drain();
  release_held();
}

void Ep::happened(const access::ConnectionRejected& event) {
  if (state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING)
    end_attempt(DAT_CONNECTION_EVENT_PEER_REJECTED, event.private_data);
}

void Ep::happened(const access::ConnectionFailed& event) {
  if (state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING)
    end_attempt(connect_event(event.failure, limited_));
  else if (state == DAT_EP_STATE_COMPLETION_PENDING)
    end_attempt(DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
}

void Ep::happened(const access::ConnectionEnded& event) {
  if (state != DAT_EP_STATE_CONNECTED && state != DAT_EP_STATE_DISCONNECT_PENDING) return;
  cause_.orderly = event.orderly;
  move(EpInput::ended);
  post_connection_event(end_event(cause_));
}

void Ep::faulted(const verbs::AsyncEvent& event) {
  if (event.kind == verbs::AsyncKind::terminate_received) cause_.received = event.cause;
}

// ---- calls ----

namespace calls {

namespace {

DAT_RETURN admit_qos(DAT_QOS qos) {
  return qos == DAT_QOS_BEST_EFFORT ? static_cast<DAT_RETURN>(DAT_SUCCESS)
                                    : failure(DAT_MODEL_NOT_SUPPORTED);
}

}  // namespace

DAT_RETURN ep_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL conn_qual,
                      DAT_TIMEOUT timeout, DAT_COUNT size, const DAT_PVOID data, DAT_QOS qos,
                      DAT_CONNECT_FLAGS flags) {
  return call_on<Ep>(ep_handle, [&](Ep& ep) -> DAT_RETURN {
    if (address == nullptr) return invalid_parameter(2);
    if (conn_qual == 0 || conn_qual > 0xFFFF) return invalid_parameter(3);
    if (timeout == 0) return invalid_parameter(4);
    const auto private_data = read_private_data(size, data, 5);
    if (!private_data) return private_data.error();
    if (const DAT_RETURN fault = admit_qos(qos); fault != DAT_SUCCESS) return fault;
    if (exceeds(flags, 3)) return invalid_parameter(8);
    if (has(flags, DAT_CONNECT_MULTIPATH_REQUIRED_FLAG)) return failure(DAT_MODEL_NOT_SUPPORTED);
    const auto remote = read_address(address);
    if (!remote) return remote.error();
    if (remote->family != ep.ia->registration().address.family)
      return failure(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNREACHABLE);
    return ep.connect({.private_data = *private_data,
                       .remote = remote->with_port(static_cast<std::uint16_t>(conn_qual)),
                       .timeout = timeout});
  });
}

DAT_RETURN ep_dup_connect(DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE dup_handle, DAT_TIMEOUT timeout,
                          DAT_COUNT size, const DAT_PVOID data, DAT_QOS qos) {
  return call_on<Ep>(ep_handle, [&](Ep& ep) -> DAT_RETURN {
    const Ep* dup = find<Ep>(dup_handle);
    if (dup == nullptr || dup->ia != ep.ia) return invalid_handle(Ep::subtype);
    if (timeout == 0) return invalid_parameter(3);
    const auto private_data = read_private_data(size, data, 4);
    if (!private_data) return private_data.error();
    if (const DAT_RETURN fault = admit_qos(qos); fault != DAT_SUCCESS) return fault;
    const bool leads_somewhere = dup->state == DAT_EP_STATE_CONNECTED && dup->target.port != 0;
    if (!leads_somewhere) return invalid_state(dup->shown());
    return ep.connect({.private_data = *private_data, .remote = dup->target, .timeout = timeout});
  });
}

DAT_RETURN ep_common_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR address,
                             DAT_TIMEOUT timeout, DAT_COUNT size, const DAT_PVOID data) {
  return call_on<Ep>(ep_handle, [&](Ep& ep) -> DAT_RETURN {
    if (address == nullptr) return invalid_parameter(2);
    if (timeout == 0) return invalid_parameter(3);
    const auto private_data = read_private_data(size, data, 4);
    if (!private_data) return private_data.error();
    const auto remote = read_address(address);
    if (!remote) return remote.error();
    if (remote->port == 0) return failure(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_MALFORMED);
    if (remote->family != ep.ia->registration().address.family)
      return failure(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNREACHABLE);
    return ep.connect({.private_data = *private_data, .remote = *remote, .timeout = timeout});
  });
}

DAT_RETURN ep_disconnect(DAT_EP_HANDLE ep_handle, DAT_CLOSE_FLAGS flags) {
  return call_on<Ep>(ep_handle, [&](Ep& ep) -> DAT_RETURN {
    if (exceeds(flags, DAT_CLOSE_GRACEFUL_FLAG)) return invalid_parameter(2);
    return ep.disconnect(flags == DAT_CLOSE_ABRUPT_FLAG);
  });
}

}  // namespace calls

}  // namespace rnic::dat
