// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Choices that a seed makes: the same on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <random>

namespace suite::sessions {

/// Numbers from a seed. The standard's distributions differ between libraries; the engine does not.
class RandomChoices {
 public:
  explicit RandomChoices(std::uint64_t seed) : engine_(seed) {}
  [[nodiscard]] std::uint64_t any() { return engine_(); }
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  [[nodiscard]] bool one_in(std::uint64_t chances) { return below(chances) == 0; }
  template <typename T, std::size_t N>
  [[nodiscard]] T of(const std::array<T, N>& values) {
    return values[below(N)];
  }

 private:
  std::mt19937_64 engine_;
};

template <typename T>
struct Weighted {
  T value;
  std::uint32_t weight;
};

template <typename T, std::size_t N>
[[nodiscard]] T weighted(RandomChoices& random, const std::array<Weighted<T>, N>& choices) {
  std::uint64_t all = 0;
  for (const auto& choice : choices) all += choice.weight;
  std::uint64_t at = random.below(all);
  for (const auto& choice : choices) {
    if (at < choice.weight) return choice.value;
    at -= choice.weight;
  }
  return choices.front().value;
}

}  // namespace suite::sessions
