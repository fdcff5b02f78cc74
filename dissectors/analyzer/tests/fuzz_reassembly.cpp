// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Segments of one direction in any order, with holes, repetitions and ends: what comes out is the
// stream, in order, each octet once.
#include <algorithm>
#include <array>
#include <cstdint>

#include "dissectors/analyzer/tcp_reassembly.hpp"
#include "reference_rnic/wire/tests/fuzz.hpp"

using namespace dissectors;
using namespace dissectors::analyzer;
using rnic::wire::test::require;

namespace {

constexpr std::size_t limit = 4096;
constexpr std::size_t longest = 1500;

// The octet at a sequence number, whatever segment has it.
std::byte octet_at(std::uint32_t sequence) {
  return static_cast<std::byte>((sequence * 2654435761U) >> 24);
}

class Judge final : public StreamReceiver {
 public:
  explicit Judge(const TcpReassembly& reassembly) : reassembly_(reassembly) {}

  void octets(const Chunk& chunk) override {
    require(chunk.offset == next_, "octets continue the stream");
    require(chunk.octets.size() <= chunk.length, "no more octets than on the wire");
    const auto sequence = reassembly_.origin() + static_cast<std::uint32_t>(chunk.offset);
    for (std::size_t i = 0; i < chunk.octets.size(); ++i)
      require(chunk.octets[i] == octet_at(sequence + static_cast<std::uint32_t>(i)),
              "each octet stands where it was sent");
    next_ += chunk.length;
  }
  void hole(std::uint64_t offset, std::uint64_t length, bool, const SegmentFacts&) override {
    require(offset == next_ && length > 0, "a hole continues the stream");
    next_ += length;
  }
  void out_of_window(const SegmentFacts& what) override {
    require(what.end > next_, "what was handed on was within the window");
  }
  void differs(std::uint64_t, std::uint64_t, const SegmentFacts&) override {
    require(false, "the same octets do not differ");
  }
  void ended(Ending, std::uint64_t, const SegmentFacts&) override {}

 private:
  const TcpReassembly& reassembly_;
  std::uint64_t next_ = 0;
};

// Six octets describe one segment: flags, how much of it was captured, sequence number relative to
// the first one's, length.
struct SegmentInput {
  explicit SegmentInput(std::span<const std::byte, 6> octets) {
    const auto at = [&](std::size_t i) { return std::to_integer<std::uint32_t>(octets[i]); };
    syn = (at(0) & 1U) != 0;
    fin = (at(0) & 2U) != 0;
    rst = (at(0) & 12U) == 12U;
    acknowledgement = (at(0) & 16U) != 0;
    backwards = (at(0) & 32U) != 0;
    cut = at(1);
    offset = at(2) << 8 | at(3);
    length = std::min<std::size_t>(at(4) << 8 | at(5), longest);
  }
  bool syn, fin, rst, acknowledgement, backwards;
  std::size_t cut, length;
  std::uint32_t offset;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto input = rnic::wire::test::fuzz_input(data, size);
  TcpReassembly reassembly(limit);
  Judge judge(reassembly);
  std::uint32_t frame = 0;
  std::array<std::byte, longest> payload{};
  for (; input.size() >= 6; input = input.subspan(6)) {
    const SegmentInput input_segment(input.first<6>());
    // Near the end of the numbers, so that they wrap.
    const std::uint32_t sequence =
        0xFFFFF000U + (input_segment.backwards ? 0U - input_segment.offset : input_segment.offset);
    ++frame;
    if (input_segment.acknowledgement) {
      reassembly.acknowledged(sequence, frame, frame, judge);
      continue;
    }
    capture::Segment segment;
    segment.sequence = sequence;
    segment.syn = input_segment.syn;
    segment.fin = input_segment.fin;
    segment.rst = input_segment.rst;
    for (std::size_t i = 0; i < input_segment.length; ++i)
      payload[i] =
          octet_at(sequence + (input_segment.syn ? 1U : 0U) + static_cast<std::uint32_t>(i));
    segment.payload_length = input_segment.length;
    segment.payload = std::span(payload).first(
        input_segment.cut == 0 ? input_segment.length
                               : std::min(input_segment.length, input_segment.cut));
    reassembly.add(segment, frame, frame, judge);
    require(reassembly.memory() <= limit, "memory is bounded");
  }
  reassembly.finish(judge);
  return 0;
}
