// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/covering_sessions.hpp"

#include <array>
#include <functional>

#include "suite/sessions/drawing.hpp"

namespace suite::sessions {

namespace {

/// What a row decides of a session.
struct Theme {
  StreamSetup stream;
  std::size_t streams = 1;
  Step step;                 ///< the message, or the work
  std::vector<Step> beside;  ///< under way at that time
  std::vector<Step> after;
};

struct Dimension {
  std::uint32_t values = 0;
  std::function<void(Theme&, std::uint32_t value)> set;
};

/// A dimension whose values are those of a list.
template <typename Value, std::size_t N>
Dimension one_of(const std::array<Value, N>& values, void (*set)(Theme&, Value)) {
  return {N, [values, set](Theme& theme, std::uint32_t value) { set(theme, values[value]); }};
}

Step step_of(Action action) {
  Step step;
  step.action = action;
  step.length = 64;
  return step;
}

// ---- a stream ----

struct Form {
  std::uint32_t revision, plain;
  bool peer_to_peer;
  std::uint32_t rtr;
};
constexpr std::array forms{Form{1, 0, false, rtr_any}, Form{2, 0, false, rtr_any},
                           Form{2, 0, true, rtr_send}, Form{2, 0, true, rtr_write},
                           Form{2, 0, true, rtr_read}, Form{2, 1, false, rtr_any},
                           Form{2, 2, false, rtr_any}};

void set_form(Theme& theme, Form form) {
  theme.stream.revision = form.revision;
  theme.stream.plain = form.plain;
  theme.stream.peer_to_peer = form.peer_to_peer;
  theme.stream.rtr = form.rtr;
  theme.stream.iut_rtr = rtr_any;
  theme.stream.rtr_choice = 0;
}

void set_depths(Theme& theme, std::uint32_t depth) {
  theme.stream.peer_ird = theme.stream.peer_ord = depth;
}

enum class Memory : std::uint8_t { common, own_domain, shared_receives };

void set_memory(Theme& theme, Memory memory) {
  theme.stream.own_domain = memory == Memory::own_domain;
  theme.stream.shared_receives = memory == Memory::shared_receives;
}

std::vector<Dimension> stream_dimensions() {
  constexpr std::array flags{false, true};
  constexpr std::array<std::uint32_t, 4> depths{depth_as_asked, 0, 1, 0x3FFF};
  // The last is that of the loopback interface.
  constexpr std::array<std::uint32_t, 5> emss{0, 100, 536, 1100, 65'483};
  constexpr std::array memories{Memory::common, Memory::own_domain, Memory::shared_receives};
  constexpr std::array<std::size_t, 3> counts{1, 2, 3};
  constexpr auto faults = static_cast<std::uint32_t>(StartupFault::no_rtr_stated) + 1;
  return {
      one_of(
          flags, +[](Theme& theme, bool on) { theme.stream.iut_initiates = on; }),
      {4,
       [](Theme& theme, std::uint32_t value) {
         theme.stream.iut_crc = (value & 1U) != 0;
         theme.stream.peer_crc = (value & 2U) != 0;
       }},
      {4,
       [](Theme& theme, std::uint32_t value) {
         theme.stream.iut_markers = (value & 1U) != 0;
         theme.stream.peer_markers = (value & 2U) != 0;
       }},
      one_of(forms, set_form),
      one_of(depths, set_depths),
      one_of(
          emss, +[](Theme& theme, std::uint32_t size) { theme.stream.emss = size; }),
      one_of(memories, set_memory),
      one_of(
          flags, +[](Theme& theme, bool on) { theme.stream.early = on; }),
      one_of(
          counts, +[](Theme& theme, std::size_t count) { theme.streams = count; }),
      {faults, [](Theme& theme,
                  std::uint32_t value) { theme.stream.fault = static_cast<StartupFault>(value); }},
  };
}

// ---- a message, or work ----

struct Subject {
  Action action;
  Wrong wrong;
};

/// Each kind of message with each thing that can be wrong in it, and each kind of work.
std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (std::size_t i = 0; i < names_of(Action{}).size(); ++i) {
    const auto action = static_cast<Action>(i);
    for (const Wrong wrong : wrongs_of(action)) all.push_back({action, wrong});
  }
  return all;
}

struct Manner {
  bool solicited = false, invalidate = false, fence = false, unsignaled = false;
};
constexpr std::array manners{Manner{},
                             Manner{.solicited = true},
                             Manner{.invalidate = true},
                             Manner{.solicited = true, .invalidate = true},
                             Manner{.fence = true},
                             Manner{.unsignaled = true}};

void set_manner(Theme& theme, Manner manner) {
  theme.step.solicited = manner.solicited;
  theme.step.invalidate = manner.invalidate;
  theme.step.fence = manner.fence;
  theme.step.unsignaled = manner.unsignaled;
}

std::vector<Dimension> step_dimensions() {
  constexpr std::array<std::uint64_t, 15> lengths{0,    1,    3,    4,    27,   64,   129,  513,
                                                  1023, 1419, 1444, 2900, 4097, 8193, 65536};
  constexpr std::array<std::uint32_t, 6> segments{0, 1, 3, 100, 127, 512};
  constexpr std::array<std::uint32_t, 5> cuts{0, 1, 7, 100, 1000};
  constexpr std::array<std::uint32_t, 4> rests{0, 1, 4, 0xFFFF};
  const auto all = subjects();
  return {
      {static_cast<std::uint32_t>(all.size()),
       [all](Theme& theme, std::uint32_t value) {
         theme.step.action = all[value].action;
         theme.step.wrong = all[value].wrong;
       }},
      one_of(
          lengths, +[](Theme& theme, std::uint64_t length) { theme.step.length = length; }),
      one_of(
          segments, +[](Theme& theme, std::uint32_t size) { theme.step.segment = size; }),
      one_of(
          cuts, +[](Theme& theme, std::uint32_t size) { theme.step.cut = size; }),
      one_of(
          rests, +[](Theme& theme, std::uint32_t size) { theme.step.rest = size; }),
      {4,
       [](Theme& theme, std::uint32_t value) {
         theme.step.times = (value & 1U) != 0 ? 3 : 1;
         theme.step.packed = (value & 2U) != 0;
       }},
      one_of(manners, set_manner),
  };
}

// ---- what is under way, and what follows ----

void set_beside(Theme& theme, Action action) {
  if (action == theme.step.action) return;  // its repetition has that
  Step step = step_of(action);
  step.together = true;
  theme.beside.push_back(step);
}

void set_after(Theme& theme, Action action) { theme.after.push_back(step_of(action)); }

std::vector<Dimension> surrounding_dimensions() {
  constexpr std::array beside{Action::receive,   Action::read,      Action::send,
                              Action::peer_read, Action::peer_send, Action::bind_window};
  constexpr std::array after{Action::peer_write,       Action::peer_close, Action::peer_reset,
                             Action::peer_terminate,   Action::disconnect, Action::abort,
                             Action::deregister_region};
  return {
      one_of(beside, set_beside),
      one_of(after, set_after),
      {2, [](Theme& theme, std::uint32_t value) { theme.step.together = value != 0; }},
  };
}

/// In this order: what is under way depends on the message.
const std::vector<Dimension>& all_dimensions() {
  static const std::vector<Dimension> all = [] {
    std::vector<Dimension> joined = stream_dimensions();
    for (auto&& further : {step_dimensions(), surrounding_dimensions()})
      joined.insert(joined.end(), further.begin(), further.end());
    return joined;
  }();
  return all;
}

}  // namespace

CoveringSessions::CoveringSessions(std::size_t strength) {
  std::vector<std::uint32_t> sizes;
  for (const Dimension& each : all_dimensions()) sizes.push_back(each.values);
  rows_ = covering_array(sizes, strength);
}

Session CoveringSessions::session(std::size_t row, std::uint64_t seed) const {
  constexpr std::size_t free_steps = 4;
  const std::vector<Dimension>& all = all_dimensions();
  Theme theme;
  theme.step = draw_steps(seed, 1).front();
  for (std::size_t i = 0; i < all.size(); ++i) all[i].set(theme, rows_[row][i]);
  Session session = draw_opening(seed, theme.streams);
  // What no dimension decides is drawn.
  const StreamSetup drawn = session.streams.front();
  theme.stream.ird = drawn.ird;
  theme.stream.ord = drawn.ord;
  theme.stream.private_data = drawn.private_data;
  theme.stream.fault_value = drawn.fault_value;
  session.streams.front() = theme.stream;
  theme.step.stream = 0;
  session.steps.insert(session.steps.end(), theme.beside.begin(), theme.beside.end());
  session.steps.push_back(theme.step);
  session.steps.insert(session.steps.end(), theme.after.begin(), theme.after.end());
  const auto free = draw_steps(seed + 1, free_steps);
  session.steps.insert(session.steps.end(), free.begin(), free.end());
  return session;
}

}  // namespace suite::sessions
