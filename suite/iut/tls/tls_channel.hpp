// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One TLS connection over a TCP socket, without blocking. C++17, for the agent's own build.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "base/file_descriptor.hpp"
#include "suite/iut/tls/tls_context.hpp"

namespace suite::iut::tls {

using Clock = std::chrono::steady_clock;

/// A peer that has not shown who it is within this time is none.
inline constexpr std::chrono::seconds longest_handshake{10};

class TlsChannel {
 public:
  /// `socket` is connected. A peer's host that is dead is noticed within seconds from now on.
  TlsChannel(const TlsContext& context, base::FileDescriptor socket);

  enum class Step {
    done,    ///< something was done: the handshake is over, or octets were moved
    waits,   ///< wait until the socket polls for events()
    closed,  ///< the peer has ended the connection
    failed,  ///< fault() says why
  };
  [[nodiscard]] Step handshake();
  [[nodiscard]] Step read(char* octets, std::size_t size, std::size_t& count);
  [[nodiscard]] Step write(const char* octets, std::size_t size, std::size_t& count);
  /// Whether read() may have something without the socket polling readable.
  [[nodiscard]] bool holds_octets() const { return SSL_has_pending(ssl_.get()) == 1; }

  [[nodiscard]] int socket() const { return socket_.get(); }
  /// What the call that waits is waiting for, as poll() has it.
  [[nodiscard]] short events() const { return events_; }
  /// Why the last call failed, in one line.
  [[nodiscard]] const std::string& fault() const { return fault_; }
  /// Whether it failed since one end does not accept the other's certificate, or is no end of ours.
  [[nodiscard]] bool is_refused() const { return refused_; }
  /// Tells the peer that nothing more comes.
  void say_goodbye() { SSL_shutdown(ssl_.get()); }

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  Step judge(int result);

  base::FileDescriptor socket_;
  std::unique_ptr<SSL, Free> ssl_;
  std::string peer_;
  short events_ = 0;
  std::string fault_;
  bool refused_ = false;
};

/// Why a handshake that stands like this cannot, or can no longer, be completed.
[[nodiscard]] std::string handshake_fault(TlsChannel::Step step, const TlsChannel& channel);
/// Waits until the handshake is done; the result is empty, or why it cannot be.
[[nodiscard]] std::string complete_handshake(TlsChannel& channel);

}  // namespace suite::iut::tls
