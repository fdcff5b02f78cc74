// SPDX-License-Identifier: GPL-2.0-or-later
// The analysis of one capture file: frames are passed in once, in order; the results for each are
// available at any time.
#pragma once

#include <cstdint>
#include <set>

#include "dissectors/analyzer/analyzer.hpp"
#include "dissectors/wireshark/frame_facts.hpp"

namespace dissectors::wireshark {

class FileAnalysis {
 public:
  /// Decode As: connections with one of these ports are iWARP, whatever they carry.
  explicit FileAnalysis(const std::set<std::uint16_t>& ports);

  /// Takes a frame that was not seen before; `number` never decreases. Returns its effects, on
  /// itself or on earlier frames; nothing if it contains no TCP segment. Valid until the next call.
  const FrameFacts* take(capture::LinkType link, base::Bytes frame, std::uint32_t number,
                         std::uint64_t time);
  /// See FactStore.
  void decoded_above(const MessageFact& message) { store_.decoded_above(message); }
  /// Everything known about an earlier frame, which is to be given again.
  [[nodiscard]] const FrameFacts* facts(std::uint32_t number, base::Bytes frame);
  /// The capture has no more frames: reports the rest. Call once; frames that still come are
  /// judged as if the capture began with them.
  void conclude();
  void treat_as_iwarp(std::uint16_t port);

 private:
  void start();
  std::set<std::uint16_t> ports_;
  FactStore store_;
  std::unique_ptr<analyzer::Analyzer> analyzer_;  ///< nothing once concluded
};

}  // namespace dissectors::wireshark
