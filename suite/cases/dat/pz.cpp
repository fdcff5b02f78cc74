// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Protection zones: dat_pz_create, dat_pz_query, dat_pz_free.
#include "suite/cases/dat/framework/dat_threads.hpp"
#include "suite/cases/dat/framework/dat_windows.hpp"

namespace suite::cases::dat {

DAT_CASE(a_zone_knows_its_ia, calls(dat_pz_create, dat_pz_query),
         rules("dat.pz-create.success", "dat.pz-query.success")) {
  DAT_PZ_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_pz_create, ia().get(), &handle), succeeds);
  const Pz pz(handle);
  expect_that(handle != DAT_HANDLE_NULL, "a handle", "DAT_HANDLE_NULL");
  DAT_PZ_PARAM param{};
  expect(CALL(dat_pz_query, handle, DAT_PZ_FIELD_ALL, &param), succeeds, "dat.pz-query.success");
  expect_that(param.ia_handle == ia().get(), "the consumer's IA handle",
              param.ia_handle == ia().get() ? "the consumer's IA handle" : "another handle",
              "dat.pz-query.success");
}

DAT_CASE(zone_with_an_invalid_ia_is_refused, calls(dat_pz_create),
         rules("dat.pz-create.invalid-handle")) {
  expect_refusal_of_no_ia(*this, [](DAT_IA_HANDLE handle) {
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    return CALL(dat_pz_create, handle, &pz);
  });
}

