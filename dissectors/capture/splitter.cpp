// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/capture/splitter.hpp"

#include <algorithm>
#include <set>

namespace dissectors::capture {

namespace {

// The memory that a frame takes: its octets and roughly the bookkeeping.
std::size_t cost(const Frame& frame) { return frame.octets.size() + sizeof(Frame); }

}  // namespace

void Splitter::add(Frame frame) {
  const auto segment = parse_segment(link_, frame.octets);
  if (!segment) return;
  held_ += cost(frame);
  frames_[segment->flow.canonical()].push_back(std::move(frame));
  while (held_ > capacity_) drop_oldest();
}

std::vector<Frame> Splitter::take(std::span<const Flow> connections, std::uint64_t since) {
  std::set<Flow> wanted;
  for (const Flow& flow : connections) wanted.insert(flow.canonical());
  std::vector<Frame> taken;
  for (const Flow& flow : wanted) {
    const auto found = frames_.extract(flow);
    if (!found) continue;
    for (Frame& frame : found.mapped()) {
      held_ -= cost(frame);
      if (frame.time >= since) taken.push_back(std::move(frame));
    }
  }
  std::ranges::stable_sort(taken, {}, &Frame::time);
  return taken;
}

std::vector<Frame> Splitter::take_all(std::uint64_t since) {
  std::vector<Flow> flows;
  for (const auto& [flow, queue] : frames_) flows.push_back(flow);
  return take(flows, since);
}

void Splitter::forget_before(std::uint64_t time) {
  for (auto& [flow, queue] : frames_) {
    while (!queue.empty() && queue.front().time < time) {
      held_ -= cost(queue.front());
      queue.pop_front();
    }
  }
  std::erase_if(frames_, [](const auto& entry) { return entry.second.empty(); });
}

void Splitter::drop_oldest() {
  const auto oldest = std::ranges::min_element(
      frames_, {}, [](const auto& entry) { return entry.second.front().time; });
  held_ -= cost(oldest->second.front());
  ++given_up_;
  oldest->second.pop_front();
  if (oldest->second.empty()) frames_.erase(oldest);
}

}  // namespace dissectors::capture
