// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Connections: requested, accepted, rejected, refused, passed on, ended; and the states of the
// Endpoints.
#include <netinet/in.h>

#include <algorithm>

#include "reference_rnic/dat/tests/two_endpoints.hpp"

namespace rnic::dat::tests {

namespace {

std::string text_of(const DAT_CONNECTION_EVENT_DATA& data) {
  if (data.private_data_size == 0) return {};
  return {static_cast<const char*>(data.private_data),
          static_cast<std::size_t>(data.private_data_size)};
}

std::string text_of(const DAT_CR_PARAM& param) {
  if (param.private_data_size == 0) return {};
  return {static_cast<const char*>(param.private_data),
          static_cast<std::size_t>(param.private_data_size)};
}

DAT_CR_PARAM query(DAT_CR_HANDLE cr) {
  DAT_CR_PARAM param{};
  CHECK_DAT(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
  return param;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(connections)

BOOST_AUTO_TEST_CASE(private_data_goes_both_ways) {
  OpenIa opened;
  Side client(opened), server(opened);
  Service service(opened);
  const std::string asked(508, 'q'), answered = "welcome";
  BOOST_CHECK_EQUAL(client.state(), DAT_EP_STATE_UNCONNECTED);
  ask(opened, client, service.port, asked);
  BOOST_CHECK_EQUAL(client.state(), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
  const auto arrival = service.next();
  BOOST_CHECK_EQUAL(arrival.sp_handle.psp_handle, service.psp);
  BOOST_CHECK_EQUAL(arrival.conn_qual, service.port);
  const DAT_CR_PARAM param = query(arrival.cr_handle);
  BOOST_CHECK_EQUAL(text_of(param), asked);
  BOOST_CHECK_EQUAL(param.local_ep_handle, DAT_HANDLE_NULL);
  CHECK_DAT(dat_cr_accept(arrival.cr_handle, server.ep, static_cast<DAT_COUNT>(answered.size()),
                          bytes_of(answered)));
  DAT_CR_PARAM gone{};
  CHECK_TYPE(dat_cr_query(arrival.cr_handle, DAT_CR_FIELD_ALL, &gone), DAT_INVALID_HANDLE);
  const auto event = wait_for(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  BOOST_CHECK_EQUAL(text_of(event.event_data.connect_event_data), answered);
  BOOST_CHECK_EQUAL(event.event_data.connect_event_data.ep_handle, client.ep);
  const auto passive = wait_for(server.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  BOOST_CHECK_EQUAL(passive.event_data.connect_event_data.private_data_size, 0);
  BOOST_CHECK_EQUAL(client.state(), DAT_EP_STATE_CONNECTED);
  BOOST_CHECK_EQUAL(server.state(), DAT_EP_STATE_CONNECTED);
  DAT_EP_PARAM here{}, there{};
  CHECK_DAT(dat_ep_query(client.ep, DAT_EP_FIELD_ALL, &here));
  CHECK_DAT(dat_ep_query(server.ep, DAT_EP_FIELD_ALL, &there));
  BOOST_CHECK_EQUAL(here.remote_port_qual, service.port);
  BOOST_CHECK_EQUAL(here.local_port_qual, there.remote_port_qual);
  BOOST_CHECK_EQUAL(here.local_port_qual, param.remote_port_qual);
}

BOOST_AUTO_TEST_CASE(more_private_data_than_a_frame_holds_is_refused_at_once) {
  OpenIa opened;
  Side client(opened);
  const std::string much(509, 'x');
  CHECK_TYPE(dat_ep_connect(client.ep, address_of(opened.ia), 1, patience, 509, bytes_of(much),
                            DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
             DAT_INVALID_PARAMETER);
  BOOST_CHECK_EQUAL(client.state(), DAT_EP_STATE_UNCONNECTED);
}

BOOST_AUTO_TEST_CASE(a_rejection_carries_private_data) {
  OpenIa opened;
  Side client(opened);
  Service service(opened);
  ask(opened, client, service.port);
  const std::string reason = "not today";
  CHECK_DAT(dat_cr_reject(service.next().cr_handle, static_cast<DAT_COUNT>(reason.size()),
                          bytes_of(reason)));
  const auto event = wait_for(client.connection, DAT_CONNECTION_EVENT_PEER_REJECTED);
  BOOST_CHECK_EQUAL(text_of(event.event_data.connect_event_data), reason);
  BOOST_CHECK_EQUAL(client.state(), DAT_EP_STATE_DISCONNECTED);
  CHECK_DAT(dat_ep_reset(client.ep));
  BOOST_CHECK_EQUAL(client.state(), DAT_EP_STATE_UNCONNECTED);
}

BOOST_AUTO_TEST_CASE(nobody_listens) {
  OpenIa opened;
  Side client(opened);
  DAT_CONN_QUAL port = 0;
  {
    Service service(opened);
    port = service.port;
    CHECK_DAT(dat_psp_free(service.psp));
  }
  ask(opened, client, port);
  wait_for(client.connection, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  BOOST_CHECK_EQUAL(client.state(), DAT_EP_STATE_DISCONNECTED);
}

BOOST_AUTO_TEST_CASE(nobody_decides_in_time) {
  OpenIa opened;
  Side client(opened), server(opened);
  Service service(opened);
  CHECK_DAT(dat_ep_connect(client.ep, address_of(opened.ia), service.port, 200'000, 0, nullptr,
                           DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
  const auto arrival = service.next();
  wait_for(client.connection, DAT_CONNECTION_EVENT_TIMED_OUT);
  BOOST_CHECK_EQUAL(client.state(), DAT_EP_STATE_DISCONNECTED);
  CHECK_DAT(dat_cr_accept(arrival.cr_handle, server.ep, 0, nullptr));
  wait_for(server.connection, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
  BOOST_CHECK_EQUAL(server.state(), DAT_EP_STATE_DISCONNECTED);
}

BOOST_AUTO_TEST_CASE(a_port_serves_one_service_point) {
  OpenIa opened;
  Service service(opened);
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  CHECK_TYPE(dat_psp_create(opened.ia, service.port, service.requests, DAT_PSP_CONSUMER_FLAG, &psp),
             DAT_CONN_QUAL_IN_USE);
  CHECK_DAT(dat_psp_free(service.psp));
  CHECK_DAT(dat_psp_create(opened.ia, service.port, service.requests, DAT_PSP_CONSUMER_FLAG, &psp));
  DAT_PSP_PARAM param{};
  CHECK_DAT(dat_psp_query(psp, DAT_PSP_FIELD_ALL, &param));
  BOOST_CHECK_EQUAL(param.conn_qual, service.port);
}

BOOST_AUTO_TEST_CASE(the_provider_makes_endpoints_if_asked) {
  OpenIa opened;
  Side client(opened), spare(opened);
  Service service(opened, DAT_PSP_PROVIDER_FLAG);
  ask(opened, client, service.port);
  const auto arrival = service.next();
  const DAT_EP_HANDLE made = query(arrival.cr_handle).local_ep_handle;
  DAT_EP_PARAM param{};
  CHECK_DAT(dat_ep_query(made, DAT_EP_FIELD_ALL, &param));
  BOOST_CHECK_EQUAL(param.ep_state, DAT_EP_STATE_UNCONFIGURED_TENTATIVE);
  CHECK_TYPE(dat_cr_accept(arrival.cr_handle, spare.ep, 0, nullptr), DAT_INVALID_HANDLE);
  CHECK_TYPE(dat_ep_free(made), DAT_INVALID_STATE);
  param.pz_handle = opened.pz;
  param.connect_evd_handle = spare.connection;
  param.recv_evd_handle = spare.recv;
  CHECK_DAT(dat_ep_modify(
      made, DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE,
      &param));
  CHECK_DAT(dat_cr_accept(arrival.cr_handle, DAT_HANDLE_NULL, 0, nullptr));
  const auto event = wait_for(spare.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  BOOST_CHECK_EQUAL(event.event_data.connect_event_data.ep_handle, made);
}

BOOST_AUTO_TEST_CASE(a_reserved_service_point_takes_one_request) {
  OpenIa opened;
  Side client(opened), second(opened), server(opened);
  Service any(opened);
  CHECK_DAT(dat_psp_free(any.psp));
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  CHECK_DAT(dat_rsp_create(opened.ia, any.port, server.ep, any.requests, &rsp));
  BOOST_CHECK_EQUAL(server.state(), DAT_EP_STATE_RESERVED);
  CHECK_TYPE(dat_ep_free(server.ep), DAT_INVALID_STATE);
  CHECK_TYPE(dat_ep_disconnect(server.ep, DAT_CLOSE_DEFAULT), DAT_INVALID_STATE);
  ask(opened, client, any.port);
  const auto arrival = any.next();
  BOOST_CHECK_EQUAL(arrival.sp_handle.rsp_handle, rsp);
  BOOST_CHECK_EQUAL(server.state(), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
  ask(opened, second, any.port);
  wait_for(second.connection, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  CHECK_DAT(dat_cr_accept(arrival.cr_handle, DAT_HANDLE_NULL, 0, nullptr));
  wait_for(server.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  CHECK_DAT(dat_rsp_free(rsp));
  BOOST_CHECK_EQUAL(server.state(), DAT_EP_STATE_CONNECTED);
}

BOOST_AUTO_TEST_CASE(a_reservation_is_given_back_with_its_service_point) {
  OpenIa opened;
  Side server(opened);
  Service any(opened);
  CHECK_DAT(dat_psp_free(any.psp));
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  CHECK_DAT(dat_rsp_create(opened.ia, any.port, server.ep, any.requests, &rsp));
  CHECK_DAT(dat_rsp_free(rsp));
  BOOST_CHECK_EQUAL(server.state(), DAT_EP_STATE_UNCONNECTED);
}

BOOST_AUTO_TEST_CASE(a_common_service_point_is_named_by_a_socket_address) {
  OpenIa opened;
  Side client(opened), server(opened);
  const DAT_EVD_HANDLE requests = opened.make_evd(DAT_EVD_CR_FLAG);
  DAT_IA_HANDLE raw = DAT_HANDLE_NULL;
  CHECK_DAT(dats_get_ia_handle(opened.ia, &raw));
  DAT_COMM datagrams{AF_INET, SOCK_DGRAM, 0}, tcp{AF_INET, SOCK_STREAM, IPPROTO_TCP};
  DAT_CSP_HANDLE csp = DAT_HANDLE_NULL;
  auto& create = *DAT_HANDLE_TO_PROVIDER(raw)->csp_create_func;
  CHECK_TYPE(create(raw, &datagrams, address_of(opened.ia), requests, &csp),
             DAT_COMM_NOT_SUPPORTED);
  CHECK_DAT(create(raw, &tcp, address_of(opened.ia), requests, &csp));  // port 0: any
  DAT_CSP_PARAM param{};
  CHECK_DAT(DAT_CSP_QUERY(csp, DAT_CSP_FIELD_ALL, &param));
  sockaddr_in where{};
  std::memcpy(&where, param.address_ptr, sizeof where);
  BOOST_CHECK(where.sin_port != 0);
  DAT_CSP_HANDLE second = DAT_HANDLE_NULL;
  CHECK_TYPE(create(raw, &tcp, param.address_ptr, requests, &second), DAT_PORT_IN_USE);
  CHECK_DAT(
      DAT_EP_COMMON_CONNECT(client.ep, reinterpret_cast<sockaddr*>(&where), patience, 0, nullptr));
  const auto arrival =
      wait_for(requests, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  BOOST_CHECK_EQUAL(arrival.sp_handle.csp_handle, csp);
  CHECK_DAT(dat_cr_accept(arrival.cr_handle, server.ep, 0, nullptr));
  wait_for(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  CHECK_DAT(DAT_CSP_FREE(csp));
}

BOOST_AUTO_TEST_CASE(a_duplicate_goes_where_its_model_went) {
  Connected pair;
  Side duplicate(pair), server(pair);
  CHECK_TYPE(dat_ep_dup_connect(duplicate.ep, server.ep, patience, 0, nullptr, DAT_QOS_BEST_EFFORT),
             DAT_INVALID_STATE);
  CHECK_DAT(
      dat_ep_dup_connect(duplicate.ep, pair.client.ep, patience, 0, nullptr, DAT_QOS_BEST_EFFORT));
  CHECK_DAT(dat_cr_accept(pair.service.next().cr_handle, server.ep, 0, nullptr));
  wait_for(duplicate.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

BOOST_AUTO_TEST_CASE(a_request_is_handed_to_another_service_point) {
  OpenIa opened;
  Side client(opened), server(opened);
  Service first(opened), second(opened);
  const std::string data = "for either";
  ask(opened, client, first.port, data);
  const auto arrival = first.next();
  CHECK_TYPE(dat_cr_handoff(arrival.cr_handle, 1), DAT_INVALID_PARAMETER);
  CHECK_DAT(dat_cr_handoff(arrival.cr_handle, second.port));
  CHECK_TYPE(dat_cr_reject(arrival.cr_handle, 0, nullptr), DAT_INVALID_HANDLE);
  const auto handed = second.next();
  BOOST_CHECK_EQUAL(handed.conn_qual, second.port);
  BOOST_CHECK_EQUAL(text_of(query(handed.cr_handle)), data);
  CHECK_DAT(dat_cr_accept(handed.cr_handle, server.ep, 0, nullptr));
  wait_for(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

BOOST_AUTO_TEST_CASE(both_sides_hear_of_a_disconnection_and_connect_again) {
  for (const DAT_CLOSE_FLAGS flags : {DAT_CLOSE_ABRUPT_FLAG, DAT_CLOSE_GRACEFUL_FLAG}) {
    Connected pair;
    CHECK_TYPE(dat_ep_reset(pair.client.ep), DAT_INVALID_STATE);
    CHECK_DAT(dat_ep_disconnect(pair.client.ep, flags));
    wait_for(pair.client.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
    wait_for(pair.server.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
    BOOST_CHECK_EQUAL(pair.server.state(), DAT_EP_STATE_DISCONNECTED);
    CHECK_DAT(dat_ep_disconnect(pair.server.ep, flags));  // nothing to do
    CHECK_DAT(dat_ep_reset(pair.client.ep));
    CHECK_DAT(dat_ep_reset(pair.server.ep));
    CHECK_TYPE(dat_ep_disconnect(pair.server.ep, flags), DAT_INVALID_STATE);
    pair.connect();
  }
}

BOOST_AUTO_TEST_CASE(an_attempt_is_given_up) {
  OpenIa opened;
  Side client(opened);
  Service service(opened);
  ask(opened, client, service.port);
  CHECK_DAT(dat_ep_disconnect(client.ep, DAT_CLOSE_DEFAULT));
  wait_for(client.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  BOOST_CHECK_EQUAL(client.state(), DAT_EP_STATE_DISCONNECTED);
}

BOOST_AUTO_TEST_CASE(an_endpoint_without_a_zone_is_unconfigured) {
  OpenIa opened;
  Side side(opened);
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  CHECK_DAT(dat_ep_create(opened.ia, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL,
                          DAT_HANDLE_NULL, nullptr, &ep));
  DAT_EP_STATE state{};
  CHECK_DAT(dat_ep_get_status(ep, &state, nullptr, nullptr));
  BOOST_CHECK_EQUAL(state, DAT_EP_STATE_UNCONFIGURED_UNCONNECTED);
  CHECK_TYPE(dat_ep_connect(ep, address_of(opened.ia), 1, patience, 0, nullptr, DAT_QOS_BEST_EFFORT,
                            DAT_CONNECT_DEFAULT_FLAG),
             DAT_INVALID_STATE);
  DAT_EP_PARAM param{};
  param.pz_handle = opened.pz;
  param.connect_evd_handle = side.connection;
  CHECK_DAT(dat_ep_modify(ep, DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE, &param));
  CHECK_DAT(dat_ep_get_status(ep, &state, nullptr, nullptr));
  BOOST_CHECK_EQUAL(state, DAT_EP_STATE_UNCONNECTED);
  CHECK_TYPE(dat_ep_modify(ep, DAT_EP_FIELD_EP_STATE, &param), DAT_INVALID_PARAMETER);
}

BOOST_AUTO_TEST_CASE(addresses_that_name_no_ia_are_told_apart) {
  OpenIa opened;
  Side client(opened);
  sockaddr_in multicast{};
  multicast.sin_family = AF_INET;
  multicast.sin_addr.s_addr = htonl(0xE0000001);
  const auto connect = [&](DAT_IA_ADDRESS_PTR address, DAT_TIMEOUT timeout) {
    return dat_ep_connect(client.ep, address, 7, timeout, 0, nullptr, DAT_QOS_BEST_EFFORT,
                          DAT_CONNECT_DEFAULT_FLAG);
  };
  CHECK_TYPE(connect(reinterpret_cast<sockaddr*>(&multicast), patience), DAT_INVALID_ADDRESS);
  CHECK_TYPE(connect(nullptr, patience), DAT_INVALID_PARAMETER);
  CHECK_TYPE(connect(address_of(opened.ia), 0), DAT_INVALID_PARAMETER);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace rnic::dat::tests
