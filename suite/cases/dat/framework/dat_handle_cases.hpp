// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Invalid handles, for the calls that must refuse them; and values compared by name.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "suite/cases/dat/framework/dat_case.hpp"

namespace suite::cases::dat {

template <typename Value>
std::string value_text(const Value& value) {
  if constexpr (std::is_pointer_v<Value>)
    return value == nullptr ? "null" : fmt::format("{}", static_cast<const void*>(value));
  else if constexpr (std::is_enum_v<Value>)
    return fmt::format("{:#x}", static_cast<std::uint64_t>(value));
  else if constexpr (std::unsigned_integral<Value>)
    return fmt::format("{:#x}", value);
  else
    return fmt::format("{}", value);
}

/// A value that the enumeration does not have: the ABI is C's, and lets consumers pass it.
template <typename Enumeration>
Enumeration no_such(std::underlying_type_t<Enumeration> value) {
  Enumeration wrong{};
  std::memcpy(&wrong, &value, sizeof wrong);
  return wrong;
}

/// A field or out-parameter has the value that it must have.
template <typename Value>
void same(DatBody& body, std::string_view what, const Value& got,
          const std::type_identity_t<Value>& wanted, RuleRef rule = {}) {
  body.expect_that(got == wanted, fmt::format("{}: {}", what, value_text(wanted)),
                   fmt::format("{}: {}", what, value_text(got)), rule);
}

/// A number is at least what it must be.
template <typename Value>
void at_least(DatBody& body, std::string_view what, const Value& got,
              const std::type_identity_t<Value>& least, RuleRef rule = {}) {
  body.expect_that(got >= least, fmt::format("{}: {} or more", what, value_text(least)),
                   fmt::format("{}: {}", what, value_text(got)), rule);
}

/// The handle of an object that has been freed.
template <typename Handle, DAT_RETURN (*Free)(Handle)>
Handle freed(Owned<Handle, Free> object) {
  const Handle handle = object.get();
  object.reset();
  return handle;
}
inline DAT_LMR_HANDLE freed(Lmr region) {
  const DAT_LMR_HANDLE handle = region.get();
  (void)dat_lmr_free(region.release());
  return handle;
}
[[nodiscard]] inline DAT_IA_HANDLE closed_ia(const DatTarget& target) {
  Ia ia(target);
  const DAT_IA_HANDLE handle = ia.release();
  (void)dat_ia_close(handle, DAT_CLOSE_ABRUPT_FLAG);
  return handle;
}

/// Live objects of an IA, to be given where one of another kind is wanted.
struct LiveObjects {
  explicit LiveObjects(const Ia& ia)
      : pz(ia.pz()),
        evd(ia.evd(DAT_EVD_DTO_FLAG)),
        cno(ia.cno()),
        requests(ia.evd(DAT_EVD_CR_FLAG)),
        psp(ia.psp(requests).first),
        region(ia, pz.get(), 64),
        side(make_side(ia, pz)) {}
  /// All but those of this kind.
  [[nodiscard]] std::vector<std::pair<std::string, DAT_HANDLE>> except(DAT_HANDLE_TYPE own) const {
    std::vector<std::pair<std::string, DAT_HANDLE>> others;
    const auto add = [&](DAT_HANDLE_TYPE type, const char* name, DAT_HANDLE handle) {
      if (type != own) others.emplace_back(name, handle);
    };
    add(DAT_HANDLE_TYPE_PZ, "a protection zone", pz.get());
    add(DAT_HANDLE_TYPE_EVD, "an EVD", evd.get());
    add(DAT_HANDLE_TYPE_CNO, "a CNO", cno.get());
    add(DAT_HANDLE_TYPE_PSP, "a PSP", psp.get());
    add(DAT_HANDLE_TYPE_LMR, "an LMR", region.get());
    add(DAT_HANDLE_TYPE_EP, "an EP", side.ep.get());
    return others;
  }

  Pz pz;
  Evd evd;
  Cno cno;
  Evd requests;
  Psp psp;
  Lmr region;
  Side side;
};

/// The call refuses a handle that is not an open IA: libdat2 looks IAs up by number, so no pointer
/// is followed.
template <typename Call>
void expect_refusal_of_no_ia(DatBody& body, Call call) {
  const Pz pz = body.ia().pz();
  const std::pair<const char*, DAT_IA_HANDLE> none[] = {
      {"no handle", DAT_HANDLE_NULL},
      {"a number that is not an IA", reinterpret_cast<DAT_IA_HANDLE>(std::uintptr_t{97})},
      {"an IA that is closed", closed_ia(body.target())},
      {"a protection zone", pz.get()}};
  for (const auto& [name, handle] : none)
    body.row(name, [&] { body.expect(call(handle), returns(DAT_INVALID_HANDLE)); });
}

}  // namespace suite::cases::dat

/// Three cases of a call that takes a handle: no handle, one of each other kind, and a freed one.
/// `freed_one` makes the last; what follows is the call, on `handle`.
#define DAT_HANDLE_CASES(slug, the_call, the_rule, own, freed_one, ...)            \
  DAT_CASE(slug##_of_a_null_handle_is_refused, calls(the_call), rules(the_rule)) { \
    const DAT_HANDLE handle = DAT_HANDLE_NULL;                                     \
    expect(__VA_ARGS__, returns(DAT_INVALID_HANDLE));                              \
  }                                                                                \
  DAT_CASE(slug##_of_another_type_is_refused, calls(the_call), rules(the_rule),    \
           with_hostile_handles) {                                                 \
    const LiveObjects live(ia());                                                  \
    for (const auto& [name, handle] : live.except(own))                            \
      row(name, [&] { expect(__VA_ARGS__, returns(DAT_INVALID_HANDLE)); });        \
  }                                                                                \
  DAT_CASE(slug##_of_a_freed_handle_is_refused, calls(the_call), rules(the_rule),  \
           with_hostile_handles) {                                                 \
    const DAT_HANDLE handle = freed_one;                                           \
    expect(__VA_ARGS__, returns(DAT_INVALID_HANDLE));                              \
  }
