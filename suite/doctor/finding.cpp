// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/doctor/finding.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace suite::doctor {

namespace {

struct Look {
  std::string_view word, colour;
};
Look look_of(Severity severity) {
  switch (severity) {
    case Severity::ok:
      return {"ok  ", "\x1b[32m"};
    case Severity::warning:
      return {"warn", "\x1b[33m"};
    case Severity::failure:
      return {"FAIL", "\x1b[31m"};
  }
  return {"?   ", ""};
}

}  // namespace

Finding ok(std::string check, std::string what) {
  return {Severity::ok, std::move(check), std::move(what), ""};
}
Finding warn(std::string check, std::string what, std::string remedy) {
  return {Severity::warning, std::move(check), std::move(what), std::move(remedy)};
}
Finding fail(std::string check, std::string what, std::string remedy) {
  return {Severity::failure, std::move(check), std::move(what), std::move(remedy)};
}

Severity worst(const std::vector<Finding>& findings) {
  Severity found = Severity::ok;
  for (const Finding& finding : findings) found = std::max(found, finding.severity);
  return found;
}

std::string report_text(const std::vector<Finding>& findings, bool colour) {
  std::string text;
  for (const Finding& finding : findings) {
    const Look look = look_of(finding.severity);
    text += fmt::format("{}{}{}  {:<15} {}\n", colour ? look.colour : "", look.word,
                        colour ? "\x1b[0m" : "", finding.check, finding.what);
    if (!finding.remedy.empty()) text += fmt::format("      {:<15} -> {}\n", "", finding.remedy);
  }
  return text;
}

}  // namespace suite::doctor
