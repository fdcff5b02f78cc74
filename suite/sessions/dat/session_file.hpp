// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Sessions of the DAT API as files: what is left of one that found something, played by
// `rnic-suite replay`. They have the form of those of the wire, and say `api: dat`.
#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "suite/sessions/dat/session.hpp"

namespace suite::sessions::dat {

struct SessionFile {
  Session session;
  /// Those that it broke.
  std::vector<std::string> rules;
};

constexpr auto table_of(const SessionFile*) {
  return base::record::table("session_file", base::record::constant("version", 1),
                             base::record::constant("api", "dat"),
                             base::record::inlined(&SessionFile::session),
                             base::record::defaulted("rules", &SessionFile::rules));
}

/// The error is one line. A file whose name ends in .yaml is a script (docs/soak.md): the same, in
/// fewer words.
[[nodiscard]] std::expected<SessionFile, std::string> read_session(
    const std::filesystem::path& file);
/// It says that it is one of the DAT API.
[[nodiscard]] bool is_session(const std::filesystem::path& file);

/// What the session of a case `soak.script.PATH` consists of, as JSON in a line; empty if the id is
/// another, or the file none of the DAT API.
[[nodiscard]] std::string text_of_script(const std::string& id);

/// The words that a script may have, and what a member is if it is left out; lines for a person.
[[nodiscard]] std::string script_words();

}  // namespace suite::sessions::dat
