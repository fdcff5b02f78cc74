// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Who an end of a TLS connection is, and whom it trusts. C++17, for the agent's own build.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <string>

namespace suite::iut::tls {

/// Files in PEM; one may be all three (join_token.hpp).
struct Identity {
  std::string certificate;  ///< ours, followed by those between it and the authority's
  std::string key;          ///< of our certificate
  std::string authority;    ///< certificates of those that may sign the peer's
  std::string peer;         ///< the DNS name that the peer's certificate must have
};

enum class Role { connects, accepts };

/// What all connections of one end share: TLS 1.3 only, with certificates of both ends.
class TlsContext {
 public:
  /// Nothing if a connection could only fail: our own certificate is missing, expired, for another
  /// key, or not signed by the authority. `error` is then one line.
  [[nodiscard]] static std::optional<TlsContext> make(const Identity& identity, Role role,
                                                      std::string& error);

  [[nodiscard]] SSL_CTX* get() const { return context_.get(); }
  [[nodiscard]] Role role() const { return role_; }
  [[nodiscard]] const std::string& peer() const { return peer_; }

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  TlsContext(Role role, std::string peer) : role_(role), peer_(std::move(peer)) {}

  std::unique_ptr<SSL_CTX, Free> context_;
  Role role_;
  std::string peer_;
};

/// Why OpenSSL's last call failed, without its own names of errors.
[[nodiscard]] std::string openssl_fault();

}  // namespace suite::iut::tls
