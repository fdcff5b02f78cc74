// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Live capture of one interface through libpcap, and the sentinel datagram that proves how far the
// capture has got.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "dissectors/capture/frame.hpp"

namespace dissectors::capture {

struct CaptureCounts {
  std::uint64_t received = 0;
  std::uint64_t dropped = 0;  ///< for lack of buffer space
  std::uint64_t interface_dropped = 0;
};

class LiveCapture {
 public:
  /// Opens the interface in the calling thread's network namespace; the capture then stays bound to
  /// it. The error is one line.
  [[nodiscard]] static std::expected<LiveCapture, std::string> open(const std::string& interface);
  LiveCapture(LiveCapture&&) noexcept;
  LiveCapture& operator=(LiveCapture&&) noexcept;
  ~LiveCapture();

  /// Readable when poll() has something to deliver (at the latest 10 ms after the frame passed).
  [[nodiscard]] int fd() const;
  [[nodiscard]] LinkType link() const;
  /// Delivers what has been captured since; never blocks.
  [[nodiscard]] std::expected<void, std::string> poll(const std::function<void(Frame)>& deliver);
  [[nodiscard]] CaptureCounts counts() const;

 private:
  struct State;
  explicit LiveCapture(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Sends numbered UDP datagrams to the discard port out of one interface. Once the capture has
/// delivered number n, it has delivered every frame that passed the interface before n was sent.
class Sentinel {
 public:
  /// Like LiveCapture::open. The datagrams go to a multicast group that nobody joins (on loopback
  /// to the host itself), so they need no neighbour resolution and nothing answers them. `nonce`
  /// tells this run's sentinels from others'.
  [[nodiscard]] static std::expected<Sentinel, std::string> open(const std::string& interface,
                                                                 std::uint64_t nonce);
  Sentinel(Sentinel&& other) noexcept;
  Sentinel& operator=(Sentinel&& other) noexcept;
  ~Sentinel();

  [[nodiscard]] std::expected<std::uint64_t, std::string> send();
  /// The number of our sentinel in this frame, if it is one.
  [[nodiscard]] std::optional<std::uint64_t> recognise(LinkType link, base::Bytes frame) const;

 private:
  Sentinel(int socket, std::uint64_t nonce) : socket_(socket), nonce_(nonce) {}
  int socket_ = -1;
  std::uint64_t nonce_ = 0;
  std::uint64_t sent_ = 0;
};

}  // namespace dissectors::capture
