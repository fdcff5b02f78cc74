// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The iWARP extension: RDMA connections on sockets that the consumer has connected and used.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "reference_rnic/dat/rnic_dat_extensions.h"
#include "reference_rnic/dat/tests/two_endpoints.hpp"

namespace rnic::dat::tests {

namespace {

/// Two ends of one TCP connection over loopback, as ordinary sockets.
struct SocketPair {
  SocketPair() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    auto* address = reinterpret_cast<sockaddr*>(&where);
    BOOST_REQUIRE_EQUAL(bind(listener, address, size), 0);
    BOOST_REQUIRE_EQUAL(listen(listener, 1), 0);
    BOOST_REQUIRE_EQUAL(getsockname(listener, address, &size), 0);
    active = socket(AF_INET, SOCK_STREAM, 0);
    BOOST_REQUIRE_EQUAL(connect(active, address, size), 0);
    passive = accept(listener, nullptr, nullptr);
    close(listener);
  }
  ~SocketPair() {
    close(active);
    close(passive);
  }
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;
  int active = -1, passive = -1;
};

void stream(int from, int to, const std::string& text) {
  BOOST_REQUIRE_EQUAL(send(from, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  std::string got(text.size(), ' ');
  BOOST_REQUIRE_EQUAL(recv(to, got.data(), got.size(), MSG_WAITALL),
                      static_cast<ssize_t>(got.size()));
  BOOST_CHECK_EQUAL(got, text);
}

struct SocketService {
  SocketService(const OpenIa& opened, int socket, DAT_EP_HANDLE ep, std::string last = {}) {
    requests = opened.make_evd(DAT_EVD_CR_FLAG);
    CHECK_DAT(dat_iw_ssp_create(opened.ia, socket, ep, requests, last.data(),
                                static_cast<DAT_COUNT>(last.size()), &ssp));
  }
  [[nodiscard]] DAT_IW_SSP_PARAM query() const {
    DAT_IW_SSP_PARAM param{};
    CHECK_DAT(dat_iw_ssp_query(ssp, DAT_IW_SSP_FIELD_ALL, &param));
    return param;
  }
  DAT_EVD_HANDLE requests{};
  DAT_IW_SSP_HANDLE ssp{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(sockets)

BOOST_AUTO_TEST_CASE(a_used_socket_becomes_an_rdma_connection) {
  OpenIa opened;
  SocketPair sockets;
  Side client(opened), server(opened);
  stream(sockets.active, sockets.passive, "shall we?");
  SocketService service(opened, sockets.passive, server.ep, "yes");
  BOOST_CHECK_EQUAL(server.state(), DAT_EP_STATE_RESERVED);
  BOOST_CHECK_EQUAL(service.query().ssp_state, DAT_IW_SSP_STATE_OPERATIONAL);
  BOOST_CHECK_EQUAL(service.query().ia_handle, opened.ia);
  std::string answer(3, ' ');
  BOOST_REQUIRE_EQUAL(recv(sockets.active, answer.data(), 3, MSG_WAITALL), 3);
  BOOST_CHECK_EQUAL(answer, "yes");
  const std::string data = "now in earnest";
  CHECK_DAT(dat_iw_socket_connect(client.ep, sockets.active, patience,
                                  static_cast<DAT_COUNT>(data.size()), bytes_of(data)));
  const auto arrival =
      wait_for(service.requests, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  BOOST_CHECK_EQUAL(arrival.sp_handle.psp_handle, service.ssp);
  BOOST_CHECK_EQUAL(server.state(), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
  BOOST_CHECK_EQUAL(service.query().ssp_state, DAT_IW_SSP_STATE_NON_OPERATIONAL);
  CHECK_DAT(dat_cr_accept(arrival.cr_handle, DAT_HANDLE_NULL, 0, nullptr));
  wait_for(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  wait_for(server.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  Region memory(opened, 64);
  memory.write(0, "rdma");
  DAT_LMR_TRIPLET from = memory.local(0, 4), to = memory.local(32, 4);
  CHECK_DAT(dat_ep_post_recv(server.ep, 1, &to, cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
  CHECK_DAT(dat_ep_post_send(client.ep, 1, &from, cookie(2), DAT_COMPLETION_DEFAULT_FLAG));
  wait_for_dto(server.recv);
  BOOST_CHECK_EQUAL(memory.read(32, 4), "rdma");
  CHECK_DAT(dat_ep_disconnect(client.ep, DAT_CLOSE_GRACEFUL_FLAG));
  wait_for(server.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  CHECK_DAT(dat_iw_ssp_free(service.ssp));
}

BOOST_AUTO_TEST_CASE(a_rejected_socket_goes_back_to_both_consumers) {
  OpenIa opened;
  SocketPair sockets;
  Side client(opened), server(opened);
  const int mode = fcntl(sockets.active, F_GETFL);
  SocketService service(opened, sockets.passive, server.ep);
  CHECK_DAT(dat_iw_socket_connect(client.ep, sockets.active, patience, 0, nullptr));
  const auto arrival =
      wait_for(service.requests, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  CHECK_DAT(dat_cr_reject(arrival.cr_handle, 0, nullptr));
  BOOST_CHECK_EQUAL(server.state(), DAT_EP_STATE_UNCONNECTED);
  wait_for(client.connection, DAT_CONNECTION_EVENT_PEER_REJECTED);
  BOOST_CHECK_EQUAL(fcntl(sockets.active, F_GETFL), mode);
  stream(sockets.active, sockets.passive, "as you were");
  stream(sockets.passive, sockets.active, "likewise");
}

BOOST_AUTO_TEST_CASE(a_service_point_that_is_freed_gives_its_socket_back) {
  OpenIa opened;
  SocketPair sockets;
  Side server(opened);
  SocketService service(opened, sockets.passive, server.ep);
  CHECK_DAT(dat_iw_ssp_free(service.ssp));
  BOOST_CHECK_EQUAL(server.state(), DAT_EP_STATE_UNCONNECTED);
  stream(sockets.active, sockets.passive, "still here");
  CHECK_TYPE(dat_iw_ssp_free(service.ssp), DAT_INVALID_HANDLE);
}

BOOST_AUTO_TEST_CASE(a_socket_that_goes_down_is_reported) {
  OpenIa opened;
  SocketPair sockets;
  Side server(opened);
  SocketService service(opened, sockets.passive, server.ep);
  shutdown(sockets.active, SHUT_RDWR);
  wait_for(service.requests, static_cast<DAT_EVENT_NUMBER>(DAT_CONNECTION_EVENT_SOCKET_DOWN));
  BOOST_CHECK_EQUAL(service.query().ssp_state, DAT_IW_SSP_STATE_NON_OPERATIONAL);
}

BOOST_AUTO_TEST_CASE(what_is_no_connected_socket_of_the_ia_is_refused) {
  OpenIa opened;
  Side client(opened);
  CHECK_TYPE(dat_iw_socket_connect(client.ep, -1, patience, 0, nullptr), DAT_INVALID_PARAMETER);
  const int loose = socket(AF_INET, SOCK_STREAM, 0);
  CHECK_TYPE(dat_iw_socket_connect(client.ep, loose, patience, 0, nullptr), DAT_INVALID_STATE);
  close(loose);
  SocketPair sockets;
  CHECK_TYPE(dat_iw_socket_connect(client.ep, sockets.active, 0, 0, nullptr),
             DAT_INVALID_PARAMETER);
  stream(sockets.active, sockets.passive, "untouched");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace rnic::dat::tests
