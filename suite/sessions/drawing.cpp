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

// Octets of a message: both sides of the bounds that lengths have on their way, and off multiples.
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

constexpr std::array<Weighted<Action>, 22> actions{{{Action::peer_send, 18},
                                                    {Action::peer_write, 12},
                                                    {Action::peer_read, 12},
                                                    {Action::peer_answer, 12},
                                                    {Action::peer_atomic, 8},
                                                    {Action::peer_immediate, 4},
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
                                                    {Action::atomic, 5},
                                                    {Action::immediate, 4},
                                                    {Action::invalidate, 3},
                                                    {Action::disconnect, 1},
                                                    {Action::abort, 1}}};

// What can be odd or wrong in a message of each kind.
constexpr std::array odd{
    Wrong::ddp_reserved, Wrong::rdmap_reserved,   Wrong::rdmap_version_zero, Wrong::unused_stag,
    Wrong::pad,          Wrong::request_reserved, Wrong::unused_operands};
constexpr std::array wrong_anywhere{Wrong::ddp_version, Wrong::rdmap_version, Wrong::opcode,
                                    Wrong::crc, Wrong::cut_short};
constexpr std::array wrong_untagged{Wrong::queue, Wrong::msn, Wrong::message_offset};
constexpr std::array wrong_access{Wrong::stag,         Wrong::stag_key, Wrong::revoked_stag,
                                  Wrong::foreign_stag, Wrong::no_right, Wrong::before_start,
                                  Wrong::beyond_end,   Wrong::wrap};
constexpr std::array wrong_send{Wrong::too_long, Wrong::no_buffer, Wrong::revoked_stag,
                                Wrong::foreign_stag, Wrong::stag};
constexpr std::array wrong_atomic{Wrong::unaligned, Wrong::atomic_operation, Wrong::wrong_length};
constexpr std::array wrong_immediate{Wrong::no_buffer, Wrong::wrong_length};
constexpr std::array wrong_answer{Wrong::stag_key, Wrong::before_start, Wrong::beyond_end,
                                  Wrong::unasked};

/// A fault that is specific to the kind of message.
Wrong special(Dice& dice, Action action) {
  const bool untagged = dice.one_in(3);
  switch (action) {
    case Action::peer_write:
      return dice.of(wrong_access);
    case Action::peer_read:
      return untagged ? dice.of(wrong_untagged) : dice.of(wrong_access);
    case Action::peer_atomic:
      if (dice.one_in(3)) return dice.of(wrong_atomic);
      return untagged ? dice.of(wrong_untagged) : dice.of(wrong_access);
    case Action::peer_send:
      return untagged ? dice.of(wrong_untagged) : dice.of(wrong_send);
    case Action::peer_immediate:
      return untagged ? dice.of(wrong_untagged) : dice.of(wrong_immediate);
    case Action::peer_answer:
      return dice.of(wrong_answer);
    default:
      return dice.of(wrong_untagged);
  }
}

/// One stream may go wrong once, so most messages are right.
Wrong wrong(Dice& dice, Action action) {
  const std::uint64_t kind = dice.below(100);
  if (kind < 70) return Wrong::nothing;
  if (kind < 80) return dice.of(odd);
  return kind < 86 ? dice.of(wrong_anywhere) : special(dice, action);
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
  step.wrong = wrong(dice, step.action);
  step.value = dice.any();
  step.solicited = dice.one_in(4);
  step.invalidate = dice.one_in(10);
  step.fence = dice.one_in(6);
  step.unsignaled = dice.one_in(8);
  step.times = dice.one_in(5) ? static_cast<std::uint32_t>(2 + dice.below(4)) : 1;
  step.together = dice.one_in(3);
  return step;
}

/// A depth of the tester's enhanced words: mostly what the IUT has, else a bound.
std::uint32_t depth(Dice& dice) {
  constexpr std::array<std::uint32_t, 10> depths{0, 1, 1, 2, 3, 5, 0x3FFF, 0x3FFF, 0x2000, 0x3FFE};
  return dice.one_in(2) ? depth_as_asked : dice.of(depths);
}

void draw_enhanced(Dice& dice, StreamSetup& stream) {
  constexpr std::array<std::uint32_t, 8> plain{0, 0, 0, 0, 0, 0, 1, 2};
  stream.revision = dice.one_in(3) ? 1 : 2;
  stream.plain = dice.of(plain);
  stream.peer_ird = depth(dice);
  stream.peer_ord = depth(dice);
  stream.peer_to_peer = dice.one_in(2);
  stream.rtr = static_cast<std::uint32_t>(1 + dice.below(rtr_any));
  stream.iut_rtr = dice.one_in(2) ? rtr_any : static_cast<std::uint32_t>(1 + dice.below(rtr_any));
  stream.rtr_choice = static_cast<std::uint32_t>(dice.below(3));
}

StreamSetup draw_stream(Dice& dice) {
  constexpr std::array<std::uint32_t, 5> emss{0, 0, 536, 1100, 9000};
  constexpr std::array<std::uint32_t, 5> private_data{0, 0, 1, 64, 63};
  StreamSetup stream;
  stream.iut_initiates = dice.one_in(2);
  stream.iut_crc = !dice.one_in(3);
  stream.peer_crc = !dice.one_in(3);
  stream.iut_markers = dice.one_in(4);
  stream.peer_markers = dice.one_in(4);
  stream.ird = static_cast<std::uint32_t>(1 + dice.below(4));
  stream.ord = static_cast<std::uint32_t>(1 + dice.below(4));
  draw_enhanced(dice, stream);
  stream.early = dice.one_in(3);
  stream.emss = dice.of(emss);
  stream.own_domain = dice.one_in(3);
  stream.private_data = dice.of(private_data);
  constexpr auto faults = static_cast<std::uint64_t>(StartupFault::no_rtr_stated) + 1;
  if (dice.one_in(2)) stream.fault = static_cast<StartupFault>(dice.below(faults));
  stream.fault_value = static_cast<std::uint32_t>(dice.below(1U << 16));
  return stream;
}

/// Something to work with: memory of each kind, a receive or two, and the first FPDU.
void draw_beginning(Dice& dice, Session& session) {
  for (std::uint32_t i = 0; i < session.streams.size(); ++i) {
    for (int regions = 0; regions < 2; ++regions) {
      Step step = draw_step(dice);
      step.action = Action::register_region;
      step.length = region_length(dice);
      step.stream = i;
      step.value |= 15;  // every right
      session.steps.push_back(step);
    }
    // One with fewer rights, or taken away again.
    Step other = draw_step(dice);
    other.action = Action::register_region;
    other.length = region_length(dice);
    other.stream = i;
    other.value = (other.value & ~std::uint64_t{15}) | dice.below(16);
    session.steps.push_back(other);
    if (dice.one_in(2)) {
      Step gone = draw_step(dice);
      gone.action = dice.one_in(2) ? Action::deregister_region : Action::invalidate;
      gone.stream = i;
      gone.times = 1;
      session.steps.push_back(gone);
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
