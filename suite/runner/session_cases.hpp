// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Random sessions as cases, so that a run can play them on any IUT: with its network, its capture, the
// log of its kernel, and its known issues (docs/soak.md).
//
// The id of a session is `soak.session.SEED`, that of one of those that cover all pairs
// `soak.pairs.NUMBER`, that of a script sessions::script_id(). `.default.MEMBER` after the first two
// leaves a member of its streams and steps at its default, for each that is named. It judges no rule
// of its own: what the model finds is reported once for all sessions, as `finding:RULE`.
#pragma once

#include <optional>
#include <string>

#include "suite/cases/framework/case.hpp"
#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

/// `at_default`: names of members (sessions::set_to_default).
[[nodiscard]] std::string session_id(std::uint64_t seed,
                                     const std::vector<std::string>& at_default = {});
/// `number`: from 0.
[[nodiscard]] std::string pairs_id(std::uint64_t number,
                                   const std::vector<std::string>& at_default = {});
/// The case of this id; nothing if it is not that of a session.
[[nodiscard]] std::optional<cases::Case> session_case(const SuiteParts& parts,
                                                      const std::string& id);
[[nodiscard]] bool is_session(const cases::Case& one);
/// Plays it in real time.
[[nodiscard]] cases::CaseOutcome play_session(const cases::Case& one,
                                              cases::Environment& environment);

/// The parts with the sessions that are selected by their ids in the table, so that they run as other
/// cases do.
[[nodiscard]] SuiteParts with_sessions(const SuiteParts& parts,
                                       const std::vector<std::string>& selected);

}  // namespace suite::runner
