// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads an event file (plugfest/schema/event.schema.json), strictly: every fault with its line.
#pragma once

#include <expected>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugfest/event.hpp"

namespace plugfest {

struct EventFileOptions {
  bool trust = false;                           ///< the file may name programs to run
  std::span<const std::string_view> scenarios;  ///< those that exist
  std::filesystem::path folder = ".";           ///< PICS files are relative to it
  bool unfinished = false;  ///< participants may be missing, and the folder that they join in
};

using Faults = std::vector<std::string>;

/// Each fault is one line `file:line: what is wrong`; all faults of the file are reported at once.
[[nodiscard]] std::expected<Event, Faults> parse_event(const std::string& text,
                                                       const std::string& name,
                                                       const EventFileOptions& options);
[[nodiscard]] std::expected<Event, Faults> load_event(const std::filesystem::path& file,
                                                      EventFileOptions options);

/// What is wrong with one more participant, a file of the folder `join`; empty: nothing.
[[nodiscard]] Faults faults_of_participant(const std::string& text, const std::string& name,
                                           const Event& beside);

}  // namespace plugfest
