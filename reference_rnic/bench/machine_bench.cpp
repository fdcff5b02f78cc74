// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the protocol machine costs by itself: two streams in memory, no lower layer protocol.
#include <benchmark/benchmark.h>

#include "reference_rnic/bench/stream_pair.hpp"

namespace rnic::bench {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t small_message = 64;

void write_one_mebibyte(benchmark::State& state, const Framing& framing) {
  StreamPair pair(framing, mebibyte);
  const std::vector<std::byte> payload(mebibyte, std::byte{0x5A});
  for (auto iteration : state) {
    stream::Work work;
    work.kind = stream::WorkKind::write;
    work.gather = {wire::Bytes(payload)};
    work.remote_stag = region_stag;
    pair.carry_out(std::move(work));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * mebibyte));
}

void send_64_octets(benchmark::State& state, const Framing& framing) {
  StreamPair pair(framing, small_message);
  const std::vector<std::byte> payload(small_message, std::byte{0x5A});
  for (auto iteration : state) {
    stream::Work work;
    work.gather = {wire::Bytes(payload)};
    pair.carry_out(std::move(work));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

BENCHMARK_CAPTURE(write_one_mebibyte, crc, Framing{});
BENCHMARK_CAPTURE(write_one_mebibyte, no_crc, Framing{.crc = false});
BENCHMARK_CAPTURE(write_one_mebibyte, crc_and_markers, Framing{.markers = true});
BENCHMARK_CAPTURE(write_one_mebibyte, crc_in_large_segments, Framing{.emss = 64000});
BENCHMARK_CAPTURE(send_64_octets, crc, Framing{});
BENCHMARK_CAPTURE(send_64_octets, no_crc, Framing{.crc = false});

}  // namespace
}  // namespace rnic::bench

BENCHMARK_MAIN();
