// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Shared receive queues.
#include "suite/cases/kdat/framework/kdat_body.hpp"

namespace suite::cases::dat {

namespace {

Word shared_queue(KdatBody& body, Word pz, Word depth = 8) {
  const Result made = body.call(RNIC_KDAT_SRQ_CREATE, {body.ia_handle(), pz, depth, 2, 0});
  if (DAT_GET_TYPE(made.record.returned) == DAT_MODEL_NOT_SUPPORTED)
    body.stop(Verdict::not_applicable, "the provider has no shared receive queues");
  body.need(made, "no SRQ");
  return made.out(0);
}

}  // namespace

KDAT_CASE(shared_queue_feeds_its_endpoints,
          calls(dat_srq_create, dat_srq_post_recv, dat_srq_query, dat_srq_free,
                dat_ep_create_with_srq),
          rules("dat.srq-create.success", "dat.srq-post-recv.success", "dat.srq-query.success",
                "dat.srq-query.counts", "dat.srq-free.in-use", "dat.srq-free.success",
                "dat.ep-create-with-srq.success", "dat.ep-create-with-srq.receive")) {
  const Word zone = pz(), queue = shared_queue(*this, zone);
  const Region memory = region(zone);
  for (const Word cookie : {Word{1}, Word{2}})
    expect(call(RNIC_KDAT_SRQ_POST_RECV, {queue, 1, cookie},
                {.segments = {memory.segment(cookie * 100, 64)}}),
           succeeds, "dat.srq-post-recv.success");
  const Result got = call(RNIC_KDAT_SRQ_QUERY, {queue, DAT_SRQ_FIELD_ALL});
  expect(got, succeeds, "dat.srq-query.success");
  expect_number("IA", got.out(0), ia_handle(), "dat.srq-query.success");
  expect_number("PZ", got.out(1), zone, "dat.srq-query.success");
  expect_that(got.out(2) >= 8, "8 receives at least", std::to_string(got.out(2)),
              "dat.srq-query.success");
  expect_number("outstanding", got.out(5), 2, "dat.srq-query.counts");

  KernelPair pair{.pz = zone};
  listen(pair);
  pair.active = side(zone);
  pair.passive = side(zone, 8, queue);
  const RuleRef made = "dat.ep-create-with-srq.success";
  const Result ep = call(RNIC_KDAT_EP_QUERY, {pair.passive.ep, DAT_EP_FIELD_ALL});
  expect_number("SRQ", ep.out(RNIC_KDAT_EP_SRQ), queue, made);
  expect(post(RNIC_KDAT_EP_POST_RECV, pair.passive.ep, {memory.segment(0, 8)}, 9),
         returns_one_of({DAT_INVALID_HANDLE, DAT_INVALID_STATE}), "dat.ep-create-with-srq.receive");
  need(start_connect(pair.active.ep, pair.qualifier), "no connect");
  need(call(RNIC_KDAT_CR_ACCEPT, {next_request(pair).cr, pair.passive.ep, 0}), "no accept");
  (void)expect_upcall(pair.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED, made);
  memory.memory.octets[0] = std::byte{0xAB};
  need(post(RNIC_KDAT_EP_POST_SEND, pair.active.ep, {memory.segment(0, 5)}, 3), "no Send");
  const KernelEvent done = expect_done(pair.passive.receives, 1, DAT_DTO_SUCCESS, made);
  expect_number("endpoint", done.ep, pair.passive.ep, made);
  expect_octets(memory.memory.part(100, 5), memory.memory.part(0, 5), made);
  expect_number("outstanding", call(RNIC_KDAT_SRQ_QUERY, {queue, 1}).out(5), 1,
                "dat.srq-query.counts");
  expect(call(RNIC_KDAT_SRQ_FREE, {queue}), returns(DAT_INVALID_STATE), "dat.srq-free.in-use");
  need(call(RNIC_KDAT_EP_FREE, {pair.passive.ep}), "the endpoint stays");
  expect(call(RNIC_KDAT_SRQ_FREE, {queue}), succeeds, "dat.srq-free.success");
}

KDAT_CASE(shared_queue_takes_so_many_receives, calls(dat_srq_post_recv),
          rules("dat.srq-post-recv.full")) {
  const Word zone = pz(), queue = shared_queue(*this, zone, 4);
  const Region memory = region(zone);
  const CallOptions buffer{.segments = {memory.segment(0, 8)}};
  const Word most = call(RNIC_KDAT_SRQ_QUERY, {queue, 1}).out(2);
  for (Word i = 0; i < most; ++i)
    need(call(RNIC_KDAT_SRQ_POST_RECV, {queue, 1, i}, buffer), "a receive is refused early");
  expect(call(RNIC_KDAT_SRQ_POST_RECV, {queue, 1, most}, buffer),
         returns(DAT_INSUFFICIENT_RESOURCES));
}

KDAT_CASE(bad_shared_queues_are_refused,
          calls(dat_srq_create, dat_srq_post_recv, dat_srq_query, dat_srq_set_lw, dat_srq_free),
          rules("dat.srq-create.invalid-parameter", "dat.srq-create.invalid-handle",
                "dat.srq-post-recv.segments", "dat.srq-post-recv.invalid-handle",
                "dat.srq-query.invalid-handle", "dat.srq-query.invalid-parameter",
                "dat.srq-set-lw.invalid-handle", "dat.srq-free.invalid-handle")) {
  const Word ia = ia_handle(), zone = pz(), queue = shared_queue(*this, zone);
  const Region memory = region(zone);
  const auto refused = returns(DAT_INVALID_PARAMETER);
  for (const Word dtos : {Word{0}, Word{0xFFFFFFFF}})
    expect(call(RNIC_KDAT_SRQ_CREATE, {ia, zone, dtos, 2, 0}), refused);
  expect(call(RNIC_KDAT_SRQ_CREATE, {ia, zone, 8, 10'000, 0}), refused);
  expect(call(RNIC_KDAT_SRQ_CREATE, {ia, zone, 8, 2, 9}), refused);
  expect_refused_without(RNIC_KDAT_SRQ_CREATE, {ia, zone, 8, 2, 0}, {0, 1});
  const auto no_handle = returns(DAT_INVALID_HANDLE);
  expect(call(RNIC_KDAT_SRQ_CREATE, {0, zone, 8, 2, 0}), no_handle,
         "dat.srq-create.invalid-handle");
  expect(call(RNIC_KDAT_SRQ_CREATE, {ia, ia, 8, 2, 0}), no_handle, "dat.srq-create.invalid-handle");
  const CallOptions buffer{.segments = {memory.segment(0, 8)}};
  expect(call(RNIC_KDAT_SRQ_POST_RECV, {queue, 0xFFFFFFFF, 1}, buffer), refused,
         "dat.srq-post-recv.segments");
  for (const Word none : {Word{0}, zone}) {
    expect(call(RNIC_KDAT_SRQ_POST_RECV, {none, 1, 1}, buffer), no_handle,
           "dat.srq-post-recv.invalid-handle");
    expect(call(RNIC_KDAT_SRQ_QUERY, {none, 1}), no_handle, "dat.srq-query.invalid-handle");
    expect(call(RNIC_KDAT_SRQ_SET_LW, {none, 1}), no_handle, "dat.srq-set-lw.invalid-handle");
    expect(call(RNIC_KDAT_SRQ_FREE, {none}), no_handle, "dat.srq-free.invalid-handle");
  }
  expect_refused_without(RNIC_KDAT_SRQ_QUERY, {queue, 1}, {0}, "dat.srq-query.invalid-parameter");
}

KDAT_CASE(low_watermark_is_set, calls(dat_srq_set_lw),
          rules("dat.srq-set-lw.success", "dat.srq-set-lw.invalid-parameter")) {
  const Word zone = pz(), queue = shared_queue(*this, zone);
  expect(call(RNIC_KDAT_SRQ_SET_LW, {queue, 3}), succeeds);
  expect_number("low watermark", call(RNIC_KDAT_SRQ_QUERY, {queue, DAT_SRQ_FIELD_ALL}).out(4), 3);
  for (const Word bad : {Word{0xFFFFFFFF}, Word{1000}})
    expect(call(RNIC_KDAT_SRQ_SET_LW, {queue, bad}), returns(DAT_INVALID_PARAMETER),
           "dat.srq-set-lw.invalid-parameter");
}

KDAT_CASE(shared_queue_is_resized, calls(dat_srq_resize),
          rules("dat.srq-resize.success", "dat.srq-resize.invalid-state",
                "dat.srq-resize.invalid-parameter", "dat.srq-resize.invalid-handle")) {
  const Word zone = pz(), queue = shared_queue(*this, zone, 8);
  const Region memory = region(zone);
  for (const Word cookie : {Word{1}, Word{2}, Word{3}})
    need(call(RNIC_KDAT_SRQ_POST_RECV, {queue, 1, cookie}, {.segments = {memory.segment(0, 8)}}),
         "no receive");
  const auto size = [&] { return call(RNIC_KDAT_SRQ_QUERY, {queue, 1}).out(2); };
  // A device that cannot grow the queue has no resources for that.
  const Result larger = call(RNIC_KDAT_SRQ_RESIZE, {queue, 64});
  expect(larger, returns_one_of({DAT_SUCCESS, DAT_INSUFFICIENT_RESOURCES}));
  const Word wanted = larger == DAT_SUCCESS ? 64 : 8;
  expect_that(size() >= wanted, std::to_string(wanted) + " receives at least",
              std::to_string(size()));
  expect(call(RNIC_KDAT_SRQ_RESIZE, {queue, 4}), succeeds);
  expect_number("outstanding", call(RNIC_KDAT_SRQ_QUERY, {queue, 1}).out(5), 3);
  const RuleRef state = "dat.srq-resize.invalid-state";
  expect(call(RNIC_KDAT_SRQ_RESIZE, {queue, 2}), returns(DAT_INVALID_STATE), state);
  expect_that(size() >= 3, "3 receives at least", std::to_string(size()), state);
  for (const Word bad : {Word{0}, Word{0xFFFFFFFF}})
    expect(call(RNIC_KDAT_SRQ_RESIZE, {queue, bad}), returns(DAT_INVALID_PARAMETER),
           "dat.srq-resize.invalid-parameter");
  for (const Word none : {Word{0}, zone})
    expect(call(RNIC_KDAT_SRQ_RESIZE, {none, 8}), returns(DAT_INVALID_HANDLE),
           "dat.srq-resize.invalid-handle");
}

KDAT_CASES_OF_FILE(srq)

}  // namespace suite::cases::dat
