// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/drawing.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "suite/sessions/random_choices.hpp"

namespace suite::sessions {

namespace {

// Octets of a message: both sides of the bounds that lengths have on their way, and off multiples.
// 1440 and 1444 are near the longest ULPDU of an EMSS of 1448.
constexpr std::array<std::uint64_t, 24> small_lengths{0,   1,   2,   3,   4,   5,   7,   8,
                                                      13,  27,  28,  29,  63,  64,  65,  100,
                                                      127, 128, 129, 255, 256, 257, 500, 513};
constexpr std::array<std::uint64_t, 15> large_lengths{
    1000, 1023, 1024, 1025, 1419, 1423, 1440, 1444, 1448, 2047, 2900, 4095, 4097, 6001, 8193};
constexpr std::array<std::uint64_t, 3> huge_lengths{65535, 65536, 65541};

std::uint64_t length(RandomChoices& random) {
  const std::uint64_t kind = random.below(100);
  if (kind < 8) return 0;
  if (kind < 70) return random.of(small_lengths);
  if (kind < 96) return random.of(large_lengths);
  return random.of(huge_lengths);
}

std::uint64_t region_length(RandomChoices& random) {
  constexpr std::array<std::uint64_t, 10> lengths{1,    64,   100,  513,  1025,
                                                  4096, 4097, 8192, 8195, 70000};
  return random.of(lengths);
}

constexpr std::array<Weighted<Action>, 25> actions{{{Action::peer_send, 18},
                                                    {Action::peer_write, 12},
                                                    {Action::peer_read, 12},
                                                    {Action::peer_answer, 12},
                                                    {Action::peer_atomic, 8},
                                                    {Action::peer_immediate, 4},
                                                    {Action::peer_terminate, 2},
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
                                                    {Action::bind_window, 3},
                                                    {Action::unbind_window, 2},
                                                    {Action::arm_limit, 2},
                                                    {Action::disconnect, 1},
                                                    {Action::abort, 1}}};

// What can be odd or wrong in a message of each kind.
constexpr std::array odd{Wrong::ddp_reserved,
                         Wrong::rdmap_reserved,
                         Wrong::rdmap_version_zero,
                         Wrong::unused_stag,
                         Wrong::pad,
                         Wrong::request_reserved,
                         Wrong::unused_operands,
                         Wrong::marker_reserved,
                         Wrong::marker_low_bits,
                         Wrong::empty_last};
constexpr std::array wrong_anywhere{Wrong::ddp_version,   Wrong::rdmap_version, Wrong::opcode,
                                    Wrong::crc,           Wrong::cut_short,     Wrong::marker,
                                    Wrong::marker_on_path};
constexpr std::array wrong_untagged{Wrong::queue, Wrong::msn, Wrong::message_offset};
constexpr std::array wrong_access{Wrong::stag,         Wrong::stag_key, Wrong::revoked_stag,
                                  Wrong::foreign_stag, Wrong::no_right, Wrong::before_start,
                                  Wrong::beyond_end,   Wrong::wrap};
constexpr std::array wrong_send{Wrong::too_long,     Wrong::no_buffer, Wrong::revoked_stag,
                                Wrong::foreign_stag, Wrong::stag,      Wrong::gap};
constexpr std::array wrong_atomic{Wrong::unaligned, Wrong::atomic_operation, Wrong::wrong_length};
constexpr std::array wrong_immediate{Wrong::no_buffer, Wrong::wrong_length};
constexpr std::array wrong_answer{Wrong::stag_key, Wrong::before_start, Wrong::beyond_end,
                                  Wrong::unasked};
constexpr std::array wrong_terminate{Wrong::request_reserved, Wrong::wrong_length, Wrong::msn};

/// What can be wrong in messages of one kind and in no others.
struct SpecialWrongs {
  std::span<const Wrong> own;
  bool is_untagged = false;  ///< the fields of untagged segments as well
  bool is_atomic = false;    ///< and those of an Atomic Request
};

SpecialWrongs special_wrongs_of(Action action) {
  switch (action) {
    case Action::peer_write:
      return {wrong_access};
    case Action::peer_read:
      return {wrong_access, true};
    case Action::peer_atomic:
      return {wrong_access, true, true};
    case Action::peer_send:
      return {wrong_send, true};
    case Action::peer_immediate:
      return {wrong_immediate, true};
    case Action::peer_answer:
      return {wrong_answer};
    case Action::peer_terminate:
      return {wrong_terminate};
    default:
      return {wrong_untagged};
  }
}

Wrong special(RandomChoices& random, Action action) {
  const SpecialWrongs wrongs = special_wrongs_of(action);
  const bool untagged = random.one_in(3);
  if (wrongs.is_atomic && random.one_in(3)) return random.of(wrong_atomic);
  if (wrongs.is_untagged && untagged) return random.of(wrong_untagged);
  return wrongs.own[random.below(wrongs.own.size())];
}

/// One stream may go wrong once, so most messages are right.
Wrong wrong(RandomChoices& random, Action action, std::uint64_t right_percent) {
  constexpr std::uint64_t kinds = 30, odd_kinds = 10, anywhere_kinds = 6;
  if (random.below(100) < right_percent) return Wrong::nothing;
  const std::uint64_t kind = random.below(kinds);
  if (kind < odd_kinds) return random.of(odd);
  return kind < odd_kinds + anywhere_kinds ? random.of(wrong_anywhere) : special(random, action);
}

/// What a session does often, seldom or not at all. Sessions that each leave some things out and repeat
/// others reach more than those that all do a little of everything.
class Emphasis {
 public:
  /// The weights as they are.
  Emphasis() = default;
  explicit Emphasis(RandomChoices& random) {
    if (random.one_in(3)) return;
    constexpr std::array<std::uint32_t, 6> factors{0, 1, 1, 1, 1, 6};
    for (auto& each : actions_) each.weight *= random.of(factors);
    for (Action needed : {Action::peer_send, Action::receive}) weight_of(needed) += 1;
    constexpr std::array<std::uint64_t, 3> shares{85, 70, 40};
    right_percent_ = random.of(shares);
    if (random.one_in(2)) favourite_ = static_cast<Wrong>(random.below(all_wrongs));
    likes_huge_ = random.one_in(8);
  }

