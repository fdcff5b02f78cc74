// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/tests/perturbation.hpp"

#include <algorithm>
#include <set>

namespace dissectors::analyzer::tests {

using capture::Frame;

namespace {

constexpr std::uint64_t microsecond = 1000;

std::vector<Frame>::iterator at(Capture& capture, std::size_t index) {
  return capture.frames.begin() +
         static_cast<std::ptrdiff_t>(std::min(index, capture.frames.size()));
}

void cut(Capture& capture, std::size_t snapshot) {
  for (Frame& frame : capture.frames)
    if (frame.octets.size() > snapshot) frame.octets.resize(snapshot);
}

}  // namespace

bool Perturbation::one_in(std::size_t times, const char* step) {
  const bool taken = one_in(times);
  if (taken) steps_ += (steps_.empty() ? "" : ", ") + std::string(step);
  return taken;
}

Capture Perturbation::of(Capture capture) {
  if (one_in(3, "lost")) lose(capture, std::vector{0.005, 0.02, 0.1}[below(3)]);
  if (one_in(3, "repeated")) repeat(capture);
  if (one_in(8, "seen twice")) see_twice(capture);
  if (one_in(3, "taps merged")) merge_taps(capture);
  if (one_in(4, "exchanged")) exchange(capture);
  if (one_in(4, "begun late")) capture.frames.erase(capture.frames.begin(), at(capture, below(30)));
  if (one_in(6, "ended early"))
    capture.frames.erase(
        at(capture, capture.frames.size() - std::min(capture.frames.size(), below(30))),
        capture.frames.end());
  // Damage to a frame that the capture cut cannot be detected.
  if (one_in(3, "damaged"))
    damage(capture);
  else if (one_in(5, "cut"))
    cut(capture, 54 + below(1500));
  return capture;
}

void Perturbation::lose(Capture& capture, double probability) {
  std::erase_if(capture.frames, [&](const Frame&) { return by(probability); });
}

void Perturbation::repeat(Capture& capture) {
  for (std::size_t index = 0; index < capture.frames.size(); ++index)
    if (by(0.03)) {
      const Frame again = capture.frames[index];
      capture.frames.insert(at(capture, index + 1 + below(20)), again);
    }
}

/// Two taps on the way of every frame, as where a switch mirrors both the port where it comes and the one
/// where it goes.
void Perturbation::see_twice(Capture& capture) {
  const std::uint64_t later = below(1000) * microsecond;
  const std::size_t frames = capture.frames.size();
  capture.frames.reserve(2 * frames);
  for (std::size_t index = 0; index < frames; ++index) {
    capture.frames.push_back(capture.frames[index]);
    capture.frames.back().time += later;
  }
  std::ranges::stable_sort(capture.frames, {}, &Frame::time);
}

/// Damaged on its way, and sent once more. If the first segment of a direction has a wrong checksum, it
/// is not known whether the host leaves checksums to its adapter.
void Perturbation::damage(Capture& capture) {
  std::set<capture::Flow> begun;
  for (std::size_t index = 0; index < capture.frames.size(); ++index) {
    const auto segment = capture::parse_segment(capture.link, capture.frames[index].octets);
    if (!segment || begun.insert(segment->flow).second || segment->payload.empty() || !by(0.02) ||
        capture::check_checksum(*segment) != capture::Checksum::right)
      continue;
    const Frame whole = capture.frames[index];
    auto& octets = capture.frames[index].octets;
    const auto begin = static_cast<std::size_t>(segment->payload.data() - octets.data());
    octets[begin + below(segment->payload.size())] ^= static_cast<std::byte>(1U << below(8));
    capture.frames.insert(at(capture, index + 1 + below(10)), whole);
  }
}

/// One of two taps is late, by less than the analyzer waits.
void Perturbation::merge_taps(Capture& capture) {
  const std::uint64_t late = (1 + below(2000)) * microsecond;
  const bool first = one_in(2);
  for (Frame& frame : capture.frames) {
    const auto segment = capture::parse_segment(capture.link, frame.octets);
    if (segment && (segment->flow.from < segment->flow.to) == first) frame.time += late;
  }
  std::ranges::stable_sort(capture.frames, {}, &Frame::time);
}

void Perturbation::exchange(Capture& capture) {
  for (std::size_t index = 1; index < capture.frames.size(); ++index)
    if (by(0.05)) std::swap(capture.frames[index - 1], capture.frames[index]);
}

}  // namespace dissectors::analyzer::tests
