// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Endpoints without a connection.
#include "suite/cases/kdat/framework/kdat_body.hpp"

namespace suite::cases::dat {

namespace {

/// The arguments of dat_ep_create that a row changes.
struct Creation {
  Word ia = 0, pz = 0, receives = 0, requests = 0, connection = 0, has_attr = 1;
  Word recv_dtos = 8, request_dtos = 8, recv_iov = 2, request_iov = 2, srq = 0;
};

Result create(KdatBody& body, const Creation& with, std::uint32_t number = RNIC_KDAT_EP_CREATE,
              const CallOptions& options = {}) {
  return body.call(number,
                   {with.ia, with.pz, with.receives, with.requests, with.connection, with.has_attr,
                    with.recv_dtos, with.request_dtos, with.recv_iov, with.request_iov, with.srq},
                   options);
}

Creation usual(KdatBody& body) {
  return {.ia = body.ia_handle(),
          .pz = body.pz(),
          .receives = body.evd(DAT_EVD_DTO_FLAG),
          .requests = body.evd(DAT_EVD_DTO_FLAG),
          .connection = body.evd(DAT_EVD_CONNECTION_FLAG)};
}

}  // namespace

KDAT_CASE(endpoint_is_as_it_was_asked_for,
          calls(dat_ep_create, dat_ep_query, dat_ep_get_status, dat_ep_free),
          rules("dat.ep-create.success", "dat.ep-query.success", "dat.ep-get-status.success",
                "dat.ep-free.success")) {
  const Creation with = usual(*this);
  const Result made = create(*this, with);
  expect(made, succeeds);
  const Result got = call(RNIC_KDAT_EP_QUERY, {made.out(0), DAT_EP_FIELD_ALL});
  const RuleRef query = "dat.ep-query.success";
  expect(got, succeeds, query);
  expect_number("IA", got.out(RNIC_KDAT_EP_IA), with.ia, query);
  expect_number("state", got.out(RNIC_KDAT_EP_STATE), DAT_EP_STATE_UNCONNECTED, query);
  expect_number("PZ", got.out(RNIC_KDAT_EP_PZ), with.pz, query);
  expect_number("EVD of receives", got.out(RNIC_KDAT_EP_RECV_EVD), with.receives, query);
  expect_number("EVD of requests", got.out(RNIC_KDAT_EP_REQUEST_EVD), with.requests, query);
  expect_number("EVD of connections", got.out(RNIC_KDAT_EP_CONNECT_EVD), with.connection, query);
  expect_that(got.out(RNIC_KDAT_EP_MAX_RECV_DTOS) >= with.recv_dtos, "8 receives at least",
              std::to_string(got.out(RNIC_KDAT_EP_MAX_RECV_DTOS)));
  expect_that(got.out(RNIC_KDAT_EP_MAX_REQUEST_DTOS) >= with.request_dtos, "8 requests at least",
              std::to_string(got.out(RNIC_KDAT_EP_MAX_REQUEST_DTOS)));
  const Result status = call(RNIC_KDAT_EP_GET_STATUS, {made.out(0)});
  const RuleRef rule = "dat.ep-get-status.success";
  expect(status, succeeds, rule);
  expect_number("state", status.out(0), DAT_EP_STATE_UNCONNECTED, rule);
  expect_number("receives are idle", status.out(1), 1, rule);
  expect_number("requests are idle", status.out(2), 1, rule);
  expect(call(RNIC_KDAT_EP_FREE, {made.out(0)}), succeeds, "dat.ep-free.success");
  expect(call(RNIC_KDAT_EP_QUERY, {made.out(0), 1}), returns(DAT_INVALID_HANDLE),
         "dat.ep-free.success");
}

KDAT_CASE(endpoint_without_attributes_has_the_providers, calls(dat_ep_create),
          rules("dat.ep-create.success")) {
  Creation with = usual(*this);
  with.has_attr = 0;
  const Result made = create(*this, with);
  expect(made, succeeds);
  const Result got = call(RNIC_KDAT_EP_QUERY, {made.out(0), DAT_EP_FIELD_ALL});
  need(got, "no query");
  expect_that(got.out(RNIC_KDAT_EP_MAX_RECV_DTOS) > 0, "receives", "none");
  expect_that(got.out(RNIC_KDAT_EP_MAX_REQUEST_DTOS) > 0, "requests", "none");
}

KDAT_CASE(bad_endpoints_are_refused, calls(dat_ep_create),
          rules("dat.ep-create.invalid-handle", "dat.ep-create.invalid-parameter")) {
  const Creation good = usual(*this);
  const auto refuse = [&](const char* name, const std::function<void(Creation&)>& change,
                          DAT_RETURN_TYPE type = DAT_INVALID_HANDLE, RuleRef rule = {}) {
    row(name, [&] {
      Creation changed = good;
      change(changed);
      expect(create(*this, changed), returns(type), rule);
    });
  };
  refuse("no IA", [](auto& with) { with.ia = 0; });
  refuse("a PZ as IA", [](auto& with) { with.ia = with.pz; });
  refuse("an EVD as PZ", [](auto& with) { with.pz = with.receives; });
  refuse("a PZ as EVD of receives", [](auto& with) { with.receives = with.pz; });
  refuse("an EVD of connections for receives", [](auto& with) { with.receives = with.connection; });
  refuse("an EVD of connections for requests", [](auto& with) { with.requests = with.connection; });
  refuse("an EVD of DTOs for connections", [](auto& with) { with.connection = with.requests; });
  const RuleRef parameter = "dat.ep-create.invalid-parameter";
  refuse(
      "too many receives", [](auto& with) { with.recv_dtos = 0x7FFFFFFF; }, DAT_INVALID_PARAMETER,
      parameter);
  refuse(
      "a negative number of requests", [](auto& with) { with.request_dtos = 0xFFFFFFFF; },
      DAT_INVALID_PARAMETER, parameter);
  refuse(
      "too many segments", [](auto& with) { with.request_iov = 10000; }, DAT_INVALID_PARAMETER,
      parameter);
  row("no place for the handle", [&] {
    expect(create(*this, good, RNIC_KDAT_EP_CREATE, with_null(0)), returns(DAT_INVALID_PARAMETER),
           parameter);
  });
}

KDAT_CASE(calls_on_no_endpoint_are_refused,
          calls(dat_ep_query, dat_ep_get_status, dat_ep_free, dat_ep_reset, dat_ep_disconnect),
          rules("dat.ep-query.invalid-handle", "dat.ep-query.invalid-parameter",
                "dat.ep-get-status.invalid-handle", "dat.ep-free.invalid-handle",
                "dat.ep-reset.invalid-handle", "dat.ep-disconnect.invalid-handle")) {
  const KernelSide end = side(pz());
  for (const Word none : {Word{0}, ia_handle()}) {
    expect(call(RNIC_KDAT_EP_QUERY, {none, 1}), returns(DAT_INVALID_HANDLE));
    expect(call(RNIC_KDAT_EP_GET_STATUS, {none}), returns(DAT_INVALID_HANDLE),
           "dat.ep-get-status.invalid-handle");
    expect(call(RNIC_KDAT_EP_FREE, {none}), returns(DAT_INVALID_HANDLE),
           "dat.ep-free.invalid-handle");
    expect(call(RNIC_KDAT_EP_RESET, {none}), returns(DAT_INVALID_HANDLE),
           "dat.ep-reset.invalid-handle");
    expect(call(RNIC_KDAT_EP_DISCONNECT, {none, 0}), returns(DAT_INVALID_HANDLE),
           "dat.ep-disconnect.invalid-handle");
  }
  expect_refused_without(RNIC_KDAT_EP_QUERY, {end.ep, 1}, {0}, "dat.ep-query.invalid-parameter");
}

KDAT_CASE(disconnected_endpoint_is_reset, calls(dat_ep_reset),
          rules("dat.ep-reset.success", "dat.ep-reset.invalid-state")) {
  const KernelPair pair = connected();
  const RuleRef state = "dat.ep-reset.invalid-state";
  expect(call(RNIC_KDAT_EP_RESET, {pair.active.ep}), returns(DAT_INVALID_STATE), state);
  need(call(RNIC_KDAT_EP_DISCONNECT, {pair.active.ep, DAT_CLOSE_ABRUPT_FLAG}), "no disconnect");
  (void)expect_upcall(pair.active.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  expect(call(RNIC_KDAT_EP_RESET, {pair.active.ep}), succeeds);
  expect_ep_state(pair.active.ep, DAT_EP_STATE_UNCONNECTED);
  // And it connects again.
  const KernelSide again = side(pair.pz);
  need(start_connect(pair.active.ep, pair.qualifier), "no connect");
  const KernelEvent request = next_request(pair);
  need(call(RNIC_KDAT_CR_ACCEPT, {request.cr, again.ep, 0}), "no accept");
  (void)expect_upcall(pair.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

// ---------------------------------------------------------------- changes

namespace {

/// The bits of DAT_EP_PARAM_MASK.
constexpr Word of_ia = 0x1, of_state = 0x2, of_pz = 0x80, of_requests = 0x200,
               of_recv_dtos = 0x4'0000, of_request_iov = 0x20'0000;

struct Change {
  Word pz = 0, receives = 0, requests = 0, connection = 0;
  Word recv_dtos = 0, request_dtos = 0, recv_iov = 0, request_iov = 0;
};

Result modify(KdatBody& body, Word ep, Word mask, const Change& to, std::uint32_t nulls = 0) {
  return body.call(RNIC_KDAT_EP_MODIFY,
                   {ep, mask, to.pz, to.receives, to.requests, to.connection, to.recv_dtos,
                    to.request_dtos, to.recv_iov, to.request_iov},
                   {.nulls = nulls});
}

}  // namespace

KDAT_CASE(unconnected_endpoint_is_changed, calls(dat_ep_modify), rules("dat.ep-modify.success")) {
  KernelPair pair{.pz = pz()};
  listen(pair);
  pair.active = side(pair.pz, 8);
  pair.passive = side(pair.pz);
  const Word requests = evd(DAT_EVD_DTO_FLAG);
  expect(modify(*this, pair.active.ep, of_requests | of_recv_dtos,
                {.requests = requests, .recv_dtos = 20, .request_dtos = 3}),
         succeeds);
  const Result got = call(RNIC_KDAT_EP_QUERY, {pair.active.ep, DAT_EP_FIELD_ALL});
  expect_number("EVD of requests", got.out(RNIC_KDAT_EP_REQUEST_EVD), requests);
  expect_number("EVD of receives", got.out(RNIC_KDAT_EP_RECV_EVD), pair.active.receives);
  expect_that(got.out(RNIC_KDAT_EP_MAX_RECV_DTOS) >= 20, "20 receives at least",
              std::to_string(got.out(RNIC_KDAT_EP_MAX_RECV_DTOS)));
  expect_number("requests", got.out(RNIC_KDAT_EP_MAX_REQUEST_DTOS), 8);
  // It works as changed: so many receives, and completions where they belong now.
  const Region memory = region(pair.pz);
  for (Word cookie = 1; cookie <= 20; ++cookie)
    expect(post(RNIC_KDAT_EP_POST_RECV, pair.active.ep, {memory.segment(0, 8)}, cookie), succeeds);
  need(start_connect(pair.active.ep, pair.qualifier), "no connect");
  need(call(RNIC_KDAT_CR_ACCEPT, {next_request(pair).cr, pair.passive.ep, 0}), "no accept");
  (void)expect_upcall(pair.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  need(post(RNIC_KDAT_EP_POST_RECV, pair.passive.ep, {memory.segment(0, 8)}, 1), "no receive");
  need(post(RNIC_KDAT_EP_POST_SEND, pair.active.ep, {memory.segment(100, 8)}, 30), "no Send");
  (void)expect_done(requests, 30);
  expect(call(RNIC_KDAT_EVD_FREE, {pair.active.requests}), succeeds);
}

KDAT_CASE(bad_changes_are_refused, calls(dat_ep_modify),
          rules("dat.ep-modify.invalid-handle", "dat.ep-modify.fixed",
                "dat.ep-modify.invalid-parameter", "dat.ep-modify.invalid-state")) {
  const KernelPair pair = connected();
  const KernelSide end = side(pair.pz);
  for (const Word none : {Word{0}, pair.pz})
    expect(modify(*this, none, of_recv_dtos, {.recv_dtos = 4}), returns(DAT_INVALID_HANDLE));
  for (const Word fixed : {of_ia, of_state})
    expect(modify(*this, end.ep, fixed, {}), returns(DAT_INVALID_PARAMETER), "dat.ep-modify.fixed");
  const RuleRef parameter = "dat.ep-modify.invalid-parameter";
  const auto refuse = [&](Word mask, const Change& to, std::uint32_t nulls = 0) {
    expect(modify(*this, end.ep, mask, to, nulls), returns(DAT_INVALID_PARAMETER), parameter);
  };
  refuse(of_recv_dtos, {.recv_dtos = 4}, RNIC_KDAT_NULL(0));
  refuse(Word{1} << 40, {});
  refuse(of_recv_dtos, {.recv_dtos = 0x7FFF'FFFF});
  refuse(of_request_iov, {.request_iov = 10'000});
  refuse(of_requests, {.requests = end.connection});
  const Result got = call(RNIC_KDAT_EP_QUERY, {end.ep, DAT_EP_FIELD_ALL});
  expect_number("EVD of requests", got.out(RNIC_KDAT_EP_REQUEST_EVD), end.requests, parameter);
  expect(modify(*this, pair.active.ep, of_pz, {.pz = pair.pz}), returns(DAT_INVALID_STATE),
         "dat.ep-modify.invalid-state");
}

KDAT_CASE(held_receives_are_counted, calls(dat_ep_recv_query),
          rules("dat.ep-recv-query.success", "dat.ep-recv-query.invalid-handle")) {
  constexpr Word unknown = static_cast<std::uint32_t>(DAT_VALUE_UNKNOWN);
  const Word zone = pz();
  const KernelSide end = side(zone);
  const Region memory = region(zone);
  for (const Word count : {Word{0}, Word{1}, Word{2}}) {
    const Result got = call(RNIC_KDAT_EP_RECV_QUERY, {end.ep});
    expect(got, succeeds);
    const Word buffers = got.out(0), span = got.out(1);
    expect_that(buffers == count || buffers == unknown, std::to_string(count) + ", or unknown",
                std::to_string(buffers));
    expect_that(span == unknown || buffers == unknown || span >= buffers,
                "a span of at least so many, or unknown", std::to_string(span));
    need(post(RNIC_KDAT_EP_POST_RECV, end.ep, {memory.segment(0, 8)}, count), "no receive");
  }
  for (const Word none : {Word{0}, zone})
    expect(call(RNIC_KDAT_EP_RECV_QUERY, {none}), returns(DAT_INVALID_HANDLE),
           "dat.ep-recv-query.invalid-handle");
}

KDAT_CASE(high_watermark_is_set_or_refused, calls(dat_ep_set_watermark),
          rules("kdat.ep-set-watermark.model", "dat.ep-set-watermark.invalid-handle",
                "dat.ep-set-watermark.invalid-parameter")) {
  const KernelSide end = side(pz());
  expect(call(RNIC_KDAT_EP_SET_WATERMARK, {end.ep, 4, 8}),
         returns_one_of({DAT_SUCCESS, DAT_MODEL_NOT_SUPPORTED}));
  for (const Word none : {Word{0}, ia_handle()})
    expect(call(RNIC_KDAT_EP_SET_WATERMARK, {none, 4, 8}), returns(DAT_INVALID_HANDLE),
           "dat.ep-set-watermark.invalid-handle");
  constexpr Word negative = static_cast<std::uint32_t>(-5);
  for (const auto& [soft, hard] : {std::pair{negative, Word{8}}, std::pair{Word{4}, negative}})
    expect(call(RNIC_KDAT_EP_SET_WATERMARK, {end.ep, soft, hard}), returns(DAT_INVALID_PARAMETER),
           "dat.ep-set-watermark.invalid-parameter");
}

KDAT_CASES_OF_FILE(ep)

}  // namespace suite::cases::dat
