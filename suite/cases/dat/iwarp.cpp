// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// dat_extension_op, and the iWARP extension that it gives access to: dat_iw_ssp_create,
// dat_iw_ssp_query, dat_iw_ssp_free, dat_iw_socket_connect.
#include <fcntl.h>
#include <unistd.h>

#include "suite/cases/dat/framework/dat_streams.hpp"

namespace suite::cases::dat {

using namespace iwarp;  // NOLINT(google-build-using-namespace): the calls by their own names

// ---------------------------------------------------------------- dat_extension_op

DAT_CASE(operation_that_no_extension_defines_is_refused, calls(dat_extension_op),
         rules("dat.extension-op.not-implemented")) {
  const DAT_RETURN got = CALL(dat_extension_op, ia().get(), 0x7F00'0001, nullptr, nullptr, nullptr);
  expect(got,
         returns_one_of({DAT_NOT_IMPLEMENTED, DAT_INVALID_PARAMETER, DAT_MODEL_NOT_SUPPORTED}));
}

DAT_CASE(operation_on_no_handle_is_refused, calls(dat_extension_op),
         rules("dat.extension-op.invalid-handle")) {
  need_extension(*this);
  expect(CALL(dat_extension_op, DAT_HANDLE_NULL, ssp_free_op), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(iwarp_extension_is_named_in_the_attributes, calls(dat_extension_op, dat_ia_query),
         rules("dat.extension-op.attributes")) {
  need_extension(*this);
  DAT_PROVIDER_ATTR attr{};
  need(CALL(dat_ia_query, ia().get(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr),
       "no attributes");
  const auto value = [&](std::string_view name) -> std::string {
    for (DAT_COUNT i = 0; i < attr.num_provider_specific_attr; ++i)
      if (name == attr.provider_specific_attr[i].name) return attr.provider_specific_attr[i].value;
    return {};
  };
  for (const char* name : {"DAT_EXTENSION_INTERFACE", "DAT_EXTENSION_VERSION", "DAT_IW_ATTR_SSP"})
    row(name, [&] { expect_that(!value(name).empty(), "a value", "no such attribute"); });
}

// ---------------------------------------------------------------- dat_iw_ssp_create

DAT_CASE(endpoint_is_reserved, calls(dat_iw_ssp_create), rules("dat.iw-ssp-create.success")) {
  Streams streams(*this);
  expect(streams.create(*this), succeeds);
  expect_that(streams.ssp != DAT_HANDLE_NULL, "a handle", "DAT_HANDLE_NULL");
  expect_state(streams.passive.ep, DAT_EP_STATE_RESERVED);
  const SspParam param = streams.query(*this);
  same(*this, "state", param.ssp_state, operational);
}

DAT_CASE(request_comes_over_the_socket, calls(dat_iw_ssp_create, dat_iw_socket_connect),
         rules("dat.iw-ssp-create.success", "dat.iw-socket-connect.success")) {
  Streams streams(*this);
  expect(streams.create(*this), succeeds);
  const auto sent = private_octets(40);
  expect(streams.connect(sent), succeeds, "dat.iw-socket-connect.success");
  const auto request = arrival(*this, streams.requests);
  same(*this, "service point", request.sp_handle.psp_handle, streams.ssp);
  // The qualifier of a socket is its own port (dat.h, on the event).
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  (void)::getsockname(streams.passive_socket, reinterpret_cast<sockaddr*>(&own), &size);
  const DAT_CONN_QUAL port = ntohs(reinterpret_cast<const sockaddr_in&>(own).sin_port);
  advise_that(request.conn_qual == port, value_text(port), value_text(request.conn_qual));
  DAT_CR_PARAM param{};
  expect(CALL(dat_cr_query, request.cr_handle, DAT_CR_FIELD_ALL, &param), succeeds);
  same(*this, "endpoint", param.local_ep_handle, streams.passive.ep.get());
  expect_private_data(*this, sent, param.private_data, param.private_data_size);
  expect_state(streams.passive.ep, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
  (void)dat_cr_reject(request.cr_handle, 0, nullptr);
}

DAT_CASE(rdma_uses_the_socket, calls(dat_iw_ssp_create, dat_iw_socket_connect),
         rules("dat.iw-socket-connect.success")) {
  Streams streams(*this);
  expect_streaming(*this, streams);
  expect(streams.create(*this), succeeds);
  expect(streams.connect(), succeeds);
  const auto request = arrival(*this, streams.requests);
  expect(CALL(dat_cr_accept, request.cr_handle, DAT_HANDLE_NULL, 0, nullptr), succeeds);
  expect_event(streams.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_event(streams.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  Lmr sink(ia(), streams.pz.get(), 64);
  const Lmr source(ia(), streams.pz.get(), 64, DAT_MEM_PRIV_ALL_FLAG, std::byte{0x5A});
  DAT_LMR_TRIPLET to = sink.triplet(), from = source.triplet(0, 40);
  DAT_DTO_COOKIE cookie{};
  cookie.as_64 = 3;
  need(
      CALL(dat_ep_post_recv, streams.passive.ep.get(), 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG),
      "no receive");
  need(CALL(dat_ep_post_send, streams.active.ep.get(), 1, &from, cookie,
            DAT_COMPLETION_DEFAULT_FLAG),
       "no Send");
  const auto data = expect_completion(streams.passive.receives, 3, DAT_DTO_SUCCESS);
  same(*this, "length", data.transfered_length, 40);
  expect_that(sink.octets()[39] == std::byte{0x5A} && sink.octets()[40] == std::byte{0xA5},
              "the 40 octets sent", "other octets");
}

DAT_CASE(last_message_of_streaming_goes_out_whole, calls(dat_iw_ssp_create),
         rules("dat.iw-ssp-create.final-message")) {
  std::string message(5000, ' ');
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<char>(i * 31 + i / 256);
  const auto goes_out = [&](const char* name, bool with_endpoint) {
    row(name, [&] {
      Streams streams(*this);
      expect(streams.create(*this, streams.passive_socket,
                            with_endpoint ? streams.passive.ep.get() : DAT_HANDLE_NULL,
                            streams.requests.get(), message.data(),
                            static_cast<DAT_COUNT>(message.size())),
             succeeds);
      std::string got(message.size(), ' ');
      const ssize_t count = ::recv(streams.active_socket, got.data(), got.size(), MSG_WAITALL);
      same(*this, "octets", count, static_cast<ssize_t>(message.size()));
      expect_that(got == message, "the message", "another message");
    });
  };
  goes_out("to an endpoint of the consumer", true);
  goes_out("to one that the provider makes", false);
}

DAT_CASE(socket_that_goes_down_is_reported, calls(dat_iw_ssp_create),
         rules("dat.iw-ssp-create.socket-down")) {
  Streams streams(*this);
  expect(streams.create(*this), succeeds);
  ::shutdown(streams.active_socket, SHUT_RDWR);
  const DAT_EVENT event = next_event(streams.requests);
  expect_that(in_range(event.event_number), "DAT_CONNECTION_EVENT_SOCKET_DOWN",
              event_text(event.event_number));
  same(*this, "state", streams.query(*this).ssp_state, non_operational);
}

DAT_CASE(service_point_takes_one_request, calls(dat_iw_ssp_create, dat_iw_ssp_query),
         rules("dat.iw-ssp-create.success")) {
  Streams streams(*this);
  expect(streams.create(*this), succeeds);
  expect(streams.connect(), succeeds);
  const auto request = arrival(*this, streams.requests);
  same(*this, "state", streams.query(*this).ssp_state, non_operational);
  (void)dat_cr_reject(request.cr_handle, 0, nullptr);
}

DAT_CASE(service_point_without_endpoint_uses_one_of_the_providers, calls(dat_iw_ssp_create),
         rules("dat.iw-ssp-create.success")) {
  Streams streams(*this);
  expect(streams.create(*this, streams.passive_socket, DAT_HANDLE_NULL, streams.requests.get()),
         succeeds);
  expect(streams.connect(), succeeds);
  const auto request = arrival(*this, streams.requests);
  DAT_CR_PARAM param{};
  expect(CALL(dat_cr_query, request.cr_handle, DAT_CR_FIELD_ALL, &param), succeeds);
  expect_that(param.local_ep_handle != DAT_HANDLE_NULL, "an endpoint", "DAT_HANDLE_NULL");
  (void)dat_cr_reject(request.cr_handle, 0, nullptr);
}

DAT_CASE(service_point_over_a_descriptor_that_is_not_a_socket_is_refused, calls(dat_iw_ssp_create),
         rules("dat.iw-ssp-create.invalid-parameter")) {
  Streams streams(*this);
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) stop(Verdict::inconclusive, "no pipe");
  for (const int wrong : {-1, pipe[0]})
    row(wrong < 0 ? "no descriptor" : "a pipe", [&] {
      expect(streams.create(*this, wrong, streams.passive.ep.get(), streams.requests.get()),
             returns(DAT_INVALID_PARAMETER));
      expect_state(streams.passive.ep, DAT_EP_STATE_UNCONNECTED);
    });
  ::close(pipe[0]);
  ::close(pipe[1]);
}

DAT_CASE(impossible_last_message_is_refused, calls(dat_iw_ssp_create),
         rules("dat.iw-ssp-create.invalid-parameter"), with_hostile_handles) {
  Streams streams(*this);
  char octet = 'x';
  row("a negative length", [&] {
    expect(streams.create(*this, streams.passive_socket, streams.passive.ep.get(),
                          streams.requests.get(), &octet, -1),
           returns(DAT_INVALID_PARAMETER));
  });
  row("no data at the address", [&] {
    expect(streams.create(*this, streams.passive_socket, streams.passive.ep.get(),
                          streams.requests.get(), nullptr, 4),
           returns(DAT_INVALID_PARAMETER));
  });
  row("no place for the handle", [&] {
    expect(CALL(dat_iw_ssp_create, ia().get(), streams.passive_socket, streams.passive.ep.get(),
                streams.requests.get(), nullptr, 0, nullptr),
           returns(DAT_INVALID_PARAMETER));
  });
  expect_streaming(*this, streams);  // and nothing was sent
}

DAT_CASE(socket_that_is_not_connected_is_refused, calls(dat_iw_ssp_create),
         rules("dat.iw-ssp-create.invalid-state")) {
  Streams streams(*this);
  const int loose = ::socket(AF_INET, SOCK_STREAM, 0);
  const DAT_RETURN got =
      streams.create(*this, loose, streams.passive.ep.get(), streams.requests.get());
  if (got == DAT_SUCCESS) {  // it has gone down in the meantime, as it were (docs/disputes.md D62)
    const DAT_EVENT event = next_event(streams.requests);
    expect_that(in_range(event.event_number), "DAT_CONNECTION_EVENT_SOCKET_DOWN",
                event_text(event.event_number));
  } else {
    expect(got, returns(DAT_INVALID_STATE).or_tolerably(DAT_INVALID_PARAMETER));
  }
  ::close(loose);
}

DAT_CASE(endpoint_that_is_not_unconnected_is_refused, calls(dat_iw_ssp_create),
         rules("dat.iw-ssp-create.invalid-state")) {
  const Pair pair = connected();
  Streams streams(*this);
  expect(
      streams.create(*this, streams.passive_socket, pair.passive.ep.get(), streams.requests.get()),
      returns(DAT_INVALID_STATE));
  expect_state(pair.passive.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(service_point_of_an_invalid_endpoint_is_refused, calls(dat_iw_ssp_create),
         rules("dat.iw-ssp-create.invalid-handle"), with_hostile_handles) {
  Streams streams(*this);
  const LiveObjects live(ia());
  for (const auto& [name, handle] : live.except(DAT_HANDLE_TYPE_EP))
    row(name, [&] {
      expect(streams.create(*this, streams.passive_socket, handle, streams.requests.get()),
             returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASE(service_point_without_evd_for_requests_is_refused, calls(dat_iw_ssp_create),
         rules("dat.iw-ssp-create.invalid-handle"), with_hostile_handles) {
  Streams streams(*this);
  const LiveObjects live(ia());
  auto others = live.except(DAT_HANDLE_TYPE_EVD);
  others.insert(others.begin(),
                {{"no handle", DAT_HANDLE_NULL}, {"an EVD for DTOs", live.evd.get()}});
  for (const auto& [name, handle] : others)
    row(name, [&] {
      expect(streams.create(*this, streams.passive_socket, streams.passive.ep.get(), handle),
             returns(DAT_INVALID_HANDLE));
    });
}

// ---------------------------------------------------------------- query, free

DAT_CASE(query_returns_what_it_was_made_of, calls(dat_iw_ssp_query),
         rules("dat.iw-ssp-query.success")) {
  Streams streams(*this);
  need(streams.create(*this), "no SSP");
  const SspParam param = streams.query(*this);
  same(*this, "IA", param.ia_handle, ia().get());
  same(*this, "socket", param.socket_id, streams.passive_socket);
  same(*this, "EVD", param.evd_handle, streams.requests.get());
  same(*this, "endpoint", param.ep_handle, streams.passive.ep.get());
  same(*this, "state", param.ssp_state, operational);
}

DAT_CASE(query_of_fields_that_do_not_exist_is_refused, calls(dat_iw_ssp_query),
         rules("dat.iw-ssp-query.invalid-parameter")) {
  Streams streams(*this);
  need(streams.create(*this), "no SSP");
  SspParam param{};
  expect(CALL(dat_iw_ssp_query, streams.ssp, 0x400, &param), returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(query_with_a_null_output_is_refused, calls(dat_iw_ssp_query),
         rules("dat.iw-ssp-query.invalid-parameter"), with_hostile_handles) {
  Streams streams(*this);
  need(streams.create(*this), "no SSP");
  expect(CALL(dat_iw_ssp_query, streams.ssp, ssp_field_all, nullptr),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(query_of_a_freed_handle_is_refused, calls(dat_iw_ssp_query),
         rules("dat.iw-ssp-query.invalid-handle"), with_hostile_handles) {
  const Ssp handle = freed_ssp(*this);
  SspParam param{};
  expect(CALL(dat_iw_ssp_query, handle, ssp_field_all, &param), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(free_returns_socket_and_endpoint, calls(dat_iw_ssp_free),
         rules("dat.iw-ssp-free.success")) {
  Streams streams(*this);
  const int mode = ::fcntl(streams.passive_socket, F_GETFL);
  need(streams.create(*this), "no SSP");
  expect(streams.free(), succeeds);
  expect_state(streams.passive.ep, DAT_EP_STATE_UNCONNECTED);
  same(*this, "flags of the socket", ::fcntl(streams.passive_socket, F_GETFL), mode);
  expect_streaming(*this, streams);
  expect(streams.create(*this), succeeds);  // both can be used again
}

DAT_CASE(free_of_a_freed_handle_is_refused, calls(dat_iw_ssp_free),
         rules("dat.iw-ssp-free.invalid-handle"), with_hostile_handles) {
  const Ssp handle = freed_ssp(*this);
  expect(CALL(dat_iw_ssp_free, handle), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(free_of_another_type_is_refused, calls(dat_iw_ssp_free),
         rules("dat.iw-ssp-free.invalid-handle"), with_hostile_handles) {
  need_extension(*this);
  const LiveObjects live(ia());
  for (const auto& [name, handle] : live.except(DAT_HANDLE_TYPE_EXTENSION_BASE))
    row(name, [&] { expect(CALL(dat_iw_ssp_free, handle), returns(DAT_INVALID_HANDLE)); });
}

// ---------------------------------------------------------------- dat_iw_socket_connect

DAT_CASE(rejected_socket_is_returned_to_both, calls(dat_iw_socket_connect),
         rules("dat.iw-socket-connect.rejected")) {
  Streams streams(*this);
  need(streams.create(*this), "no SSP");
  expect(streams.connect(), succeeds);
  const auto request = arrival(*this, streams.requests);
  need(CALL(dat_cr_reject, request.cr_handle, 0, nullptr), "no reject");
  expect_event(streams.active.connection, DAT_CONNECTION_EVENT_PEER_REJECTED);
  expect_state(streams.passive.ep, DAT_EP_STATE_UNCONNECTED);
  expect_streaming(*this, streams);
}

DAT_CASE(unanswered_connect_ends, calls(dat_iw_socket_connect),
         rules("dat.iw-socket-connect.timeout")) {
  Streams streams(*this);
  expect(streams.connect({}, 100'000), succeeds);
  const DAT_EVENT_NUMBER end = next_event(streams.active.connection).event_number;
  expect_that(end == DAT_CONNECTION_EVENT_TIMED_OUT || end == DAT_CONNECTION_EVENT_UNREACHABLE,
              event_text(DAT_CONNECTION_EVENT_TIMED_OUT), event_text(end));
  expect_state(streams.active.ep, DAT_EP_STATE_DISCONNECTED);
}

DAT_CASE(connect_over_a_descriptor_that_is_not_a_socket_is_refused, calls(dat_iw_socket_connect),
         rules("dat.iw-socket-connect.invalid-parameter")) {
  const Streams streams(*this);
  expect(CALL(dat_iw_socket_connect, streams.active.ep.get(), -1, DAT_TIMEOUT_INFINITE, 0, nullptr),
         returns(DAT_INVALID_PARAMETER));
  expect_state(streams.active.ep, DAT_EP_STATE_UNCONNECTED);
}

DAT_CASE(connect_with_impossible_private_data_is_refused, calls(dat_iw_socket_connect),
         rules("dat.iw-socket-connect.invalid-parameter"), with_hostile_handles) {
  Streams streams(*this);
  DAT_PROVIDER_ATTR attr{};
  need(CALL(dat_ia_query, ia().get(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr),
       "no attributes");
  const auto most = static_cast<std::size_t>(attr.max_private_data_size);
  row("one octet more than the limit",
      [&] { expect(streams.connect(private_octets(most + 1)), returns(DAT_INVALID_PARAMETER)); });
  row("a negative size", [&] {
    expect(CALL(dat_iw_socket_connect, streams.active.ep.get(), streams.active_socket,
                DAT_TIMEOUT_INFINITE, -1, &attr),
           returns(DAT_INVALID_PARAMETER));
  });
  row("no data at the address", [&] {
    expect(CALL(dat_iw_socket_connect, streams.active.ep.get(), streams.active_socket,
                DAT_TIMEOUT_INFINITE, 4, nullptr),
           returns(DAT_INVALID_PARAMETER));
  });
  expect_streaming(*this, streams);
}

DAT_CASE(connect_over_a_socket_that_is_not_connected_is_refused, calls(dat_iw_socket_connect),
         rules("dat.iw-socket-connect.invalid-state")) {
  const Streams streams(*this);
  const int loose = ::socket(AF_INET, SOCK_STREAM, 0);
  const DAT_RETURN got =
      CALL(dat_iw_socket_connect, streams.active.ep.get(), loose, DAT_TIMEOUT_INFINITE, 0, nullptr);
  if (got == DAT_SUCCESS) {  // the attempt ends without a connection (docs/disputes.md D62)
    const DAT_EVENT_NUMBER end = next_event(streams.active.connection).event_number;
    expect_that(end != DAT_CONNECTION_EVENT_ESTABLISHED, "any end but ESTABLISHED",
                event_text(end));
  } else {
    expect(got, returns(DAT_INVALID_STATE).or_tolerably(DAT_INVALID_PARAMETER));
  }
  ::close(loose);
}

DAT_CASE(connect_of_a_connected_endpoint_is_refused, calls(dat_iw_socket_connect),
         rules("dat.iw-socket-connect.invalid-state")) {
  const Pair pair = connected();
  const Streams streams(*this);
  expect(CALL(dat_iw_socket_connect, pair.active.ep.get(), streams.active_socket,
              DAT_TIMEOUT_INFINITE, 0, nullptr),
         returns(DAT_INVALID_STATE));
  expect_state(pair.active.ep, DAT_EP_STATE_CONNECTED);
  expect_streaming(*this, streams);
}

DAT_CASE(connect_of_an_invalid_endpoint_is_refused, calls(dat_iw_socket_connect),
         rules("dat.iw-socket-connect.invalid-handle"), with_hostile_handles) {
  const Streams streams(*this);
  const LiveObjects live(ia());
  auto others = live.except(DAT_HANDLE_TYPE_EP);
  others.emplace_back("a freed endpoint", freed(std::move(make_side(ia(), streams.pz).ep)));
  for (const auto& [name, handle] : others)
    row(name, [&] {
      expect(CALL(dat_iw_socket_connect, handle, streams.active_socket, DAT_TIMEOUT_INFINITE, 0,
                  nullptr),
             returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASES_OF_FILE(iwarp)

}  // namespace suite::cases::dat
