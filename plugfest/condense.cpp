// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/condense.hpp"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace plugfest {

namespace {

std::vector<Check> counted(std::vector<Check> checks) {
  std::vector<Check> kept;
  std::map<std::tuple<Side, std::string, std::string, std::string>, std::size_t> places;
  for (Check& check : checks) {
    const auto [place, is_first] =
        check.good ? places.try_emplace({check.side, check.what, check.expected, check.actual},
                                        kept.size())
                   : std::pair{places.end(), true};
    if (is_first)
      kept.push_back(std::move(check));
    else
      kept[place->second].times = times(kept[place->second]) + times(check);
  }
  return kept;
}

/// `line` makes the one that stands for those that have gone, of the first of them and their number.
template <class Line, class Make>
void shorten(std::vector<Line>& lines, const Make& line) {
  constexpr std::size_t half = most_lines_of_a_pass / 2;
  if (lines.size() <= most_lines_of_a_pass + 1) return;  // the one more may be that line already
  const auto first = lines.begin() + half, last = lines.end() - half;
  *first = line(*first, static_cast<std::size_t>(last - first));
  lines.erase(first + 1, last);
}

}  // namespace

void condense(Outcome& outcome) {
  outcome.checks = counted(std::move(outcome.checks));
  if (outcome.verdict != Verdict::pass || outcome.advisory) return;
  shorten(outcome.steps, [](const Step& from, std::size_t count) {
    return Step{from.at, std::nullopt, fmt::format("... {} more steps", count)};
  });
  shorten(outcome.wire, [](const WireLine& from, std::size_t count) {
    return WireLine{from.frame, std::nullopt,
                    fmt::format("... {} more messages, from this frame on", count)};
  });
}

}  // namespace plugfest
