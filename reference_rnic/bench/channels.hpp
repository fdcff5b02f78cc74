// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One end of the connections that a workload runs over, whatever carries them: plain sockets, the
// stream in an event loop, DAT or verbs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace rnic::bench {

enum class Operation : std::uint8_t { send, write, read };

struct Setup {
  bool serves = false;
  unsigned connections = 1;
  unsigned active = 1;    ///< of these; the others do nothing
  std::size_t size = 64;  ///< of the largest message
  unsigned batch = 1;     ///< messages that are posted at once
  bool spins = false;     ///< waits by polling, instead of blocking
  bool crc = true;
  bool markers = false;
  std::uint16_t port = 0;
};

/// Sends that a receiver always has buffers for, per connection.
constexpr unsigned receives_posted = 128;
/// Work that is posted and not complete, per connection.
constexpr unsigned window = 64;
/// TCP segments of all contenders, since loopback would have some of 64 KiB.
constexpr std::size_t max_segment = 8948;

class Channels {
 public:
  virtual ~Channels() = default;
  /// Begins `count` operations, with one call if there is one for that; waits while the window is full.
  virtual void post(unsigned connection, Operation operation, std::size_t size, unsigned count) = 0;
  /// Waits until everything that was posted has completed.
  virtual void flush() = 0;
  /// Waits for the next `count` Sends of the peer.
  virtual void receive(unsigned connection, std::size_t size, unsigned count) = 0;
  /// What the other end has to do for operations that are not Sends: RDMA needs nothing.
  virtual void serve(unsigned /*connection*/, Operation /*operation*/, std::size_t /*size*/,
                     unsigned /*count*/) {}
};

[[noreturn]] inline void fail(const std::string& why) { throw std::runtime_error(why); }
inline void need(bool done, const char* what) {
  if (!done) fail(what);
}

[[nodiscard]] std::unique_ptr<Channels> raw_tcp(const Setup& setup);
/// What an RDMA stream over sockets cannot avoid: segments of the same size with their own header, a
/// CRC at both ends, and one copy from scratch.
[[nodiscard]] std::unique_ptr<Channels> floor_program(const Setup& setup);
/// Queue pairs and streams of the reference RNIC in one event loop, without threads.
[[nodiscard]] std::unique_ptr<Channels> stream_channels(const Setup& setup);
[[nodiscard]] std::unique_ptr<Channels> dat_channels(const Setup& setup);
[[nodiscard]] std::unique_ptr<Channels> verbs_channels(const Setup& setup);

}  // namespace rnic::bench
