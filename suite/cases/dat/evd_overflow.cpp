// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What becomes of events for a queue that is full (docs/disputes.md D69).
#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_endpoint.hpp"

namespace suite::cases::dat {

namespace {

constexpr DAT_TIMEOUT a_second = 1'000'000;  // of microseconds

/// An endpoint that is not connected any more, so that each of its receives is flushed at once.
struct Flushing {
  explicit Flushing(DatBody& body) : pair(body.connected()), memory(body.ia(), pair.pz.get(), 64) {
    DAT_EVD_PARAM queue{};
    body.need(CALL(dat_evd_query, receives().get(), DAT_EVD_FIELD_ALL, &queue), "no query");
    room = queue.evd_qlen;
  }
  [[nodiscard]] const Evd& receives() const { return pair.passive.receives; }
  DAT_RETURN receive() {
    return post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, ++posted);
  }
  Pair pair;
  Lmr memory;
  DAT_COUNT room = 0;
  DAT_UINT64 posted = 0;
};

/// False: nothing more can be judged.
bool advise_of_overflow(DatBody& body, const Evd& full) {
  DAT_EVENT event{};
  DAT_COUNT more = 0;
  const DAT_RETURN got = CALL(dat_evd_wait, body.ia().async_evd(), a_second, 1, &event, &more);
  const bool told = got == DAT_SUCCESS && event.event_number == DAT_ASYNC_ERROR_EVD_OVERFLOW;
  body.advise_that(told, event_text(DAT_ASYNC_ERROR_EVD_OVERFLOW),
                   got == DAT_SUCCESS ? event_text(event.event_number) : return_text(got));
  if (!told) return false;
  const auto& data = event.event_data.asynch_error_event_data;
  body.advise_that(data.dat_handle == full.get(), "the handle of the full dispatcher",
                   "another handle");
  body.advise_that(data.reason == DAT_EVD_OVERFLOW_ERROR, "the reason DAT_EVD_OVERFLOW_ERROR",
                   "another reason");
  return true;
}

}  // namespace

DAT_CASE(overflow_is_told_by_the_asynchronous_dispatcher, calls(dat_evd_wait),
         rules("dat.evd-wait.overflow-told")) {
  Flushing flushing(*this);
  for (DAT_COUNT i = 0; i <= flushing.room; ++i)
    if (flushing.receive() != DAT_SUCCESS)
      stop(Verdict::not_applicable, "an endpoint takes no more receives than its queue has room");
  need(CALL(dat_ep_disconnect, flushing.pair.passive.ep.get(), DAT_CLOSE_ABRUPT_FLAG),
       "no disconnect");
  if (!advise_of_overflow(*this, flushing.receives())) return;
  // Each overflow is one: two receives for one place.
  (void)next_event(flushing.receives());
  for (int i = 0; i < 2; ++i)
    if (flushing.receive() != DAT_SUCCESS) return;
  (void)advise_of_overflow(*this, flushing.receives());
}

DAT_CASES_OF_PART(evd, overflow)

}  // namespace suite::cases::dat
