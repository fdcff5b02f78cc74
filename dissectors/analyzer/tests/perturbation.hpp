// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A capture made worse in a way that a seed names: frames lost, repeated, cut, damaged, in another order.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dissectors/capture/frame.hpp"

namespace dissectors::analyzer::tests {

struct Capture {
  capture::LinkType link{};
  std::vector<capture::Frame> frames;
};

class Perturbation {
 public:
  explicit Perturbation(std::uint64_t seed) : chance_(seed) {}

  /// To be called once.
  [[nodiscard]] Capture of(Capture capture);
  /// What was done, one word for each step.
  [[nodiscard]] const std::string& steps() const { return steps_; }

 private:
  [[nodiscard]] std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(chance_);
  }
  [[nodiscard]] bool one_in(std::size_t times) { return below(times) == 0; }
  [[nodiscard]] bool one_in(std::size_t times, const char* step);
  [[nodiscard]] bool by(double probability) {
    return std::bernoulli_distribution(probability)(chance_);
  }

  void lose(Capture& capture, double probability);
  void repeat(Capture& capture);
  void see_twice(Capture& capture);
  void merge_taps(Capture& capture);
  void exchange(Capture& capture);
  void damage(Capture& capture);

  std::mt19937_64 chance_;
  std::string steps_;
};

}  // namespace dissectors::analyzer::tests
