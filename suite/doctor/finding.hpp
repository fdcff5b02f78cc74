// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A finding of an examination: its severity, and the remedy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace suite::doctor {

enum class Severity : std::uint8_t {
  ok,
  warning,  ///< a run can start, but some of its evidence or speed suffers
  failure,  ///< a run cannot start
};

struct Finding {
  Severity severity;
  std::string check;   ///< a short stable name: "route", "offloads", ...
  std::string what;    ///< what was found
  std::string remedy;  ///< what to do, often a command; empty if nothing is wrong
};

[[nodiscard]] Finding ok(std::string check, std::string what);
[[nodiscard]] Finding warn(std::string check, std::string what, std::string remedy);
[[nodiscard]] Finding fail(std::string check, std::string what, std::string remedy);

/// The worst of them.
[[nodiscard]] Severity worst(const std::vector<Finding>& findings);

/// For people: one line per finding, and the remedy on the next.
[[nodiscard]] std::string report_text(const std::vector<Finding>& findings, bool colour);

}  // namespace suite::doctor
