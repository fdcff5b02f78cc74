// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The configuration of Endpoints: create, query, modify, reset, free.
#include "reference_rnic/dat/ep.hpp"

#include "reference_rnic/dat/calls.hpp"

namespace rnic::dat {

namespace {

DAT_EP_ATTR default_attr() {
  DAT_EP_ATTR attr{};
  attr.service_type = DAT_SERVICE_TYPE_RC;
  attr.max_message_size = limits::message;
  attr.max_rdma_size = limits::message;
  attr.qos = DAT_QOS_BEST_EFFORT;
  attr.recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
  attr.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
  attr.max_recv_dtos = 256;
  attr.max_request_dtos = 256;
  attr.max_recv_iov = 16;
  attr.max_request_iov = 16;
  attr.max_rdma_read_in = limits::read_depth;
  attr.max_rdma_read_out = limits::read_depth;
  attr.srq_soft_hw = DAT_HW_DEFAULT;
  attr.max_rdma_read_iov = limits::read_segments;
  attr.max_rdma_write_iov = 16;
  return attr;
}

}  // namespace

Ep& provider_ep(Ia& ia) {
  Ep& ep = ia.add(std::make_unique<Ep>(&ia, default_attr()));
  ep.state = DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING;
  return ep;
}

Ep::~Ep() {
  close_pair();
  set_recv_evd(nullptr);
  set_request_evd(nullptr);
}

DAT_RETURN Ep::admits(EpInput input) const {
  return next_state(state, input) ? static_cast<DAT_RETURN>(DAT_SUCCESS) : invalid_state(shown());
}

void Ep::move(EpInput input) {
  if (const auto next = next_state(state, input)) state = *next;
}

void Ep::watch(Evd* evd, DAT_COMPLETION_FLAGS flags, int change) const {
  constexpr unsigned selective =
      DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG;
  if (evd != nullptr && has(flags, selective))
    evd->selective_streams =
        static_cast<unsigned>(static_cast<int>(evd->selective_streams) + change);
}

void Ep::set_recv_evd(Evd* evd) {
  watch(recv_evd.get(), attr.recv_completion_flags, -1);
  recv_evd = Use<Evd>(evd);
  watch(evd, attr.recv_completion_flags, +1);
}

void Ep::set_request_evd(Evd* evd) {
  constexpr auto own = static_cast<DAT_COMPLETION_FLAGS>(DAT_COMPLETION_UNSIGNALLED_FLAG);
  const auto flags = static_cast<DAT_COMPLETION_FLAGS>(attr.request_completion_flags & own);
  watch(request_evd.get(), flags, -1);
  request_evd = Use<Evd>(evd);
  watch(evd, flags, +1);
}

// ---- calls ----

namespace calls {

namespace {

bool in(DAT_COUNT value, DAT_COUNT limit) { return value >= 0 && value <= limit; }

/// Whether the provider can do what the attributes ask for.
bool admissible(const DAT_EP_ATTR& attr) {
  constexpr unsigned recv = DAT_COMPLETION_SOLICITED_WAIT_FLAG | DAT_COMPLETION_UNSIGNALLED_FLAG |
                            DAT_COMPLETION_EVD_THRESHOLD_FLAG;
  constexpr unsigned request = DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG |
                               DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG |
                               DAT_COMPLETION_EVD_THRESHOLD_FLAG;
  return attr.service_type == DAT_SERVICE_TYPE_RC && attr.qos == DAT_QOS_BEST_EFFORT &&
         attr.max_message_size <= limits::message && attr.max_rdma_size <= limits::message &&
         !exceeds(attr.recv_completion_flags, recv) &&
         !exceeds(attr.request_completion_flags, request) && in(attr.max_recv_dtos, limits::dtos) &&
         in(attr.max_request_dtos, limits::dtos) && in(attr.max_recv_iov, limits::segments) &&
         in(attr.max_request_iov, limits::segments) &&
         in(attr.max_rdma_read_in, limits::read_depth) &&
         in(attr.max_rdma_read_out, limits::read_depth) &&
         in(attr.max_rdma_read_iov, limits::read_segments) &&
         in(attr.max_rdma_write_iov, limits::segments) && attr.ep_transport_specific_count == 0 &&
         attr.ep_provider_specific_count == 0;
}

/// Sizes and depths that a consumer leaves at 0 get the default if 0 would make the Endpoint
/// useless.
DAT_EP_ATTR completed_attr(DAT_EP_ATTR attr) {
  const DAT_EP_ATTR defaults = default_attr();
  const auto fill = [](auto& value, auto other) { value = value == 0 ? other : value; };
  fill(attr.max_message_size, defaults.max_message_size);
  fill(attr.max_rdma_size, defaults.max_rdma_size);
  fill(attr.max_recv_dtos, defaults.max_recv_dtos);
  fill(attr.max_request_dtos, defaults.max_request_dtos);
  fill(attr.max_recv_iov, defaults.max_recv_iov);
  fill(attr.max_request_iov, defaults.max_request_iov);
  fill(attr.max_rdma_read_in, defaults.max_rdma_read_in);
  fill(attr.max_rdma_read_out, defaults.max_rdma_read_out);
  fill(attr.max_rdma_read_iov, defaults.max_rdma_read_iov);
  fill(attr.max_rdma_write_iov, defaults.max_rdma_write_iov);
  fill(attr.srq_soft_hw, defaults.srq_soft_hw);
  attr.ep_transport_specific = attr.ep_provider_specific = nullptr;
  return attr;
}

struct CreateCall {
  DAT_IA_HANDLE ia;
  DAT_PZ_HANDLE pz;
  DAT_EVD_HANDLE recv, request, connect;
  const DAT_EP_ATTR* attr;
  DAT_EP_HANDLE* ep;
};

/// An EVD of this IA that takes `stream`, or none if the consumer names none.
std::expected<Evd*, DAT_RETURN> evd_for(const Ia& ia, DAT_EVD_HANDLE handle, unsigned stream,
                                        DAT_RETURN_SUBTYPE subtype) {
  if (handle == DAT_HANDLE_NULL) return nullptr;
  Evd* evd = find_evd(handle, stream);
  if (evd == nullptr || evd->ia != &ia) return std::unexpected(invalid_handle(subtype));
  return evd;
}

DAT_RETURN create(Ia& ia, const CreateCall& asked, Srq* srq) {
  Pz* pz = find<Pz>(asked.pz);
  if (asked.pz != DAT_HANDLE_NULL && (pz == nullptr || pz->ia != &ia))
    return invalid_handle(Pz::subtype);
  const auto recv = evd_for(ia, asked.recv, DAT_EVD_DTO_FLAG, DAT_INVALID_HANDLE_EVD_RECV);
  if (!recv) return recv.error();
  const auto request = evd_for(ia, asked.request, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG,
                               DAT_INVALID_HANDLE_EVD_REQUEST);
  if (!request) return request.error();
  const auto connect =
      evd_for(ia, asked.connect, DAT_EVD_CONNECTION_FLAG, DAT_INVALID_HANDLE_EVD_CONN);
  if (!connect) return connect.error();
  const int attr_position = srq == nullptr ? 6 : 7;
  if (asked.attr != nullptr && !admissible(*asked.attr)) return invalid_parameter(attr_position);
  if (asked.ep == nullptr) return invalid_parameter(attr_position + 1);
  const DAT_EP_ATTR attr = asked.attr == nullptr ? default_attr() : completed_attr(*asked.attr);
  Ep& ep = ia.add(std::make_unique<Ep>(&ia, attr));
  ep.pz = Use<Pz>(pz);
  ep.set_recv_evd(*recv);
  ep.set_request_evd(*request);
  ep.connect_evd = Use<Evd>(*connect);
  ep.srq = Use<Srq>(srq);
  ep.soft_watermark = attr.srq_soft_hw;
  *asked.ep = ep.handle;
  return DAT_SUCCESS;
}

}  // namespace

DAT_RETURN ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv,
                     DAT_EVD_HANDLE request, DAT_EVD_HANDLE connect, const DAT_EP_ATTR* attr,
                     DAT_EP_HANDLE* ep) {
  return call_on<Ia>(ia_handle, [&](Ia& ia) -> DAT_RETURN {
    return create(ia, {ia_handle, pz, recv, request, connect, attr, ep}, nullptr);
  });
}

DAT_RETURN ep_create_with_srq(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_EVD_HANDLE recv,
                              DAT_EVD_HANDLE request, DAT_EVD_HANDLE connect,
                              DAT_SRQ_HANDLE srq_handle, const DAT_EP_ATTR* attr,
                              DAT_EP_HANDLE* ep) {
  return call_on<Ia>(ia_handle, [&](Ia& ia) -> DAT_RETURN {
    Srq* srq = find<Srq>(srq_handle);
    if (srq == nullptr || srq->ia != &ia) return invalid_handle(Srq::subtype);
    const Pz* pz = find<Pz>(pz_handle);
    if (pz == nullptr) return invalid_handle(Pz::subtype);
    if (pz != srq->pz.get())
      return invalid_parameter(2);  // srq_ep_pz_difference_supported is false
    if (attr == nullptr) return invalid_parameter(7);
    return create(ia, {ia_handle, pz_handle, recv, request, connect, attr, ep}, srq);
  });
}

DAT_RETURN ep_query(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM* param) {
  return call_on<Ep>(ep_handle, [&](Ep& ep) -> DAT_RETURN {
    if (exceeds(mask, DAT_EP_FIELD_ALL)) return invalid_parameter(2);
    if (param == nullptr) return invalid_parameter(3);
    ep.local_storage = SocketAddress(ep.local.port == 0 ? ep.ia->registration().address : ep.local);
    ep.remote_storage = SocketAddress(ep.remote);
    *param = {.ia_handle = ep.ia->consumers_handle(),
              .ep_state = ep.shown(),
              .comm = ep.comm,
              .local_ia_address_ptr = ep.local_storage.pointer(),
              .local_port_qual = ep.local.port,
              .remote_ia_address_ptr = ep.remote.port == 0 ? nullptr : ep.remote_storage.pointer(),
              .remote_port_qual = ep.remote.port,
              .pz_handle = ep.pz.handle(),
              .recv_evd_handle = ep.recv_evd.handle(),
              .request_evd_handle = ep.request_evd.handle(),
              .connect_evd_handle = ep.connect_evd.handle(),
              .srq_handle = ep.srq.handle(),
              .ep_attr = ep.attr};
    return DAT_SUCCESS;
  });
}

namespace {

constexpr DAT_UINT64 never_modified =
    DAT_EP_FIELD_IA_HANDLE | DAT_EP_FIELD_EP_STATE | DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR |
    DAT_EP_FIELD_LOCAL_PORT_QUAL | DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR |
    DAT_EP_FIELD_REMOTE_PORT_QUAL | DAT_EP_FIELD_SRQ_HANDLE | DAT_EP_FIELD_COMM;
constexpr DAT_UINT64 only_quiescent =
    DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR | DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR |
    DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR | DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR;

/// Which fields may change in which state.
DAT_UINT64 modifiable(DAT_EP_STATE state) {
  constexpr DAT_UINT64 all = DAT_EP_FIELD_ALL & ~never_modified;
  switch (state) {
    case DAT_EP_STATE_UNCONNECTED:
      return all;
    case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
      return all & ~only_quiescent;
    case DAT_EP_STATE_RESERVED:
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
      return all & ~only_quiescent & ~DAT_EP_FIELD_PZ_HANDLE;
    default:
      return 0;
  }
}

DAT_EP_ATTR merged(DAT_EP_ATTR attr, DAT_UINT64 mask, const DAT_EP_ATTR& asked) {
  const auto take = [&](DAT_UINT64 field, auto& value, auto other) {
    if ((mask & field) != 0) value = other;
  };
  take(DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, attr.service_type, asked.service_type);
  take(DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE, attr.max_message_size, asked.max_message_size);
  take(DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE, attr.max_rdma_size, asked.max_rdma_size);
  take(DAT_EP_FIELD_EP_ATTR_QOS, attr.qos, asked.qos);
  take(DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, attr.recv_completion_flags,
       asked.recv_completion_flags);
  take(DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS, attr.request_completion_flags,
       asked.request_completion_flags);
  take(DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, attr.max_recv_dtos, asked.max_recv_dtos);
  take(DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, attr.max_request_dtos, asked.max_request_dtos);
  take(DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, attr.max_recv_iov, asked.max_recv_iov);
  take(DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV, attr.max_request_iov, asked.max_request_iov);
  take(DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, attr.max_rdma_read_in, asked.max_rdma_read_in);
  take(DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT, attr.max_rdma_read_out, asked.max_rdma_read_out);
  take(DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW, attr.srq_soft_hw, asked.srq_soft_hw);
  take(DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV, attr.max_rdma_read_iov, asked.max_rdma_read_iov);
  take(DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV, attr.max_rdma_write_iov, asked.max_rdma_write_iov);
  take(DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR, attr.ep_transport_specific_count,
       asked.ep_transport_specific_count);
  take(DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR, attr.ep_provider_specific_count,
       asked.ep_provider_specific_count);
  return attr;
}

DAT_RETURN modify(Ep& ep, DAT_UINT64 mask, const DAT_EP_PARAM& asked) {
  const auto named = [&](DAT_UINT64 field) { return (mask & field) != 0; };
  const Ia& ia = *ep.ia;
  Pz* pz = find<Pz>(asked.pz_handle);
  if (named(DAT_EP_FIELD_PZ_HANDLE) && (pz == nullptr || pz->ia != &ia || ep.srq))
    return invalid_parameter(3);
  const auto evd = [&](DAT_UINT64 field, DAT_EVD_HANDLE handle,
                       unsigned stream) -> std::expected<Evd*, DAT_RETURN> {
    if (!named(field)) return nullptr;
    return evd_for(ia, handle, stream, DAT_NO_SUBTYPE);
  };
  const auto recv = evd(DAT_EP_FIELD_RECV_EVD_HANDLE, asked.recv_evd_handle, DAT_EVD_DTO_FLAG);
  const auto request = evd(DAT_EP_FIELD_REQUEST_EVD_HANDLE, asked.request_evd_handle,
                           DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
  const auto connect =
      evd(DAT_EP_FIELD_CONNECT_EVD_HANDLE, asked.connect_evd_handle, DAT_EVD_CONNECTION_FLAG);
  const DAT_EP_ATTR attr = merged(ep.attr, mask, asked.ep_attr);
  if (!recv || !request || !connect || !admissible(attr) || attr.max_recv_dtos < ep.receives)
    return invalid_parameter(3);
  Evd* const new_recv = named(DAT_EP_FIELD_RECV_EVD_HANDLE) ? *recv : ep.recv_evd.get();
  Evd* const new_request = named(DAT_EP_FIELD_REQUEST_EVD_HANDLE) ? *request : ep.request_evd.get();
  ep.set_recv_evd(nullptr);
  ep.set_request_evd(nullptr);
  ep.attr = attr;
  ep.set_recv_evd(new_recv);
  ep.set_request_evd(new_request);
  if (named(DAT_EP_FIELD_CONNECT_EVD_HANDLE)) ep.connect_evd = Use<Evd>(*connect);
  if (named(DAT_EP_FIELD_PZ_HANDLE)) ep.pz = Use<Pz>(pz);
  if (named(DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW)) ep.soft_watermark = attr.srq_soft_hw;
  return DAT_SUCCESS;
}

}  // namespace

DAT_RETURN ep_modify(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM* param) {
  return call_on<Ep>(ep_handle, [&](Ep& ep) -> DAT_RETURN {
    if (exceeds(mask, DAT_EP_FIELD_ALL & ~never_modified)) return invalid_parameter(2);
    if (param == nullptr) return invalid_parameter(3);
    if (exceeds(mask, modifiable(ep.state))) return invalid_state(ep.shown());
    return modify(ep, mask, *param);
  });
}

DAT_RETURN ep_get_status(DAT_EP_HANDLE ep_handle, DAT_EP_STATE* state, DAT_BOOLEAN* recv_idle,
                         DAT_BOOLEAN* request_idle) {
  return call_on<Ep>(ep_handle, [&](Ep& ep) -> DAT_RETURN {
    ep.ia->drain();
    if (state != nullptr) *state = ep.shown();
    if (recv_idle != nullptr) *recv_idle = ep.receives == 0 ? DAT_TRUE : DAT_FALSE;
    if (request_idle != nullptr) *request_idle = ep.requests == 0 ? DAT_TRUE : DAT_FALSE;
    return DAT_SUCCESS;
  });
}

DAT_RETURN ep_free(DAT_EP_HANDLE ep_handle) {
  return call_on<Ep>(ep_handle, [&](Ep& ep) -> DAT_RETURN {
    switch (ep.state) {
      case DAT_EP_STATE_RESERVED:
      case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
      case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
        return invalid_state(ep.shown());
      default:
        ep.ia->drain();
        engine().handles().destroy(ep);
        return DAT_SUCCESS;
    }
  });
}

DAT_RETURN ep_reset(DAT_EP_HANDLE ep_handle) {
  return call_on<Ep>(ep_handle, [&](Ep& ep) -> DAT_RETURN {
    if (const DAT_RETURN fault = ep.admits(EpInput::reset_asked); fault != DAT_SUCCESS)
      return fault;
    ep.reset();
    return DAT_SUCCESS;
  });
}

DAT_RETURN ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT* allocated, DAT_COUNT* span) {
  return call_on<Ep>(ep_handle, [&](Ep& ep) -> DAT_RETURN {
    // Messages come in order, so the number of buffers held is the span as well.
    if (allocated != nullptr) *allocated = ep.buffers_held();
    if (span != nullptr) *span = ep.buffers_held();
    return DAT_SUCCESS;
  });
}

DAT_RETURN ep_set_watermark(DAT_EP_HANDLE ep_handle, DAT_COUNT soft, DAT_COUNT hard) {
  return call_on<Ep>(ep_handle, [&](Ep& ep) -> DAT_RETURN {
    if (soft < 0 && soft != DAT_WATERMARK_INFINITE) return invalid_parameter(2);
    if (hard < 0 && hard != DAT_WATERMARK_INFINITE) return invalid_parameter(3);
    ep.set_watermarks(soft, hard);
    return DAT_SUCCESS;
  });
}

}  // namespace calls

}  // namespace rnic::dat
