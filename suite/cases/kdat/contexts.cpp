// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The calls that a provider which is safe for interrupts takes outside of processes: from the softirq
// in which UpCalls run, and from a hard interrupt's handler.
#include <algorithm>
#include <array>

#include "suite/cases/kdat/framework/kdat_body.hpp"

namespace suite::cases::dat {

namespace {

void need_interrupt_safety(KdatBody& body) {
  const Result got = body.call(RNIC_KDAT_IA_QUERY, {body.ia_handle(), 1, 1});
  body.need(got, "no query");
  if (got.out(RNIC_KDAT_IA_INTERRUPT_SAFE) == 0)
    body.stop(Verdict::not_applicable, "the provider is not safe for interrupts");
}

/// That the module made the call where it should have.
Result made_in(KdatBody& body, std::uint32_t context, const Result& result, RuleRef rule) {
  body.expect(result, succeeds, rule);
  if (result.record.context != context)
    body.stop(Verdict::error, "the module made the call in another context");
  return result;
}

void transfer(KdatBody& body, std::uint32_t context, RuleRef rule) {
  const KernelPair pair = body.connected();
  const Region from = body.region(pair.pz), to = body.region(pair.pz);
  std::ranges::fill(from.memory.octets, std::byte{0xE1});
  const auto made = [&](const Result& result) { return made_in(body, context, result, rule); };
  made(body.post(RNIC_KDAT_EP_POST_RECV, pair.passive.ep, {to.segment(0, 64)}, 1, 0, context));
  made(body.post(RNIC_KDAT_EP_POST_SEND, pair.active.ep, {from.segment(0, 64)}, 2, 0, context));
  (void)body.expect_done(pair.passive.receives, 1, DAT_DTO_SUCCESS, rule);
  (void)body.expect_done(pair.active.requests, 2, DAT_DTO_SUCCESS, rule);
  made(body.post_rdma(RNIC_KDAT_EP_POST_RDMA_READ, pair.active.ep, to.segment(100, 64), 3, from, 0,
                      64, 0, context));
  (void)body.expect_done(pair.active.requests, 3, DAT_DTO_SUCCESS, rule);
  made(body.post_rdma(RNIC_KDAT_EP_POST_RDMA_WRITE, pair.active.ep, from.segment(0, 64), 4, to, 200,
                      64, 0, context));
  (void)body.expect_done(pair.active.requests, 4, DAT_DTO_SUCCESS, rule);
  body.expect_octets(to.memory.part(0, 64), from.memory.part(0, 64), rule);
  body.expect_octets(to.memory.part(100, 64), from.memory.part(0, 64), rule);
}

void register_fast(KdatBody& body, std::uint32_t context, RuleRef rule) {
  const KernelPair pair = body.connected();
  const KernelMemory memory = body.kernel().memory(1);
  const Result lmr =
      body.call(RNIC_KDAT_LMR_ALLOCATE, {body.ia_handle(), pair.pz, 1, kdapl::scope_pz});
  body.need(lmr, "no LMR");
  const Word ep = pair.passive.ep;
  (void)made_in(body, context,
                body.call(RNIC_KDAT_LMR_FMR,
                          {lmr.out(0), kdapl::physical, 1, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_ZB,
                           ep, 1, 0, memory.handle, 0},
                          {.context = context, .pages = {0}}),
                rule);
  (void)body.expect_done(pair.passive.requests, 1, DAT_DTO_SUCCESS, rule);
  (void)made_in(body, context,
                body.call(RNIC_KDAT_LMR_INVALIDATE, {lmr.out(0), ep, 2, 0}, {.context = context}),
                rule);
  (void)body.expect_done(pair.passive.requests, 2, DAT_DTO_SUCCESS, rule);
}

void post_and_dequeue(KdatBody& body, std::uint32_t context, RuleRef rule) {
  const Word queue = body.evd(DAT_EVD_SOFTWARE_FLAG, 4, kdapl::disable);
  const CallOptions there{.context = context};
  (void)made_in(body, context,
                body.call(RNIC_KDAT_EVD_POST_SE, {queue, DAT_SOFTWARE_EVENT, 6}, there), rule);
  const Result taken =
      made_in(body, context, body.call(RNIC_KDAT_EVD_DEQUEUE, {queue}, there), rule);
  body.expect_number("pointer", taken.event().cookie, 6, rule);
  (void)made_in(
      body, context,
      body.call(RNIC_KDAT_EVD_MODIFY_UPCALL,
                {queue, kdapl::single_instance, RNIC_KDAT_UPCALL_NULL, kdapl::invoke_any}, there),
      rule);
  (void)made_in(body, context,
                body.call(RNIC_KDAT_EVD_POST_SE, {queue, DAT_SOFTWARE_EVENT, 7}, there), rule);
  body.expect_number("pointer", body.expect_upcall(queue, DAT_SOFTWARE_EVENT, rule).cookie, 7,
                     rule);
}

void query(KdatBody& body, std::uint32_t context, RuleRef rule) {
  const Word zone = body.pz();
  const KernelSide end = body.side(zone);
  const Region memory = body.region(zone);
  const CallOptions there{.context = context};
  const auto made = [&](std::uint32_t number, std::initializer_list<Word> in) {
    return made_in(body, context, body.call(number, in, there), rule);
  };
  (void)made(RNIC_KDAT_IA_QUERY, {body.ia_handle(), 1, 1});
  (void)made(RNIC_KDAT_PZ_QUERY, {zone, 1});
  (void)made(RNIC_KDAT_EVD_QUERY, {end.receives, 1});
  (void)made(RNIC_KDAT_LMR_QUERY, {memory.lmr, 1});
  (void)made(RNIC_KDAT_EP_QUERY, {end.ep, 1});
  body.expect_number("state", made(RNIC_KDAT_EP_GET_STATUS, {end.ep}).out(0),
                     DAT_EP_STATE_UNCONNECTED, rule);
  (void)made(RNIC_KDAT_SET_CONSUMER_CONTEXT, {end.ep, 99});
  body.expect_number("context", made(RNIC_KDAT_GET_CONSUMER_CONTEXT, {end.ep}).out(0), 99, rule);
}

void run_all(KdatBody& body, std::uint32_t context, RuleRef rule) {
  need_interrupt_safety(body);
  body.row("transfers", [&] { transfer(body, context, rule); });
  body.row("fast registration", [&] { register_fast(body, context, rule); });
  body.row("events", [&] { post_and_dequeue(body, context, rule); });
  body.row("queries", [&] { query(body, context, rule); });
}

}  // namespace

KDAT_CASE(calls_work_in_a_softirq,
          calls(dat_ep_post_send, dat_ep_post_recv, dat_ep_post_rdma_read, dat_ep_post_rdma_write,
                dat_lmr_fmr, dat_lmr_invalidate, dat_evd_post_se, dat_evd_dequeue),
          rules("kdat.interrupt-safety.softirq")) {
  run_all(*this, RNIC_KDAT_SOFTIRQ, "kdat.interrupt-safety.softirq");
}

KDAT_CASE(calls_work_in_a_hard_interrupt,
          calls(dat_ep_post_send, dat_ep_post_recv, dat_ep_post_rdma_read, dat_ep_post_rdma_write,
                dat_lmr_fmr, dat_lmr_invalidate, dat_evd_post_se, dat_evd_dequeue),
          rules("kdat.interrupt-safety.hardirq")) {
  run_all(*this, RNIC_KDAT_HARDIRQ, "kdat.interrupt-safety.hardirq");
}

KDAT_CASES_OF_FILE(contexts)

}  // namespace suite::cases::dat
