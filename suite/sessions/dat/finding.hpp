// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a session of the DAT API finds.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace suite::sessions::dat {

struct Found {
  /// Of rules/dat20.yaml.
  std::string rule;
  std::string admissible, came;
  /// Lawful, and not as the texts have it.
  bool advisory = false;
};

/// Thrown by what cannot be explained: after it, nothing more can be judged.
struct Finding {
  Found found;
};
[[noreturn]] inline void fail_at(std::string rule, std::string admissible, std::string came) {
  throw Finding{{std::move(rule), std::move(admissible), std::move(came), false}};
}
/// `rule`: as all others, of a string literal.
inline void demand(bool holds, const char* rule, const std::string& admissible,
                   const std::string& came) {
  if (!holds) fail_at(rule, admissible, came);
}

}  // namespace suite::sessions::dat
