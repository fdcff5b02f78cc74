// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Interface adapters, protection zones, and what all handles have.
#include <bit>
#include <string>

#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/kdat/framework/kdat_body.hpp"

namespace suite::cases::dat {

KDAT_CASE(opened_by_its_name_and_version, calls(dat_ia_openv),
          rules("dat.ia-open.success", "dat.ia-open.provider-not-found")) {
  const auto name = octets_of(target().ia);
  const Result opened = call(RNIC_KDAT_IA_OPEN, {8, 2, 0, 1}, with_data(name));
  expect(opened, succeeds);
  expect_that(opened.out(0) != 0 && opened.out(1) != 0, "an IA and its dispatcher", "none");
  const RuleRef none = "dat.ia-open.provider-not-found";
  expect(call(RNIC_KDAT_IA_OPEN, {8, 2, 0, 1}, with_data(octets_of("no-such-ia"))),
         returns(DAT_PROVIDER_NOT_FOUND), none);
  expect(call(RNIC_KDAT_IA_OPEN, {8, 9, 0, 1}, with_data(name)), returns(DAT_PROVIDER_NOT_FOUND),
         none);
  expect(call(RNIC_KDAT_IA_OPEN, {8, 2, 9, 1}, with_data(name)), returns(DAT_PROVIDER_NOT_FOUND),
         none);
}

KDAT_CASE(open_without_a_parameter_is_refused, calls(dat_ia_openv),
          rules("dat.ia-open.invalid-parameter")) {
  const auto name = octets_of(target().ia);
  for (const std::uint32_t pointer : {0U, 1U, 2U})
    row("pointer " + std::to_string(pointer), [&] {
      expect(call(RNIC_KDAT_IA_OPEN, {8, 2, 0, 1}, with_data(name, RNIC_KDAT_NULL(pointer))),
             returns(DAT_INVALID_PARAMETER));
    });
  row("a negative queue", [&] {
    expect(call(RNIC_KDAT_IA_OPEN, {0xFFFFFFFF, 2, 0, 1}, with_data(name)),
           returns(DAT_INVALID_PARAMETER));
  });
}

KDAT_CASE(query_has_the_attributes_of_the_kernel, calls(dat_ia_query),
          rules("kdat.ia-query.attributes", "dat.ia-query.success")) {
  const Result got = call(RNIC_KDAT_IA_QUERY, {ia_handle(), ~Word{0} >> 25, ~Word{0} >> 31});
  expect(got, succeeds, "dat.ia-query.success");
  expect_number("the asynchronous dispatcher", got.out(RNIC_KDAT_IA_ASYNC_EVD), async_evd(),
                "dat.ia-query.success");
  expect_octets(got.data(), octets_of(target().ia), "dat.ia-query.success");
  expect_that(got.out(RNIC_KDAT_IA_ADDRESS) != 0, "an address", "none", "dat.ia-query.success");
  const Word types = got.out(RNIC_KDAT_IA_MEM_TYPES);
  expect_that((types & kdapl::physical) != 0, "DAT_MEM_TYPE_PHYSICAL", fmt::format("{:#x}", types));
  expect_that((types & kdapl::var_pages) != 0, "DAT_MEM_TYPE_PHYSICAL_VAR_PAGES",
              fmt::format("{:#x}", types));
  expect_that(got.out(RNIC_KDAT_IA_FMR_SCOPE) <= kdapl::scope_any, "a DAT_LMR_SCOPE",
              std::to_string(got.out(RNIC_KDAT_IA_FMR_SCOPE)));
  const Word policy = got.out(RNIC_KDAT_IA_UPCALL_POLICY);
  expect_that(policy == kdapl::single_instance || policy == kdapl::many || policy == kdapl::notify,
              "a policy with UpCalls", std::to_string(policy));
  for (const auto& [what, at] :
       {std::pair{"is_interrupt_safe", RNIC_KDAT_IA_INTERRUPT_SAFE},
        std::pair{"fmr_supported", RNIC_KDAT_IA_FMR_SUPPORTED},
        std::pair{"reserved_lmr_supported", RNIC_KDAT_IA_RESERVED_SUPPORTED},
        std::pair{"zb_supported", RNIC_KDAT_IA_ZB_SUPPORTED}})
    expect_that(got.out(at) <= 1, fmt::format("{} true or false", what),
                std::to_string(got.out(at)));
}

KDAT_CASE(bad_queries_are_refused, calls(dat_ia_query),
          rules("dat.ia-query.invalid-parameter", "dat.ia-query.invalid-handle")) {
  expect_refused_without(RNIC_KDAT_IA_QUERY, {ia_handle(), 1, 1}, {0, 1});
  expect(call(RNIC_KDAT_IA_QUERY, {ia_handle(), Word{1} << 63, 0}), returns(DAT_INVALID_PARAMETER));
  expect(call(RNIC_KDAT_IA_QUERY, {0, 1, 1}), returns(DAT_INVALID_HANDLE),
         "dat.ia-query.invalid-handle");
  expect(call(RNIC_KDAT_IA_QUERY, {pz(), 1, 1}), returns(DAT_INVALID_HANDLE),
         "dat.ia-query.invalid-handle");
}

KDAT_CASE(close_takes_objects_only_if_abrupt, calls(dat_ia_close),
          rules("dat.ia-close.invalid-state", "dat.ia-close.abrupt", "dat.ia-close.success")) {
  const Word ia = ia_handle(), zone = pz();
  (void)region(zone);
  expect(call(RNIC_KDAT_IA_CLOSE, {ia, DAT_CLOSE_GRACEFUL_FLAG}), returns(DAT_INVALID_STATE));
  expect(call(RNIC_KDAT_PZ_QUERY, {zone, 1}), succeeds);
  expect(call(RNIC_KDAT_IA_CLOSE, {ia, DAT_CLOSE_ABRUPT_FLAG}), succeeds, "dat.ia-close.abrupt");
  const Result again = call(RNIC_KDAT_IA_OPEN, {8, 2, 0, 1}, with_data(octets_of(target().ia)));
  expect(again, succeeds, "dat.ia-close.success");
  expect(call(RNIC_KDAT_IA_CLOSE, {again.out(0), DAT_CLOSE_GRACEFUL_FLAG}), succeeds,
         "dat.ia-close.success");
}

KDAT_CASE(bad_closes_are_refused, calls(dat_ia_close),
          rules("dat.ia-close.invalid-parameter", "dat.ia-close.invalid-handle")) {
  expect(call(RNIC_KDAT_IA_CLOSE, {ia_handle(), 7}), returns(DAT_INVALID_PARAMETER));
  expect(call(RNIC_KDAT_IA_CLOSE, {0, DAT_CLOSE_ABRUPT_FLAG}), returns(DAT_INVALID_HANDLE),
         "dat.ia-close.invalid-handle");
  expect(call(RNIC_KDAT_IA_CLOSE, {pz(), DAT_CLOSE_ABRUPT_FLAG}), returns(DAT_INVALID_HANDLE),
         "dat.ia-close.invalid-handle");
}

KDAT_CASE(hint_covers_the_length, calls(dat_ia_memtype_hint),
          rules("kdat.ia-memtype-hint.success")) {
  constexpr Word length = 5000;
  for (const Word type : {Word{DAT_MEM_TYPE_VIRTUAL}, kdapl::physical, kdapl::var_pages}) {
    const Result got = call(RNIC_KDAT_IA_MEMTYPE_HINT, {ia_handle(), type, length, 0});
    expect(got, succeeds);
    expect_that(got.out(0) >= length, "5000 octets at least", std::to_string(got.out(0)));
    expect_that(std::has_single_bit(got.out(1)), "an alignment of a power of two",
                std::to_string(got.out(1)));
    const Result exact =
        call(RNIC_KDAT_IA_MEMTYPE_HINT, {ia_handle(), type, length, kdapl::exact_exposure});
    expect(exact, succeeds);
    expect_number("length", exact.out(0), length);
  }
}

KDAT_CASE(bad_hints_are_refused, calls(dat_ia_memtype_hint),
          rules("kdat.ia-memtype-hint.invalid-parameter", "kdat.ia-memtype-hint.invalid-handle")) {
  const Word ia = ia_handle();
  expect(call(RNIC_KDAT_IA_MEMTYPE_HINT, {ia, 0x55, 4096, 0}), returns(DAT_INVALID_PARAMETER));
  expect(call(RNIC_KDAT_IA_MEMTYPE_HINT, {ia, 0, 0, 0}), returns(DAT_INVALID_PARAMETER));
  expect(call(RNIC_KDAT_IA_MEMTYPE_HINT, {ia, 0, 4096, 0x40}), returns(DAT_INVALID_PARAMETER));
  expect_refused_without(RNIC_KDAT_IA_MEMTYPE_HINT, {ia, 0, 4096, 0}, {0, 1});
  expect(call(RNIC_KDAT_IA_MEMTYPE_HINT, {0, 0, 4096, 0}), returns(DAT_INVALID_HANDLE),
         "kdat.ia-memtype-hint.invalid-handle");
}

// ---------------------------------------------------------------- any handle

KDAT_CASE(handles_keep_their_context_and_know_their_type,
          calls(dat_set_consumer_context, dat_get_consumer_context, dat_get_handle_type),
          rules("dat.set-consumer-context.success", "dat.get-consumer-context.success",
                "dat.get-handle-type.success")) {
  const Word zone = pz();
  const Region memory = region(zone);
  const KernelSide end = side(zone);
  KernelPair pair;
  listen(pair);
  for (const auto& [handle, type] :
       {std::pair{ia_handle(), DAT_HANDLE_TYPE_IA}, std::pair{zone, DAT_HANDLE_TYPE_PZ},
        std::pair{end.receives, DAT_HANDLE_TYPE_EVD}, std::pair{memory.lmr, DAT_HANDLE_TYPE_LMR},
        std::pair{end.ep, DAT_HANDLE_TYPE_EP}, std::pair{pair.psp, DAT_HANDLE_TYPE_PSP}}) {
    expect(call(RNIC_KDAT_SET_CONSUMER_CONTEXT, {handle, 0x1234567800000000 + handle}), succeeds);
    const Result context = call(RNIC_KDAT_GET_CONSUMER_CONTEXT, {handle});
    expect(context, succeeds, "dat.get-consumer-context.success");
    expect_number("context", context.out(0), 0x1234567800000000 + handle,
                  "dat.get-consumer-context.success");
    const Result got = call(RNIC_KDAT_GET_HANDLE_TYPE, {handle});
    expect(got, succeeds, "dat.get-handle-type.success");
    expect_number("type", got.out(0), type, "dat.get-handle-type.success");
  }
}

KDAT_CASE(no_handle_has_no_context_and_no_type,
          calls(dat_set_consumer_context, dat_get_consumer_context, dat_get_handle_type),
          rules("dat.set-consumer-context.invalid-handle",
                "dat.get-consumer-context.invalid-handle", "dat.get-handle-type.invalid-handle",
                "dat.get-consumer-context.invalid-parameter",
                "dat.get-handle-type.invalid-parameter")) {
  expect(call(RNIC_KDAT_SET_CONSUMER_CONTEXT, {0, 1}), returns(DAT_INVALID_HANDLE));
  expect(call(RNIC_KDAT_GET_CONSUMER_CONTEXT, {0}), returns(DAT_INVALID_HANDLE),
         "dat.get-consumer-context.invalid-handle");
  expect(call(RNIC_KDAT_GET_HANDLE_TYPE, {0}), returns(DAT_INVALID_HANDLE),
         "dat.get-handle-type.invalid-handle");
  expect_refused_without(RNIC_KDAT_GET_CONSUMER_CONTEXT, {ia_handle()}, {0},
                         "dat.get-consumer-context.invalid-parameter");
  expect_refused_without(RNIC_KDAT_GET_HANDLE_TYPE, {ia_handle()}, {0},
                         "dat.get-handle-type.invalid-parameter");
}

// ---------------------------------------------------------------- zones

KDAT_CASE(zone_is_made_and_freed, calls(dat_pz_create, dat_pz_query, dat_pz_free),
          rules("dat.pz-create.success", "dat.pz-query.success", "dat.pz-free.success")) {
  const Result made = call(RNIC_KDAT_PZ_CREATE, {ia_handle()});
  expect(made, succeeds);
  const Result got = call(RNIC_KDAT_PZ_QUERY, {made.out(0), 1});
  expect(got, succeeds, "dat.pz-query.success");
  expect_number("IA", got.out(0), ia_handle(), "dat.pz-query.success");
  expect(call(RNIC_KDAT_PZ_FREE, {made.out(0)}), succeeds, "dat.pz-free.success");
}

KDAT_CASE(zone_in_use_is_kept, calls(dat_pz_free), rules("dat.pz-free.invalid-state")) {
  row("by a region", [&] {
    const Word zone = pz();
    const Region memory = region(zone);
    expect(call(RNIC_KDAT_PZ_FREE, {zone}), returns(DAT_INVALID_STATE));
    need(call(RNIC_KDAT_LMR_FREE, {memory.lmr}), "the region stays");
    expect(call(RNIC_KDAT_PZ_FREE, {zone}), succeeds);
  });
  row("by an endpoint", [&] {
    const Word zone = pz();
    const KernelSide end = side(zone);
    expect(call(RNIC_KDAT_PZ_FREE, {zone}), returns(DAT_INVALID_STATE));
    need(call(RNIC_KDAT_EP_FREE, {end.ep}), "the endpoint stays");
    expect(call(RNIC_KDAT_PZ_FREE, {zone}), succeeds);
  });
}

KDAT_CASE(bad_zones_are_refused, calls(dat_pz_create, dat_pz_query, dat_pz_free),
          rules("dat.pz-create.invalid-handle", "dat.pz-create.invalid-parameter",
                "dat.pz-query.invalid-handle", "dat.pz-query.invalid-parameter",
                "dat.pz-free.invalid-handle")) {
  const Word zone = pz();
  for (const Word none : {Word{0}, zone})
    expect(call(RNIC_KDAT_PZ_CREATE, {none}), returns(DAT_INVALID_HANDLE));
  expect_refused_without(RNIC_KDAT_PZ_CREATE, {ia_handle()}, {0},
                         "dat.pz-create.invalid-parameter");
  for (const Word none : {Word{0}, ia_handle()}) {
    expect(call(RNIC_KDAT_PZ_QUERY, {none, 1}), returns(DAT_INVALID_HANDLE),
           "dat.pz-query.invalid-handle");
    expect(call(RNIC_KDAT_PZ_FREE, {none}), returns(DAT_INVALID_HANDLE),
           "dat.pz-free.invalid-handle");
  }
  expect_refused_without(RNIC_KDAT_PZ_QUERY, {zone, 1}, {0}, "dat.pz-query.invalid-parameter");
  expect(call(RNIC_KDAT_PZ_QUERY, {zone, 0x80}), returns(DAT_INVALID_PARAMETER),
         "dat.pz-query.invalid-parameter");
}

KDAT_CASES_OF_FILE(ia)

}  // namespace suite::cases::dat
