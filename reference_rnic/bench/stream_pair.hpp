// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Two streams in memory, octets copied from what one gathers to where the other wants them: a link
// that costs one copy and nothing else.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "reference_rnic/stream/stream.hpp"

namespace rnic::bench {

constexpr std::uint32_t region_stag = 0x101;

/// A region that is open to everybody, and as many receive buffers as are asked for.
class OpenMemory final : public stream::Memory {
 public:
  explicit OpenMemory(std::size_t octets) : octets_(octets) {}

  std::expected<wire::MutableBytes, stream::MemoryFault> resolve(std::uint32_t,
                                                                 std::uint64_t offset,
                                                                 std::size_t length,
                                                                 stream::MemoryAccess) override {
    if (length > octets_.size() || offset > octets_.size() - length)
      return std::unexpected(stream::MemoryFault::base_or_bounds);
    return wire::MutableBytes(octets_).subspan(static_cast<std::size_t>(offset), length);
  }
  std::expected<void, stream::MemoryFault> invalidate_by_peer(std::uint32_t) override { return {}; }
  std::optional<stream::ReceiveBuffer> take_receive() override {
    return stream::ReceiveBuffer{1, {wire::MutableBytes(octets_)}, octets_.size()};
  }
  bool perform_local(std::uint64_t) override { return true; }

 private:
  std::vector<std::byte> octets_;
};

struct Framing {
  bool crc = true;
  bool markers = false;
  std::size_t emss = 1448;
};

class StreamPair {
 public:
  StreamPair(const Framing& framing, std::size_t memory)
      : near_memory_(memory),
        far_memory_(memory),
        near_(stream::make_stream(config_of(framing, stream::Role::initiator), near_memory_, {})),
        far_(stream::make_stream(config_of(framing, stream::Role::responder), far_memory_, {})) {
    run();
    if (far_->state() != stream::State::awaiting_decision)
      throw std::logic_error("no MPA Request has come");
    far_->accept(16, 16, {}, {});
    run();
    if (near_->state() != stream::State::operational)
      throw std::logic_error("the streams are not connected");
  }

  /// Carries out one piece of work, and returns once the other end has all of it.
  void carry_out(stream::Work work) {
    near_->post(std::move(work), {});
    run();
  }

 private:
  using AnyStream = std::remove_reference_t<decltype(*stream::make_stream(
      {}, std::declval<stream::Memory&>(), {}))>;

  static stream::Config config_of(const Framing& framing, stream::Role role) {
    stream::Config config;
    config.role = role;
    config.crc = framing.crc;
    config.markers = framing.markers;
    config.emss = framing.emss;
    return config;
  }
  void run() {
    while (move(*near_, *far_) | move(*far_, *near_)) {
    }
    while (near_->next_event()) {
    }
    while (far_->next_event()) {
    }
  }
  bool move(AnyStream& from, AnyStream& to) {
    constexpr std::size_t at_once = std::size_t{64} * 1024;
    list_.clear();
    from.gather(list_, at_once);
    std::size_t total = 0;
    for (wire::Bytes piece : list_) {
      total += piece.size();
      deliver(piece, to);
    }
    if (total != 0) from.transmitted(total, {});
    return total != 0;
  }
  static void deliver(wire::Bytes octets, AnyStream& to) {
    while (!octets.empty()) {
      std::size_t placed = 0;
      for (const wire::MutableBytes target : to.receive_targets()) {
        const std::size_t here = std::min(target.size(), octets.size());
        std::memcpy(target.data(), octets.data(), here);
        octets = octets.subspan(here);
        placed += here;
        if (octets.empty()) break;
      }
      to.received(placed, {});
    }
  }

  OpenMemory near_memory_, far_memory_;
  std::unique_ptr<AnyStream> near_, far_;
  std::vector<wire::Bytes> list_;
};

}  // namespace rnic::bench
