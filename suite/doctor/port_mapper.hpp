// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The iWARP port mapper's protocol (iwpmd of rdma-core, UDP port 3935), in both roles. Drivers of
// RNICs with a TCP of their own ask the peer's mapper which TCP port a listener's port is mapped to.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"

namespace suite::doctor {

inline constexpr std::uint16_t port_mapper_port = 3935;

/// 48 octets on the wire, a request 64; an IPv4 address is in the first four of sixteen octets.
struct PortMapperMessage {
  enum class Kind : std::uint8_t { request, accept, acknowledgement, rejection };
  using Address = std::array<std::uint8_t, 16>;

  Kind kind = Kind::request;
  std::uint8_t ip_version = 4;
  std::uint16_t accepting_port = 0, connecting_port = 0;
  std::uint64_t association = 0;  ///< chosen by the requester, repeated in the answers
  Address connecting_address{}, accepting_address{};
  /// Only in a request: the port to which the connecting side's own port is mapped.
  std::uint16_t mapped_connecting_port = 0;
  Address mapped_connecting_address{};
};

[[nodiscard]] std::vector<std::uint8_t> octets_of(const PortMapperMessage& message);
/// Nothing if it is no message of the protocol's version 0.
[[nodiscard]] std::optional<PortMapperMessage> parse_port_mapper(
    std::span<const std::uint8_t> octets);

/// As the connecting side's mapper: asks the one at `address` (a literal) for a listener's port. Any
/// answer shows that it runs: a rejection says that this port is not mapped. The error is one
/// line.
[[nodiscard]] std::expected<PortMapperMessage, std::string> ask_port_mapper(
    const std::string& address, std::uint16_t port, std::chrono::milliseconds patience,
    std::uint16_t mapper_port = port_mapper_port);

/// As the accepting side's mapper: maps one listener's port to itself, and
/// rejects every other.
class PortMapperServer {
 public:
  [[nodiscard]] static std::expected<PortMapperServer, std::string> open(
      const std::string& address, std::uint16_t listener,
      std::uint16_t mapper_port = port_mapper_port);

  /// Readable when something has come.
  [[nodiscard]] int fd() const { return socket_.get(); }
  /// The port it listens on.
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Answers all that has come.
  void serve();
  [[nodiscard]] unsigned requests() const { return requests_; }
  [[nodiscard]] unsigned acknowledgements() const { return acknowledgements_; }

 private:
  PortMapperServer() = default;

  base::FileDescriptor socket_;
  std::uint16_t listener_ = 0, port_ = 0;
  unsigned requests_ = 0, acknowledgements_ = 0;
};

}  // namespace suite::doctor
