// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The names of the flags that are set, one after another: a part of the describe functions.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace rnic::wire {

/// `flag_list({{true, "M"}, {false, "C"}, {true, "R"}}, " ")` is `M R`.
[[nodiscard]] inline std::string flag_list(
    std::initializer_list<std::pair<bool, std::string_view>> flags, std::string_view separator) {
  std::string list;
  for (const auto& [set, name] : flags)
    if (set) list.append(list.empty() ? "" : separator).append(name);
  return list;
}

}  // namespace rnic::wire
