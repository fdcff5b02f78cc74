// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How requests are reported; the calls on CRs.
#include "reference_rnic/dat/cr.hpp"

#include "reference_rnic/dat/calls.hpp"
#include "reference_rnic/dat/ep.hpp"
#include "reference_rnic/dat/private_data.hpp"

namespace rnic::dat {

Cr::~Cr() {
  if (!decided) static_cast<void>(ia->manager().refuse(connection));
}

void announce(ServicePoint& point, const access::ConnectionRequest& request, Ep* ep) {
  Cr& cr = point.ia->add(std::make_unique<Cr>(point.ia, request, ep));
  if (ep != nullptr) {
    ep->local = request.local;
    ep->remote = request.remote;
  }
  DAT_EVENT event{};
  event.event_number = DAT_CONNECTION_REQUEST_EVENT;
  event.event_data.cr_arrival_event_data = {.sp_handle = {.psp_handle = point.handle},
                                            .local_ia_address_ptr = cr.local_storage.pointer(),
                                            .conn_qual = point.conn_qual,
                                            .cr_handle = cr.handle,
                                            .truncate_flag = DAT_FALSE};
  point.evd->post(event);
}

namespace calls {

DAT_RETURN cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM* param) {
  return call_on<Cr>(cr_handle, [&](Cr& cr) -> DAT_RETURN {
    if (exceeds(mask, DAT_CR_FIELD_ALL)) return invalid_parameter(2);
    if (param == nullptr) return invalid_parameter(3);
    *param = {.remote_ia_address_ptr = cr.remote_storage.pointer(),
              .remote_port_qual = cr.remote.port,
              .private_data_size = static_cast<DAT_COUNT>(cr.private_data.size()),
              .private_data = cr.private_data.empty() ? nullptr : cr.private_data.data(),
              .local_ep_handle = cr.ep == nullptr ? DAT_HANDLE_NULL : cr.ep->handle};
    return DAT_SUCCESS;
  });
}

DAT_RETURN cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle, DAT_COUNT size,
                     const DAT_PVOID data) {
  return call_on<Cr>(cr_handle, [&](Cr& cr) -> DAT_RETURN {
    Ep* ep = cr.ep;
    if (ep == nullptr || ep_handle != DAT_HANDLE_NULL) ep = find<Ep>(ep_handle);
    if (ep == nullptr || ep->ia != cr.ia || (cr.ep != nullptr && ep != cr.ep))
      return invalid_handle(Ep::subtype);
    const auto private_data = read_private_data(size, data, 3);
    if (!private_data) return private_data.error();
    // An Endpoint of another request or reservation cannot accept this one.
    if (cr.ep == nullptr && ep->state != DAT_EP_STATE_UNCONNECTED)
      return invalid_state(ep->shown());
    const DAT_RETURN accepted = ep->accept(cr, *private_data);
    if (accepted != DAT_SUCCESS) return accepted;
    cr.decided = true;
    engine().handles().destroy(cr);
    return DAT_SUCCESS;
  });
}

DAT_RETURN cr_reject(DAT_CR_HANDLE cr_handle, DAT_COUNT size, const DAT_PVOID data) {
  return call_on<Cr>(cr_handle, [&](Cr& cr) -> DAT_RETURN {
    const auto private_data = read_private_data(size, data, 2);
    if (!private_data) return private_data.error();
    // A peer that has given up in the meantime needs no answer.
    static_cast<void>(cr.ia->manager().reject(cr.connection, *private_data));
    if (Ep* ep = cr.ep; ep != nullptr && ep->state == DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING)
      engine().handles().destroy(*ep);
    else if (ep != nullptr)
      ep->rejected();
    cr.decided = true;
    engine().handles().destroy(cr);
    return DAT_SUCCESS;
  });
}

namespace {

DAT_RETURN hand_to_another_process(Cr& cr, DAT_CONN_QUAL handoff) {
  if (handoff == 0 || handoff > 0xFFFF) return invalid_parameter(2);
  const auto to = cr.ia->registration().address.with_port(static_cast<std::uint16_t>(handoff));
  const auto undecided = cr.ia->manager().undecided(cr.connection);
  if (!undecided || !hand_over(to, *undecided->connection, undecided->startup_frame))
    return invalid_parameter(2);
  let_go(cr.ia->manager().release(cr.connection));
  cr.decided = true;
  engine().handles().destroy(cr);
  return DAT_SUCCESS;
}

}  // namespace

/// Passes the request to another service point at the same IA, in this process or another one.
DAT_RETURN cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff) {
  return call_on<Cr>(cr_handle, [&](Cr& cr) -> DAT_RETURN {
    if (cr.ep != nullptr) return invalid_parameter(2);  // no other Endpoint may accept it
    ServicePoint* point = cr.ia->listening_on(handoff);
    if (point == nullptr) return hand_to_another_process(cr, handoff);
    const access::ConnectionRequest request{.connection = cr.connection,
                                            .local = cr.local,
                                            .remote = cr.remote,
                                            .depths = cr.depths,
                                            .private_data = cr.private_data};
    cr.decided = true;
    engine().handles().destroy(cr);
    point->requested(request);
    return DAT_SUCCESS;
  });
}

}  // namespace calls

}  // namespace rnic::dat
