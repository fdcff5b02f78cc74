// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether an IUT that cannot be configured uses MPA revision 1 by itself, as a case may need.
#pragma once

#include "suite/cases/framework/case.hpp"
#include "suite/cases/framework/environment.hpp"
#include "suite/lower_tester/arrival.hpp"

namespace suite::cases {

/// What the PICS and the hello say about revision 2 (RFC 6581).
enum class RevisionTwo : std::uint8_t { claimed, denied, unsaid };
[[nodiscard]] RevisionTwo revision_two_of(const Environment& environment);

/// Ends a case that needs revision 1 with *not applicable* if the IUT's frame has a higher
/// revision, no PICS denies that, and the IUT cannot be configured: then what it sends is not a
/// fault.
void need_wanted_revision(const lower_tester::Arrival& arrival, const Case& a_case,
                          const Environment& environment);

}  // namespace suite::cases
