// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The registry of providers in the kernel.
#include <algorithm>
#include <string>

#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/kdat/framework/kdat_body.hpp"

namespace suite::cases::dat {

namespace {

constexpr std::string_view own_name = "rnic-conformance-provider";

bool lists(const Result& listed, const std::string& name) {
  const auto data = listed.data();
  std::string names;
  for (const std::byte each : data) names += static_cast<char>(each);
  return ("\n" + names).find("\n" + name + "\n") != std::string::npos;
}

}  // namespace

KDAT_CASE(providers_are_listed, calls(dat_registry_list_providers),
          rules("dat.registry-list-providers.success",
                "dat.registry-list-providers.invalid-parameter",
                "dat.registry-list-providers.count-when-too-small")) {
  kernel().hold_registry();
  const Result all = call(RNIC_KDAT_LIST_PROVIDERS, {8});
  expect(all, succeeds);
  expect_that(all.out(0) >= 1, "a provider at least", std::to_string(all.out(0)));
  expect_that(lists(all, target().ia), target().ia + " in the list", "it is not there");
  const Result few = call(RNIC_KDAT_LIST_PROVIDERS, {0});
  expect(few, returns(DAT_INVALID_PARAMETER), "dat.registry-list-providers.invalid-parameter");
  expect_number("count", few.out(0), all.out(0),
                "dat.registry-list-providers.count-when-too-small");
  expect_refused_without(RNIC_KDAT_LIST_PROVIDERS, {8}, {0, 1},
                         "dat.registry-list-providers.invalid-parameter");
}

KDAT_CASE(provider_is_registered_once,
          calls(dat_registry_add_provider, dat_registry_remove_provider),
          rules("dat.registry-add-provider.success", "dat.registry-add-provider.already-registered",
                "dat.registry-remove-provider.success")) {
  kernel().hold_registry();
  const CallOptions name = with_data(octets_of(own_name));
  expect(call(RNIC_KDAT_ADD_PROVIDER, {}, name), succeeds);
  expect_that(lists(call(RNIC_KDAT_LIST_PROVIDERS, {8}), std::string(own_name)), "in the list",
              "it is not there");
  expect(call(RNIC_KDAT_ADD_PROVIDER, {}, name), returns(DAT_PROVIDER_ALREADY_REGISTERED),
         "dat.registry-add-provider.already-registered");
  expect(call(RNIC_KDAT_REMOVE_PROVIDER, {0}, name), succeeds,
         "dat.registry-remove-provider.success");
  expect_that(!lists(call(RNIC_KDAT_LIST_PROVIDERS, {8}), std::string(own_name)), "not in the list",
              "it is still there", "dat.registry-remove-provider.success");
}

KDAT_CASE(bad_registrations_are_refused,
          calls(dat_registry_add_provider, dat_registry_remove_provider),
          rules("dat.registry-add-provider.invalid-parameter",
                "dat.registry-remove-provider.invalid-parameter")) {
  kernel().hold_registry();
  const auto name = octets_of(own_name);
  expect(call(RNIC_KDAT_ADD_PROVIDER, {}, with_data(name, RNIC_KDAT_NULL(0))),
         returns(DAT_INVALID_PARAMETER));
  expect(call(RNIC_KDAT_ADD_PROVIDER, {}, with_data(name, RNIC_KDAT_NULL(1))),
         returns(DAT_INVALID_PARAMETER));
  const RuleRef removal = "dat.registry-remove-provider.invalid-parameter";
  expect(call(RNIC_KDAT_REMOVE_PROVIDER, {0}, with_data(name)), returns(DAT_INVALID_PARAMETER),
         removal);
  expect(call(RNIC_KDAT_REMOVE_PROVIDER, {0}, with_data(name, RNIC_KDAT_NULL(0))),
         returns(DAT_INVALID_PARAMETER), removal);
}

KDAT_CASE(provider_that_is_open_stays, calls(dat_registry_remove_provider),
          rules("dat.registry-remove-provider.in-use")) {
  const Word ia = ia_handle();
  expect(call(RNIC_KDAT_REMOVE_PROVIDER, {ia}, with_data(octets_of(target().ia))),
         returns(DAT_PROVIDER_IN_USE));
  expect_that(lists(call(RNIC_KDAT_LIST_PROVIDERS, {8}), target().ia), "still in the list",
              "it is gone");
}

KDAT_CASE(returns_have_names, calls(dat_strerror),
          rules("dat.strerror.success", "dat.strerror.invalid-parameter")) {
  const Result named = call(RNIC_KDAT_STRERROR, {DAT_CLASS_ERROR | DAT_QUEUE_FULL});
  expect(named, succeeds);
  const auto name = octets_of("DAT_QUEUE_FULL");
  expect_octets(named.data(), name);
  expect(call(RNIC_KDAT_STRERROR, {0x2FFF0000}), returns(DAT_INVALID_PARAMETER),
         "dat.strerror.invalid-parameter");
  expect_refused_without(RNIC_KDAT_STRERROR, {0}, {0, 1}, "dat.strerror.invalid-parameter");
}

KDAT_CASES_OF_FILE(registry)

}  // namespace suite::cases::dat
