// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Passive analysis of one capture: TCP segments in, events and broken rules out, streaming and in
// bounded memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "dissectors/analyzer/events.hpp"

namespace dissectors::analyzer {

struct Options {
  /// Octets kept for one direction while segments before them are missing. More than a TCP window is
  /// of no use.
  std::size_t reorder_octets = std::size_t{4} << 20;
  /// A connection idle for so long (by capture time) is closed with a note; nanoseconds.
  std::uint64_t idle_limit = std::uint64_t{600} * 1'000'000'000;
  /// Connections kept at once; beyond it the one idle longest is closed with a note.
  std::size_t connections = 200'000;
  /// Take a connection whose startup was not seen for iWARP where its octets fit.
  bool pick_up = true;
};

struct Counts {
  std::uint64_t segments = 0, connections = 0, iwarp_connections = 0, fpdus = 0, octets = 0;
  std::uint64_t findings = 0;
  std::array<std::uint64_t, note_kinds> notes{};
  /// Evaluated on some connection that is closed.
  CheckSet judged;
};

class Analyzer {
 public:
  Analyzer(const Options& options, Sink& sink);
  Analyzer(Analyzer&&) noexcept;
  Analyzer& operator=(Analyzer&&) noexcept;
  ~Analyzer();

  /// Takes one TCP segment. `frame` counts from 1 and never falls; `time` in nanoseconds since 1970.
  /// Hostile values are taken as they come.
  void segment(const capture::Segment& segment, std::uint32_t frame, std::uint64_t time);
  /// Decode As: from now on a connection with this port is taken for iWARP even if nothing fits yet.
  void treat_as_iwarp(std::uint16_t port);
  /// Says what is left to say of every connection. To be called once, after the last segment.
  void finish();
  [[nodiscard]] const Counts& counts() const;
  /// Octets held at this moment, for the stated bound: connections x (reorder_octets x 2 + state).
  [[nodiscard]] std::size_t memory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dissectors::analyzer
