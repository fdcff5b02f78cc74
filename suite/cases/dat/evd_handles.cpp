// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Handles that are not event dispatchers, for each call that takes one.
#include "suite/cases/dat/framework/dat_case.hpp"

namespace suite::cases::dat {

// Three cases for each call: no handle, that of a dispatcher that was freed, that of a zone.
#define EVD_HANDLE_CASES(slug, function, rule, ...)                                           \
  DAT_CASE(slug##_of_a_null_handle_is_refused, calls(function), rules(rule)) {                \
    expect(CALL(function, DAT_HANDLE_NULL __VA_OPT__(, ) __VA_ARGS__),                        \
           returns(DAT_INVALID_HANDLE));                                                      \
  }                                                                                           \
  DAT_CASE(slug##_of_a_freed_handle_is_refused, calls(function), rules(rule),                 \
           with_hostile_handles) {                                                            \
    Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);                                                \
    const DAT_EVD_HANDLE freed = evd.get();                                                   \
    need(CALL(dat_evd_free, evd.release()), "not freed");                                     \
    expect(CALL(function, freed __VA_OPT__(, ) __VA_ARGS__), returns(DAT_INVALID_HANDLE));    \
  }                                                                                           \
  DAT_CASE(slug##_of_a_zone_is_refused, calls(function), rules(rule), with_hostile_handles) { \
    const Pz pz = ia().pz();                                                                  \
    expect(CALL(function, pz.get() __VA_OPT__(, ) __VA_ARGS__), returns(DAT_INVALID_HANDLE)); \
  }

namespace {
// What the calls below may write to.
DAT_EVD_PARAM any_param;
DAT_EVENT any_event;
DAT_COUNT any_count;
}  // namespace

EVD_HANDLE_CASES(query, dat_evd_query, "dat.evd-query.invalid-handle", DAT_EVD_FIELD_ALL,
                 &any_param)
EVD_HANDLE_CASES(modify_cno, dat_evd_modify_cno, "dat.evd-modify-cno.invalid-handle",
                 DAT_HANDLE_NULL)
EVD_HANDLE_CASES(enable, dat_evd_enable, "dat.evd-enable.invalid-handle")
EVD_HANDLE_CASES(disable, dat_evd_disable, "dat.evd-disable.invalid-handle")
EVD_HANDLE_CASES(wait, dat_evd_wait, "dat.evd-wait.invalid-handle", 0, 1, &any_event, &any_count)
EVD_HANDLE_CASES(resize, dat_evd_resize, "dat.evd-resize.invalid-handle", 8)
EVD_HANDLE_CASES(post, dat_evd_post_se, "dat.evd-post-se.invalid-handle", &any_event)
EVD_HANDLE_CASES(dequeue, dat_evd_dequeue, "dat.evd-dequeue.invalid-handle", &any_event)
EVD_HANDLE_CASES(free, dat_evd_free, "dat.evd-free.invalid-handle")
EVD_HANDLE_CASES(set_unwaitable, dat_evd_set_unwaitable, "dat.evd-set-unwaitable.invalid-handle")
EVD_HANDLE_CASES(clear_unwaitable, dat_evd_clear_unwaitable,
                 "dat.evd-clear-unwaitable.invalid-handle")

DAT_CASES_OF_PART(evd, handles)

}  // namespace suite::cases::dat
