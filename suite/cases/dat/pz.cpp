// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Protection zones: dat_pz_create, dat_pz_query, dat_pz_free.
#include "suite/cases/dat/framework/dat_case.hpp"

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

DAT_CASE(zone_in_use_is_not_freed, calls(dat_pz_free), rules("dat.pz-free.invalid-state")) {
  Pz pz = ia().pz();
  const Lmr lmr(ia(), pz.get(), 64);
  expect(CALL(dat_pz_free, pz.get()), returns(DAT_INVALID_STATE));
}

DAT_CASE(free_of_no_handle_is_refused, calls(dat_pz_free), rules("dat.pz-free.invalid-handle")) {
  expect(CALL(dat_pz_free, DAT_HANDLE_NULL), returns(DAT_INVALID_HANDLE));
}

DAT_CASES_OF_FILE(pz)

}  // namespace suite::cases::dat