DAT_CASE(zone_with_a_null_output_is_refused, calls(dat_pz_create),
         rules("dat.pz-create.invalid-parameter"), with_hostile_handles) {
  expect(CALL(dat_pz_create, ia().get(), nullptr), returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(several_threads_make_zones_at_once, calls(dat_pz_create),
         rules("dat.pz-create.concurrent")) {
  constexpr std::size_t each = 32;
  std::array<std::array<Pz, each>, 4> zones;
  std::array<std::array<DAT_RETURN, each>, 4> got{};
  const DAT_IA_HANDLE handle = ia().get();
  at_once(4, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    for (std::size_t k = 0; k < each; ++k) {
      DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
      got[at][k] = CALL(dat_pz_create, handle, &pz);
      zones[at][k] = Pz(pz);
    }
  });
  std::vector<DAT_PZ_HANDLE> seen;
  for (std::size_t i = 0; i < zones.size(); ++i)
    for (std::size_t k = 0; k < each; ++k) {
      expect(got[i][k], succeeds);
      expect_that(std::ranges::find(seen, zones[i][k].get()) == seen.end(), "a zone of its own",
                  "the same zone twice");
      seen.push_back(zones[i][k].get());
    }
}

DAT_CASE(query_of_fields_that_do_not_exist_is_refused, calls(dat_pz_query),
         rules("dat.pz-query.invalid-parameter")) {
  const Pz pz = ia().pz();
  DAT_PZ_PARAM param{};
  expect(CALL(dat_pz_query, pz.get(), no_such<DAT_PZ_PARAM_MASK>(0x100), &param),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(query_with_a_null_output_is_refused, calls(dat_pz_query),
         rules("dat.pz-query.invalid-parameter"), with_hostile_handles) {
  const Pz pz = ia().pz();
  expect(CALL(dat_pz_query, pz.get(), DAT_PZ_FIELD_ALL, nullptr), returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(several_threads_query_at_once, calls(dat_pz_query), rules("dat.pz-query.success")) {
  const Pz pz = ia().pz();
  std::array<DAT_PZ_PARAM, 4> params{};
  std::array<DAT_RETURN, 4> got{};
  at_once(4, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    got[at] = CALL(dat_pz_query, pz.get(), DAT_PZ_FIELD_ALL, &params[at]);
  });
  for (std::size_t i = 0; i < params.size(); ++i) {
    expect(got[i], succeeds);
    same(*this, "IA", params[i].ia_handle, ia().get());
  }
}

DAT_CASE(zone_without_users_is_freed, calls(dat_pz_free), rules("dat.pz-free.success")) {
  Pz pz = ia().pz();
  {
    const Lmr user(ia(), pz.get(), 64);
  }
  {
    const Side user = make_side(ia(), pz);
  }
  expect(CALL(dat_pz_free, pz.get()), succeeds);
  pz.release();
}

DAT_CASE(zone_in_use_is_not_freed, calls(dat_pz_free), rules("dat.pz-free.invalid-state")) {
  Pz pz = ia().pz();
  const Lmr lmr(ia(), pz.get(), 64);
  expect(CALL(dat_pz_free, pz.get()), returns(DAT_INVALID_STATE));
}

DAT_CASE(zone_of_an_endpoint_is_not_freed, calls(dat_pz_free), rules("dat.pz-free.invalid-state")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  expect(CALL(dat_pz_free, pz.get()), returns(DAT_INVALID_STATE));
}

DAT_CASE(zone_of_a_window_is_not_freed, calls(dat_pz_free), rules("dat.pz-free.invalid-state")) {
  const Pz pz = ia().pz();
  const Rmr rmr = make_window(*this, pz);
  expect(CALL(dat_pz_free, pz.get()), returns(DAT_INVALID_STATE));
}

DAT_CASE(zone_of_a_shared_queue_is_not_freed, calls(dat_pz_free),
         rules("dat.pz-free.invalid-state")) {
  const Pz pz = ia().pz();
  DAT_SRQ_ATTR attr{.max_recv_dtos = 4, .max_recv_iov = 1, .low_watermark = DAT_SRQ_LW_DEFAULT};
  DAT_SRQ_HANDLE handle = DAT_HANDLE_NULL;
  need(CALL(dat_srq_create, ia().get(), pz.get(), &attr, &handle), "no SRQ");
  const Srq srq(handle);
  expect(CALL(dat_pz_free, pz.get()), returns(DAT_INVALID_STATE));
}

DAT_CASE(zone_is_held_by_each_of_its_users, calls(dat_pz_free),
         rules("dat.pz-free.invalid-state", "dat.pz-free.success")) {
  Pz pz = ia().pz();
  Lmr first(ia(), pz.get(), 64), second(ia(), pz.get(), 64);
  Side side = make_side(ia(), pz), other = make_side(ia(), pz);
  const auto still_held = [&](const char* after) {
    row(after, [&] { expect(CALL(dat_pz_free, pz.get()), returns(DAT_INVALID_STATE)); });
  };
  need(CALL(dat_lmr_free, first.release()), "not freed");
  still_held("after one of two regions");
  side.ep.reset();
  still_held("after one of two endpoints");
  need(CALL(dat_lmr_free, second.release()), "not freed");
  still_held("after the regions");
  other.ep.reset();
  expect(CALL(dat_pz_free, pz.release()), succeeds, "dat.pz-free.success");
}

DAT_CASE(zone_that_was_not_freed_is_still_good, calls(dat_pz_free),
         rules("dat.pz-free.invalid-state")) {
  const Pz pz = ia().pz();
  const Lmr first(ia(), pz.get(), 64);
  expect(CALL(dat_pz_free, pz.get()), returns(DAT_INVALID_STATE));
  DAT_PZ_PARAM param{};
  expect(CALL(dat_pz_query, pz.get(), DAT_PZ_FIELD_ALL, &param), succeeds);
  const Lmr second(ia(), pz.get(), 64);
  expect_that(second.get() != DAT_HANDLE_NULL, "another region in it", "none");
}

DAT_CASE(free_of_a_null_handle_is_refused, calls(dat_pz_free),
         rules("dat.pz-free.invalid-handle")) {
  expect(CALL(dat_pz_free, DAT_HANDLE_NULL), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(free_of_a_freed_handle_is_refused, calls(dat_pz_free), rules("dat.pz-free.invalid-handle"),
         with_hostile_handles) {
  const DAT_HANDLE handle = freed(ia().pz());
  expect(CALL(dat_pz_free, handle), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(free_of_another_type_is_refused, calls(dat_pz_free), rules("dat.pz-free.invalid-handle"),
         with_hostile_handles) {
  const LiveObjects live(ia());
  for (const auto& [name, handle] : live.except(DAT_HANDLE_TYPE_PZ))
    row(name, [&] { expect(CALL(dat_pz_free, handle), returns(DAT_INVALID_HANDLE)); });
}

namespace {
DAT_RETURN query(DAT_HANDLE handle) {
  DAT_PZ_PARAM param{};
  return CALL(dat_pz_query, handle, DAT_PZ_FIELD_ALL, &param);
}
}  // namespace

DAT_HANDLE_CASES(query, dat_pz_query, "dat.pz-query.invalid-handle", DAT_HANDLE_TYPE_PZ,
                 freed(ia().pz()), query(handle))

DAT_CASES_OF_FILE(pz)

}  // namespace suite::cases::dat
