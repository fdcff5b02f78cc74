// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Over which address family a case runs.
#pragma once

#include "suite/cases/framework/case.hpp"

namespace suite::cases {

/// That of the case; IPv6 for every case if the IUT has no other address.
[[nodiscard]] base::Family family_of(const Case& a_case, const Environment& environment);

}  // namespace suite::cases
