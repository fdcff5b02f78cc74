// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Texts that the forms of report share.
#pragma once

#include <string>
#include <string_view>

#include "dissectors/lint/record.hpp"
#include "dissectors/lint/totals.hpp"

namespace dissectors::lint {

/// `10.0.0.1:4000 > 10.0.0.2:5000`, by the sender.
[[nodiscard]] std::string describe_direction(const analyzer::Connection& connection,
                                             analyzer::Direction direction);
/// `RFC 5041 section 5.3, MUST`.
[[nodiscard]] std::string describe_rule(std::string_view id);
/// The frame to look at: the one with the last octet, or the current one if the analyzer names
/// none.
[[nodiscard]] std::uint32_t frame_of(const Record& record, const analyzer::Place& place);
/// `frame 9`, `frames 7 to 9`.
[[nodiscard]] std::string describe_frames(const Record& record, const analyzer::Place& place);
/// The comment of a frame: rule, what came, what is admissible. One line.
[[nodiscard]] std::string describe_violation(const Violation& violation);
/// `octet 812 of the file, after frame 7: ...`.
[[nodiscard]] std::string describe_tear(const capture::Tear& tear);

}  // namespace dissectors::lint
