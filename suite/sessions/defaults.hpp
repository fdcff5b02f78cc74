// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Members of streams and steps that a session leaves at their defaults, so that a fault of the IUT that
// is known already does not end each session that has them (docs/soak.md).
#pragma once

#include <string_view>

#include "suite/sessions/session.hpp"

namespace suite::sessions {

/// Sets the member of this name, as in a script, of every stream and step to its default. False:
/// there is no such member, or it has no default.
bool set_to_default(Session& session, std::string_view member);

}  // namespace suite::sessions
