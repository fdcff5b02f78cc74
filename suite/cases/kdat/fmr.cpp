// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Fast registration of physical pages on an endpoint, and its end.
#include <algorithm>

#include "suite/cases/kdat/framework/kdat_body.hpp"

namespace suite::cases::dat {

namespace {

constexpr std::size_t page = 4096;
constexpr Word all = DAT_MEM_PRIV_ALL_FLAG;

/// The arguments of a fast registration that a row changes.
struct Binding {
  Word lmr = 0, type = kdapl::physical, count = 1, privileges = all, va_type = DAT_VA_TYPE_ZB;
  Word ep = 0, cookie = 0, flags = 0, memory = 0, page_size = 0;
};

Result bind(KdatBody& body, const Binding& with, const CallOptions& options = {.pages = {0}}) {
  return body.call(RNIC_KDAT_LMR_FMR,
                   {with.lmr, with.type, with.count, with.privileges, with.va_type, with.ep,
                    with.cookie, with.flags, with.memory, with.page_size},
                   options);
}

Word allocate(KdatBody& body, Word pz, Word pages = 4) {
  const Result made =
      body.call(RNIC_KDAT_LMR_ALLOCATE, {body.ia_handle(), pz, pages, kdapl::scope_pz});
  body.need(made, "no LMR for fast registration");
  return made.out(0);
}

/// Bound, with its completion taken; zero based.
Region bound(KdatBody& body, const KernelPair& pair, Word lmr, const KernelMemory& memory,
             Word cookie) {
  const Result made =
      bind(body, {.lmr = lmr, .ep = pair.passive.ep, .cookie = cookie, .memory = memory.handle});
  body.expect(made, succeeds, "kdat.lmr-fmr.success");
  const KernelEvent done =
      body.expect_done(pair.passive.requests, cookie, DAT_DTO_SUCCESS, "kdat.lmr-fmr.success");
  body.expect_number("operation", done.operation, DAT_DTO_LMR_FMR, "kdat.lmr-fmr.success");
  return {.memory = memory,
          .lmr = lmr,
          .lmr_context = static_cast<std::uint32_t>(made.out(0)),
          .rmr_context = static_cast<std::uint32_t>(made.out(1)),
          .base = 0};
}

Word is_bound(KdatBody& body, Word lmr) {
  const Result got = body.call(RNIC_KDAT_LMR_QUERY, {lmr, 1});
  body.need(got, "no query");
  return got.out(RNIC_KDAT_LMR_BOUND);
}

void write_to(KdatBody& body, const KernelPair& pair, const Region& from, const Region& to,
              std::size_t offset, Word cookie, DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS) {
  body.need(body.post_rdma(RNIC_KDAT_EP_POST_RDMA_WRITE, pair.active.ep, from.segment(0, 256),
                           cookie, to, offset, 256),
            "no Write");
  (void)body.expect_done(pair.active.requests, cookie, status);
}

/// The peer's Send: what came before it has been placed (RFC 5040 5.5).
void follow(KdatBody& body, const KernelPair& pair, const Region& buffer, Word cookie) {
  body.need(
      body.post(RNIC_KDAT_EP_POST_RECV, pair.passive.ep, {buffer.segment(page / 2, 8)}, cookie),
      "no receive");
  body.need(body.post(RNIC_KDAT_EP_POST_SEND, pair.active.ep, {buffer.segment(0, 8)}, cookie),
            "no Send");
  (void)body.expect_done(pair.passive.receives, cookie);
  (void)body.expect_done(pair.active.requests, cookie);
}

}  // namespace

KDAT_CASE(allocated_region_is_not_bound, calls(dat_lmr_allocate, dat_lmr_query),
          rules("kdat.lmr-allocate.success", "kdat.lmr-query.state")) {
  const Word zone = pz();
  const Result made = call(RNIC_KDAT_LMR_ALLOCATE, {ia_handle(), zone, 4, kdapl::scope_pz});
  expect(made, succeeds);
  const Result got = call(RNIC_KDAT_LMR_QUERY, {made.out(0), DAT_LMR_FIELD_ALL});
  expect(got, succeeds, "kdat.lmr-query.state");
  expect_number("PZ", got.out(RNIC_KDAT_LMR_PZ), zone);
  expect_number("fmr_support", got.out(RNIC_KDAT_LMR_FMR_SUPPORT), 1, "kdat.lmr-query.state");
  expect_number("bound", got.out(RNIC_KDAT_LMR_BOUND), 0, "kdat.lmr-query.state");
  const Region other = region(zone);
  const Result usual = call(RNIC_KDAT_LMR_QUERY, {other.lmr, DAT_LMR_FIELD_ALL});
  expect_number("fmr_support", usual.out(RNIC_KDAT_LMR_FMR_SUPPORT), 0, "kdat.lmr-query.state");
  expect(call(RNIC_KDAT_LMR_FREE, {made.out(0)}), succeeds);
}

KDAT_CASE(bad_allocations_are_refused, calls(dat_lmr_allocate),
          rules("kdat.lmr-allocate.invalid-parameter", "kdat.lmr-allocate.invalid-handle",
                "kdat.lmr-allocate.scope")) {
  const Word ia = ia_handle(), zone = pz();
  for (const Word pages : {Word{0}, Word{0xFFFFFFFF}, Word{1} << 30})
    expect(call(RNIC_KDAT_LMR_ALLOCATE, {ia, zone, pages, kdapl::scope_pz}),
           returns(DAT_INVALID_PARAMETER));
  expect(call(RNIC_KDAT_LMR_ALLOCATE, {ia, zone, 4, 9}), returns(DAT_INVALID_PARAMETER));
  expect(call(RNIC_KDAT_LMR_ALLOCATE, {ia, zone, 4, kdapl::scope_any}),
         returns(DAT_INVALID_PARAMETER));
  expect_refused_without(RNIC_KDAT_LMR_ALLOCATE, {ia, zone, 4, kdapl::scope_pz}, {0});
  const RuleRef handle = "kdat.lmr-allocate.invalid-handle";
  for (const Word none : {Word{0}, zone})
    expect(call(RNIC_KDAT_LMR_ALLOCATE, {none, zone, 4, kdapl::scope_pz}),
           returns(DAT_INVALID_HANDLE), handle);
  for (const Word none : {Word{0}, ia})
    expect(call(RNIC_KDAT_LMR_ALLOCATE, {ia, none, 4, kdapl::scope_pz}),
           returns(DAT_INVALID_HANDLE), handle);
  const Word scope = call(RNIC_KDAT_IA_QUERY, {ia, 1, 1}).out(RNIC_KDAT_IA_FMR_SCOPE);
  for (const Word other : {kdapl::scope_ep, kdapl::scope_pz})
    if (scope != kdapl::scope_any && scope != other)
      expect(call(RNIC_KDAT_LMR_ALLOCATE, {ia, zone, 4, other}), returns(DAT_MODEL_NOT_SUPPORTED),
             "kdat.lmr-allocate.scope");
}

KDAT_CASE(pages_are_bound_used_and_invalidated, calls(dat_lmr_fmr, dat_lmr_invalidate),
          rules("kdat.lmr-fmr.success", "kdat.lmr-invalidate.success", "kdat.lmr-fmr.contexts")) {
  const KernelPair pair = connected();
  const Region from = region(pair.pz);
  std::ranges::fill(from.memory.octets, std::byte{0x5B});
  const KernelMemory memory = kernel().memory(1);
  const Word lmr = allocate(*this, pair.pz);
  std::uint32_t last = 0;
  for (const Word round : {Word{100}, Word{200}}) {
    std::ranges::fill(memory.octets, std::byte{0});
    const Region region = bound(*this, pair, lmr, memory, round);
    expect_number("bound", is_bound(*this, lmr), 1);
    expect_that(region.rmr_context != last, "contexts that differ from those before", "the same",
                "kdat.lmr-fmr.contexts");
    last = region.rmr_context;
    write_to(*this, pair, from, region, 64, round + 1);
    follow(*this, pair, from, round + 2);
    expect_octets(memory.part(64, 256), from.memory.part(0, 256));
    const RuleRef ended = "kdat.lmr-invalidate.success";
    expect(call(RNIC_KDAT_LMR_INVALIDATE, {lmr, pair.passive.ep, round + 3, 0}), succeeds, ended);
    const KernelEvent done = expect_done(pair.passive.requests, round + 3, DAT_DTO_SUCCESS, ended);
    expect_number("operation", done.operation, DAT_DTO_LMR_INVALIDATE, ended);
    expect_number("bound", is_bound(*this, lmr), 0, ended);
    const Result stale =
        post(RNIC_KDAT_EP_POST_SEND, pair.passive.ep, {region.segment(0, 8)}, round + 4);
    expect(stale, returns_one_of({DAT_PRIVILEGES_VIOLATION, DAT_PROTECTION_VIOLATION}), ended);
  }
}

KDAT_CASE(work_after_it_may_use_the_contexts, calls(dat_lmr_fmr), rules("kdat.lmr-fmr.success")) {
  const KernelPair pair = connected();
  const Region to = region(pair.pz);
  const KernelMemory memory = kernel().memory(1);
  std::ranges::fill(memory.octets, std::byte{0x77});
  const Word lmr = allocate(*this, pair.pz);
  need(post(RNIC_KDAT_EP_POST_RECV, pair.active.ep, {to.segment(0, 500)}, 1), "no receive");
  const Result made = bind(*this, {.lmr = lmr,
                                   .ep = pair.passive.ep,
                                   .cookie = 2,
                                   .flags = DAT_COMPLETION_SUPPRESS_FLAG,
                                   .memory = memory.handle});
  expect(made, succeeds);
  const Region region{.memory = memory,
                      .lmr = lmr,
                      .lmr_context = static_cast<std::uint32_t>(made.out(0)),
                      .rmr_context = static_cast<std::uint32_t>(made.out(1)),
                      .base = 0};
  expect(post(RNIC_KDAT_EP_POST_SEND, pair.passive.ep, {region.segment(10, 500)}, 3), succeeds);
  // The registration's own completion was suppressed.
  (void)expect_done(pair.passive.requests, 3);
  (void)expect_done(pair.active.receives, 1);
  expect_octets(to.memory.part(0, 500), memory.part(10, 500));
}

KDAT_CASE(pages_of_a_chosen_size_are_bound, calls(dat_lmr_fmr), rules("kdat.lmr-fmr.page-size")) {
  const KernelPair pair = connected();
  const Region from = region(pair.pz);
  std::ranges::fill(from.memory.octets, std::byte{0x3C});
  const KernelMemory memory = kernel().memory(8);
  const Word lmr = allocate(*this, pair.pz, 4), size = 2 * page;
  const Result made = bind(*this,
                           {.lmr = lmr,
                            .type = kdapl::var_pages,
                            .count = 2,
                            .ep = pair.passive.ep,
                            .cookie = 1,
                            .memory = memory.handle,
                            .page_size = size},
                           {.pages = {2 * size, 0}});
  expect(made, succeeds);
  (void)expect_done(pair.passive.requests, 1);
  const Region region{.memory = memory,
                      .lmr = lmr,
                      .lmr_context = static_cast<std::uint32_t>(made.out(0)),
                      .rmr_context = static_cast<std::uint32_t>(made.out(1)),
                      .base = 0};
  write_to(*this, pair, from, region, page, 2);
  write_to(*this, pair, from, region, size + 5, 3);
  follow(*this, pair, from, 4);
  expect_octets(memory.part(2 * size + page, 256), from.memory.part(0, 256));
  expect_octets(memory.part(5, 256), from.memory.part(0, 256));
}

KDAT_CASE(bad_fast_registrations_are_refused, calls(dat_lmr_fmr),
          rules("kdat.lmr-fmr.invalid-parameter", "kdat.lmr-fmr.invalid-handle")) {
  const KernelPair pair = connected();
  const KernelMemory memory = kernel().memory(1);
  const Binding good{
      .lmr = allocate(*this, pair.pz, 4), .ep = pair.active.ep, .memory = memory.handle};
  const auto refuse = [&](const char* name, const std::function<void(Binding&)>& change,
                          const CallOptions& options = {.pages = {0}},
                          DAT_RETURN_TYPE type = DAT_INVALID_PARAMETER, RuleRef rule = {}) {
    row(name, [&] {
      Binding changed = good;
      change(changed);
      expect(bind(*this, changed, options), returns(type), rule);
      expect_number("bound", is_bound(*this, good.lmr), 0, rule);
    });
  };
  refuse("no page", [](auto& with) { with.count = 0; });
  refuse("more pages than allocated", [](auto& with) { with.count = 5; });
  refuse("a page that is none", [](auto&) {}, {.pages = {~Word{0}}});
  refuse("part of a page", [](auto&) {}, {.pages = {512}});
  refuse("no list", [](auto&) {}, with_null(2));
  refuse("unknown type", [](auto& with) { with.type = 0x77; });
  refuse("unknown privileges", [](auto& with) { with.privileges = 0x100; });
  refuse("unknown VA type", [](auto& with) { with.va_type = 9; });
  refuse("unknown flags", [](auto& with) { with.flags = 0x400; });
  refuse("no place for the LMR context", [](auto&) {}, {.nulls = RNIC_KDAT_NULL(0), .pages = {0}});
  refuse("no place for the RMR context", [](auto&) {}, {.nulls = RNIC_KDAT_NULL(1), .pages = {0}});
  const RuleRef handle = "kdat.lmr-fmr.invalid-handle";
  refuse("no LMR", [](auto& with) { with.lmr = 0; }, {.pages = {0}}, DAT_INVALID_HANDLE, handle);
  refuse(
      "an EP as LMR", [](auto& with) { with.lmr = with.ep; }, {.pages = {0}}, DAT_INVALID_HANDLE,
      handle);
  refuse("no EP", [](auto& with) { with.ep = 0; }, {.pages = {0}}, DAT_INVALID_HANDLE, handle);
}

KDAT_CASE(state_decides_on_registration_and_invalidation, calls(dat_lmr_fmr, dat_lmr_invalidate),
          rules("kdat.lmr-fmr.invalid-state", "kdat.lmr-invalidate.invalid-state",
                "kdat.lmr-invalidate.invalid-handle", "kdat.lmr-invalidate.invalid-parameter")) {
  const KernelPair pair = connected();
  const KernelMemory memory = kernel().memory(1);
  const Word lmr = allocate(*this, pair.pz);
  const RuleRef not_bound = "kdat.lmr-invalidate.invalid-state";
  expect(call(RNIC_KDAT_LMR_INVALIDATE, {lmr, pair.passive.ep, 1, 0}), returns(DAT_INVALID_STATE),
         not_bound);
  const KernelSide idle = side(pair.pz);
  expect(bind(*this, {.lmr = lmr, .ep = idle.ep, .memory = memory.handle}),
         returns(DAT_INVALID_STATE));
  (void)bound(*this, pair, lmr, memory, 2);
  expect(bind(*this, {.lmr = lmr, .ep = pair.passive.ep, .memory = memory.handle}),
         returns(DAT_INVALID_STATE));
  const RuleRef handle = "kdat.lmr-invalidate.invalid-handle";
  expect(call(RNIC_KDAT_LMR_INVALIDATE, {0, pair.passive.ep, 3, 0}), returns(DAT_INVALID_HANDLE),
         handle);
  expect(call(RNIC_KDAT_LMR_INVALIDATE, {lmr, 0, 3, 0}), returns(DAT_INVALID_HANDLE), handle);
  expect(call(RNIC_KDAT_LMR_INVALIDATE, {lmr, pair.passive.ep, 3, 0x400}),
         returns(DAT_INVALID_PARAMETER), "kdat.lmr-invalidate.invalid-parameter");
  expect(call(RNIC_KDAT_LMR_INVALIDATE, {lmr, pair.passive.ep, 4, 0}), succeeds, not_bound);
  (void)expect_done(pair.passive.requests, 4, DAT_DTO_SUCCESS, not_bound);
}

KDAT_CASE(fenced_invalidation_follows_all_work, calls(dat_lmr_invalidate),
          rules("kdat.lmr-invalidate.fence")) {
  const KernelPair pair = connected();
  const Region from = region(pair.pz);
  std::ranges::fill(from.memory.octets, std::byte{0x99});
  const KernelMemory memory = kernel().memory(1);
  const Word lmr = allocate(*this, pair.pz);
  const Region sink = bound(*this, pair, lmr, memory, 1);
  // Reads into the region itself, which ends after them.
  for (const Word cookie : {Word{2}, Word{3}, Word{4}})
    need(post_rdma(RNIC_KDAT_EP_POST_RDMA_READ, pair.passive.ep, sink.segment(cookie * 256, 256),
                   cookie, from, 0, 256),
         "no Read");
  expect(call(RNIC_KDAT_LMR_INVALIDATE,
              {lmr, pair.passive.ep, 5, DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG}),
         succeeds);
  for (const Word cookie : {Word{2}, Word{3}, Word{4}, Word{5}})
    (void)expect_done(pair.passive.requests, cookie);
  for (const std::size_t place : {2U, 3U, 4U})
    expect_octets(memory.part(place * 256, 256), from.memory.part(0, 256));
}

KDAT_CASE(peer_invalidates_a_fast_registration, calls(dat_ep_post_send_with_invalidate),
          rules("kdat.lmr-invalidate.by-peer", "dat.ep-post-send-with-invalidate.success")) {
  const KernelPair pair = connected();
  const Region buffer = region(pair.pz);
  const KernelMemory memory = kernel().memory(1);
  const Word lmr = allocate(*this, pair.pz);
  const Region region = bound(*this, pair, lmr, memory, 1);
  need(post(RNIC_KDAT_EP_POST_RECV, pair.passive.ep, {buffer.segment(0, 64)}, 2), "no receive");
  const RuleRef sent = "dat.ep-post-send-with-invalidate.success";
  expect(
      call(RNIC_KDAT_EP_POST_SEND_WITH_INVALIDATE, {pair.active.ep, 1, 3, 0, 1, region.rmr_context},
           {.segments = {buffer.segment(100, 16)}}),
      succeeds, sent);
  (void)expect_done(pair.active.requests, 3, DAT_DTO_SUCCESS, sent);
  const KernelEvent done = expect_done(pair.passive.receives, 2, DAT_DTO_SUCCESS, sent);
  expect_number("operation", done.operation, DAT_DTO_RECEIVE_WITH_INVALIDATE, sent);
  expect_number("RMR context", done.rmr_context, region.rmr_context, sent);
  expect_number("bound", is_bound(*this, lmr), 0);
  expect(post(RNIC_KDAT_EP_POST_SEND, pair.passive.ep, {region.segment(0, 8)}, 4),
         returns_one_of({DAT_PRIVILEGES_VIOLATION, DAT_PROTECTION_VIOLATION}));
  (void)bound(*this, pair, lmr, memory, 5);
}

KDAT_CASES_OF_FILE(fmr)

}  // namespace suite::cases::dat
