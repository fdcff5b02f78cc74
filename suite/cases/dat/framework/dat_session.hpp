// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Random sessions of the DAT API as cases. They are not of the table: there is one for each seed. What
// they consist of, and how they are judged, is in suite/sessions/dat.
//
// The id is `soak.dat.SEED`, or `soak.dat.SEED.of.STEPS` for some of its steps: 0-5+9.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "suite/cases/dat/framework/dat_case.hpp"

namespace suite::cases::dat {

struct SessionId {
  std::uint64_t seed = 0;
  /// All, if there are none.
  std::vector<std::size_t> steps;
};
/// Nothing if it is not the id of a session.
[[nodiscard]] std::optional<SessionId> parse_session_id(const std::string& id);
[[nodiscard]] std::string text_of(const SessionId& id);
/// The case of this id, without its body; nothing if it is not that of a session.
[[nodiscard]] std::optional<DatCase> session_of(const std::string& id);

// ---------------------------------------------------------------- defined in suite/sessions/dat

/// What plays it in this process.
[[nodiscard]] std::function<void(DatContext&)> session_body(const SessionId& id);
/// Plays it in a process of its own, and shortens it if it finds something. What it finds, and what
/// follows from its death, is written to `words`, as a case does (dat_line.hpp).
void run_session(const std::string& id, const DatTarget& target, int words);

}  // namespace suite::cases::dat
