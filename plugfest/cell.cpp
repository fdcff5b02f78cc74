// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/cell.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/glob.hpp"

namespace plugfest {

namespace {

using Pair = std::pair<std::size_t, std::size_t>;

/// Seconds that a guest's agent takes to start and to end, where its processor is emulated.
constexpr double guest_time = 1;

double share(const Participant& one) {
  return std::holds_alternative<SiwGuest>(one.agent) ? guest_time : 0;
}

std::vector<Pair> unordered_pairs(const Event& event) {
  if (event.pairing == Pairing::listed) return event.pairs;
  std::vector<Pair> pairs;
  const std::size_t count = event.participants.size();
  if (event.pairing == Pairing::ring) {
    // Two in a ring are neighbours once.
    for (std::size_t at = 0; at < (count == 2 ? 1 : count); ++at)
      pairs.emplace_back(at, (at + 1) % count);
    return pairs;
  }
  for (std::size_t one = 0; one < count; ++one)
    for (std::size_t other = one + 1; other < count; ++other) pairs.emplace_back(one, other);
  return pairs;
}

/// What leaves the cell out; nullptr: nothing does.
const Exception* exception_for(const Event& event, const Cell& cell) {
  const auto found = std::ranges::find_if(
      event.except, [&](const Exception& one) { return fits(one.cells, cell.id); });
  return found == event.except.end() ? nullptr : &*found;
}

std::vector<Cell> all_cells(const Event& event,
                            const std::function<double(std::string_view)>& length) {
  std::vector<Cell> cells;
  const auto add = [&](std::size_t initiator, std::size_t responder) {
    const double more = share(event.participants[initiator]) + share(event.participants[responder]);
    for (const std::string& scenario : event.scenarios)
      for (int repeat = 1; repeat <= event.repeats; ++repeat)
        cells.push_back({.id = fmt::format("{}/{}/{}#{}", event.participants[initiator].name,
                                           event.participants[responder].name, scenario, repeat),
                         .initiator = initiator,
                         .responder = responder,
                         .initiator_name = event.participants[initiator].name,
                         .responder_name = event.participants[responder].name,
                         .scenario = scenario,
                         .repeat = repeat,
                         .length = length(scenario) + more});
  };
  for (const auto& [one, other] : unordered_pairs(event)) {
    add(one, other);
    add(other, one);
  }
  return cells;
}

}  // namespace

std::vector<Cell> cells_of(const Event& event,
                           const std::function<double(std::string_view)>& length) {
  std::vector<Cell> cells = all_cells(event, length);
  std::erase_if(cells, [&](const Cell& cell) { return exception_for(event, cell) != nullptr; });
  return cells;
}

std::size_t count_of_all(const Event& event) {
  return 2 * unordered_pairs(event).size() * event.scenarios.size() *
         static_cast<std::size_t>(event.repeats);
}

std::string too_many_cells(std::size_t count) {
  return fmt::format(
      "the event has {} cells, and at most {} are played: choose pairs: ring, fewer scenarios, or "
      "fewer repeats",
      count, most_cells);
}

std::vector<LeftOut> left_out_of(const Event& event) {
  std::vector<LeftOut> all;
  for (Cell& cell : all_cells(event, [](std::string_view) { return 1.0; }))
    if (const Exception* exception = exception_for(event, cell))
      all.push_back({std::move(cell), exception->reason});
  return all;
}

bool fits(const std::string& glob, const std::string& cell) {
  if (base::matches_glob(glob, cell)) return true;
  const auto mark = cell.rfind('#');
  return base::matches_glob(glob, cell.substr(0, mark));
}

}  // namespace plugfest
