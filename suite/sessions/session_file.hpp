// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Sessions as files: what `rnic-suite soak` writes of a failure, and `rnic-suite replay` plays.
#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "suite/sessions/session.hpp"

namespace suite::sessions {

/// A session and what it was found with.
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
[[nodiscard]] std::expected<SessionFile, std::string> read_session(
    const std::filesystem::path& file);

}  // namespace suite::sessions
