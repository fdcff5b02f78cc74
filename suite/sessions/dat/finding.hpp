// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a session of the DAT API finds.
#pragma once

#include <string>
#include <string_view>
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

/// The note before a call that is given what no consumer may give. A provider that crashes then is not
/// as the texts have it, but breaks no rule; nor is libdat2, which follows handles, the IUT.
inline constexpr std::string_view hostile_note = "a handle that is no more is used";

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
