// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/receive_window.hpp"

#include <algorithm>

namespace dissectors::analyzer {

void ReceiveWindow::advertised(const capture::Segment& segment) {
  // A SYN's own window is never scaled.
  if (segment.syn) {
    scale_ = segment.window_scale.value_or(0);
    scale_seen_ = true;
  }
  if (!segment.ack || segment.rst) return;
  const int scale = segment.syn || !other_end_scales_ ? 0 : scale_;
  const std::uint32_t width = std::uint32_t{segment.window} << scale;
  widest_ = std::max(widest_, width);
  const std::uint32_t edge = segment.acknowledgement + width;
  if (count_ > 0 && edges_[(count_ - 1) % kept] == edge) return;
  edges_[count_++ % kept] = edge;
}

std::uint64_t ReceiveWindow::reach() const {
  constexpr std::uint64_t largest = std::uint64_t{1} << 30;  // RFC 7323 section 2.3
  constexpr std::uint64_t usual = std::uint64_t{16} << 20;   // the default limit of hosts is lower
  if (widest_ == 0) return largest;
  // Twice: the acknowledgement that moved the window may be missing from the capture.
  const std::uint64_t twice = std::uint64_t{2} * widest_;
  return scale_seen_ ? twice : std::max(usual, twice);
}

bool ReceiveWindow::ends_at(std::uint32_t sequence) const {
  const auto end = edges_.begin() + static_cast<std::ptrdiff_t>(std::min(count_, kept));
  return std::find(edges_.begin(), end, sequence) != end;
}

}  // namespace dissectors::analyzer
