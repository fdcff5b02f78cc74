// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether a consumer may itself access the memory that it registers: the check that a Privileged
// Resource Manager makes (RFC 5041 section 8.3.2, RFC 5042 section 7.3).
#pragma once

#include "reference_rnic/verbs/rnic.hpp"
#include "reference_rnic/wire/bytes.hpp"

namespace rnic::verbs {

/// Somebody may write to it.
[[nodiscard]] constexpr bool is_written(const Access& access) {
  return access.local_write || access.remote_write || access.remote_atomic;
}

/// Whether the host lets this process read all octets of `memory`, and write them too if `access`
/// lets anybody write. The pages are faulted in, as they are where an RNIC pins them. True for no
/// octets, and where the host's kernel (Linux before 5.14) cannot tell.
[[nodiscard]] bool process_may_access(wire::Bytes memory, const Access& access);

}  // namespace rnic::verbs
