// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a command line of CLI11 is refused: in one line, with what was probably meant.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/did_you_mean.hpp"

namespace base {

/// ` (did you mean 'x'?)` for the first word that was not expected, or nothing.
[[nodiscard]] inline std::string meant_instead(const CLI::App& app) {
  const auto extras = app.remaining(true);
  if (extras.empty()) return "";
  std::vector<std::string> known;
  for (const CLI::App* one : app.get_subcommands({})) known.push_back(one->get_name());
  for (const CLI::App* one : app.get_subcommands())
    for (const CLI::Option* option : one->get_options()) known.push_back(option->get_name());
  return did_you_mean(extras.front().substr(0, extras.front().find('=')), known);
}

/// The words that `app` was given are refused with this.
[[nodiscard]] inline std::string refusal_of(const CLI::App& app, const CLI::ParseError& problem) {
  std::string text = problem.what() + meant_instead(app);
  std::ranges::replace(text, '\n', ' ');
  return text + "; see --help";
}

}  // namespace base
