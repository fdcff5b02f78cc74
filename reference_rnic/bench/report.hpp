// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The figures of rnic-bench: medians over the rounds, and their ratios to raw TCP and to the floor
// program in the same rounds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/record/table.hpp"
#include "reference_rnic/bench/scenarios.hpp"

namespace rnic::bench {

struct Sample {
  Measured client, server;
  std::optional<Measured> alone{};  ///< the client's, of the scenario's other work
};

struct Figure {
  std::string contender;
  double median = 0, least = 0, most = 0;
  std::optional<double> of_tcp{}, of_floor{};  ///< the median of the rounds' ratios; above 1: more
  double processor_microseconds = 0;           ///< of both ends, per message
  std::optional<double> processor_of_tcp{};
};
constexpr auto table_of(const Figure*) {
  namespace r = base::record;
  return r::table(
      "figure", r::required("contender", &Figure::contender),
      r::required("median", &Figure::median), r::required("least", &Figure::least),
      r::required("most", &Figure::most), r::required("of_tcp", &Figure::of_tcp),
      r::required("of_floor", &Figure::of_floor),
      r::required("processor_microseconds_per_message", &Figure::processor_microseconds),
      r::required("processor_of_tcp", &Figure::processor_of_tcp));
}

struct Result {
  std::string scenario, unit;
  std::vector<Figure> figures;
};
constexpr auto table_of(const Result*) {
  namespace r = base::record;
  return r::table("result", r::required("scenario", &Result::scenario),
                  r::required("unit", &Result::unit), r::required("figures", &Result::figures));
}

struct Report {
  unsigned rounds = 0, processors = 0;
  std::vector<Result> results{};
};
constexpr auto table_of(const Report*) {
  namespace r = base::record;
  return r::table("bench", r::required("rounds", &Report::rounds),
                  r::required("processors", &Report::processors),
                  r::required("results", &Report::results));
}

/// `samples`: by contender and round. One result for each quantity that they show.
[[nodiscard]] std::vector<Result> results_of(const Scenario& scenario,
                                             const std::vector<std::vector<Sample>>& samples);
[[nodiscard]] std::string text_of(const Result& result);

}  // namespace rnic::bench
