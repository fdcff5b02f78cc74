// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Remote memory regions as objects: dat_rmr_create, dat_rmr_create_for_ep, dat_rmr_query,
// dat_rmr_free.
#include "suite/cases/dat/framework/dat_windows.hpp"

namespace suite::cases::dat {

namespace {

DAT_RETURN query(DAT_HANDLE handle) {
  DAT_RMR_PARAM param{};
  return CALL(dat_rmr_query, handle, DAT_RMR_FIELD_ALL, &param);
}

}  // namespace

DAT_CASE(new_window_is_unbound, calls(dat_rmr_create, dat_rmr_query),
         rules("dat.rmr-create.success", "dat.rmr-query.success")) {
  need_windows(*this);
  const Pz pz = ia().pz();
  DAT_RMR_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_rmr_create, pz.get(), &handle), succeeds);
  const Rmr rmr(handle);
  expect_that(handle != DAT_HANDLE_NULL, "a handle", "DAT_HANDLE_NULL");
  DAT_RMR_PARAM param{};
  expect(CALL(dat_rmr_query, handle, DAT_RMR_FIELD_ALL, &param), succeeds, "dat.rmr-query.success");
  same(*this, "IA", param.ia_handle, ia().get(), "dat.rmr-query.success");
  same(*this, "PZ", param.pz_handle, pz.get(), "dat.rmr-query.success");
}

DAT_CASE(window_in_no_zone_is_refused, calls(dat_rmr_create),
         rules("dat.rmr-create.invalid-handle")) {
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  expect(CALL(dat_rmr_create, DAT_HANDLE_NULL, &rmr), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(window_in_another_kind_is_refused, calls(dat_rmr_create),
         rules("dat.rmr-create.invalid-handle"), with_hostile_handles) {
  const LiveObjects live(ia());
  for (const auto& [name, handle] : live.except(DAT_HANDLE_TYPE_PZ))
    row(name, [&] {
      DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
      expect(CALL(dat_rmr_create, handle, &rmr), returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASE(window_in_a_freed_zone_is_refused, calls(dat_rmr_create),
         rules("dat.rmr-create.invalid-handle"), with_hostile_handles) {
  const DAT_PZ_HANDLE pz = freed(ia().pz());
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  expect(CALL(dat_rmr_create, pz, &rmr), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(window_with_a_null_output_is_refused, calls(dat_rmr_create),
         rules("dat.rmr-create.invalid-parameter"), with_hostile_handles) {
  need_windows(*this);
  const Pz pz = ia().pz();
  expect(CALL(dat_rmr_create, pz.get(), nullptr), returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(query_returns_the_scope_of_a_window, calls(dat_rmr_create_for_ep, dat_rmr_query),
         rules("dat.rmr-create-for-ep.success", "dat.rmr-query.success")) {
  const Pz pz = ia().pz();
  DAT_RMR_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(DAT_RMR_CREATE_FOR_EP, pz.get(), &handle), succeeds);
  const Rmr rmr(handle);
  const DAT_RMR_PARAM param = query(*this, rmr);
  same(*this, "scope", param.rmr_scope, DAT_RMR_SCOPE_EP);
  same(*this, "PZ", param.pz_handle, pz.get());
  const Rmr other = make_window(*this, pz);
  same(*this, "scope of an ordinary window", query(*this, other).rmr_scope, DAT_RMR_SCOPE_PZ,
       "dat.rmr-query.success");
}

DAT_CASE(window_for_an_endpoint_in_a_freed_zone_is_refused, calls(dat_rmr_create_for_ep),
         rules("dat.rmr-create-for-ep.invalid-handle"), with_hostile_handles) {
  const DAT_PZ_HANDLE pz = freed(ia().pz());
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  expect(CALL(DAT_RMR_CREATE_FOR_EP, pz, &rmr), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(window_for_an_endpoint_in_another_kind_is_refused, calls(dat_rmr_create_for_ep),
         rules("dat.rmr-create-for-ep.invalid-handle"), with_hostile_handles) {
  const LiveObjects live(ia());
  for (const auto& [name, handle] : live.except(DAT_HANDLE_TYPE_PZ))
    row(name, [&] {
      DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
      expect(CALL(DAT_RMR_CREATE_FOR_EP, handle, &rmr), returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASE(query_of_fields_that_do_not_exist_is_refused, calls(dat_rmr_query),
         rules("dat.rmr-query.invalid-parameter")) {
  const Pz pz = ia().pz();
  const Rmr rmr = make_window(*this, pz);
  DAT_RMR_PARAM param{};
  expect(CALL(dat_rmr_query, rmr.get(), no_such<DAT_RMR_PARAM_MASK>(0x100), &param),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(query_with_a_null_output_is_refused, calls(dat_rmr_query),
         rules("dat.rmr-query.invalid-parameter"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const Rmr rmr = make_window(*this, pz);
  expect(CALL(dat_rmr_query, rmr.get(), DAT_RMR_FIELD_ALL, nullptr),
         returns(DAT_INVALID_PARAMETER));
}

DAT_HANDLE_CASES(query, dat_rmr_query, "dat.rmr-query.invalid-handle", DAT_HANDLE_TYPE_RMR,
                 freed(make_window(*this, ia().pz())), query(handle))

DAT_CASE(unbound_window_is_freed, calls(dat_rmr_free), rules("dat.rmr-free.success")) {
  const Pz pz = ia().pz();
  Rmr rmr = make_window(*this, pz);
  expect(CALL(dat_rmr_free, rmr.release()), succeeds);
}

DAT_HANDLE_CASES(free, dat_rmr_free, "dat.rmr-free.invalid-handle", DAT_HANDLE_TYPE_RMR,
                 freed(make_window(*this, ia().pz())), CALL(dat_rmr_free, handle))

DAT_CASES_OF_FILE(rmr)

}  // namespace suite::cases::dat
