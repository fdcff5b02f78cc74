// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lower_tester/tester_memory.hpp"

namespace suite::lower_tester {

using rnic::stream::MemoryFault;

namespace {

// STags and offsets of the tester differ from any that an IUT would choose, and offsets do not
// begin on a page.
constexpr std::uint32_t first_stag = 0x7E570100;
constexpr std::uint32_t stag_step = 0x101;
constexpr std::uint64_t first_base = 0xFFFF'FFFF'0003ULL;  // a long buffer passes 2^48
constexpr std::uint64_t base_step = 0x1'0000'0001ULL;

}  // namespace

TesterBuffer& TesterMemory::add(Octets contents) {
  const auto number = static_cast<std::uint32_t>(buffers_.size());
  const std::uint32_t stag = first_stag + number * stag_step;
  return buffers_[stag] = {stag, first_base + number * base_step, std::move(contents)};
}

Octets TesterMemory::take_received(std::uint64_t work_id, std::size_t length) {
  auto node = receives_.extract(work_id);
  if (node.empty()) return {};
  node.mapped().resize(length);
  return std::move(node.mapped());
}

std::expected<wire::MutableBytes, MemoryFault> TesterMemory::resolve(std::uint32_t stag,
                                                                     std::uint64_t offset,
                                                                     std::size_t length,
                                                                     rnic::stream::MemoryAccess) {
  const auto found = buffers_.find(stag);
  if (found == buffers_.end() || is_invalidated(stag))
    return std::unexpected(MemoryFault::invalid_stag);
  TesterBuffer& buffer = found->second;
  const std::uint64_t from = offset - buffer.base;  // wraps to a huge value below the base
  if (from > buffer.octets.size() || length > buffer.octets.size() - from)
    return std::unexpected(MemoryFault::base_or_bounds);
  return wire::MutableBytes(buffer.octets).subspan(from, length);
}

std::expected<void, MemoryFault> TesterMemory::invalidate_by_peer(std::uint32_t stag) {
  if (!buffers_.contains(stag) || is_invalidated(stag))
    return std::unexpected(MemoryFault::invalid_stag);
  invalidated_.insert(stag);
  return {};
}

std::optional<rnic::stream::ReceiveBuffer> TesterMemory::take_receive() {
  const std::uint64_t id = next_receive_++;
  Octets& octets = receives_[id];
  octets.resize(receive_size_);
  return rnic::stream::ReceiveBuffer{id, {wire::MutableBytes(octets)}, receive_size_};
}

}  // namespace suite::lower_tester
