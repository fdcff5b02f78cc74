// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Distributes a capture over parallel analyzers, each with the connections whose addresses and
// ports are assigned to it, and puts their results back into the order of frames.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "dissectors/analyzer/analyzer.hpp"
#include "dissectors/capture/capture_reader.hpp"
#include "dissectors/lint/collector.hpp"
#include "dissectors/lint/totals.hpp"

namespace dissectors::lint {

struct ShardingOptions {
  /// Threads that analyze, one of which is the caller's.
  unsigned jobs = 1;
  /// For all of them together: each gets its share of the connections.
  analyzer::Options analyzer;
  CollectorOptions collector;
  std::vector<std::uint16_t> ports;  ///< treated as iWARP whatever they carry
  /// The octets of a frame outlive the Sharding; otherwise they are copied for other threads.
  bool frames_stay = false;
};

class Sharding {
 public:
  /// Takes records in the order of the frames that caused them. Connections are numbered from 1 in
  /// the order of their first frames, however many jobs there are. Called on the thread that
  /// calls `frame`, `flush` and `finish`.
  using Output = std::function<void(Record&&)>;

  Sharding(capture::LinkType link, const ShardingOptions& options, Output output);
  Sharding(const Sharding&) = delete;
  Sharding& operator=(const Sharding&) = delete;
  ~Sharding();

  /// Takes the next frame; unless `frames_stay`, it need not outlive the call. Blocks while the shards lag by more
  /// than a few MiB.
  void frame(const capture::FrameView& frame);
  /// Waits until everything so far is analyzed and reported: for a live capture.
  void flush();
  /// Reports the rest. To be called once, at the end; frames, connections, FPDUs and notes are
  /// filled in.
  [[nodiscard]] Totals finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dissectors::lint
