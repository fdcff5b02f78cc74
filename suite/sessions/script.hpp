// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Scripts: sessions that a person writes in YAML, in fewer words than a session file has
// (docs/soak.md).
#pragma once

#include <expected>
#include <string>

#include "base/record/json_writer.hpp"

namespace suite::sessions {

/// The session file that `text` stands for, as JSON; its members are not checked yet. `name` is that of
/// the file. The error is one line, with the line of the fault.
[[nodiscard]] std::expected<base::record::Json, std::string> session_of_script(
    const std::string& name, const std::string& text);

/// The words that a script may have, and what a member is if it is left out; lines for a person.
[[nodiscard]] std::string script_words();

}  // namespace suite::sessions
