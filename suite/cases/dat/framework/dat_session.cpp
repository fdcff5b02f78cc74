// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/dat/framework/dat_session.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace suite::cases::dat {

namespace {

constexpr std::string_view prefix = "soak.dat.", of = ".of.";
constexpr std::size_t most_steps = 1000;

/// The number that the text begins with, which is removed from it.
template <typename Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<std::vector<std::size_t>> parse_steps(std::string_view text) {
  std::vector<std::size_t> steps;
  while (true) {
    const auto first = take_number<std::size_t>(text);
    if (!first) return std::nullopt;
    auto last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number<std::size_t>(text);
    }
    if (!last || *last < *first || *last > most_steps) return std::nullopt;
    for (std::size_t step = *first; step <= *last; ++step) steps.push_back(step);
    if (text.empty()) return steps;
    if (!text.starts_with('+')) return std::nullopt;
    text.remove_prefix(1);
  }
}

}  // namespace

std::optional<SessionId> parse_session_id(const std::string& id) {
  std::string_view text = id;
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  const auto seed = take_number<std::uint64_t>(text);
  if (!seed) return std::nullopt;
  if (text.empty()) return SessionId{.seed = *seed, .steps = {}};
  if (!text.starts_with(of)) return std::nullopt;
  text.remove_prefix(of.size());
  auto steps = parse_steps(text);
  if (!steps) return std::nullopt;
  return SessionId{.seed = *seed, .steps = std::move(*steps)};
}

std::string text_of(const SessionId& id) {
  std::string text = fmt::format("{}{}", prefix, id.seed);
  for (std::size_t i = 0; i < id.steps.size();) {
    std::size_t last = i;
    while (last + 1 < id.steps.size() && id.steps[last + 1] == id.steps[last] + 1) ++last;
    text += i == 0 ? of : "+";
    text += last == i ? fmt::format("{}", id.steps[i])
                      : fmt::format("{}-{}", id.steps[i], id.steps[last]);
    i = last + 1;
  }
  return text;
}

std::optional<DatCase> session_of(const std::string& id) {
  const auto parsed = parse_session_id(id);
  if (!parsed) return std::nullopt;
  DatCase one;
  one.row.id = id;
  one.row.title = fmt::format("the random session of the DAT API of seed {}{}", parsed->seed,
                              parsed->steps.empty() ? "" : ", in part");
  one.row.layer = "soak";
  one.row.file = "suite/sessions/dat/drawing.cpp";
  // Every case has a rule. What sessions find is reported at the rule that it breaks.
  one.row.rules = {"dat.ia-open.success"};
  one.row.deadline = std::chrono::minutes(2);
  return one;
}

}  // namespace suite::cases::dat
