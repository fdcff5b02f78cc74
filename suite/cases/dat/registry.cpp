// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The registry, which libdat2 keeps: dat_registry_list_providers, dat_registry_add_provider,
// dat_registry_remove_provider; and dat_strerror.
#include <cstring>

#include "suite/cases/dat/framework/dat_handle_cases.hpp"
#include "suite/cases/dat/framework/dat_threads.hpp"

namespace suite::cases::dat {

namespace {

constexpr DAT_COUNT list_size = 128;

struct List {
  List() {
    for (std::size_t i = 0; i < entries.size(); ++i) pointers[i] = &entries[i];
  }
  DAT_RETURN fill(DAT_COUNT most = list_size) {
    return CALL(dat_registry_list_providers, most, &count, pointers.data());
  }
  DAT_COUNT count = -1;
  std::vector<DAT_PROVIDER_INFO> entries{list_size};
  std::vector<DAT_PROVIDER_INFO*> pointers{list_size};
};

/// A Provider that need not be opened.
struct FakeProvider {
  explicit FakeProvider(const std::string& name) {
    std::memcpy(info.ia_name, name.c_str(), name.size() + 1);
    info.dapl_version_major = DAT_VERSION_MAJOR;
    info.dapl_version_minor = DAT_VERSION_MINOR;
    info.is_thread_safe = DAT_FALSE;
    provider.device_name = info.ia_name;
    List().fill();  // brings libdat2 up
  }
  DAT_PROVIDER provider{};
  DAT_PROVIDER_INFO info{};
};

DAT_PROVIDER_INFO info_of(const DatTarget& target) {
  DAT_PROVIDER_INFO info{};
  std::memcpy(info.ia_name, target.ia.c_str(), target.ia.size() + 1);
  info.dapl_version_major = DAT_VERSION_MAJOR;
  info.dapl_version_minor = DAT_VERSION_MINOR;
  info.is_thread_safe = DAT_FALSE;
  return info;
}

const DAT_PROVIDER* provider_of(const Ia& ia) {
  DAT_IA_HANDLE own = DAT_HANDLE_NULL;
  if (dats_get_ia_handle(ia.get(), &own) != DAT_SUCCESS)
    throw CaseStop{Verdict::inconclusive, "libdat2 does not convert the IA handle"};
  return DAT_HANDLE_TO_PROVIDER(own);
}

}  // namespace

DAT_CASE(every_ia_that_can_be_opened_is_listed, calls(dat_registry_list_providers),
         rules("dat.registry-list-providers.success")) {
  List list;
  expect(list.fill(), succeeds);
  at_least(*this, "entries", list.count, 1);
  bool found = false;
  for (DAT_COUNT i = 0; i < list.count && i < list_size; ++i) {
    const DAT_PROVIDER_INFO& entry = list.entries[static_cast<std::size_t>(i)];
    found = found || (target().ia == entry.ia_name && entry.is_thread_safe == DAT_FALSE &&
                      entry.dapl_version_major == DAT_VERSION_MAJOR);
  }
  expect_that(found, "an entry for " + target().ia, found ? "an entry for " + target().ia : "none");
}

DAT_CASE(entries_after_the_last_are_unchanged, calls(dat_registry_list_providers),
         rules("dat.registry-list-providers.success")) {
  List list;
  std::memset(list.entries.data(), 0x5A, sizeof(DAT_PROVIDER_INFO) * list_size);
  expect(list.fill(), succeeds);
  if (list.count >= list_size)
    stop(Verdict::inconclusive, "the list has no room after its entries");
  const auto* after =
      reinterpret_cast<const char*>(&list.entries[static_cast<std::size_t>(list.count)]);
  expect_that(*after == 0x5A, "an entry left alone",
              *after == 0x5A ? "an entry left alone" : "written");
}

DAT_CASE(list_that_is_too_small_is_refused_with_the_count, calls(dat_registry_list_providers),
         rules("dat.registry-list-providers.invalid-parameter",
               "dat.registry-list-providers.count-when-too-small")) {
  List whole, small;
  need(whole.fill(), "no list");
  small.count = -1;
  expect(small.fill(0), returns(DAT_INVALID_PARAMETER));
  same(*this, "entries", small.count, whole.count,
       "dat.registry-list-providers.count-when-too-small");
}

DAT_CASE(list_with_a_null_output_is_refused, calls(dat_registry_list_providers),
         rules("dat.registry-list-providers.invalid-parameter"), with_hostile_handles) {
  List list;
  row("no place for the count", [&] {
    expect(CALL(dat_registry_list_providers, list_size, nullptr, list.pointers.data()),
           returns(DAT_INVALID_PARAMETER));
  });
  row("no list", [&] {
    expect(CALL(dat_registry_list_providers, list_size, &list.count, nullptr),
           returns(DAT_INVALID_PARAMETER));
  });
}

DAT_CASE(several_threads_get_the_same_list, calls(dat_registry_list_providers),
         rules("dat.registry-list-providers.success")) {
  List first;
  need(first.fill(), "no list");
  std::array<List, 4> lists;
  std::array<DAT_RETURN, 4> got{};
  at_once(4, [&](int i) {
    got[static_cast<std::size_t>(i)] = lists[static_cast<std::size_t>(i)].fill();
  });
  for (std::size_t i = 0; i < lists.size(); ++i) {
    expect(got[i], succeeds);
    same(*this, "entries", lists[i].count, first.count);
  }
}

DAT_CASE(provider_of_a_new_name_is_registered, calls(dat_registry_add_provider),
         rules("dat.registry-add-provider.success")) {
  const FakeProvider one("conformance-suite-added");
  expect(CALL(dat_registry_add_provider, &one.provider, &one.info), succeeds);
}

DAT_CASE(provider_of_a_registered_name_is_refused, calls(dat_registry_add_provider),
         rules("dat.registry-add-provider.already-registered")) {
  const FakeProvider one("conformance-suite-twice");
  need(CALL(dat_registry_add_provider, &one.provider, &one.info), "no provider");
  expect(CALL(dat_registry_add_provider, &one.provider, &one.info),
         returns(DAT_PROVIDER_ALREADY_REGISTERED));
}

DAT_CASE(description_of_no_provider_is_refused, calls(dat_registry_add_provider),
         rules("dat.registry-add-provider.invalid-parameter"), with_hostile_handles) {
  const FakeProvider one("conformance-suite-half");
  expect(CALL(dat_registry_add_provider, nullptr, &one.info), returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(removed_name_is_free_again, calls(dat_registry_remove_provider),
         rules("dat.registry-remove-provider.success")) {
  const FakeProvider one("conformance-suite-removed");
  need(CALL(dat_registry_add_provider, &one.provider, &one.info), "no provider");
  expect(CALL(dat_registry_remove_provider, &one.provider, &one.info), succeeds);
  expect(CALL(dat_registry_add_provider, &one.provider, &one.info), succeeds);
}

DAT_CASE(provider_of_an_open_ia_is_not_removed, calls(dat_registry_remove_provider),
         rules("dat.registry-remove-provider.in-use")) {
  const DAT_PROVIDER_INFO info = info_of(target());
  expect(CALL(dat_registry_remove_provider, provider_of(ia()), &info),
         returns(DAT_PROVIDER_IN_USE));
  const Ia another(target());
  expect_that(another.get() != DAT_HANDLE_NULL, "the IA can still be opened", "no handle");
}

DAT_CASE(provider_that_is_not_registered_is_not_removed, calls(dat_registry_remove_provider),
         rules("dat.registry-remove-provider.invalid-parameter")) {
  const FakeProvider one("conformance-suite-unknown");
  expect(CALL(dat_registry_remove_provider, &one.provider, &one.info),
         returns(DAT_INVALID_PARAMETER).or_tolerably(DAT_PROVIDER_NOT_FOUND));
}

DAT_CASE(removal_of_nothing_is_refused, calls(dat_registry_remove_provider),
         rules("dat.registry-remove-provider.invalid-parameter"), with_hostile_handles) {
  const FakeProvider one("conformance-suite-nothing");
  expect(CALL(dat_registry_remove_provider, nullptr, &one.info), returns(DAT_INVALID_PARAMETER));
}

// ---------------------------------------------------------------- dat_strerror

DAT_CASE(every_return_type_has_its_own_text, calls(dat_strerror), rules("dat.strerror.success")) {
  std::vector<std::string> seen;
  for (const DAT_RETURN type : {DAT_SUCCESS,
                                DAT_ABORT,
                                DAT_CONN_QUAL_IN_USE,
                                DAT_INSUFFICIENT_RESOURCES,
                                DAT_INTERNAL_ERROR,
                                DAT_INVALID_HANDLE,
                                DAT_INVALID_PARAMETER,
                                DAT_INVALID_STATE,
                                DAT_LENGTH_ERROR,
                                DAT_MODEL_NOT_SUPPORTED,
                                DAT_PROVIDER_NOT_FOUND,
                                DAT_PRIVILEGES_VIOLATION,
                                DAT_PROTECTION_VIOLATION,
                                DAT_QUEUE_EMPTY,
                                DAT_QUEUE_FULL,
                                DAT_TIMEOUT_EXPIRED,
                                DAT_PROVIDER_ALREADY_REGISTERED,
                                DAT_PROVIDER_IN_USE,
                                DAT_INVALID_ADDRESS,
                                DAT_INTERRUPTED_CALL}) {
    const char *major = nullptr, *minor = nullptr;
    expect(CALL(dat_strerror, type, &major, &minor), succeeds);
    const std::string words = major == nullptr ? "" : major;
    expect_that(!words.empty() && std::ranges::find(seen, words) == seen.end(),
                "a text of its own for " + type_text(type),
                words.empty() ? "none" : "'" + words + "'");
    seen.push_back(words);
  }
}

DAT_CASE(returns_of_later_versions_have_a_text, calls(dat_strerror),
         rules("dat.strerror.success")) {
  for (const DAT_RETURN type :
       {DAT_CONN_QUAL_UNAVAILABLE, DAT_PORT_IN_USE, DAT_COMM_NOT_SUPPORTED, DAT_NOT_IMPLEMENTED})
    row(type_text(type), [&] {
      const char *major = nullptr, *minor = nullptr;
      expect(CALL(dat_strerror, type, &major, &minor),
             returns(DAT_SUCCESS).or_tolerably(DAT_INVALID_PARAMETER));
    });
}

DAT_CASE(subtype_of_a_return_has_a_text, calls(dat_strerror), rules("dat.strerror.success")) {
  const DAT_RETURN refused = CALL(dat_pz_free, DAT_HANDLE_NULL);
  const char *major = nullptr, *minor = nullptr;
  expect(CALL(dat_strerror, refused, &major, &minor), succeeds);
  expect_that(minor != nullptr && *minor != '\0', "a text for the subtype",
              minor == nullptr ? "null" : minor);
}

DAT_CASE(text_of_an_unknown_return_is_refused, calls(dat_strerror),
         rules("dat.strerror.invalid-parameter")) {
  const char *major = nullptr, *minor = nullptr;
  row("a type that does not exist", [&] {
    expect(CALL(dat_strerror, DAT_RETURN{0x80770000}, &major, &minor),
           returns(DAT_INVALID_PARAMETER));
  });
  row("a subtype that does not exist", [&] {
    expect(CALL(dat_strerror, DAT_RETURN{DAT_CLASS_ERROR | DAT_INVALID_HANDLE | 0x7FFF}, &major,
                &minor),
           returns(DAT_INVALID_PARAMETER));
  });
}

DAT_CASES_OF_FILE(registry)

}  // namespace suite::cases::dat
