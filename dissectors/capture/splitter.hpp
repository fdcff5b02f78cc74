// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Splits one capture by connection: frames wait here, in bounded memory, until the case that made
// their connection asks for them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "dissectors/capture/frame.hpp"

namespace dissectors::capture {

class Splitter {
 public:
  /// `capacity`: the most octets of frames that are held; beyond it the oldest are dropped and
  /// counted.
  Splitter(LinkType link, std::size_t capacity) : link_(link), capacity_(capacity) {}

  /// Keeps the frame if it holds a TCP segment.
  void add(Frame frame);
  /// Takes the frames of these connections (either direction of each names it) from `since` on, in
  /// order of time. Older frames of the same connections are late ones of an earlier case and are
  /// dropped.
  [[nodiscard]] std::vector<Frame> take(std::span<const Flow> connections, std::uint64_t since);
  /// Takes the frames of all connections from `since` on, for a case that cannot say which were its
  /// own.
  [[nodiscard]] std::vector<Frame> take_all(std::uint64_t since);
  /// Drops older frames: they will not be asked for any more.
  void forget_before(std::uint64_t time);

  [[nodiscard]] std::size_t held() const { return held_; }  ///< octets
  [[nodiscard]] std::uint64_t given_up() const {
    return given_up_;
  }  ///< frames lost for lack of capacity

 private:
  void drop_oldest();

  LinkType link_;
  std::size_t capacity_;
  std::size_t held_ = 0;
  std::uint64_t given_up_ = 0;
  std::map<Flow, std::deque<Frame>> frames_;  ///< by canonical flow
};

}  // namespace dissectors::capture
