// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/drawing.hpp"

#include <array>
#include <random>

namespace suite::sessions {

namespace {

/// Numbers from a seed. The standard's distributions differ between libraries; the engine does not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
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
T weighted(Dice& dice, const std::array<Weighted<T>, N>& choices) {
  std::uint64_t all = 0;
  for (const auto& choice : choices) all += choice.weight;
  std::uint64_t at = dice.below(all);
  for (const auto& choice : choices) {
    if (at < choice.weight) return choice.value;
    at -= choice.weight;
  }
  return choices.front().value;
}

// Octets of a message: both sides of the limits that lengths meet, and values that are no
// multiples.
// 1440 and 1444 are near the longest ULPDU of an EMSS of 1448.
constexpr std::array<std::uint64_t, 24> small_lengths{0,   1,   2,   3,   4,   5,   7,   8,
                                                      13,  27,  28,  29,  63,  64,  65,  100,
                                                      127, 128, 129, 255, 256, 257, 500, 513};
constexpr std::array<std::uint64_t, 14> large_lengths{1000, 1023, 1024, 1025, 1419, 1423, 1440,
                                                      1444, 1448, 2047, 2900, 4095, 4097, 6001};
constexpr std::array<std::uint64_t, 3> huge_lengths{65535, 65536, 65541};

std::uint64_t length(Dice& dice) {
  const std::uint64_t kind = dice.below(100);
  if (kind < 70) return dice.of(small_lengths);
  if (kind < 98) return dice.of(large_lengths);
  return dice.of(huge_lengths);
}

std::uint64_t region_length(Dice& dice) {
  constexpr std::array<std::uint64_t, 10> lengths{1,    64,   100,  513,  1025,
                                                  4096, 4097, 8192, 8195, 70000};
  return dice.of(lengths);
}

constexpr std::array<Weighted<Action>, 18> actions{{{Action::peer_send, 18},
                                                    {Action::peer_write, 12},
                                                    {Action::peer_read, 12},
                                                    {Action::peer_answer, 12},
                                                    {Action::peer_terminate, 1},
                                                    {Action::peer_close, 1},
                                                    {Action::peer_reset, 1},
                                                    {Action::register_region, 4},
                                                    {Action::deregister_region, 2},
                                                    {Action::write_memory, 3},
                                                    {Action::look_at_memory, 2},
                                                    {Action::receive, 16},
                                                    {Action::send, 12},
                                                    {Action::write, 7},
                                                    {Action::read, 10},
                                                    {Action::invalidate, 3},
                                                    {Action::disconnect, 1},
                                                    {Action::abort, 1}}};

/// A stream can fail once, so most messages are right.
Wrong wrong(Dice& dice) {
  const std::uint64_t kind = dice.below(100);
  constexpr std::uint64_t first_error = static_cast<std::uint64_t>(Wrong::ddp_version);
  constexpr std::uint64_t end = static_cast<std::uint64_t>(Wrong::cut_short) + 1;
  if (kind < 74) return Wrong::nothing;
  if (kind < 83) return static_cast<Wrong>(1 + dice.below(first_error - 1));
  return static_cast<Wrong>(first_error + dice.below(end - first_error));
}

std::uint32_t segment(Dice& dice) {
  constexpr std::array<std::uint32_t, 8> sizes{1, 3, 8, 100, 127, 128, 500, 512};
  return dice.one_in(3) ? dice.of(sizes) : 0;
}

std::uint32_t cut(Dice& dice) {
  constexpr std::array<std::uint32_t, 6> sizes{1, 3, 7, 20, 100, 1000};
  return dice.one_in(6) ? dice.of(sizes) : 0;
}

Step draw_step(Dice& dice) {
  Step step;
  step.action = weighted(dice, actions);
  step.stream = static_cast<std::uint32_t>(dice.below(16));
  step.object = static_cast<std::uint32_t>(dice.below(256));
  step.length = step.action == Action::register_region ? region_length(dice) : length(dice);
  step.offset = dice.any() >> 16;
  step.segment = segment(dice);
  step.cut = cut(dice);
  step.wrong = wrong(dice);
  step.value = dice.any();
  step.solicited = dice.one_in(4);
  step.invalidate = dice.one_in(10);
  step.fence = dice.one_in(6);
  step.unsignaled = dice.one_in(8);
  step.together = dice.one_in(3);
  return step;
}

StreamSetup draw_stream(Dice& dice) {
  constexpr std::array<std::uint32_t, 5> emss{0, 0, 536, 1100, 9000};
  constexpr std::array<std::uint32_t, 5> private_data{0, 0, 1, 64, 63};
  StreamSetup stream;
  stream.iut_initiates = dice.one_in(3);
  stream.revision = dice.one_in(3) ? 2 : 1;
  stream.iut_crc = !dice.one_in(3);
  stream.peer_crc = !dice.one_in(3);
  stream.iut_markers = dice.one_in(4);
  stream.peer_markers = dice.one_in(4);
  stream.ird = static_cast<std::uint32_t>(1 + dice.below(4));
  stream.ord = static_cast<std::uint32_t>(1 + dice.below(4));
  stream.emss = dice.of(emss);
  stream.own_domain = dice.one_in(3);
  stream.private_data = dice.of(private_data);
  constexpr auto faults = static_cast<std::uint64_t>(StartupFault::oversize_private_data) + 1;
  if (dice.one_in(3)) stream.fault = static_cast<StartupFault>(dice.below(faults));
  return stream;
}

/// What the session can work with: memory of each kind, a receive or two, and the first FPDU.
void draw_beginning(Dice& dice, Session& session) {
  for (std::uint32_t i = 0; i < session.streams.size(); ++i) {
    for (int regions = 0; regions < 2; ++regions) {
      Step step = draw_step(dice);
      step.action = Action::register_region;
      step.length = region_length(dice);
      step.stream = i;
      step.value |= 7;  // every right
      session.steps.push_back(step);
    }
    Step receive = draw_step(dice);
    receive.action = Action::receive;
    receive.stream = i;
    session.steps.push_back(receive);
    if (dice.one_in(4)) continue;
    Step first = draw_step(dice);
    first.action = Action::peer_write;
    first.stream = i;
    first.wrong = Wrong::nothing;
    session.steps.push_back(first);
  }
}

}  // namespace

Session draw(std::uint64_t seed) {
  Dice dice(seed);
  Session session;
  session.seed = seed;
  const std::uint64_t streams = dice.one_in(5) ? 1 : 2 + dice.below(2);
  for (std::uint64_t i = 0; i < streams; ++i) session.streams.push_back(draw_stream(dice));
  draw_beginning(dice, session);
  const std::uint64_t steps = 6 + dice.below(24);
  for (std::uint64_t i = 0; i < steps; ++i) session.steps.push_back(draw_step(dice));
  return session;
}

}  // namespace suite::sessions
