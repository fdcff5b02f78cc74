// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The Read and Atomic Requests of one end that wait for their Responses, oldest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dissectors::analyzer {

struct OutstandingRequest {
  bool atomic = false;
  bool rtr = false;    ///< the RTR indication of MPA startup
  bool fresh = false;  ///< sent after the latest hole
  std::uint32_t msn = 0;
  std::uint32_t sink_stag = 0, length = 0, source_stag = 0;
  std::uint64_t sink_offset = 0, source_offset = 0;
  std::uint32_t identifier = 0;  ///< of an Atomic
  std::uint32_t frame = 0;
  std::uint64_t time = 0;
};

/// A ring that grows to its bound as it is needed.
class OutstandingRequests {
 public:
  static constexpr std::size_t bound = 65536;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] OutstandingRequest& at(std::size_t index) {
    return ring_[(head_ + index) % ring_.size()];
  }
  /// Reads among them that count against a depth.
  [[nodiscard]] std::uint32_t reads() const { return reads_; }
  /// False if there is no room.
  [[nodiscard]] bool push(const OutstandingRequest& request);
  void erase(std::size_t index);
  void clear();

 private:
  std::vector<OutstandingRequest> ring_;
  std::size_t head_ = 0, size_ = 0;
  std::uint32_t reads_ = 0;
};

}  // namespace dissectors::analyzer
