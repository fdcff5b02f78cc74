// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/capture_comparison.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dissectors/analyzer/tcp_reassembly.hpp"
#include "reference_rnic/wire/crc32c.hpp"

namespace plugfest {

namespace {

namespace analyzer = dissectors::analyzer;
namespace capture = dissectors::capture;

/// Octets of a stream that have one check value: captures are large, and are compared by these.
constexpr std::uint64_t block_size = 4096;
/// Octets that wait for earlier ones.
constexpr std::size_t reorder_octets = std::size_t{4} << 20;

/// One direction of a connection, as one capture has it.
class Stream final : public analyzer::StreamReceiver {
 public:
  using Block = std::optional<std::array<std::byte, 4>>;  ///< nothing: a part of it is missing

  void add(const capture::Segment& segment, std::uint32_t frame, std::uint64_t time) {
    reassembly_.add(segment, frame, time, *this);
  }
  void finish() {
    reassembly_.finish(*this);
    if (end_ % block_size != 0) close_block();
  }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::uint64_t missing() const { return missing_; }
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }

  void octets(const analyzer::Chunk& chunk) override {
    take(chunk.octets);
    skip(chunk.length - chunk.octets.size());
  }
  void hole(std::uint64_t, std::uint64_t length, bool, const analyzer::SegmentFacts&) override {
    skip(length);
  }
  void out_of_window(const analyzer::SegmentFacts&) override {}
  void differs(std::uint64_t, std::uint64_t, const analyzer::SegmentFacts&) override {}
  void ended(analyzer::Ending, std::uint64_t, const analyzer::SegmentFacts&) override {}

 private:
  [[nodiscard]] std::uint64_t left_in_block() const { return block_size - end_ % block_size; }
  void take(base::Bytes octets) {
    while (!octets.empty()) {
      const auto part = octets.first(std::min<std::uint64_t>(octets.size(), left_in_block()));
      crc_.update(part);
      octets = octets.subspan(part.size());
      advance(part.size());
    }
  }
  void skip(std::uint64_t length) {
    missing_ += length;
    while (length > 0) {
      const std::uint64_t part = std::min(length, left_in_block());
      whole_ = false;
      length -= part;
      advance(part);
    }
  }
  void advance(std::uint64_t octets) {
    end_ += octets;
    if (end_ % block_size == 0) close_block();
  }
  void close_block() {
    blocks_.push_back(whole_ ? Block(crc_.trailer()) : std::nullopt);
    crc_ = {};
    whole_ = true;
  }

  analyzer::TcpReassembly reassembly_{reorder_octets};
  rnic::wire::Crc32c crc_;
  bool whole_ = true;
  std::uint64_t end_ = 0, missing_ = 0;
  std::vector<Block> blocks_;
};

using Streams = std::map<capture::Flow, Stream>;

Streams streams_of(const Captured& captured, const CellTraffic& cell) {
  Streams streams;
  std::uint32_t number = 0;
  for (const capture::Frame& frame : captured.frames) {
    ++number;
    const auto segment = capture::parse_segment(captured.link, frame.octets);
    if (segment && cell.has(segment->flow))
      streams[segment->flow].add(*segment, number, frame.time);
  }
  for (auto& [flow, stream] : streams) stream.finish();
  return streams;
}

std::string text_of(const capture::Flow& flow) {
  return fmt::format("{} > {}", flow.from.text(), flow.to.text());
}

/// The offset from which on both have octets, and not the same.
std::optional<std::uint64_t> first_difference(const Stream& one, const Stream& other) {
  for (std::size_t at = 0; at < std::min(one.blocks().size(), other.blocks().size()); ++at) {
    const std::uint64_t begin = at * block_size;
    // The last block may be shorter in one of them.
    const auto size = [begin](const Stream& it) { return std::min(it.end() - begin, block_size); };
    if (size(one) != size(other) || !one.blocks()[at] || !other.blocks()[at]) continue;
    if (one.blocks()[at] != other.blocks()[at]) return begin;
  }
  return std::nullopt;
}

/// What `lacking` does not have of a stream that `whole` has.
std::uint64_t lacks(const Stream* lacking, const Stream& whole) {
  if (lacking == nullptr) return whole.end() - whole.missing();
  return lacking->missing() + (whole.end() > lacking->end() ? whole.end() - lacking->end() : 0);
}

const Stream* find(const Streams& streams, const capture::Flow& flow) {
  const auto found = streams.find(flow);
  return found == streams.end() ? nullptr : &found->second;
}

}  // namespace

std::string difference(const Captured& one, const Captured& other, const CellTraffic& cell) {
  const Streams first = streams_of(one, cell), second = streams_of(other, cell);
  for (const auto& [flow, stream] : first)
    if (const Stream* same = find(second, flow))
      if (const auto offset = first_difference(stream, *same))
        return fmt::format("{} and {} have other octets of {}, within {} from offset {} on",
                           one.place, other.place, text_of(flow), block_size, *offset);
  const auto lacking = [](const Captured& poor, const Streams& its, const Streams& all) {
    if (!poor.trouble.empty()) return std::string();
    for (const auto& [flow, stream] : all)
      if (const auto octets = lacks(find(its, flow), stream); octets > 0)
        return fmt::format("{} lacks {} octets of {}", poor.place, octets, text_of(flow));
    return std::string();
  };
  std::string line = lacking(other, second, first);
  return line.empty() ? lacking(one, first, second) : line;
}

}  // namespace plugfest
