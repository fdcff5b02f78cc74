// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/progress.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/standard_streams.hpp"

namespace plugfest {

std::string clock_text(double seconds) {
  constexpr long minute = 60, hour = 3600;
  const long all = std::lround(std::ceil(seconds));
  if (all >= hour)
    return fmt::format("{}:{:02}:{:02}", all / hour, all % hour / minute, all % minute);
  return fmt::format("{}:{:02}", all / minute, all % minute);
}

std::string for_terminal(std::string_view text) {
  constexpr std::size_t longest = 400;
  std::string line(text.substr(0, longest));
  std::ranges::replace(line, '\n', ' ');
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; };
  std::ranges::replace_if(line, control, '?');
  return text.size() > longest ? line + "..." : line;
}

double Progress::remaining(double bound) const {
  return planned_ > 0 ? bound * taken_ / planned_ : bound;
}

void Progress::ended(const std::string& cell, Verdict verdict, const std::string& reason,
                     double seconds, double planned, double bound) {
  ++done_;
  planned_ += planned;
  taken_ += seconds;
  base::say(out_, "[{}/{}] {}: {} ({:.2f} s){}{}\n", done_, total_, cell, word(verdict), seconds,
            done_ < total_ ? ", still " + clock_text(remaining(bound)) : "",
            reason.empty() ? "" : "\n    " + for_terminal(reason));
}

}  // namespace plugfest
