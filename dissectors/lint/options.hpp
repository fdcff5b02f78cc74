// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The command line of rnic-lint.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "dissectors/lint/exit_code.hpp"
#include "rules/catalogue.hpp"

namespace dissectors::lint {

struct Options {
  std::string input;      ///< a file, `-` for standard input; empty for a live capture
  std::string interface;  ///< of a live capture
  bool json = false, sarif = false, summary = false, follow = false;
  std::vector<std::string> rules;          ///< shell patterns; empty: every rule
  rules::Level level = rules::Level::may;  ///< the weakest one of which violations are shown
  std::optional<std::uint64_t> connection;
  std::string split;       ///< folder for a pcap per connection
  std::string violations;  ///< file for the annotated capture
  std::vector<std::uint16_t> ports;
  unsigned jobs = 0;  ///< parallel analyzers; 0: as the capture needs
};

/// Why there is nothing to do; the text goes to standard output if the code is `clean`.
struct Stop {
  ExitCode code = ExitCode::usage;
  std::string text;
};

[[nodiscard]] std::expected<Options, Stop> parse_options(int count, const char* const* words);

}  // namespace dissectors::lint
