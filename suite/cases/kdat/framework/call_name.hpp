// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The name of a call of kDAPL, by its number in the interface of the module.
#pragma once

#include <cstdint>

#include "suite/cases/kdat/kernel/rnic_kdat_uapi.h"

namespace suite::cases::dat {

/// "a call of kDAPL" for a number that is none.
[[nodiscard]] constexpr const char* call_name(std::uint32_t number) {
  switch (number) {
#define KDAT_CALL(enumerator, name) \
  case RNIC_KDAT_##enumerator:      \
    return #name;
#include "suite/cases/kdat/framework/calls.def"
#undef KDAT_CALL
    default:
      return "a call of kDAPL";
  }
}

}  // namespace suite::cases::dat
