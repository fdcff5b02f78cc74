// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/capture/synthesizer.hpp"

#include <algorithm>

#include "dissectors/capture/tcp_frame.hpp"

namespace dissectors::capture {

namespace {

constexpr std::size_t largest_segment = 1440;  // fits an MTU of 1500 with either IP version

}  // namespace

void Synthesizer::emit(const Flow& flow, std::uint64_t time, Flags flags, base::Bytes payload) {
  std::uint32_t& next = next_sequence_.try_emplace(flow, 0).first->second;
  const auto other = next_sequence_.find(flow.reversed());
  const bool ack = flags.ack && other != next_sequence_.end();
  const auto mark = static_cast<std::uint8_t>((flags.fin ? 1U : 0U) | (flags.syn ? 2U : 0U) |
                                              (flags.rst ? 4U : 0U) | (payload.empty() ? 0U : 8U) |
                                              (ack ? 16U : 0U));
  frames_.push_back(frame_of({.from = flow.from,
                              .to = flow.to,
                              .sequence = next,
                              .acknowledgement = ack ? other->second : 0,
                              .flags = mark,
                              .payload = payload,
                              .payload_length = payload.size()},
                             time));
  next += static_cast<std::uint32_t>(payload.size()) + (flags.syn || flags.fin ? 1U : 0U);
}

void Synthesizer::opened(const Flow& flow, std::uint64_t time) {
  next_sequence_.erase(flow);
  next_sequence_.erase(flow.reversed());
  emit(flow, time, {.syn = true, .ack = false}, {});
  emit(flow.reversed(), time, {.syn = true}, {});
  emit(flow, time, {}, {});
}

void Synthesizer::data(const Flow& flow, std::uint64_t time, base::Bytes octets) {
  while (!octets.empty()) {
    const base::Bytes piece = octets.first(std::min(octets.size(), largest_segment));
    emit(flow, time, {}, piece);
    octets = octets.subspan(piece.size());
  }
}

void Synthesizer::closed(const Flow& flow, std::uint64_t time) {
  emit(flow, time, {.fin = true}, {});
}
void Synthesizer::reset(const Flow& flow, std::uint64_t time) {
  emit(flow, time, {.rst = true}, {});
}

}  // namespace dissectors::capture
