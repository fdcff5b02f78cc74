// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The asynchronous EVD of an open IA: one that the provider makes, and one that the consumer gives.
#include "suite/cases/dat/framework/dat_handle_cases.hpp"

namespace suite::cases::dat {

namespace {

/// An instance of the IA whose asynchronous events go to an EVD of another one.
struct Borrowing {
  Borrowing(DatBody& body, const Evd& evd) : async(evd.get()) {
    std::string name = body.target().ia;
    body.expect(CALL(dat_ia_openv, name.data(), 0, &async, &ia, DAT_VERSION_MAJOR,
                     DAT_VERSION_MINOR, DAT_FALSE),
                succeeds);
  }
  Borrowing(const Borrowing&) = delete;
  Borrowing& operator=(const Borrowing&) = delete;
  ~Borrowing() {
    if (ia != DAT_HANDLE_NULL) (void)dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
  }
  DAT_EVD_HANDLE async;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
};

/// An EVD for asynchronous events, which a provider need not make (dat.evd-create.success).
Evd own_async_evd(DatBody& body) {
  DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
  const DAT_RETURN got =
      CALL(dat_evd_create, body.ia().get(), 8, DAT_HANDLE_NULL, DAT_EVD_ASYNC_FLAG, &handle);
  if (got != DAT_SUCCESS)
    body.stop(Verdict::not_applicable,
              "the provider makes no EVD for asynchronous events but its own: " + return_text(got));
  return Evd(handle);
}

/// Makes an asynchronous event: a shared receive queue that has fewer receives than its watermark.
Srq pass_watermark(DatBody& body, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz) {
  DAT_SRQ_ATTR attr{.max_recv_dtos = 4, .max_recv_iov = 1, .low_watermark = DAT_SRQ_LW_DEFAULT};
  DAT_SRQ_HANDLE handle = DAT_HANDLE_NULL;
  body.expect(CALL(dat_srq_create, ia, pz, &attr, &handle), succeeds);
  Srq queue(handle);
  body.expect(CALL(dat_srq_set_lw, handle, 1), succeeds);
  return queue;
}

}  // namespace

DAT_CASE(async_evd_of_the_open_is_resized, calls(dat_evd_resize),
         rules("dat.ia-open.async-evd-modified")) {
  for (const DAT_COUNT length : {64, 8})
    row(fmt::format("to {}", length), [&] {
      expect(CALL(dat_evd_resize, ia().async_evd(), length), succeeds);
      DAT_EVD_PARAM param{};
      need(CALL(dat_evd_query, ia().async_evd(), DAT_EVD_FIELD_ALL, &param), "no query");
      at_least(*this, "length", param.evd_qlen, length);
    });
}

DAT_CASE(async_evd_of_the_open_gets_a_cno, calls(dat_evd_modify_cno),
         rules("dat.ia-open.async-evd-modified")) {
  const Cno cno = ia().cno();
  const Pz pz = ia().pz();
  const auto modify = [&](DAT_CNO_HANDLE to) {
    expect(CALL(dat_evd_modify_cno, ia().async_evd(), to), succeeds);
    DAT_EVD_PARAM param{};
    need(CALL(dat_evd_query, ia().async_evd(), DAT_EVD_FIELD_ALL, &param), "no query");
    same(*this, "CNO", param.cno_handle, to);
  };
  modify(cno.get());
  row("an event triggers it", [&] {
    const Srq queue = pass_watermark(*this, ia().get(), pz.get());
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    expect(CALL(dat_cno_wait, cno.get(), 1'000'000, &evd), succeeds);
    same(*this, "EVD", evd, ia().async_evd());
  });
  modify(DAT_HANDLE_NULL);
}

DAT_CASE(async_events_come_to_a_disabled_evd, calls(dat_evd_disable),
         rules("dat.evd-disable.success")) {
  const Pz pz = ia().pz();
  expect(CALL(dat_evd_disable, ia().async_evd()), succeeds);
  const Srq queue = pass_watermark(*this, ia().get(), pz.get());
  DAT_EVENT event{};
  DAT_COUNT more = 0;
  expect(CALL(dat_evd_wait, ia().async_evd(), 1'000'000, 1, &event, &more), succeeds);
  same(*this, "object", event.event_data.asynch_error_event_data.dat_handle, queue.get());
}

DAT_CASE(async_events_go_to_the_evd_that_was_given, calls(dat_ia_openv, dat_srq_set_lw),
         rules("dat.ia-open.async-evd-given")) {
  const Evd given = own_async_evd(*this);
  const Borrowing one(*this, given);
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  need(CALL(dat_pz_create, one.ia, &pz), "no zone");
  const Pz zone(pz);
  const Srq queue = pass_watermark(*this, one.ia, pz);
  DAT_EVENT event{};
  DAT_COUNT more = 0;
  expect(CALL(dat_evd_wait, given.get(), 1'000'000, 1, &event, &more), succeeds);
  same(*this, "object", event.event_data.asynch_error_event_data.dat_handle, queue.get());
  same(*this, "EVD", event.evd_handle, given.get());
}

// No page says that an IA is an event stream, but what dat_evd_free says of streams is meant so.
DAT_CASE(async_evd_that_was_given_is_not_freed, calls(dat_evd_free),
         rules("dat.evd-free.invalid-state")) {
  Evd given = own_async_evd(*this);
  {
    const Borrowing one(*this, given);
    const DAT_RETURN got = CALL(dat_evd_free, given.get());
    if (got == DAT_SUCCESS) given.release();
    expect(got, returns(DAT_INVALID_STATE).or_tolerably(DAT_SUCCESS));
  }
  if (given.get() == DAT_HANDLE_NULL) return;
  expect(CALL(dat_evd_free, given.release()), succeeds);
}

DAT_CASES_OF_PART(ia, async_evd)

}  // namespace suite::cases::dat
