// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The iWARP extension of DAT: which sockets and endpoints it takes, what it leaves as it was, and
// requests that are already under way.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>

#include "suite/cases/dat/framework/dat_ep_attributes.hpp"
#include "suite/cases/dat/framework/dat_streams.hpp"

namespace suite::cases::dat {

using namespace iwarp;  // NOLINT(google-build-using-namespace): the calls by their own names

namespace {

/// An option of a socket that both ends of a connection may set as they like.
struct Option {
  const char* name;
  int level, number, value;
};
constexpr Option kept_options[] = {{"SO_KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE, 1},
                                   {"TCP_KEEPIDLE", IPPROTO_TCP, TCP_KEEPIDLE, 77},
                                   {"SO_PRIORITY", SOL_SOCKET, SO_PRIORITY, 3},
                                   {"TCP_USER_TIMEOUT", IPPROTO_TCP, TCP_USER_TIMEOUT, 54'321}};

int value_of(int socket, int level, int number) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, level, number, &value, &size) == 0 ? value : -1;
}

/// A local address that is not the IA's.
sockaddr_in elsewhere(DatBody& body) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, "127.0.0.77", &address.sin_addr);
  const auto* own = reinterpret_cast<const sockaddr_in*>(body.ia().address());
  if (own->sin_family == AF_INET && own->sin_addr.s_addr == address.sin_addr.s_addr)
    body.stop(Verdict::not_applicable, "the IA has the address 127.0.0.77 itself");
  return address;
}

}  // namespace

/// As the extension's header has it, which gives its objects the first type of its range.
DAT_CASE(service_point_says_what_it_is, calls(dat_get_handle_type, dat_set_consumer_context),
         rules("dat.get-handle-type.success", "dat.get-consumer-context.success")) {
  Streams streams(*this);
  need(streams.create(*this), "no SSP");
  DAT_HANDLE_TYPE type{};
  expect(CALL(dat_get_handle_type, streams.ssp, &type), succeeds.or_tolerably(DAT_INVALID_HANDLE));
  advise_that(type == DAT_HANDLE_TYPE_EXTENSION_BASE, value_text(DAT_HANDLE_TYPE_EXTENSION_BASE),
              value_text(type));
  DAT_CONTEXT context{}, got{};
  context.as_64 = 0xFEDC'BA98'7654'3210;
  need(CALL(dat_set_consumer_context, streams.ssp, context), "no context");
  expect(CALL(dat_get_consumer_context, streams.ssp, &got), succeeds,
         "dat.get-consumer-context.success");
  same(*this, "context", got.as_64, context.as_64, "dat.get-consumer-context.success");
}

// ---------------------------------------------------------------- what is refused

