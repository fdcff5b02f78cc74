// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Scripts: sessions that a person writes in YAML, in fewer words than a session file has
// (docs/soak.md).
#pragma once

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/record/json_writer.hpp"

namespace suite::sessions {

/// The session file that `text` stands for, as JSON; its members are not checked yet. `name` is that of
/// the file. The error is one line, with the line of the fault. A script with `api: dat` is one of
/// calls of the DAT API (suite/sessions/dat/session_file.hpp).
[[nodiscard]] std::expected<base::record::Json, std::string> session_of_script(
    const std::string& name, const std::string& text);

/// The same of a file, which is a script or has the JSON itself.
[[nodiscard]] std::expected<base::record::Json, std::string> json_of_session(
    const std::filesystem::path& file);

/// The id of the case that plays a file, `soak.script.PATH`. The error is one line: the path has
/// characters that an id cannot have.
[[nodiscard]] std::expected<std::string, std::string> script_id(const std::filesystem::path& file);
/// The file of such a case; nothing if the id is another.
[[nodiscard]] std::optional<std::filesystem::path> script_of(std::string_view id);

/// The words that a script may have, and what a member is if it is left out; lines for a person.
[[nodiscard]] std::string script_words();

/// The members of a record with their values, but for its action; lines for a person.
[[nodiscard]] std::string defaults_of(const base::record::Json& record);

}  // namespace suite::sessions
