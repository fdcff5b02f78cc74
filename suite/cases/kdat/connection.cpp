// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Public service points, requests, connections and their end.
#include <string>

#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/kdat/framework/kdat_body.hpp"

namespace suite::cases::dat {

namespace {

/// A listener, and a side that has asked it for a connection.
KernelPair requested(KdatBody& body, std::span<const std::byte> data = {}) {
  KernelPair pair{.pz = body.pz()};
  body.listen(pair);
  pair.active = body.side(pair.pz);
  pair.passive = body.side(pair.pz);
  body.expect(body.start_connect(pair.active.ep, pair.qualifier, data), succeeds,
              "dat.ep-connect.success");
  return pair;
}

}  // namespace

KDAT_CASE(connection_carries_private_data_both_ways,
          calls(dat_ep_connect, dat_cr_query, dat_cr_accept),
          rules("dat.ep-connect.success", "dat.ep-connect.private-data", "dat.cr-query.success",
                "dat.cr-accept.success", "dat.cr-accept.private-data")) {
  const auto asked = private_data(200), answered = private_data(60);
  const KernelPair pair = requested(*this, asked);
  const KernelEvent request = next_request(pair);
  expect_number("service point", request.psp, pair.psp, "dat.ep-connect.success");
  expect_number("qualifier", request.qualifier, pair.qualifier, "dat.ep-connect.success");
  expect_number("truncated", request.truncated, 0, "dat.ep-connect.private-data");
  const Result got = call(RNIC_KDAT_CR_QUERY, {request.cr, DAT_CR_FIELD_ALL});
  expect(got, succeeds, "dat.cr-query.success");
  expect_private_data(got.data(), asked, "dat.ep-connect.private-data");
  expect(call(RNIC_KDAT_CR_ACCEPT, {request.cr, pair.passive.ep, answered.size()},
              with_data(answered)),
         succeeds, "dat.cr-accept.success");
  const KernelEvent active =
      expect_upcall(pair.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_number("endpoint", active.ep, pair.active.ep);
  expect_private_data(data_of(active), answered, "dat.cr-accept.private-data");
  const KernelEvent passive = expect_upcall(
      pair.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED, "dat.cr-accept.success");
  expect_number("endpoint", passive.ep, pair.passive.ep, "dat.cr-accept.success");
  for (const Word ep : {pair.active.ep, pair.passive.ep})
    expect_ep_state(ep, DAT_EP_STATE_CONNECTED);
}

KDAT_CASE(rejection_carries_private_data, calls(dat_cr_reject, dat_ep_connect),
          rules("dat.cr-reject.private-data", "dat.cr-reject.success",
                "dat.ep-connect.peer-rejected")) {
  const auto why = private_data(90);
  const KernelPair pair = requested(*this);
  const KernelEvent request = next_request(pair);
  expect(call(RNIC_KDAT_CR_REJECT, {request.cr, why.size()}, with_data(why)), succeeds,
         "dat.cr-reject.success");
  const KernelEvent rejected = expect_upcall(
      pair.active.connection, DAT_CONNECTION_EVENT_PEER_REJECTED, "dat.ep-connect.peer-rejected");
  expect_private_data(data_of(rejected), why);
  expect_ep_state(pair.active.ep, DAT_EP_STATE_DISCONNECTED, "dat.ep-connect.peer-rejected");
}

KDAT_CASE(nobody_listens, calls(dat_ep_connect), rules("dat.ep-connect.no-listener")) {
  KernelPair pair{.pz = pz()};
  listen(pair);
  need(call(RNIC_KDAT_PSP_FREE, {pair.psp}), "the service point stays");
  const KernelSide end = side(pair.pz);
  need(start_connect(end.ep, pair.qualifier), "no connect");
  (void)expect_upcall(end.connection, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  expect_ep_state(end.ep, DAT_EP_STATE_DISCONNECTED);
}

KDAT_CASE(unanswered_connect_times_out, calls(dat_ep_connect), rules("dat.ep-connect.timed-out")) {
  KernelPair pair{.pz = pz()};
  listen(pair);
  pair.active = side(pair.pz);
  constexpr Word timeout = 300'000;
  need(start_connect(pair.active.ep, pair.qualifier, {}, timeout), "no connect");
  // The request is never answered.
  (void)expect_upcall(pair.active.connection, DAT_CONNECTION_EVENT_TIMED_OUT);
  expect_ep_state(pair.active.ep, DAT_EP_STATE_DISCONNECTED);
}

KDAT_CASE(pending_connect_is_given_up, calls(dat_ep_disconnect),
          rules("dat.ep-disconnect.pending")) {
  KernelPair pair{.pz = pz()};
  listen(pair);
  pair.active = side(pair.pz);
  const Region memory = region(pair.pz);
  need(post(RNIC_KDAT_EP_POST_RECV, pair.active.ep, {memory.segment(0, 8)}, 1), "no receive");
  need(start_connect(pair.active.ep, pair.qualifier), "no connect");
  (void)next_request(pair);
  expect(call(RNIC_KDAT_EP_DISCONNECT, {pair.active.ep, DAT_CLOSE_ABRUPT_FLAG}), succeeds);
  (void)expect_done(pair.active.receives, 1, DAT_DTO_ERR_FLUSHED);
  expect_ep_state(pair.active.ep, DAT_EP_STATE_DISCONNECTED);
}

KDAT_CASE(bad_connects_are_refused, calls(dat_ep_connect),
          rules("dat.ep-connect.invalid-parameter", "dat.ep-connect.invalid-handle",
                "dat.ep-connect.invalid-address", "dat.ep-connect.invalid-state",
                "dat.ep-connect.model")) {
  const Word ia = ia_handle();
  const KernelPair pair = connected();
  const KernelSide end = side(pair.pz);
  const auto connect = [&](Word ep, Word address, Word qualifier, Word size, Word qos, Word flags,
                           std::uint32_t nulls = 0) {
    return call(RNIC_KDAT_EP_CONNECT, {ep, address, ia, qualifier, 1'000'000, size, qos, flags},
                {.nulls = nulls});
  };
  row("no address", [&] {
    expect(connect(end.ep, 0, pair.qualifier, 0, 0, 0, RNIC_KDAT_NULL(0)),
           returns(DAT_INVALID_PARAMETER).or_tolerably(DAT_INVALID_ADDRESS));
  });
  row("a negative size of data", [&] {
    expect(connect(end.ep, 0, pair.qualifier, 0xFFFFFFFF, 0, 0), returns(DAT_INVALID_PARAMETER));
  });
  row("too much data", [&] {
    expect(connect(end.ep, 0, pair.qualifier, 10'000, 0, 0), returns(DAT_INVALID_PARAMETER));
  });
  row("data that is not there", [&] {
    expect(connect(end.ep, 0, pair.qualifier, 5, 0, 0, RNIC_KDAT_NULL(1)),
           returns(DAT_INVALID_PARAMETER));
  });
  row("unknown flags", [&] {
    expect(connect(end.ep, 0, pair.qualifier, 0, 0, 0x80), returns(DAT_INVALID_PARAMETER));
  });
  row("a multicast address", [&] {
    constexpr Word multicast = 0x010000E0;  // 224.0.0.1
    expect(connect(end.ep, multicast, pair.qualifier, 0, 0, 0), returns(DAT_INVALID_ADDRESS),
           "dat.ep-connect.invalid-address");
  });
  row("a quality of service", [&] {
    expect(connect(end.ep, 0, pair.qualifier, 0, DAT_QOS_PREMIUM, 0),
           returns(DAT_MODEL_NOT_SUPPORTED), "dat.ep-connect.model");
  });
  row("no endpoint", [&] {
    for (const Word none : {Word{0}, pair.pz})
      expect(connect(none, 0, pair.qualifier, 0, 0, 0), returns(DAT_INVALID_HANDLE),
             "dat.ep-connect.invalid-handle");
  });
  row("a connected endpoint", [&] {
    expect(connect(pair.active.ep, 0, pair.qualifier, 0, 0, 0), returns(DAT_INVALID_STATE),
           "dat.ep-connect.invalid-state");
  });
}

KDAT_CASE(connection_ends_on_both_sides, calls(dat_ep_disconnect),
          rules("dat.ep-disconnect.success", "dat.ep-disconnect.flush",
                "dat.ep-disconnect.no-op")) {
  for (const auto& [name, flag] :
       {std::pair{"abrupt", DAT_CLOSE_ABRUPT_FLAG}, std::pair{"graceful", DAT_CLOSE_GRACEFUL_FLAG}})
    row(name, [&] {
      const KernelPair pair = connected();
      const Region memory = region(pair.pz);
      for (const KernelSide& end : {pair.active, pair.passive})
        need(post(RNIC_KDAT_EP_POST_RECV, end.ep, {memory.segment(0, 8)}, 5), "no receive");
      expect(call(RNIC_KDAT_EP_DISCONNECT, {pair.active.ep, static_cast<Word>(flag)}), succeeds);
      for (const KernelSide& end : {pair.active, pair.passive}) {
        const KernelEvent ended = expect_upcall(end.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
        expect_number("endpoint", ended.ep, end.ep);
        (void)expect_done(end.receives, 5, DAT_DTO_ERR_FLUSHED, "dat.ep-disconnect.flush");
        expect_ep_state(end.ep, DAT_EP_STATE_DISCONNECTED);
      }
      expect(call(RNIC_KDAT_EP_DISCONNECT, {pair.active.ep, static_cast<Word>(flag)}), succeeds,
             "dat.ep-disconnect.no-op");
    });
}

KDAT_CASE(bad_disconnects_are_refused, calls(dat_ep_disconnect),
          rules("dat.ep-disconnect.invalid-parameter", "dat.ep-disconnect.invalid-state")) {
  const KernelPair pair = connected();
  expect(call(RNIC_KDAT_EP_DISCONNECT, {pair.active.ep, 9}), returns(DAT_INVALID_PARAMETER));
  expect_ep_state(pair.active.ep, DAT_EP_STATE_CONNECTED);
  const KernelSide end = side(pair.pz);
  expect(call(RNIC_KDAT_EP_DISCONNECT, {end.ep, 0}), returns(DAT_INVALID_STATE),
         "dat.ep-disconnect.invalid-state");
}

KDAT_CASE(freed_endpoint_ends_the_connection, calls(dat_ep_free), rules("dat.ep-free.peer")) {
  const KernelPair pair = connected();
  expect(call(RNIC_KDAT_EP_FREE, {pair.active.ep}), succeeds);
  const Upcall ended = kernel().next_upcall(pair.passive.connection);
  expect_that(ended.event.number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                  ended.event.number == DAT_CONNECTION_EVENT_BROKEN,
              "the end of the connection",
              event_text(static_cast<DAT_EVENT_NUMBER>(ended.event.number)));
}

// ---------------------------------------------------------------- service points

KDAT_CASE(service_point_has_its_qualifier,
          calls(dat_psp_create, dat_psp_create_any, dat_psp_query, dat_psp_free),
          rules("dat.psp-create-any.success", "dat.psp-create.success", "dat.psp-create.in-use",
                "dat.psp-query.success", "dat.psp-free.success")) {
  const Word arrivals = evd(DAT_EVD_CR_FLAG, 8);
  const Result any = call(RNIC_KDAT_PSP_CREATE_ANY, {ia_handle(), 0, arrivals, 0});
  expect(any, succeeds);
  expect_that(any.out(1) > 0 && any.out(1) <= 0xFFFF, "a TCP port", std::to_string(any.out(1)));
  const Result got = call(RNIC_KDAT_PSP_QUERY, {any.out(0), DAT_PSP_FIELD_ALL});
  const RuleRef query = "dat.psp-query.success";
  expect(got, succeeds, query);
  expect_number("IA", got.out(0), ia_handle(), query);
  expect_number("qualifier", got.out(1), any.out(1), query);
  expect_number("EVD", got.out(2), arrivals, query);
  expect_number("flags", got.out(3), DAT_PSP_CONSUMER_FLAG, query);
  expect(call(RNIC_KDAT_PSP_CREATE, {ia_handle(), any.out(1), arrivals, 0}),
         returns(DAT_CONN_QUAL_IN_USE), "dat.psp-create.in-use");
  expect(call(RNIC_KDAT_PSP_FREE, {any.out(0)}), succeeds, "dat.psp-free.success");
  const Result same = call(RNIC_KDAT_PSP_CREATE, {ia_handle(), any.out(1), arrivals, 0});
  expect(same, succeeds, "dat.psp-create.success");
  const KernelSide end = side(pz());
  need(start_connect(end.ep, any.out(1)), "no connect");
  const KernelEvent request =
      expect_upcall(arrivals, DAT_CONNECTION_REQUEST_EVENT, "dat.psp-create.success");
  expect_number("service point", request.psp, same.out(0), "dat.psp-create.success");
}

KDAT_CASE(bad_service_points_are_refused,
          calls(dat_psp_create, dat_psp_create_any, dat_psp_query, dat_psp_free),
          rules("dat.psp-create.invalid-handle", "dat.psp-create.invalid-parameter",
                "dat.psp-create-any.invalid-handle", "dat.psp-create-any.invalid-parameter",
                "dat.psp-query.invalid-handle", "dat.psp-query.invalid-parameter",
                "dat.psp-free.invalid-handle")) {
  const Word ia = ia_handle(), arrivals = evd(DAT_EVD_CR_FLAG, 8), other = evd(DAT_EVD_DTO_FLAG);
  for (const auto& [number, handle, parameter] :
       {std::tuple{RNIC_KDAT_PSP_CREATE, RuleRef("dat.psp-create.invalid-handle"),
                   RuleRef("dat.psp-create.invalid-parameter")},
        std::tuple{RNIC_KDAT_PSP_CREATE_ANY, RuleRef("dat.psp-create-any.invalid-handle"),
                   RuleRef("dat.psp-create-any.invalid-parameter")}}) {
    expect(call(number, {0, 5000, arrivals, 0}), returns(DAT_INVALID_HANDLE), handle);
    for (const Word none : {Word{0}, ia, other})
      expect(call(number, {ia, 5000, none, 0}), returns(DAT_INVALID_HANDLE), handle);
    expect(call(number, {ia, 5000, arrivals, 8}), returns(DAT_INVALID_PARAMETER), parameter);
    expect_refused_without(number, {ia, 5000, arrivals, 0}, {0}, parameter);
  }
  expect_refused_without(RNIC_KDAT_PSP_CREATE_ANY, {ia, 0, arrivals, 0}, {1},
                         "dat.psp-create-any.invalid-parameter");
  KernelPair pair;
  listen(pair);
  for (const Word none : {Word{0}, ia}) {
    expect(call(RNIC_KDAT_PSP_QUERY, {none, 1}), returns(DAT_INVALID_HANDLE),
           "dat.psp-query.invalid-handle");
    expect(call(RNIC_KDAT_PSP_FREE, {none}), returns(DAT_INVALID_HANDLE),
           "dat.psp-free.invalid-handle");
  }
  expect_refused_without(RNIC_KDAT_PSP_QUERY, {pair.psp, 1}, {0},
                         "dat.psp-query.invalid-parameter");
}

KDAT_CASE(bad_answers_are_refused, calls(dat_cr_query, dat_cr_accept, dat_cr_reject),
          rules("dat.cr-query.invalid-handle", "dat.cr-query.invalid-parameter",
                "dat.cr-accept.invalid-handle", "dat.cr-accept.invalid-parameter",
                "dat.cr-accept.ep-state", "dat.cr-reject.invalid-handle",
                "dat.cr-reject.invalid-parameter")) {
  const KernelPair busy = connected();
  const KernelPair pair = requested(*this);
  const KernelEvent request = next_request(pair);
  for (const Word none : {Word{0}, pair.pz}) {
    expect(call(RNIC_KDAT_CR_QUERY, {none, 1}), returns(DAT_INVALID_HANDLE));
    expect(call(RNIC_KDAT_CR_ACCEPT, {none, pair.passive.ep, 0}), returns(DAT_INVALID_HANDLE),
           "dat.cr-accept.invalid-handle");
    expect(call(RNIC_KDAT_CR_ACCEPT, {request.cr, none, 0}), returns(DAT_INVALID_HANDLE),
           "dat.cr-accept.invalid-handle");
    expect(call(RNIC_KDAT_CR_REJECT, {none, 0}), returns(DAT_INVALID_HANDLE),
           "dat.cr-reject.invalid-handle");
  }
  expect_refused_without(RNIC_KDAT_CR_QUERY, {request.cr, 1}, {0},
                         "dat.cr-query.invalid-parameter");
  for (const Word size : {Word{0xFFFFFFFF}, Word{10'000}}) {
    expect(call(RNIC_KDAT_CR_ACCEPT, {request.cr, pair.passive.ep, size}),
           returns(DAT_INVALID_PARAMETER), "dat.cr-accept.invalid-parameter");
    expect(call(RNIC_KDAT_CR_REJECT, {request.cr, size}), returns(DAT_INVALID_PARAMETER),
           "dat.cr-reject.invalid-parameter");
  }
  expect(call(RNIC_KDAT_CR_ACCEPT, {request.cr, busy.active.ep, 0}),
         returns(DAT_INVALID_STATE).or_tolerably(DAT_INVALID_PARAMETER), "dat.cr-accept.ep-state");
  expect(call(RNIC_KDAT_CR_ACCEPT, {request.cr, pair.passive.ep, 0}), succeeds,
         "dat.cr-accept.ep-state");
}

// ---------------------------------------------------------------- other ways to connect

KDAT_CASE(endpoint_connects_to_where_another_one_is, calls(dat_ep_dup_connect),
          rules("dat.ep-dup-connect.success")) {
  const KernelPair pair = connected();
  const KernelSide again = side(pair.pz), answers = side(pair.pz);
  const auto data = private_data(40);
  expect(call(RNIC_KDAT_EP_DUP_CONNECT,
              {again.ep, pair.active.ep, 10'000'000, data.size(), DAT_QOS_BEST_EFFORT},
              with_data(data)),
         succeeds);
  const KernelEvent request = next_request(pair);
  expect_number("service point", request.psp, pair.psp);
  expect_private_data(call(RNIC_KDAT_CR_QUERY, {request.cr, DAT_CR_FIELD_ALL}).data(), data);
  need(call(RNIC_KDAT_CR_ACCEPT, {request.cr, answers.ep, 0}), "no accept");
  (void)expect_upcall(again.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_ep_state(pair.active.ep, DAT_EP_STATE_CONNECTED);
}

KDAT_CASE(bad_connects_as_others_are_refused, calls(dat_ep_dup_connect),
          rules("dat.ep-dup-connect.invalid-handle", "dat.ep-dup-connect.invalid-parameter",
                "dat.ep-dup-connect.invalid-state", "dat.ep-dup-connect.model")) {
  const KernelPair pair = connected();
  const KernelSide end = side(pair.pz), other = side(pair.pz);
  const auto connect = [&](Word ep, Word as, Word size = 0, Word qos = 0) {
    return call(RNIC_KDAT_EP_DUP_CONNECT, {ep, as, 1'000'000, size, qos});
  };
  for (const Word none : {Word{0}, pair.pz}) {
    expect(connect(none, pair.active.ep), returns(DAT_INVALID_HANDLE));
    expect(connect(end.ep, none), returns(DAT_INVALID_HANDLE));
  }
  for (const Word size : {Word{0xFFFFFFFF}, Word{10'000}})
    expect(connect(end.ep, pair.active.ep, size), returns(DAT_INVALID_PARAMETER),
           "dat.ep-dup-connect.invalid-parameter");
  const RuleRef state = "dat.ep-dup-connect.invalid-state";
  expect(connect(end.ep, other.ep), returns(DAT_INVALID_STATE), state);
  expect(connect(pair.passive.ep, pair.active.ep), returns(DAT_INVALID_STATE), state);
  expect(connect(end.ep, pair.active.ep, 0, DAT_QOS_PREMIUM), returns(DAT_MODEL_NOT_SUPPORTED),
         "dat.ep-dup-connect.model");
  expect_ep_state(end.ep, DAT_EP_STATE_UNCONNECTED, "dat.ep-dup-connect.model");
}

KDAT_CASE(endpoint_connects_to_a_socket_address, calls(dat_ep_common_connect),
          rules("dat.ep-common-connect.success")) {
  KernelPair pair{.pz = pz()};
  listen(pair);
  pair.active = side(pair.pz);
  pair.passive = side(pair.pz);
  const auto data = private_data(30);
  expect(call(RNIC_KDAT_EP_COMMON_CONNECT,
              {pair.active.ep, 0, pair.qualifier, ia_handle(), 10'000'000, data.size()},
              with_data(data)),
         succeeds);
  const KernelEvent request = next_request(pair);
  expect_private_data(call(RNIC_KDAT_CR_QUERY, {request.cr, DAT_CR_FIELD_ALL}).data(), data);
  need(call(RNIC_KDAT_CR_ACCEPT, {request.cr, pair.passive.ep, 0}), "no accept");
  (void)expect_upcall(pair.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

KDAT_CASE(bad_connects_to_socket_addresses_are_refused, calls(dat_ep_common_connect),
          rules("dat.ep-common-connect.invalid-handle", "dat.ep-common-connect.invalid-parameter",
                "dat.ep-common-connect.invalid-state")) {
  const KernelPair pair = connected();
  const KernelSide end = side(pair.pz);
  const auto connect = [&](Word ep, Word size = 0, std::uint32_t nulls = 0) {
    return call(RNIC_KDAT_EP_COMMON_CONNECT, {ep, 0, pair.qualifier, ia_handle(), 1'000'000, size},
                {.nulls = nulls});
  };
  for (const Word none : {Word{0}, pair.pz}) expect(connect(none), returns(DAT_INVALID_HANDLE));
  const RuleRef parameter = "dat.ep-common-connect.invalid-parameter";
  expect(connect(end.ep, 0, RNIC_KDAT_NULL(0)), returns(DAT_INVALID_PARAMETER), parameter);
  for (const Word size : {Word{0xFFFFFFFF}, Word{10'000}})
    expect(connect(end.ep, size), returns(DAT_INVALID_PARAMETER), parameter);
  expect(connect(pair.active.ep), returns(DAT_INVALID_STATE),
         "dat.ep-common-connect.invalid-state");
}

KDAT_CASES_OF_FILE(connection)

}  // namespace suite::cases::dat
