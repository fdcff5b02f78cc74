// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tester's own memory as a stream sees it: tagged buffers with every right, and as many receive
// buffers as the peer may ask for.
#pragma once

#include <map>
#include <set>

#include "reference_rnic/stream/memory.hpp"
#include "suite/lower_tester/outgoing.hpp"

namespace suite::lower_tester {

/// A tagged buffer of the tester.
struct TesterBuffer {
  std::uint32_t stag = 0;
  /// Tagged offset of its first octet.
  std::uint64_t base = 0;
  Octets octets;
};

class TesterMemory final : public rnic::stream::Memory {
 public:
  explicit TesterMemory(std::size_t receive_size) : receive_size_(receive_size) {}

  /// Its octets keep their address as long as this object lives.
  [[nodiscard]] TesterBuffer& add(Octets contents);
  /// The octets of a receive that a message of `length` octets has filled, moved out.
  [[nodiscard]] Octets take_received(std::uint64_t work_id, std::size_t length);
  /// The peer has invalidated it.
  [[nodiscard]] bool is_invalidated(std::uint32_t stag) const {
    return invalidated_.contains(stag);
  }

  [[nodiscard]] std::expected<wire::MutableBytes, rnic::stream::MemoryFault> resolve(
      std::uint32_t stag, std::uint64_t offset, std::size_t length,
      rnic::stream::MemoryAccess access) override;
  [[nodiscard]] std::expected<void, rnic::stream::MemoryFault> invalidate_by_peer(
      std::uint32_t stag) override;
  [[nodiscard]] std::optional<rnic::stream::ReceiveBuffer> take_receive() override;
  [[nodiscard]] bool perform_local(std::uint64_t) override { return false; }

 private:
  std::size_t receive_size_;
  std::map<std::uint32_t, TesterBuffer> buffers_;
  std::set<std::uint32_t> invalidated_;
  std::map<std::uint64_t, Octets> receives_;
  std::uint64_t next_receive_ = 1;
};

}  // namespace suite::lower_tester
