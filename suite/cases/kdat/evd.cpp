// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Event dispatchers and their queues.
#include "suite/cases/kdat/framework/kdat_body.hpp"

namespace suite::cases::dat {

namespace {

constexpr Word software = DAT_EVD_SOFTWARE_FLAG;
constexpr Word no_policy = 55, no_flags = 0x4000;

}  // namespace

KDAT_CASE(dispatcher_is_as_it_was_asked_for, calls(dat_evd_kcreate, dat_evd_query, dat_evd_free),
          rules("kdat.evd-kcreate.success", "dat.evd-query.success", "dat.evd-free.success")) {
  constexpr Word flags = DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG;
  for (const Word policy : {kdapl::disable, kdapl::single_instance, kdapl::many, kdapl::notify}) {
    const Result made =
        call(RNIC_KDAT_EVD_KCREATE, {ia_handle(), 20, policy, flags, RNIC_KDAT_UPCALL_REPORTS, 0});
    expect(made, succeeds);
    const Result got = call(RNIC_KDAT_EVD_QUERY, {made.out(0), 1});
    expect(got, succeeds, "dat.evd-query.success");
    expect_number("IA", got.out(0), ia_handle(), "dat.evd-query.success");
    expect_that(got.out(1) >= 20, "20 events at least", std::to_string(got.out(1)));
    expect_number("policy", got.out(2), policy);
    expect_number("flags", got.out(3), flags);
    expect_number("an UpCall", got.out(4), 1);
    expect(call(RNIC_KDAT_EVD_FREE, {made.out(0)}), succeeds, "dat.evd-free.success");
  }
}

KDAT_CASE(bad_dispatchers_are_refused, calls(dat_evd_kcreate),
          rules("kdat.evd-kcreate.invalid-parameter", "kdat.evd-kcreate.invalid-handle")) {
  const Word ia = ia_handle();
  const auto refuse = [&](Word length, Word policy, Word flags, Word kind) {
    expect(call(RNIC_KDAT_EVD_KCREATE, {ia, length, policy, flags, kind, 0}),
           returns(DAT_INVALID_PARAMETER));
  };
  row("no length", [&] { refuse(0, kdapl::disable, software, RNIC_KDAT_UPCALL_NULL); });
  row("a negative length",
      [&] { refuse(0xFFFFFFFF, kdapl::disable, software, RNIC_KDAT_UPCALL_NULL); });
  row("no policy", [&] { refuse(8, no_policy, software, RNIC_KDAT_UPCALL_REPORTS); });
  row("teardown", [&] { refuse(8, 0xFFFFFFFF, software, RNIC_KDAT_UPCALL_REPORTS); });
  row("no UpCall", [&] { refuse(8, kdapl::single_instance, software, RNIC_KDAT_UPCALL_NULL); });
  row("an UpCall without a function",
      [&] { refuse(8, kdapl::single_instance, software, RNIC_KDAT_UPCALL_EMPTY); });
  row("no stream", [&] { refuse(8, kdapl::disable, 0, RNIC_KDAT_UPCALL_NULL); });
  row("unknown flags", [&] { refuse(8, kdapl::disable, no_flags, RNIC_KDAT_UPCALL_NULL); });
  row("no place for the handle", [&] {
    expect_refused_without(RNIC_KDAT_EVD_KCREATE, {ia, 8, kdapl::disable, software}, {0});
  });
  row("no IA", [&] {
    for (const Word none : {Word{0}, pz()})
      expect(call(RNIC_KDAT_EVD_KCREATE, {none, 8, kdapl::disable, software}),
             returns(DAT_INVALID_HANDLE), "kdat.evd-kcreate.invalid-handle");
  });
}

KDAT_CASE(software_events_are_dequeued_in_order, calls(dat_evd_post_se, dat_evd_dequeue),
          rules("dat.evd-post-se.success", "dat.evd-dequeue.success",
                "dat.evd-dequeue.queue-empty")) {
  const Word queue = evd(software, 8, kdapl::disable);
  for (const Word pointer : {Word{11}, Word{12}, Word{13}})
    expect(call(RNIC_KDAT_EVD_POST_SE, {queue, DAT_SOFTWARE_EVENT, pointer}), succeeds);
  for (const Word pointer : {Word{11}, Word{12}, Word{13}}) {
    const Result taken = call(RNIC_KDAT_EVD_DEQUEUE, {queue});
    expect(taken, succeeds, "dat.evd-dequeue.success");
    expect_number("event", taken.event().number, DAT_SOFTWARE_EVENT, "dat.evd-dequeue.success");
    expect_number("dispatcher", taken.event().evd, queue, "dat.evd-dequeue.success");
    expect_number("pointer", taken.event().cookie, pointer, "dat.evd-dequeue.success");
  }
  expect(call(RNIC_KDAT_EVD_DEQUEUE, {queue}), returns(DAT_QUEUE_EMPTY),
         "dat.evd-dequeue.queue-empty");
}

KDAT_CASE(full_queue_takes_no_more, calls(dat_evd_post_se), rules("dat.evd-post-se.queue-full")) {
  const Word queue = evd(software, 4, kdapl::disable);
  const Word length = call(RNIC_KDAT_EVD_QUERY, {queue, 1}).out(1);
  for (Word i = 0; i < length; ++i)
    need(call(RNIC_KDAT_EVD_POST_SE, {queue, DAT_SOFTWARE_EVENT, i}), "the queue is full early");
  expect(call(RNIC_KDAT_EVD_POST_SE, {queue, DAT_SOFTWARE_EVENT, length}), returns(DAT_QUEUE_FULL));
  for (Word i = 0; i < length; ++i) need(call(RNIC_KDAT_EVD_DEQUEUE, {queue}), "an event is lost");
  expect(call(RNIC_KDAT_EVD_DEQUEUE, {queue}), returns(DAT_QUEUE_EMPTY));
  expect_number("asynchronous events", kernel().upcalls_so_far(async_evd()).size(), 0);
}

KDAT_CASE(bad_software_events_are_refused, calls(dat_evd_post_se),
          rules("dat.evd-post-se.invalid-parameter", "dat.evd-post-se.invalid-handle",
                "dat.evd-post-se.no-software-stream")) {
  const Word queue = evd(software, 4, kdapl::disable);
  expect(call(RNIC_KDAT_EVD_POST_SE, {queue, DAT_DTO_COMPLETION_EVENT, 0}),
         returns(DAT_INVALID_PARAMETER));
  expect_refused_without(RNIC_KDAT_EVD_POST_SE, {queue, DAT_SOFTWARE_EVENT, 0}, {0});
  for (const Word none : {Word{0}, pz()})
    expect(call(RNIC_KDAT_EVD_POST_SE, {none, DAT_SOFTWARE_EVENT, 0}), returns(DAT_INVALID_HANDLE),
           "dat.evd-post-se.invalid-handle");
  const Word other = evd(DAT_EVD_CONNECTION_FLAG, 4, kdapl::disable);
  const Result refused = call(RNIC_KDAT_EVD_POST_SE, {other, DAT_SOFTWARE_EVENT, 0});
  expect_that(refused != DAT_SUCCESS, "a refusal", return_text(refused),
              "dat.evd-post-se.no-software-stream");
}

KDAT_CASE(dispatcher_in_use_is_kept, calls(dat_evd_free), rules("dat.evd-free.invalid-state")) {
  const KernelSide end = side(pz());
  KernelPair pair;
  listen(pair);
  for (const Word used : {end.receives, end.requests, end.connection, pair.arrivals, async_evd()})
    expect(call(RNIC_KDAT_EVD_FREE, {used}), returns(DAT_INVALID_STATE));
  need(call(RNIC_KDAT_EP_FREE, {end.ep}), "the endpoint stays");
  for (const Word used : {end.receives, end.requests, end.connection})
    expect(call(RNIC_KDAT_EVD_FREE, {used}), succeeds);
}

KDAT_CASE(calls_on_no_dispatcher_are_refused, calls(dat_evd_query, dat_evd_dequeue, dat_evd_free),
          rules("dat.evd-query.invalid-handle", "dat.evd-query.invalid-parameter",
                "dat.evd-dequeue.invalid-handle", "dat.evd-dequeue.invalid-parameter",
                "dat.evd-free.invalid-handle")) {
  const Word queue = evd(software, 4, kdapl::disable);
  for (const Word none : {Word{0}, pz()}) {
    expect(call(RNIC_KDAT_EVD_QUERY, {none, 1}), returns(DAT_INVALID_HANDLE));
    expect(call(RNIC_KDAT_EVD_DEQUEUE, {none}), returns(DAT_INVALID_HANDLE),
           "dat.evd-dequeue.invalid-handle");
    expect(call(RNIC_KDAT_EVD_FREE, {none}), returns(DAT_INVALID_HANDLE),
           "dat.evd-free.invalid-handle");
  }
  expect_refused_without(RNIC_KDAT_EVD_QUERY, {queue, 1}, {0}, "dat.evd-query.invalid-parameter");
  expect(call(RNIC_KDAT_EVD_QUERY, {queue, 0x800}), returns(DAT_INVALID_PARAMETER),
         "dat.evd-query.invalid-parameter");
  expect_refused_without(RNIC_KDAT_EVD_DEQUEUE, {queue}, {0}, "dat.evd-dequeue.invalid-parameter");
}

KDAT_CASE(resized_queue_keeps_its_events, calls(dat_evd_resize, dat_evd_query),
          rules("dat.evd-resize.success", "dat.evd-resize.invalid-state")) {
  const Word queue = evd(software, 4, kdapl::disable);
  const auto post_one = [&](Word pointer) {
    return call(RNIC_KDAT_EVD_POST_SE, {queue, DAT_SOFTWARE_EVENT, pointer});
  };
  for (const Word pointer : {Word{1}, Word{2}, Word{3}}) need(post_one(pointer), "no event");
  // The queue has gone round once when it grows.
  need(call(RNIC_KDAT_EVD_DEQUEUE, {queue}), "no event");
  for (const Word pointer : {Word{4}, Word{5}}) need(post_one(pointer), "no event");
  expect(call(RNIC_KDAT_EVD_RESIZE, {queue, 20}), succeeds);
  const Word length = call(RNIC_KDAT_EVD_QUERY, {queue, 1}).out(1);
  expect_that(length >= 20, "20 events at least", std::to_string(length));
  for (Word pointer = 6; pointer < 20; ++pointer) expect(post_one(pointer), succeeds);
  // It may shrink below that or not, and loses nothing.
  expect(call(RNIC_KDAT_EVD_RESIZE, {queue, 2}), returns_one_of({DAT_SUCCESS, DAT_INVALID_STATE}),
         "dat.evd-resize.invalid-state");
  for (Word pointer = 2; pointer < 20; ++pointer) {
    const Result taken = call(RNIC_KDAT_EVD_DEQUEUE, {queue});
    expect(taken, succeeds);
    expect_number("pointer", taken.event().cookie, pointer);
  }
  expect(call(RNIC_KDAT_EVD_RESIZE, {queue, 2}), succeeds);
}

KDAT_CASE(bad_lengths_are_refused, calls(dat_evd_resize),
          rules("dat.evd-resize.invalid-handle", "dat.evd-resize.invalid-parameter",
                "dat.evd-resize.insufficient-resources")) {
  const Word queue = evd(software, 4, kdapl::disable);
  for (const Word none : {Word{0}, ia_handle()})
    expect(call(RNIC_KDAT_EVD_RESIZE, {none, 8}), returns(DAT_INVALID_HANDLE));
  for (const Word bad : {Word{0}, Word{0xFFFFFFFF}})
    expect(call(RNIC_KDAT_EVD_RESIZE, {queue, bad}), returns(DAT_INVALID_PARAMETER),
           "dat.evd-resize.invalid-parameter");
  const Word most = call(RNIC_KDAT_IA_QUERY, {ia_handle(), 1, 1}).out(RNIC_KDAT_IA_MAX_EVD_QLEN);
  expect(call(RNIC_KDAT_EVD_RESIZE, {queue, most + 1}),
         returns(DAT_INSUFFICIENT_RESOURCES).or_tolerably(DAT_INVALID_PARAMETER),
         "dat.evd-resize.insufficient-resources");
}

KDAT_CASES_OF_FILE(evd)

}  // namespace suite::cases::dat
