// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The cases of the DAT API as rows of the suite's table: each runs in a process of rnic-dat-cases,
// whose output becomes the case's records.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/cases/framework/case.hpp"

namespace suite::cases::dat {

/// One row for each DAT case. They need Environment::dat, and real time.
[[nodiscard]] std::vector<Case> dat_rows();
/// The row of a session (dat_session.hpp); nothing if the id is not that of one. `session`: what it
/// consists of, as JSON in a line, if it is not one that is drawn.
[[nodiscard]] std::optional<Case> dat_session_row(const std::string& id, std::string session);

}  // namespace suite::cases::dat
