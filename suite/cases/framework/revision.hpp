// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether an IUT that nothing configures speaks MPA revision 1 by nature, as a case may want it to.
#pragma once

#include "suite/cases/framework/case.hpp"
#include "suite/cases/framework/environment.hpp"
#include "suite/lower_tester/arrival.hpp"

namespace suite::cases {

/// What the PICS and the hello say of revision 2 (RFC 6581).
enum class RevisionTwo : std::uint8_t { claimed, denied, unsaid };
[[nodiscard]] RevisionTwo revision_two_of(const Environment& environment);

/// Ends a case that wants revision 1 with *not applicable* where the IUT's frame is of a higher one, no
/// PICS denies that, and the IUT cannot be configured: what it sends is then no fault.
void need_wanted_revision(const lower_tester::Arrival& arrival, const Case& a_case,
                          const Environment& environment);

}  // namespace suite::cases
