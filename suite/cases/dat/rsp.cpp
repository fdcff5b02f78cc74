// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reserved service points: dat_rsp_create, dat_rsp_query, dat_rsp_free.
#include "suite/cases/dat/framework/dat_posts.hpp"
#include "suite/cases/dat/framework/dat_requests.hpp"

namespace suite::cases::dat {

namespace {

DAT_RSP_HANDLE freed_rsp(DatBody& body) {
  Reserved reserved(body);
  body.need(reserved.create(body), "no RSP");
  const DAT_RSP_HANDLE handle = reserved.rsp;
  (void)reserved.free();
  return handle;
}

DAT_RETURN query(DAT_HANDLE handle) {
  DAT_RSP_PARAM param{};
  return CALL(dat_rsp_query, handle, DAT_RSP_FIELD_ALL, &param);
}

}  // namespace

DAT_CASE(endpoint_is_reserved, calls(dat_rsp_create), rules("dat.rsp-create.success")) {
  Reserved reserved(*this);
  expect(reserved.create(*this), succeeds);
  expect_that(reserved.rsp != DAT_HANDLE_NULL, "a handle", "DAT_HANDLE_NULL");
  expect_state(reserved.passive.ep, DAT_EP_STATE_RESERVED);
}

DAT_CASE(request_carries_the_endpoint, calls(dat_rsp_create), rules("dat.rsp-create.success")) {
  Reserved reserved(*this);
  expect(reserved.create(*this), succeeds);
  need(ask(ia(), reserved.active.ep, reserved.qualifier), "no connect");
  const auto request = arrival(*this, reserved.requests);
  same(*this, "Connection Qualifier", request.conn_qual, reserved.qualifier);
  // The header states a null handle here, the stock tool expects that of the service point.
  expect_that(request.sp_handle.rsp_handle == reserved.rsp ||
                  request.sp_handle.rsp_handle == DAT_HANDLE_NULL,
              "the service point, or none", "another handle");
  expect_state(reserved.passive.ep, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
  DAT_CR_PARAM param{};
  expect(CALL(dat_cr_query, request.cr_handle, DAT_CR_FIELD_ALL, &param), succeeds);
  same(*this, "endpoint", param.local_ep_handle, reserved.passive.ep.get());
  (void)dat_cr_reject(request.cr_handle, 0, nullptr);
}

DAT_CASE(request_is_accepted_with_the_endpoint, calls(dat_rsp_create, dat_cr_accept),
         rules("dat.rsp-create.success")) {
  Reserved reserved(*this);
  expect(reserved.create(*this), succeeds);
  need(ask(ia(), reserved.active.ep, reserved.qualifier), "no connect");
  const auto request = arrival(*this, reserved.requests);
  expect(CALL(dat_cr_accept, request.cr_handle, DAT_HANDLE_NULL, 0, nullptr), succeeds);
  expect_event(reserved.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_event(reserved.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_state(reserved.passive.ep, DAT_EP_STATE_CONNECTED);
}

// The reserved endpoint is the only one that can accept (dat_rsp_create, ep_handle).
DAT_CASE(request_is_accepted_with_no_other_endpoint, calls(dat_rsp_create, dat_cr_accept),
         rules("dat.rsp-create.success")) {
  Reserved reserved(*this);
  const Side other = make_side(ia(), reserved.pz);
  expect(reserved.create(*this), succeeds);
  need(ask(ia(), reserved.active.ep, reserved.qualifier), "no connect");
  const auto request = arrival(*this, reserved.requests);
  const DAT_RETURN got = CALL(dat_cr_accept, request.cr_handle, other.ep.get(), 0, nullptr);
  expect(got, returns_one_of({DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER, DAT_INVALID_STATE}));
  if (got == DAT_SUCCESS) return;
  expect_state(other.ep, DAT_EP_STATE_UNCONNECTED);
  expect(CALL(dat_cr_accept, request.cr_handle, DAT_HANDLE_NULL, 0, nullptr), succeeds);
  expect_event(reserved.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_event(reserved.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_state(reserved.passive.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(receives_posted_before_the_acceptance_take_messages,
         calls(dat_ep_post_recv, dat_rsp_create, dat_cr_accept),
         rules("dat.ep-post-recv.success", "dat.rsp-create.success")) {
  Reserved reserved(*this);
  const Lmr memory(ia(), reserved.pz.get(), 64);
  const DAT_EP_HANDLE passive = reserved.passive.ep.get();
  expect(post_recv(passive, {memory.triplet(0, 8)}, 1), succeeds);
  expect(reserved.create(*this), succeeds, "dat.rsp-create.success");
  expect(post_recv(passive, {memory.triplet(8, 8)}, 2), succeeds);  // reserved
  need(ask(ia(), reserved.active.ep, reserved.qualifier), "no connect");
  const auto request = arrival(*this, reserved.requests);
  expect(post_recv(passive, {memory.triplet(16, 8)}, 3), succeeds);  // its request is pending
  need(CALL(dat_cr_accept, request.cr_handle, DAT_HANDLE_NULL, 0, nullptr), "no accept");
  expect_event(reserved.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED,
               "dat.rsp-create.success");
  for (DAT_UINT64 id = 1; id <= 3; ++id) {
    need(post_send(reserved.active.ep.get(), {memory.triplet(24, 8)}, id), "no send");
    (void)expect_completion(reserved.passive.receives, id, DAT_DTO_SUCCESS);
  }
}

DAT_CASE(second_request_is_not_taken, calls(dat_rsp_create), rules("dat.rsp-create.one-request")) {
  Reserved reserved(*this);
  expect(reserved.create(*this), succeeds);
  need(ask(ia(), reserved.active.ep, reserved.qualifier), "no connect");
  const auto request = arrival(*this, reserved.requests);
  expect_nobody_listens(*this, reserved.qualifier);
  expect_no_event(reserved.requests);
  (void)dat_cr_reject(request.cr_handle, 0, nullptr);
}

DAT_CASE(service_point_without_endpoint_uses_one_of_the_providers, calls(dat_rsp_create),
         rules("dat.rsp-create.provider-ep")) {
  Reserved reserved(*this);
  expect(reserved.create(ia().get(), reserved.qualifier, DAT_HANDLE_NULL, reserved.requests.get()),
         succeeds);
  need(ask(ia(), reserved.active.ep, reserved.qualifier), "no connect");
  const auto request = arrival(*this, reserved.requests);
  DAT_CR_PARAM param{};
  expect(CALL(dat_cr_query, request.cr_handle, DAT_CR_FIELD_ALL, &param), succeeds);
  expect_that(param.local_ep_handle != DAT_HANDLE_NULL, "an endpoint", "DAT_HANDLE_NULL");
  (void)dat_cr_reject(request.cr_handle, 0, nullptr);
}

DAT_CASE(qualifier_in_use_is_refused, calls(dat_rsp_create), rules("dat.rsp-create.in-use")) {
  Reserved reserved(*this);
  const auto [psp, qualifier] = ia().psp(reserved.requests);
  expect(reserved.create(ia().get(), qualifier, reserved.passive.ep.get(), reserved.requests.get()),
         returns(DAT_CONN_QUAL_IN_USE));
  expect_state(reserved.passive.ep, DAT_EP_STATE_UNCONNECTED);
}

DAT_CASE(endpoint_that_is_reserved_is_refused, calls(dat_rsp_create),
         rules("dat.rsp-create.invalid-state")) {
  Reserved first(*this);
  need(first.create(*this), "no RSP");
  Reserved second(*this);
  expect(second.create(ia().get(), second.qualifier, first.passive.ep.get(), second.requests.get()),
         returns(DAT_INVALID_STATE));
  expect_state(first.passive.ep, DAT_EP_STATE_RESERVED);
}

DAT_CASE(endpoint_that_is_connected_is_refused, calls(dat_rsp_create),
         rules("dat.rsp-create.invalid-state")) {
  const Pair pair = connected();
  Reserved reserved(*this);
  for (const Side* side : {&pair.active, &pair.passive})
    expect(reserved.create(ia().get(), reserved.qualifier, side->ep.get(), reserved.requests.get()),
           returns(DAT_INVALID_STATE));
  expect_state(pair.active.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(endpoint_that_is_disconnected_is_refused, calls(dat_rsp_create),
         rules("dat.rsp-create.invalid-state")) {
  const Pair pair = connected();
  need(CALL(dat_ep_disconnect, pair.active.ep.get(), DAT_CLOSE_ABRUPT_FLAG), "no disconnect");
  expect_event(pair.active.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  Reserved reserved(*this);
  expect(reserved.create(ia().get(), reserved.qualifier, pair.active.ep.get(),
                         reserved.requests.get()),
         returns(DAT_INVALID_STATE));
}

DAT_CASE(service_point_with_an_invalid_ia_is_refused, calls(dat_rsp_create),
         rules("dat.rsp-create.invalid-handle")) {
  Reserved reserved(*this);
  expect_refusal_of_no_ia(*this, [&](DAT_IA_HANDLE handle) {
    return reserved.create(handle, reserved.qualifier, reserved.passive.ep.get(),
                           reserved.requests.get());
  });
}

DAT_CASE(service_point_of_an_invalid_endpoint_is_refused, calls(dat_rsp_create),
         rules("dat.rsp-create.invalid-handle"), with_hostile_handles) {
  Reserved reserved(*this);
  const LiveObjects live(ia());
  auto others = live.except(DAT_HANDLE_TYPE_EP);
  others.emplace_back("a freed endpoint", freed(std::move(make_side(ia(), reserved.pz).ep)));
  for (const auto& [name, handle] : others)
    row(name, [&] {
      expect(reserved.create(ia().get(), reserved.qualifier, handle, reserved.requests.get()),
             returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASE(service_point_without_evd_for_requests_is_refused, calls(dat_rsp_create),
         rules("dat.rsp-create.invalid-handle"), with_hostile_handles) {
  Reserved reserved(*this);
  const LiveObjects live(ia());
  auto others = live.except(DAT_HANDLE_TYPE_EVD);
  others.insert(others.begin(),
                {{"no handle", DAT_HANDLE_NULL}, {"an EVD for DTOs", live.evd.get()}});
  for (const auto& [name, handle] : others)
    row(name, [&] {
      expect(reserved.create(ia().get(), reserved.qualifier, reserved.passive.ep.get(), handle),
             returns(DAT_INVALID_HANDLE));
      expect_state(reserved.passive.ep, DAT_EP_STATE_UNCONNECTED);
    });
}

DAT_CASE(qualifier_that_is_no_port_is_refused, calls(dat_rsp_create),
         rules("dat.rsp-create.invalid-parameter")) {
  Reserved reserved(*this);
  expect(reserved.create(ia().get(), DAT_CONN_QUAL{1} << 40, reserved.passive.ep.get(),
                         reserved.requests.get()),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(service_point_with_a_null_output_is_refused, calls(dat_rsp_create),
         rules("dat.rsp-create.invalid-parameter"), with_hostile_handles) {
  const Reserved reserved(*this);
  expect(CALL(dat_rsp_create, ia().get(), reserved.qualifier, reserved.passive.ep.get(),
              reserved.requests.get(), nullptr),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(qualifier_is_free_once_the_request_has_come, calls(dat_rsp_create, dat_rsp_free),
         rules("dat.rsp-free.success")) {
  Reserved reserved(*this);
  need(reserved.create(*this), "no RSP");
  need(ask(ia(), reserved.active.ep, reserved.qualifier), "no connect");
  const auto request = arrival(*this, reserved.requests);
  expect(reserved.free(), succeeds);
  need(CALL(dat_cr_reject, request.cr_handle, 0, nullptr), "no reject");
  expect(reserved.create(*this), succeeds);
  const Side again = make_side(ia(), reserved.pz);
  need(ask(ia(), again.ep, reserved.qualifier), "no connect");
  (void)dat_cr_reject(arrival(*this, reserved.requests).cr_handle, 0, nullptr);
}

DAT_CASE(dispatcher_of_a_reserved_service_point_is_not_freed, calls(dat_evd_free, dat_rsp_free),
         rules("dat.evd-free.invalid-state", "dat.evd-free.success")) {
  Reserved reserved(*this);
  need(reserved.create(*this), "no RSP");
  expect(CALL(dat_evd_free, reserved.requests.get()), returns(DAT_INVALID_STATE));
  need(reserved.free(), "no dat_rsp_free");
  expect(CALL(dat_evd_free, reserved.requests.release()), succeeds, "dat.evd-free.success");
}

// ---------------------------------------------------------------- query, free

DAT_CASE(query_returns_what_it_was_made_of, calls(dat_rsp_query), rules("dat.rsp-query.success")) {
  Reserved reserved(*this);
  need(reserved.create(*this), "no RSP");
  DAT_RSP_PARAM param{};
  expect(CALL(dat_rsp_query, reserved.rsp, DAT_RSP_FIELD_ALL, &param), succeeds);
  same(*this, "IA", param.ia_handle, ia().get());
  same(*this, "Connection Qualifier", param.conn_qual, reserved.qualifier);
  same(*this, "EVD", param.evd_handle, reserved.requests.get());
  same(*this, "endpoint", param.ep_handle, reserved.passive.ep.get());
}

DAT_CASE(query_of_fields_that_do_not_exist_is_refused, calls(dat_rsp_query),
         rules("dat.rsp-query.invalid-parameter")) {
  Reserved reserved(*this);
  need(reserved.create(*this), "no RSP");
  DAT_RSP_PARAM param{};
  expect(CALL(dat_rsp_query, reserved.rsp, no_such<DAT_RSP_PARAM_MASK>(0x100), &param),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(query_with_a_null_output_is_refused, calls(dat_rsp_query),
         rules("dat.rsp-query.invalid-parameter"), with_hostile_handles) {
  Reserved reserved(*this);
  need(reserved.create(*this), "no RSP");
  expect(CALL(dat_rsp_query, reserved.rsp, DAT_RSP_FIELD_ALL, nullptr),
         returns(DAT_INVALID_PARAMETER));
}

DAT_HANDLE_CASES(query, dat_rsp_query, "dat.rsp-query.invalid-handle", DAT_HANDLE_TYPE_RSP,
                 freed_rsp(*this), query(handle))

DAT_CASE(freed_service_point_releases_its_endpoint, calls(dat_rsp_free),
         rules("dat.rsp-free.success")) {
  Reserved reserved(*this);
  need(reserved.create(*this), "no RSP");
  expect(reserved.free(), succeeds);
  expect_state(reserved.passive.ep, DAT_EP_STATE_UNCONNECTED);
  expect(reserved.create(*this), succeeds);  // it can be reserved again
}

DAT_CASE(request_outlives_its_service_point, calls(dat_rsp_free, dat_cr_accept),
         rules("dat.rsp-free.request-survives")) {
  Reserved reserved(*this);
  need(reserved.create(*this), "no RSP");
  need(ask(ia(), reserved.active.ep, reserved.qualifier), "no connect");
  const auto request = arrival(*this, reserved.requests);
  expect(reserved.free(), succeeds);
  expect_state(reserved.passive.ep, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
  expect(CALL(dat_cr_accept, request.cr_handle, DAT_HANDLE_NULL, 0, nullptr), succeeds);
  expect_event(reserved.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_event(reserved.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

DAT_CASE(connection_outlives_its_service_point, calls(dat_rsp_free),
         rules("dat.rsp-free.request-survives")) {
  Reserved reserved(*this);
  need(reserved.create(*this), "no RSP");
  need(ask(ia(), reserved.active.ep, reserved.qualifier), "no connect");
  need(
      CALL(dat_cr_accept, arrival(*this, reserved.requests).cr_handle, DAT_HANDLE_NULL, 0, nullptr),
      "no accept");
  expect_event(reserved.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect(reserved.free(), succeeds);
  expect_state(reserved.passive.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(freed_service_point_listens_no_more, calls(dat_rsp_free), rules("dat.rsp-free.success")) {
  Reserved reserved(*this);
  need(reserved.create(*this), "no RSP");
  expect(reserved.free(), succeeds);
  expect_nobody_listens(*this, reserved.qualifier);
  expect_no_event(reserved.requests);
}

DAT_HANDLE_CASES(free, dat_rsp_free, "dat.rsp-free.invalid-handle", DAT_HANDLE_TYPE_RSP,
                 freed_rsp(*this), CALL(dat_rsp_free, handle))

DAT_CASES_OF_FILE(rsp)

}  // namespace suite::cases::dat
