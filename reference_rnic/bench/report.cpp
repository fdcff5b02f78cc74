// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/bench/report.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rnic::bench {
namespace {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

struct Quantity {
  const char* unit;
  double (*of)(const Scenario&, const Sample&);
  const char* suffix = "";  ///< of the scenario's name, if that shows several
};

constexpr Quantity connections_per_second{"connections/s",
                                          [](const Scenario& s, const Sample& x) {
                                            return s.work.connections / x.client.connecting_seconds;
                                          },
                                          ".connecting"};
constexpr Quantity megabytes_per_second{"MB/s",
                                        [](const Scenario& s, const Sample& x) {
                                          return static_cast<double>(s.work.size) *
                                                 s.work.messages / x.client.seconds / 1e6;
                                        },
                                        ".throughput"};
constexpr Quantity memory_of_connection{
    "KiB of a connection",
    [](const Scenario& s, const Sample& x) {
      return (x.client.resident_octets + x.server.resident_octets) / 2048 / s.work.connections;
    },
    ".memory"};

constexpr Quantity share_of_alone{
    "of the throughput alone",
    [](const Scenario&, const Sample& x) { return x.alone->seconds / x.client.seconds; }, ".share"};

/// What the samples of a scenario show.
std::vector<Quantity> quantities_of(const Scenario& scenario) {
  const Work& work = scenario.work;
  constexpr std::size_t small = 4096;
  switch (work.workload) {
    case Workload::latency:
      if (work.operation == Operation::read)
        return {{"us of a round trip", [](const Scenario& s, const Sample& x) {
                   return x.client.seconds * 1e6 / s.work.messages;
                 }}};
      return {{"us of half a round trip", [](const Scenario& s, const Sample& x) {
                 return x.client.seconds * 5e5 / s.work.messages;
               }}};
    case Workload::connecting:
      return {connections_per_second};
    case Workload::idle:
      if (!scenario.alone)
        return {megabytes_per_second, memory_of_connection, connections_per_second};
      return {megabytes_per_second, share_of_alone, memory_of_connection, connections_per_second};
    case Workload::throughput:
      if (work.size > small) break;
      return {{"messages/s", [](const Scenario& s, const Sample& x) {
                 return s.work.messages / x.client.seconds;
               }}};
  }
  return {megabytes_per_second};
}

std::optional<double> ratio(const std::vector<double>& these, const std::vector<double>* those) {
  if (those == nullptr || those == &these) return std::nullopt;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < these.size(); ++i) ratios.push_back(these[i] / (*those)[i]);
  return median(std::move(ratios));
}

Result result_of(const Scenario& scenario, const Quantity& quantity,
                 const std::vector<std::vector<Sample>>& samples) {
  std::vector<std::vector<double>> values(samples.size()), processor(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i)
    for (const Sample& sample : samples[i]) {
      values[i].push_back(quantity.of(scenario, sample));
      processor[i].push_back((sample.client.processor_seconds + sample.server.processor_seconds) *
                             1e6 / scenario.work.messages);
    }
  const auto of = [&](const char* name, auto& lists) {
    const auto found = std::ranges::find(scenario.contenders, name);
    return found == scenario.contenders.end()
               ? nullptr
               : &lists[static_cast<std::size_t>(found - scenario.contenders.begin())];
  };
  Result result{.scenario = scenario.name, .unit = quantity.unit, .figures = {}};
  for (std::size_t i = 0; i < samples.size(); ++i)
    result.figures.push_back({.contender = scenario.contenders[i],
                              .median = median(values[i]),
                              .least = std::ranges::min(values[i]),
                              .most = std::ranges::max(values[i]),
                              .of_tcp = ratio(values[i], of("tcp", values)),
                              .of_floor = ratio(values[i], of("floor", values)),
                              .processor_microseconds = median(processor[i]),
                              .processor_of_tcp = ratio(processor[i], of("tcp", processor))});
  return result;
}

}  // namespace

std::vector<Result> results_of(const Scenario& scenario,
                               const std::vector<std::vector<Sample>>& samples) {
  const std::vector<Quantity> quantities = quantities_of(scenario);
  std::vector<Result> results;
  for (const Quantity& quantity : quantities) {
    results.push_back(result_of(scenario, quantity, samples));
    if (quantities.size() > 1) results.back().scenario += quantity.suffix;
  }
  return results;
}

std::string text_of(const Result& result) {
  const auto share = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.2f}", *value) : std::string("-");
  };
  std::string text = fmt::format("{} ({})\n", result.scenario, result.unit);
  for (const Figure& figure : result.figures)
    text += fmt::format(
        "  {:<15} {:>12.2f}  of tcp {:>5}  of floor {:>5}  processor {:>9.2f} us/message, of tcp "
        "{:>5}\n",
        figure.contender, figure.median, share(figure.of_tcp), share(figure.of_floor),
        figure.processor_microseconds, share(figure.processor_of_tcp));
  return text;
}

}  // namespace rnic::bench