/// Of other numbers that are no IA, libdat2 follows them as pointers: no provider sees such a call.
DAT_CASE(service_point_of_an_invalid_ia_is_refused, calls(dat_iw_ssp_create),
         rules("dat.iw-ssp-create.invalid-handle"), with_hostile_handles) {
  Streams streams(*this);
  for (const auto& [name, handle] :
       {std::pair<const char*, DAT_HANDLE>{"no handle", DAT_HANDLE_NULL},
        std::pair<const char*, DAT_HANDLE>{"a protection zone", streams.pz.get()}})
    row(name, [&] {
      expect(CALL(dat_iw_ssp_create, handle, streams.passive_socket, streams.passive.ep.get(),
                  streams.requests.get(), nullptr, 0, &streams.ssp),
             returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASE(socket_of_another_interface_is_refused, calls(dat_iw_ssp_create, dat_iw_socket_connect),
         rules("dat.iw-ssp-create.invalid-state", "dat.iw-socket-connect.invalid-state")) {
  const sockaddr_in address = elsewhere(*this);
  Streams streams(*this, reinterpret_cast<const sockaddr&>(address));
  expect(streams.create(*this), returns(DAT_INVALID_STATE));
  expect_state(streams.passive.ep, DAT_EP_STATE_UNCONNECTED);
  expect(streams.connect(), returns(DAT_INVALID_STATE), "dat.iw-socket-connect.invalid-state");
  expect_state(streams.active.ep, DAT_EP_STATE_UNCONNECTED, "dat.iw-socket-connect.invalid-state");
  expect_streaming(*this, streams);
}

DAT_CASE(connect_without_time_is_refused, calls(dat_iw_socket_connect),
         rules("dat.iw-socket-connect.invalid-parameter")) {
  Streams streams(*this);
  expect(streams.connect({}, 0), returns(DAT_INVALID_PARAMETER));
  expect_state(streams.active.ep, DAT_EP_STATE_UNCONNECTED);
  expect_streaming(*this, streams);
}

DAT_CASE(connect_of_an_endpoint_that_lacks_something_is_refused, calls(dat_iw_socket_connect),
         rules("dat.iw-socket-connect.invalid-state")) {
  const Streams streams(*this);
  const Side& side = streams.active;
  struct Lack {
    const char* name;
    DAT_PZ_HANDLE pz;
    DAT_EVD_HANDLE receives, requests, connection;
  };
  const DAT_EVD_HANDLE receives = side.receives.get(), requests = side.requests.get(),
                       connection = side.connection.get();
  for (const Lack& lack :
       {Lack{"no Protection Zone", DAT_HANDLE_NULL, receives, requests, connection},
        Lack{"no EVD for receives", streams.pz.get(), DAT_HANDLE_NULL, requests, connection},
        Lack{"no EVD for requests", streams.pz.get(), receives, DAT_HANDLE_NULL, connection},
        Lack{"no EVD for connections", streams.pz.get(), receives, requests, DAT_HANDLE_NULL}})
    row(lack.name, [&] {
      DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
      need(CALL(dat_ep_create, ia().get(), lack.pz, lack.receives, lack.requests, lack.connection,
                nullptr, &handle),
           "no endpoint");
      const Ep ep(handle);
      expect(CALL(dat_iw_socket_connect, ep.get(), streams.active_socket, DAT_TIMEOUT_INFINITE, 0,
                  nullptr),
             returns(DAT_INVALID_STATE));
    });
  expect_streaming(*this, streams);
}

// ---------------------------------------------------------------- what stays as it was

DAT_CASE(options_of_the_socket_are_kept, calls(dat_iw_ssp_create, dat_iw_socket_connect),
         rules("dat.iw-socket-connect.options-kept")) {
  Streams streams(*this);
  for (const int socket : {streams.active_socket, streams.passive_socket})
    for (const Option& option : kept_options)
      if (::setsockopt(socket, option.level, option.number, &option.value, sizeof option.value) !=
          0)
        stop(Verdict::inconclusive, fmt::format("the host does not set {}", option.name));
  need(streams.create(*this), "no SSP");
  need(streams.connect(), "no connect");
  const auto request = arrival(*this, streams.requests);
  need(CALL(dat_cr_reject, request.cr_handle, 0, nullptr), "no reject");
  expect_event(streams.active.connection, DAT_CONNECTION_EVENT_PEER_REJECTED);
  for (const int socket : {streams.active_socket, streams.passive_socket}) {
    for (const Option& option : kept_options)
      same(*this, option.name, value_of(socket, option.level, option.number), option.value);
    // RDMA may switch Nagle's algorithm off while it has the socket.
    same(*this, "TCP_NODELAY of a socket that was returned",
         value_of(socket, IPPROTO_TCP, TCP_NODELAY), 0);
    same(*this, "O_NONBLOCK of a socket that was returned", ::fcntl(socket, F_GETFL) & O_NONBLOCK,
         0);
  }
}

DAT_CASE(free_leaves_an_announced_request_as_it_is, calls(dat_iw_ssp_free, dat_cr_accept),
         rules("dat.iw-ssp-free.request-kept")) {
  Streams streams(*this);
  need(streams.create(*this), "no SSP");
  need(streams.connect(), "no connect");
  const auto request = arrival(*this, streams.requests);
  expect(streams.free(), succeeds);
  expect(CALL(dat_cr_accept, request.cr_handle, DAT_HANDLE_NULL, 0, nullptr), succeeds);
  expect_event(streams.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_event(streams.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

DAT_CASE(service_point_freed_before_the_request_returns_the_socket, calls(dat_iw_ssp_free),
         rules("dat.iw-ssp-free.success")) {
  Streams streams(*this);
  need(streams.create(*this), "no SSP");
  expect(streams.free(), succeeds);
  // A Request that comes now meets no service point: it stays in the socket until there is one.
  need(streams.connect(), "no connect");
  expect(streams.create(*this), succeeds);
  const auto request = arrival(*this, streams.requests);
  expect(CALL(dat_cr_accept, request.cr_handle, DAT_HANDLE_NULL, 0, nullptr), succeeds);
  expect_event(streams.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

DAT_CASE(each_field_can_be_queried_alone, calls(dat_iw_ssp_query),
         rules("dat.iw-ssp-query.success")) {
  Streams streams(*this);
  need(streams.create(*this), "no SSP");
  const auto only = [&](int mask) {
    SspParam param{};
    expect(CALL(dat_iw_ssp_query, streams.ssp, mask, &param), succeeds);
    return param;
  };
  same(*this, "IA", only(0x01).ia_handle, ia().get());
  same(*this, "socket", only(0x02).socket_id, streams.passive_socket);
  same(*this, "EVD", only(0x04).evd_handle, streams.requests.get());
  same(*this, "endpoint", only(0x08).ep_handle, streams.passive.ep.get());
  same(*this, "state", only(0x10).ssp_state, operational);
}

DAT_CASES_OF_FILE(iwarp_sockets)

}  // namespace suite::cases::dat
