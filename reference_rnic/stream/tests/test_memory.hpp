// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The memory of a stream under test: regions by STag, receive buffers, and what the peer
// invalidated.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reference_rnic/stream/memory.hpp"
#include "reference_rnic/stream/tests/hex_octets.hpp"

namespace rnic::stream::test {

class TestMemory final : public Memory {
 public:
  struct Region {
    std::uint64_t base = 0;
    std::vector<std::byte> octets;
    std::set<MemoryAccess> access;
    std::optional<MemoryFault> refusal;  ///< answered to every access, e.g. not_associated
    bool invalidable = true;
  };

  Region& add_region(std::uint32_t stag, std::uint64_t base, std::size_t size,
                     std::set<MemoryAccess> access) {
    Region& region = regions_[stag];
    region = {base, std::vector<std::byte>(size), std::move(access), std::nullopt, true};
    return region;
  }
  Region& region(std::uint32_t stag) { return regions_.at(stag); }
  [[nodiscard]] const Region& region(std::uint32_t stag) const { return regions_.at(stag); }
  void remove_region(std::uint32_t stag) { regions_.erase(stag); }

  /// A receive buffer of `size` octets in pieces of at most `piece` octets.
  void post_receive(std::uint64_t work_id, std::size_t size, std::size_t piece = 64 * 1024) {
    auto& octets = receives_[work_id];
    octets.assign(size, std::byte{0xEE});
    ReceiveBuffer buffer{work_id, {}, size};
    for (std::size_t at = 0; at < size; at += piece)
      buffer.pieces.push_back(wire::MutableBytes(octets).subspan(at, std::min(piece, size - at)));
    queue_.push_back(std::move(buffer));
  }
  [[nodiscard]] const std::vector<std::byte>& received(std::uint64_t work_id) const {
    return receives_.at(work_id);
  }
  [[nodiscard]] std::size_t receives_left() const { return queue_.size(); }
  [[nodiscard]] const std::vector<std::uint32_t>& invalidated() const { return invalidated_; }
  [[nodiscard]] const std::vector<std::uint64_t>& performed() const { return performed_; }
  void refuse_local_work() { local_refused_ = true; }
  /// The contents of all regions and receive buffers.
  [[nodiscard]] std::string dump() const {
    std::string text;
    for (const auto& [stag, region] : regions_)
      text += "region " + std::to_string(stag) + " " + hex(region.octets) + "\n";
    for (const auto& [id, buffer] : receives_)
      text += "buffer " + std::to_string(id) + " " + hex(buffer) + "\n";
    return text;
  }

  std::expected<wire::MutableBytes, MemoryFault> resolve(std::uint32_t stag, std::uint64_t offset,
                                                         std::size_t length,
                                                         MemoryAccess access) override {
    const auto found = regions_.find(stag);
    if (found == regions_.end()) return std::unexpected(MemoryFault::invalid_stag);
    Region& region = found->second;
    if (region.refusal) return std::unexpected(*region.refusal);
    if (!region.access.contains(access)) return std::unexpected(MemoryFault::access_rights);
    if (offset + length < offset) return std::unexpected(MemoryFault::to_wrap);
    if (offset < region.base || offset + length > region.base + region.octets.size())
      return std::unexpected(MemoryFault::base_or_bounds);
    return wire::MutableBytes(region.octets).subspan(offset - region.base, length);
  }
  std::expected<void, MemoryFault> invalidate_by_peer(std::uint32_t stag) override {
    const auto found = regions_.find(stag);
    if (found == regions_.end()) return std::unexpected(MemoryFault::invalid_stag);
    if (found->second.refusal) return std::unexpected(*found->second.refusal);
    if (!found->second.invalidable) return std::unexpected(MemoryFault::cannot_invalidate);
    found->second.refusal = MemoryFault::invalid_stag;
    invalidated_.push_back(stag);
    return {};
  }
  std::optional<ReceiveBuffer> take_receive() override {
    if (queue_.empty()) return std::nullopt;
    ReceiveBuffer buffer = std::move(queue_.front());
    queue_.pop_front();
    return buffer;
  }
  bool perform_local(std::uint64_t work_id) override {
    performed_.push_back(work_id);
    return !local_refused_;
  }

 private:
  std::map<std::uint32_t, Region> regions_;
  std::map<std::uint64_t, std::vector<std::byte>> receives_;
  std::deque<ReceiveBuffer> queue_;
  std::vector<std::uint32_t> invalidated_;
  std::vector<std::uint64_t> performed_;
  bool local_refused_ = false;
};

inline const std::set<MemoryAccess> every_access{
    MemoryAccess::remote_write, MemoryAccess::remote_read, MemoryAccess::remote_atomic,
    MemoryAccess::read_sink};

/// Octets that show their position: a pattern of length `size`.
inline std::vector<std::byte> pattern(std::size_t size, unsigned seed = 1) {
  std::vector<std::byte> octets(size);
  unsigned state = seed * 2654435761U + 1;
  for (std::byte& octet : octets) {
    state = state * 1664525U + 1013904223U;
    octet = static_cast<std::byte>(state >> 24);
  }
  return octets;
}

inline std::vector<std::byte> text_octets(std::string_view text) {
  const auto span = std::as_bytes(std::span(text.data(), text.size()));
  return {span.begin(), span.end()};
}

}  // namespace rnic::stream::test
