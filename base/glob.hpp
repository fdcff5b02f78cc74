// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Shell patterns: `*`, `?` and `[...]`, all of which also match a slash.
#pragma once

#include <string>

namespace base {

[[nodiscard]] bool matches_glob(const std::string& pattern, const std::string& text);

}  // namespace base
