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
  /// Octets kept for one direction while segments before them are missing. More than a TCP window
  /// is not useful.
  std::size_t reorder_octets = std::size_t{4} << 20;
  /// A connection that is idle for this long (by capture time) is closed with a note; nanoseconds.
  std::uint64_t idle_limit = std::uint64_t{600} * 1'000'000'000;
  /// Connections kept at the same time; beyond it the one that has been idle longest is closed with
  /// a note.
  std::size_t connections = 200'000;
  /// Connections are in so many parts, by their addresses and ports. Each part has its share of `connections`, and is
  /// looked through for idle ones when it has a segment: what becomes of a connection depends on its part alone.
  std::size_t parts = 1;
  /// Treat a connection whose startup was not seen as iWARP if its octets fit.
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

  /// Takes one TCP segment. `frame` counts from 1 and never decreases; `time` in nanoseconds since
  /// 1970. Hostile values are accepted as they are.
  void segment(const capture::Segment& segment, std::uint32_t frame, std::uint64_t time);
  /// Closes all connections that are idle for too long by then.
  void age(std::uint64_t time);
  /// Decode As: from here on a connection with this port is treated as iWARP even if nothing fits
  /// yet.
  void treat_as_iwarp(std::uint16_t port);
  /// Reports what is left to report about every connection. To be called once, after the last
  /// segment.
  void finish();
  [[nodiscard]] const Counts& counts() const;
  /// Octets held at this moment, for the stated bound: connections x (reorder_octets x 2 + state).
  [[nodiscard]] std::size_t memory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dissectors::analyzer
