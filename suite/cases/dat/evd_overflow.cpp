// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What becomes of events for a queue that is full (docs/disputes.md D69).
#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_endpoint.hpp"

namespace suite::cases::dat {

namespace {

constexpr DAT_TIMEOUT a_second = 1'000'000;  // of microseconds

}  // namespace

DAT_CASE(overflow_is_told_by_the_asynchronous_dispatcher, calls(dat_evd_wait),
         rules("dat.evd-wait.overflow-told")) {
  const Pair pair = connected();
  const Lmr memory(ia(), pair.pz.get(), 64);
  const Evd& receives = pair.passive.receives;
  DAT_EVD_PARAM queue{};
  need(CALL(dat_evd_query, receives.get(), DAT_EVD_FIELD_ALL, &queue), "no query");
  for (DAT_COUNT i = 0; i <= queue.evd_qlen; ++i)
    if (post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, static_cast<DAT_UINT64>(i)) !=
        DAT_SUCCESS)
      stop(Verdict::not_applicable, "an endpoint takes no more receives than its queue has room");
  // All of them are flushed.
  need(CALL(dat_ep_disconnect, pair.passive.ep.get(), DAT_CLOSE_ABRUPT_FLAG), "no disconnect");
  DAT_EVENT event{};
  DAT_COUNT more = 0;
  const DAT_RETURN got = CALL(dat_evd_wait, ia().async_evd(), a_second, 1, &event, &more);
  const bool told = got == DAT_SUCCESS && event.event_number == DAT_ASYNC_ERROR_EVD_OVERFLOW;
  advise_that(told, event_text(DAT_ASYNC_ERROR_EVD_OVERFLOW),
              got == DAT_SUCCESS ? event_text(event.event_number) : return_text(got));
  if (!told) return;
  const auto& data = event.event_data.asynch_error_event_data;
  advise_that(data.dat_handle == receives.get(), "the handle of the full dispatcher",
              "another handle");
  advise_that(data.reason == DAT_EVD_OVERFLOW_ERROR, "the reason DAT_EVD_OVERFLOW_ERROR",
              "another reason");
}

DAT_CASES_OF_PART(evd, overflow)

}  // namespace suite::cases::dat
