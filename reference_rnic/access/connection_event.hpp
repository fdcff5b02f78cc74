// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a connection manager reports to its consumer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/address.hpp"
#include "reference_rnic/stream/stream.hpp"
#include "reference_rnic/verbs/handle.hpp"

namespace rnic::access {

/// Why a call was refused.
struct Failure {
  int code = 0;           ///< errno
  std::string message{};  ///< one line
};

enum class ListenerId : std::uint64_t {};    // NOLINT(performance-enum-size): a number
enum class ConnectionId : std::uint64_t {};  // NOLINT(performance-enum-size): a number

/// IRD and ORD as the peer's startup frame states them, named from our side: our IRD must serve the
/// peer's ORD.
struct PeerDepths {
  std::uint16_t ird = 0, ord = 0;
  bool operator==(const PeerDepths&) const = default;
};

/// A startup request has arrived at a listener; accept() or reject() must follow.
struct ConnectionRequest {
  ConnectionId connection{};
  ListenerId listener{};
  base::Address local{}, remote{};
  std::uint8_t revision = 1;
  std::optional<PeerDepths> depths{};
  bool peer_to_peer = false;
  std::vector<std::byte> private_data{};
};
struct ConnectionEstablished {
  ConnectionId connection{};
  verbs::QueuePairHandle queue_pair{};
  stream::Negotiated negotiated{};
  std::optional<PeerDepths> depths{};
  std::vector<std::byte> private_data{};  ///< of the reply, where we asked
};
struct ConnectionRejected {
  ConnectionId connection{};
  verbs::QueuePairHandle queue_pair{};
  std::optional<PeerDepths> depths{};
  std::vector<std::byte> private_data{};
};
enum class ConnectFailure : std::uint8_t { refused, unreachable, timeout, protocol, lost };
[[nodiscard]] const char* name(ConnectFailure failure);
struct ConnectionFailed {
  ConnectionId connection{};
  verbs::QueuePairHandle queue_pair{};
  ConnectFailure failure = ConnectFailure::lost;
};
/// An established connection has ended; the queue pair has flushed.
struct ConnectionEnded {
  ConnectionId connection{};
  verbs::QueuePairHandle queue_pair{};
  bool orderly = true;  ///< both sides closed, without Terminate or loss
};
using ConnectionEvent = std::variant<ConnectionRequest, ConnectionEstablished, ConnectionRejected,
                                     ConnectionFailed, ConnectionEnded>;

}  // namespace rnic::access
