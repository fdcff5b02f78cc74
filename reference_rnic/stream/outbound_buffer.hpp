// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The octets of one stream to the LLP that are not the consumer's memory: headers, trailers, and
// payload that is copied. They lie in chunks that are lent to one stream after another.
#pragma once

#include <array>
#include <cassert>
#include <memory>
#include <vector>

#include "base/fifo.hpp"
#include "reference_rnic/wire/fpdu.hpp"

namespace rnic::stream {

/// The chunks that no stream has at the moment. A stream without octets to send has none.
class SendScratch {
 public:
  /// Several FPDUs of jumbo frames, or one of any length.
  static constexpr std::size_t chunk_size = std::size_t{72} * 1024;
  static_assert(chunk_size >= wire::fpdu_size(wire::max_ulpdu));
  struct Chunk {
    std::array<std::byte, chunk_size> octets;
  };

  [[nodiscard]] std::unique_ptr<Chunk> lend() {
    if (free_.empty()) return std::make_unique_for_overwrite<Chunk>();
    auto chunk = std::move(free_.back());
    free_.pop_back();
    return chunk;
  }
  void take_back(std::unique_ptr<Chunk> chunk) {
    if (free_.size() < most_kept) free_.push_back(std::move(chunk));
  }

 private:
  static constexpr std::size_t most_kept = 8;
  std::vector<std::unique_ptr<Chunk>> free_;
};

/// Runs of octets, side by side as long as they fit into one chunk, that are released in the order in
/// which they were taken, or the newest first.
class OutboundBuffer {
 public:
  explicit OutboundBuffer(SendScratch& scratch) : scratch_(scratch) {}
  ~OutboundBuffer() {
    while (!chunks_.empty()) drop_back();
  }
  OutboundBuffer(const OutboundBuffer&) = delete;
  OutboundBuffer& operator=(const OutboundBuffer&) = delete;

  [[nodiscard]] wire::MutableBytes take(std::size_t length) {
    assert(length <= SendScratch::chunk_size);
    if (chunks_.empty() || SendScratch::chunk_size - chunks_.back().used < length)
      chunks_.push_back({.chunk = scratch_.lend()});
    Lent& newest = chunks_.back();
    const wire::MutableBytes run =
        wire::MutableBytes(newest.chunk->octets).subspan(newest.used, length);
    newest.used += length;
    ++newest.runs;
    return run;
  }
  void release_oldest() {
    if (--chunks_.front().runs != 0) return;
    scratch_.take_back(std::move(chunks_.front().chunk));
    chunks_.pop_front();
  }
  void release_newest() {
    if (--chunks_.back().runs == 0) drop_back();
  }

 private:
  struct Lent {
    std::unique_ptr<SendScratch::Chunk> chunk;
    std::size_t used = 0;
    std::size_t runs = 0;  ///< in it, that are not released
  };
  void drop_back() {
    scratch_.take_back(std::move(chunks_.back().chunk));
    chunks_.pop_back();
  }

  SendScratch& scratch_;
  base::Fifo<Lent> chunks_;  ///< each has a run
};

}  // namespace rnic::stream
