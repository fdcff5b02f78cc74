// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Makes frames from what one end of a connection knows it sent and received, for a pcap where
// nothing could be captured.
//
// The stream's octets and their order are true; Ethernet, IP and TCP headers, segment boundaries
// and acknowledgements are made up.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "dissectors/capture/frame.hpp"

namespace dissectors::capture {

class Synthesizer {
 public:
  /// `flow` names the direction: the opener's, the sender's. Times are nanoseconds since 1970.
  void opened(const Flow& flow, std::uint64_t time);
  void data(const Flow& flow, std::uint64_t time, base::Bytes octets);
  void closed(const Flow& flow, std::uint64_t time);
  void reset(const Flow& flow, std::uint64_t time);

  /// Ethernet frames in the order of the calls.
  [[nodiscard]] const std::vector<Frame>& frames() const { return frames_; }

 private:
  struct Flags {
    bool syn = false, ack = true, fin = false, rst = false;
  };
  void emit(const Flow& flow, std::uint64_t time, Flags flags, base::Bytes payload);

  std::map<Flow, std::uint32_t> next_sequence_;
  std::vector<Frame> frames_;
};

}  // namespace dissectors::capture
