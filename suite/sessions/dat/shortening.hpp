// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A session that finds something is shortened: what remains still finds it.
#pragma once

#include <functional>

#include "suite/sessions/dat/session.hpp"

namespace suite::sessions::dat {

/// `still_fails`: the session finds the same. It may say no to all that it is asked late.
[[nodiscard]] Session shortened(const Session& session,
                                const std::function<bool(const Session&)>& still_fails);

}  // namespace suite::sessions::dat
