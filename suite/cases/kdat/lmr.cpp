// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Local memory regions that are registered at once, and the reserved one.
#include <algorithm>

#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/kdat/framework/kdat_body.hpp"

namespace suite::cases::dat {

namespace {

constexpr std::size_t page = 4096;
constexpr Word all = DAT_MEM_PRIV_ALL_FLAG;

void fill(std::span<std::byte> octets, unsigned char first) {
  for (std::size_t i = 0; i < octets.size(); ++i)
    octets[i] = static_cast<std::byte>((first + i) & 0xFF);
}

/// The arguments of a registration that a row changes.
struct Registration {
  Word ia = 0, type = DAT_MEM_TYPE_VIRTUAL, length = page, pz = 0, privileges = all;
  Word va_type = DAT_VA_TYPE_VA, flags = 0, memory = 0, offset = 0, page_size = 0;
};

Result register_by(KdatBody& body, const Registration& with, const CallOptions& options = {}) {
  return body.call(RNIC_KDAT_LMR_KCREATE,
                   {with.ia, with.type, with.length, with.pz, with.privileges, with.va_type,
                    with.flags, with.memory, with.offset, with.page_size},
                   options);
}

Region region_of(const Result& made, const KernelMemory& memory) {
  return {.memory = memory,
          .lmr = made.out(0),
          .lmr_context = static_cast<std::uint32_t>(made.out(1)),
          .rmr_context = static_cast<std::uint32_t>(made.out(2)),
          .base = made.out(4)};
}

/// A Write of the peer puts octets into the region, and a Send takes them from it.
void expect_usable(KdatBody& body, const KernelPair& pair, const Region& region, std::size_t length,
                   const std::function<std::byte(std::size_t)>& octet_at) {
  const Region peer = body.region(pair.pz, 2);
  fill(peer.memory.octets, 7);
  body.expect(body.post_rdma(RNIC_KDAT_EP_POST_RDMA_WRITE, pair.active.ep, peer.segment(0, length),
                             1, region, 0, length),
              succeeds);
  (void)body.expect_done(pair.active.requests, 1);
  // What came before it has been placed (RFC 5040 5.5).
  body.need(body.post(RNIC_KDAT_EP_POST_RECV, pair.active.ep, {peer.segment(page, length)}, 2),
            "no receive");
  body.expect(body.post(RNIC_KDAT_EP_POST_SEND, pair.passive.ep, {region.segment(0, length)}, 3),
              succeeds);
  (void)body.expect_done(pair.active.receives, 2);
  body.expect_octets(peer.memory.part(page, length), peer.memory.part(0, length));
  std::vector<std::byte> placed(length);
  for (std::size_t i = 0; i < length; ++i) placed[i] = octet_at(i);
  body.expect_octets(placed, peer.memory.part(0, length));
}

}  // namespace

KDAT_CASE(kernel_memory_is_registered, calls(dat_lmr_kcreate, dat_lmr_free),
          rules("kdat.lmr-kcreate.success", "dat.lmr-free.success")) {
  const KernelPair pair = connected();
  const KernelMemory memory = kernel().memory(2);
  constexpr std::size_t offset = 100, length = 3000;
  const Result made = register_by(*this, {.ia = ia_handle(),
                                          .length = length,
                                          .pz = pair.pz,
                                          .memory = memory.handle,
                                          .offset = offset});
  expect(made, succeeds);
  expect_that(made.out(3) >= length, "3000 octets at least", std::to_string(made.out(3)));
  expect_number("address", made.out(4), memory.address + offset);
  const Region region = region_of(made, memory);
  expect_usable(*this, pair, region, length,
                [&](std::size_t i) { return memory.octets[offset + i]; });
  expect_that(
      memory.octets[offset - 1] == std::byte{0} && memory.octets[offset + length] == std::byte{0},
      "nothing beside it", "something was placed beside it");
  expect(call(RNIC_KDAT_LMR_FREE, {region.lmr}), succeeds, "dat.lmr-free.success");
  expect(call(RNIC_KDAT_LMR_QUERY, {region.lmr, 1}), returns(DAT_INVALID_HANDLE),
         "dat.lmr-free.success");
}

KDAT_CASE(physical_pages_are_registered_in_their_order, calls(dat_lmr_kcreate),
          rules("kdat.lmr-kcreate.physical")) {
  const KernelPair pair = connected();
  const KernelMemory memory = kernel().memory(3);
  constexpr std::size_t length = 2 * page - 200;
  const Result made = register_by(*this,
                                  {.ia = ia_handle(),
                                   .type = kdapl::physical,
                                   .length = length,
                                   .pz = pair.pz,
                                   .va_type = DAT_VA_TYPE_ZB,
                                   .memory = memory.handle},
                                  {.pages = {2 * page, 0}});
  expect(made, succeeds);
  Region region = region_of(made, memory);
  expect_usable(*this, pair, region, 4000,
                [&](std::size_t i) { return memory.octets[2 * page + i]; });
  region.base += page;
  expect_usable(*this, pair, region, 3000, [&](std::size_t i) { return memory.octets[i]; });
}

KDAT_CASE(consumer_chooses_the_size_of_pages, calls(dat_lmr_kcreate),
          rules("kdat.lmr-kcreate.page-size")) {
  const KernelPair pair = connected();
  const KernelMemory memory = kernel().memory(8);
  const Word size = 2 * page;
  // The memory begins at a multiple of its own size.
  const Result made = register_by(*this,
                                  {.ia = ia_handle(),
                                   .type = kdapl::var_pages,
                                   .length = 2 * size,
                                   .pz = pair.pz,
                                   .va_type = DAT_VA_TYPE_ZB,
                                   .memory = memory.handle,
                                   .page_size = size},
                                  {.pages = {2 * size, 0}});
  expect(made, succeeds);
  Region region = region_of(made, memory);
  region.base += page;
  expect_usable(*this, pair, region, 3000,
                [&](std::size_t i) { return memory.octets[2 * size + page + i]; });
  region.base += page;
  expect_usable(*this, pair, region, 3000, [&](std::size_t i) { return memory.octets[i]; });
  for (const Word bad : {Word{0}, Word{1000}, Word{3 * page}})
    row("a page of " + std::to_string(bad) + " octets", [&] {
      expect(register_by(*this,
                         {.ia = ia_handle(),
                          .type = kdapl::var_pages,
                          .length = page,
                          .pz = pair.pz,
                          .memory = memory.handle,
                          .page_size = bad},
                         {.pages = {0, 0}}),
             returns(DAT_INVALID_PARAMETER));
    });
}

KDAT_CASE(zero_based_region_begins_at_0, calls(dat_lmr_kcreate, dat_lmr_query),
          rules("kdat.lmr-kcreate.zero-based", "dat.lmr-query.success")) {
  const KernelPair pair = connected();
  const KernelMemory memory = kernel().memory(1);
  const Result made = register_by(
      *this,
      {.ia = ia_handle(), .pz = pair.pz, .va_type = DAT_VA_TYPE_ZB, .memory = memory.handle});
  expect(made, succeeds);
  expect_number("address", made.out(4), 0);
  expect_usable(*this, pair, region_of(made, memory), 500,
                [&](std::size_t i) { return memory.octets[i]; });
  const Result got = call(RNIC_KDAT_LMR_QUERY, {made.out(0), DAT_LMR_FIELD_ALL});
  const RuleRef query = "dat.lmr-query.success";
  expect(got, succeeds, query);
  expect_number("IA", got.out(RNIC_KDAT_LMR_IA), ia_handle(), query);
  expect_number("PZ", got.out(RNIC_KDAT_LMR_PZ), pair.pz, query);
  expect_number("length", got.out(RNIC_KDAT_LMR_LENGTH), page, query);
  expect_number("privileges", got.out(RNIC_KDAT_LMR_PRIVILEGES), all, query);
  expect_number("VA type", got.out(RNIC_KDAT_LMR_VA_TYPE), DAT_VA_TYPE_ZB, query);
  expect_number("LMR context", got.out(RNIC_KDAT_LMR_CONTEXT), made.out(1), query);
  expect_number("RMR context", got.out(RNIC_KDAT_LMR_RMR_CONTEXT), made.out(2), query);
}

KDAT_CASE(region_of_another_has_its_memory, calls(dat_lmr_kcreate),
          rules("kdat.lmr-kcreate.of-lmr")) {
  const KernelPair pair = connected();
  const Region first = region(pair.pz, 1, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  const Result made = register_by(
      *this, {.ia = ia_handle(), .type = DAT_MEM_TYPE_LMR, .pz = pair.pz, .memory = first.lmr});
  expect(made, succeeds);
  expect_that(made.out(1) != first.lmr_context, "a context of its own", "that of the other region");
  expect_usable(*this, pair, region_of(made, first.memory), 700,
                [&](std::size_t i) { return first.memory.octets[i]; });
}

KDAT_CASE(memory_types_that_are_not_offered_are_refused, calls(dat_lmr_kcreate),
          rules("kdat.lmr-kcreate.model")) {
  const Word zone = pz();
  const Word types = call(RNIC_KDAT_IA_QUERY, {ia_handle(), 1, 1}).out(RNIC_KDAT_IA_MEM_TYPES);
  for (const Word type : {kdapl::platform, kdapl::of_ia, kdapl::bypass}) {
    if ((types & type) != 0) continue;
    expect(register_by(*this, {.ia = ia_handle(), .type = type, .pz = zone}),
           returns(DAT_MODEL_NOT_SUPPORTED));
  }
}

KDAT_CASE(bad_registrations_are_refused, calls(dat_lmr_kcreate),
          rules("kdat.lmr-kcreate.invalid-parameter", "kdat.lmr-kcreate.invalid-handle")) {
  const KernelMemory memory = kernel().memory(1);
  const Registration good{.ia = ia_handle(), .pz = pz(), .memory = memory.handle};
  const auto refuse = [&](const char* name, const std::function<void(Registration&)>& change,
                          const CallOptions& options = {},
                          DAT_RETURN_TYPE type = DAT_INVALID_PARAMETER, RuleRef rule = {}) {
    row(name, [&] {
      Registration changed = good;
      change(changed);
      expect(register_by(*this, changed, options), returns(type), rule);
    });
  };
  refuse("no memory", [](auto& with) { with.memory = 0; });
  refuse("no length", [](auto& with) { with.length = 0; });
  refuse("no type", [](auto& with) { with.type = 0x77; });
  refuse("unknown privileges", [](auto& with) { with.privileges = 0x100; });
  refuse("unknown VA type", [](auto& with) { with.va_type = 9; });
  refuse("unknown optimization", [](auto& with) { with.flags = 0x80; });
  refuse("no place for the handle", [](auto&) {}, with_null(0));
  refuse("no place for the context", [](auto&) {}, with_null(1));
  refuse("no list of pages", [](auto& with) { with.type = kdapl::physical; }, with_null(5));
  refuse("no page", [](auto& with) { with.type = kdapl::physical; }, {.pages = {~Word{0}}});
  refuse("part of a page", [](auto& with) { with.type = kdapl::physical; }, {.pages = {512}});
  const RuleRef handle = "kdat.lmr-kcreate.invalid-handle";
  refuse("no IA", [](auto& with) { with.ia = 0; }, {}, DAT_INVALID_HANDLE, handle);
  refuse("no PZ", [](auto& with) { with.pz = 0; }, {}, DAT_INVALID_HANDLE, handle);
  refuse("an IA as PZ", [](auto& with) { with.pz = with.ia; }, {}, DAT_INVALID_HANDLE, handle);
  refuse(
      "no LMR",
      [](auto& with) {
        with.type = DAT_MEM_TYPE_LMR;
        with.memory = with.pz;
      },
      {}, DAT_INVALID_HANDLE, handle);
}

KDAT_CASE(freed_region_is_of_no_use, calls(dat_lmr_free),
          rules("dat.lmr-free.local-use", "dat.lmr-free.invalid-handle")) {
  const KernelPair pair = connected();
  const Region memory = region(pair.pz);
  need(call(RNIC_KDAT_LMR_FREE, {memory.lmr}), "the region stays");
  const Result posted = post(RNIC_KDAT_EP_POST_SEND, pair.active.ep, {memory.segment(0, 16)}, 1);
  if (posted == DAT_SUCCESS) {
    const Upcall done = kernel().next_upcall(pair.active.requests);
    expect_that(done.event.status != DAT_DTO_SUCCESS, "a failed completion", "success");
  } else {
    expect(posted, returns_one_of({DAT_PROTECTION_VIOLATION, DAT_PRIVILEGES_VIOLATION}));
  }
  for (const Word none : {memory.lmr, Word{0}, pair.pz})
    expect(call(RNIC_KDAT_LMR_FREE, {none}), returns(DAT_INVALID_HANDLE),
           "dat.lmr-free.invalid-handle");
}

KDAT_CASE(bad_queries_and_synchronizations_are_refused,
          calls(dat_lmr_query, dat_lmr_sync_rdma_read, dat_lmr_sync_rdma_write),
          rules("dat.lmr-query.invalid-handle", "dat.lmr-query.invalid-parameter",
                "dat.lmr-sync-rdma-read.invalid-handle", "dat.lmr-sync-rdma-read.invalid-parameter",
                "dat.lmr-sync-rdma-write.invalid-handle",
                "dat.lmr-sync-rdma-write.invalid-parameter")) {
  const Region memory = region(pz());
  expect(call(RNIC_KDAT_LMR_QUERY, {0, 1}), returns(DAT_INVALID_HANDLE));
  expect_refused_without(RNIC_KDAT_LMR_QUERY, {memory.lmr, 1}, {0},
                         "dat.lmr-query.invalid-parameter");
  const CallOptions good{.segments = {memory.segment(0, 64)}};
  for (const auto& [number, handle, parameter] :
       {std::tuple{RNIC_KDAT_LMR_SYNC_RDMA_READ, RuleRef("dat.lmr-sync-rdma-read.invalid-handle"),
                   RuleRef("dat.lmr-sync-rdma-read.invalid-parameter")},
        std::tuple{RNIC_KDAT_LMR_SYNC_RDMA_WRITE, RuleRef("dat.lmr-sync-rdma-write.invalid-handle"),
                   RuleRef("dat.lmr-sync-rdma-write.invalid-parameter")}}) {
    expect(call(number, {0, 1}, good), returns(DAT_INVALID_HANDLE), handle);
    CallOptions without = good;
    without.nulls = RNIC_KDAT_NULL(0);
    expect(call(number, {ia_handle(), 1}, without), returns(DAT_INVALID_PARAMETER), parameter);
  }
}

KDAT_CASE(memory_is_synchronized, calls(dat_lmr_sync_rdma_read, dat_lmr_sync_rdma_write),
          rules("dat.lmr-sync-rdma-read.success", "dat.lmr-sync-rdma-write.success")) {
  const Region memory = region(pz());
  const CallOptions two{.segments = {memory.segment(0, 64), memory.segment(64, 64)}};
  expect(call(RNIC_KDAT_LMR_SYNC_RDMA_READ, {ia_handle(), 2}, two), succeeds);
  expect(call(RNIC_KDAT_LMR_SYNC_RDMA_WRITE, {ia_handle(), 2}, two), succeeds,
         "dat.lmr-sync-rdma-write.success");
}

// ---------------------------------------------------------------- the reserved LMR

KDAT_CASE(reserved_region_is_host_memory, calls(dat_ia_reserved_lmr),
          rules("kdat.ia-reserved-lmr.success", "kdat.ia-reserved-lmr.free")) {
  const Result reserved = call(RNIC_KDAT_IA_RESERVED_LMR, {ia_handle()});
  expect(reserved, succeeds);
  const auto context = static_cast<std::uint32_t>(reserved.out(1));
  const KernelPair pair = connected();
  const KernelMemory from = kernel().memory(1), to = kernel().memory(1);
  fill(from.octets, 60);
  expect(
      post(RNIC_KDAT_EP_POST_RECV, pair.passive.ep, {physical_segment(to, 300, 1000, context)}, 1),
      succeeds);
  expect(
      post(RNIC_KDAT_EP_POST_SEND, pair.active.ep, {physical_segment(from, 8, 1000, context)}, 2),
      succeeds);
  const KernelEvent done = expect_done(pair.passive.receives, 1);
  expect_number("length", done.length, 1000);
  expect_octets(to.part(300, 1000), from.part(8, 1000));
  const RuleRef freed = "kdat.ia-reserved-lmr.free";
  expect(call(RNIC_KDAT_LMR_FREE, {reserved.out(0)}), returns(DAT_RESERVED_LMR), freed);
  const Result again = call(RNIC_KDAT_IA_RESERVED_LMR, {ia_handle()});
  expect(again, succeeds, freed);
  expect_number("LMR", again.out(0), reserved.out(0), freed);
}

KDAT_CASE(bad_requests_for_the_reserved_region_are_refused, calls(dat_ia_reserved_lmr),
          rules("kdat.ia-reserved-lmr.invalid-handle", "kdat.ia-reserved-lmr.invalid-parameter")) {
  for (const Word none : {Word{0}, pz()})
    expect(call(RNIC_KDAT_IA_RESERVED_LMR, {none}), returns(DAT_INVALID_HANDLE));
  expect_refused_without(RNIC_KDAT_IA_RESERVED_LMR, {ia_handle()}, {0, 1},
                         "kdat.ia-reserved-lmr.invalid-parameter");
}

KDAT_CASES_OF_FILE(lmr)

}  // namespace suite::cases::dat
