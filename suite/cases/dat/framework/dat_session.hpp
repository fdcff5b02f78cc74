// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Random sessions of the DAT API as cases. They are not of the table: there is one for each seed, and
// one for each file that somebody writes. What they consist of, and how they are judged, is in
// suite/sessions/dat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "suite/cases/dat/framework/dat_case.hpp"

namespace suite::cases::dat {

/// The seed of `soak.dat.SEED`; nothing if it is not the id of a session that is drawn.
[[nodiscard]] std::optional<std::uint64_t> seed_of_session(const std::string& id);
/// The case of a session, without its body.
[[nodiscard]] DatCase session_case(const std::string& id);

// ---------------------------------------------------------------- defined in suite/sessions/dat

/// The session of this id, or of this text if there is one, as JSON; nothing if that is no session.
[[nodiscard]] std::optional<std::string> session_text(const std::string& id,
                                                      const std::string& text);
/// What plays it in this process. `session`: as session_text() returns it.
[[nodiscard]] std::function<void(DatContext&)> session_body(const std::string& session);
/// Plays it in a process of its own, and shortens it if it finds something. What it finds, and what
/// follows from its death, is written to `words`, as a case does (dat_line.hpp).
void run_session(const std::string& id, const std::string& session, const DatTarget& target,
                 int words);

}  // namespace suite::cases::dat
