// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `rnic-plugfest token`: makes the file with which a vendor's agent joins an event, and the event's
// authority if it has none yet.
#pragma once

#include "plugfest/event.hpp"
#include "plugfest/options.hpp"
#include "suite/jobs/exit_code.hpp"

namespace plugfest {

/// Participants may still be missing from the event.
[[nodiscard]] suite::jobs::ExitCode make_token(const Event& event, const TokenOptions& options);

}  // namespace plugfest
