// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Sessions as files: written by `rnic-suite soak` for a failure, and played by `rnic-suite replay`.
#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "suite/sessions/session.hpp"

namespace suite::sessions {

/// A session, and the conditions under which it failed.
struct SessionFile {
  Session session;
  /// Of the reference, when it failed.
  std::vector<std::string> deviations, lawful;
  /// The rules that it broke.
  std::vector<std::string> rules;
};

/// The error is one line.
[[nodiscard]] std::expected<void, std::string> write_session(const std::filesystem::path& file,
                                                             const SessionFile& session);
/// A file whose name ends in .yaml is a script (docs/soak.md): the same, in fewer words.
[[nodiscard]] std::expected<SessionFile, std::string> read_session(
    const std::filesystem::path& file);

}  // namespace suite::sessions
