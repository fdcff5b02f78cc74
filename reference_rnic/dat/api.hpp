// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// DAT 2.0 as the installed headers define it, and the return codes with their subtypes.
#pragma once

#include <dat2/udat.h>
// After udat.h, which defines for which kind of consumer it is.
#include <dat2/dat_registry.h>

/// libdat2 gives consumers a small number for an IA; this converts between number and handle.
/// It is exported, but declared only in libdat2's own headers.
extern "C" DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE ia, DAT_IA_HANDLE* other);

namespace rnic::dat {

[[nodiscard]] constexpr DAT_RETURN failure(DAT_RETURN_TYPE type,
                                           DAT_RETURN_SUBTYPE subtype = DAT_NO_SUBTYPE) {
  return DAT_CLASS_ERROR | static_cast<DAT_RETURN>(type) | static_cast<DAT_RETURN>(subtype);
}
[[nodiscard]] constexpr DAT_RETURN invalid_handle(DAT_RETURN_SUBTYPE subtype) {
  return failure(DAT_INVALID_HANDLE, subtype);
}
/// `position` counts the call's parameters from 1, as the subtypes do.
[[nodiscard]] constexpr DAT_RETURN invalid_parameter(int position) {
  return failure(DAT_INVALID_PARAMETER,
                 static_cast<DAT_RETURN_SUBTYPE>(DAT_INVALID_ARG1 + position - 1));
}
/// A query or modify mask that names fields which do not exist.
[[nodiscard]] constexpr bool exceeds(DAT_UINT64 mask, DAT_UINT64 all) { return (mask & ~all) != 0; }
[[nodiscard]] constexpr bool has(unsigned flags, unsigned flag) { return (flags & flag) != 0; }

}  // namespace rnic::dat