  [[nodiscard]] Action action(RandomChoices& random) const { return weighted(random, actions_); }
  [[nodiscard]] Wrong wrong(RandomChoices& random, Action action) const;
  [[nodiscard]] std::uint64_t length(RandomChoices& random) const {
    return likes_huge_ && random.one_in(2) ? random.of(huge_lengths) : sessions::length(random);
  }
  [[nodiscard]] std::uint64_t region_length(RandomChoices& random) const {
    constexpr std::uint64_t huge = 70000;
    return likes_huge_ ? huge : sessions::region_length(random);
  }

 private:
  static constexpr std::uint64_t all_wrongs = names_of(Wrong{}).size();
  [[nodiscard]] std::uint32_t& weight_of(Action action) {
    return std::ranges::find(actions_, action, &Weighted<Action>::value)->weight;
  }

  std::array<Weighted<Action>, actions.size()> actions_ = actions;
  std::uint64_t right_percent_ = 70;
  Wrong favourite_ = Wrong::nothing;
  bool likes_huge_ = false;
};

Wrong Emphasis::wrong(RandomChoices& random, Action action) const {
  if (favourite_ != Wrong::nothing && random.one_in(3)) {
    const std::vector<Wrong> possible = wrongs_of(action);
    if (std::ranges::find(possible, favourite_) != possible.end()) return favourite_;
  }
  return sessions::wrong(random, action, right_percent_);
}

std::uint32_t segment(RandomChoices& random) {
  constexpr std::array<std::uint32_t, 8> sizes{1, 3, 8, 100, 127, 128, 500, 512};
  return random.one_in(3) ? random.of(sizes) : 0;
}

std::uint32_t cut(RandomChoices& random) {
  constexpr std::array<std::uint32_t, 6> sizes{1, 3, 7, 20, 100, 1000};
  return random.one_in(6) ? random.of(sizes) : 0;
}

std::uint32_t rest(RandomChoices& random) {
  constexpr std::array<std::uint32_t, 6> sizes{1, 2, 4, 5, 20, 0xFFFF};
  return random.of(sizes);
}

Step draw_step(RandomChoices& random, const Emphasis& emphasis) {
  Step step;
  step.action = emphasis.action(random);
  const bool ends = step.action == Action::abort;
  step.stream = static_cast<std::uint32_t>(random.below(16));
  step.object = static_cast<std::uint32_t>(random.below(256));
  step.length = step.action == Action::register_region ? emphasis.region_length(random)
                                                       : emphasis.length(random);
  // Accesses that meet in a few words, or anywhere.
  step.offset = random.one_in(3) ? random.below(24) : random.any() >> 16;
  step.segment = segment(random);
  step.cut = cut(random);
  step.rest = random.one_in(12) ? rest(random) : 0;
  step.packed = random.one_in(4);
  step.wrong = emphasis.wrong(random, step.action);
  step.value = random.any();
  // An abrupt end is one of the stream alone, or one of its endpoint.
  if (ends && step.value % 2 == 0) step.action = Action::destroy_endpoint;
  step.solicited = random.one_in(4);
  step.invalidate = random.one_in(10);
  step.fence = random.one_in(6);
  step.unsignaled = random.one_in(8);
  step.times = random.one_in(5) ? static_cast<std::uint32_t>(2 + random.below(4)) : 1;
  step.together = random.one_in(3);
  step.stalled = random.one_in(10);
  return step;
}

/// A depth of the tester's enhanced words: mostly what the IUT has, else a bound.
std::uint32_t depth(RandomChoices& random) {
  constexpr std::array<std::uint32_t, 10> depths{0, 1, 1, 2, 3, 5, 0x3FFF, 0x3FFF, 0x2000, 0x3FFE};
  return random.one_in(2) ? depth_as_asked : random.of(depths);
}

void draw_enhanced(RandomChoices& random, StreamSetup& stream) {
  constexpr std::array<std::uint32_t, 8> plain{0, 0, 0, 0, 0, 0, 1, 2};
  stream.revision = random.one_in(3) ? 1 : 2;
  stream.plain = random.of(plain);
  stream.peer_ird = depth(random);
  stream.peer_ord = depth(random);
  stream.peer_to_peer = random.one_in(2);
  stream.rtr = static_cast<std::uint32_t>(1 + random.below(rtr_any));
  stream.iut_rtr =
      random.one_in(2) ? rtr_any : static_cast<std::uint32_t>(1 + random.below(rtr_any));
  stream.rtr_choice = static_cast<std::uint32_t>(random.below(3));
}

StreamSetup draw_stream(RandomChoices& random) {
  // The last is that of the loopback interface.
  constexpr std::array<std::uint32_t, 6> emss{0, 0, 100, 536, 1100, 65'483};
  constexpr std::array<std::uint32_t, 5> private_data{0, 0, 1, 64, 63};
  StreamSetup stream;
  stream.iut_initiates = random.one_in(2);
  stream.default_crc = random.one_in(4);
  stream.iut_crc = stream.default_crc || !random.one_in(3);
  stream.peer_crc = !random.one_in(3);
  stream.iut_markers = random.one_in(4);
  stream.peer_markers = random.one_in(4);
  stream.ird = static_cast<std::uint32_t>(1 + random.below(4));
  stream.ord = static_cast<std::uint32_t>(1 + random.below(4));
  draw_enhanced(random, stream);
  stream.early = random.one_in(3);
  stream.emss = random.of(emss);
  stream.own_domain = random.one_in(3);
  stream.shared_receives = random.one_in(4);
  stream.private_data = random.of(private_data);
  constexpr auto faults = static_cast<std::uint64_t>(StartupFault::no_rtr_stated) + 1;
  if (random.one_in(2)) stream.fault = static_cast<StartupFault>(random.below(faults));
  stream.fault_value = static_cast<std::uint32_t>(random.below(1U << 16));
  return stream;
}

/// Something to work with: memory of each kind, a receive or two, and the first FPDU.
void draw_beginning(RandomChoices& random, const Emphasis& emphasis, Session& session) {
  for (std::uint32_t i = 0; i < session.streams.size(); ++i) {
    for (int regions = 0; regions < 2; ++regions) {
      Step step = draw_step(random, emphasis);
      step.action = Action::register_region;
      step.length = emphasis.region_length(random);
      step.stream = i;
      step.value |= 31;  // every right
      session.steps.push_back(step);
    }
    // One with fewer rights, or taken away again.
    Step other = draw_step(random, emphasis);
    other.action = Action::register_region;
    other.length = emphasis.region_length(random);
    other.stream = i;
    other.value = (other.value & ~std::uint64_t{31}) | random.below(32);
    session.steps.push_back(other);
    if (random.one_in(2)) {
      Step gone = draw_step(random, emphasis);
      gone.action = random.one_in(2) ? Action::deregister_region : Action::invalidate;
      gone.stream = i;
      gone.times = 1;
      session.steps.push_back(gone);
    }
    Step receive = draw_step(random, emphasis);
    receive.action = Action::receive;
    receive.stream = i;
    session.steps.push_back(receive);
    if (random.one_in(3)) {
      Step window = draw_step(random, emphasis);
      window.action = Action::bind_window;
      window.stream = i;
      session.steps.push_back(window);
    }
    if (random.one_in(4)) continue;
    Step first = draw_step(random, emphasis);
    first.action = Action::peer_write;
    first.stream = i;
    first.wrong = Wrong::nothing;
    session.steps.push_back(first);
  }
}

}  // namespace

std::vector<Wrong> wrongs_of(Action action) {
  std::vector<Wrong> all{Wrong::nothing};
  if (action > Action::peer_terminate) return all;  // it is no message
  const SpecialWrongs special = special_wrongs_of(action);
  const auto add = [&all](std::span<const Wrong> some) {
    all.insert(all.end(), some.begin(), some.end());
  };
  add(odd);
  add(wrong_anywhere);
  if (special.is_atomic) add(wrong_atomic);
  if (special.is_untagged) add(wrong_untagged);
  add(special.own);
  return all;
}

Session draw_opening(std::uint64_t seed, std::size_t streams) {
  RandomChoices random(seed);
  Session session;
  session.seed = seed;
  for (std::size_t i = 0; i < streams; ++i) session.streams.push_back(draw_stream(random));
  draw_beginning(random, Emphasis(), session);
  return session;
}

std::vector<Step> draw_steps(std::uint64_t seed, std::size_t count) {
  RandomChoices random(seed);
  std::vector<Step> steps;
  while (steps.size() < count) steps.push_back(draw_step(random, Emphasis()));
  return steps;
}

Session draw(std::uint64_t seed) {
  RandomChoices random(seed);
  Session session;
  session.seed = seed;
  const std::uint64_t streams = random.one_in(5) ? 1 : 2 + random.below(2);
  for (std::uint64_t i = 0; i < streams; ++i) session.streams.push_back(draw_stream(random));
  const Emphasis emphasis(random);
  draw_beginning(random, emphasis, session);
  const std::uint64_t steps = 6 + random.below(24);
  for (std::uint64_t i = 0; i < steps; ++i) session.steps.push_back(draw_step(random, emphasis));
  return session;
}

}  // namespace suite::sessions
