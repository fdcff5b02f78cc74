// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Shortens a failing session to the least that still breaks the same rule.
#pragma once

#include <functional>

#include "suite/sessions/session.hpp"

namespace suite::sessions {

/// `still_fails` plays a session; the one given fails.
[[nodiscard]] Session shrink(const Session& session,
                             const std::function<bool(const Session&)>& still_fails);

}  // namespace suite::sessions
