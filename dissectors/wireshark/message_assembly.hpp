// SPDX-License-Identifier: GPL-2.0-or-later
// Joins the payloads of the DDP segments of one direction into messages.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "dissectors/analyzer/events.hpp"
#include "reference_rnic/wire/rdmap.hpp"

namespace dissectors::wireshark {

/// What the headers state about the whole message.
struct MessageHead {
  std::uint64_t number = 0;  ///< in its direction, as the analyzer counts
  rnic::wire::Opcode opcode{};
  bool tagged = false;
  std::uint32_t stag = 0;           ///< of its first segment, if tagged
  std::uint64_t tagged_offset = 0;  ///< likewise
  std::uint32_t queue = 0, msn = 0;
};

struct JoinedMessage {
  MessageHead head;
  std::vector<std::byte> payload;
  std::vector<std::uint32_t> frames;  ///< in which its FPDUs ended, in order
};

/// Keeps octets of unfinished messages up to a limit; messages beyond it, or with a hole, are not
/// joined.
class MessageAssembly {
 public:
  static constexpr std::size_t longest = std::size_t{16} << 20;  ///< octets of one message

  /// Takes a segment of a message of several FPDUs; `frame` is the frame in which its FPDU ended.
  /// Returns the message if this was its last segment.
  std::optional<JoinedMessage> take(const analyzer::MessageSeen& seen, std::uint32_t frame);

 private:
  static constexpr std::size_t most_open = 8;
  std::map<std::uint64_t, JoinedMessage> open_;  ///< by their numbers
};

[[nodiscard]] bool is_send(rnic::wire::Opcode opcode);
/// Whether messages with this opcode carry octets of the layers above RDMAP, or request some.
[[nodiscard]] bool concerns_upper_layers(rnic::wire::Opcode opcode);
[[nodiscard]] MessageHead head_of(const analyzer::MessageSeen& seen);
[[nodiscard]] MessageHead head_of(const rnic::wire::Segment& first_segment, std::uint64_t number);
/// What a whole message asks for, if it is a Read Request.
[[nodiscard]] std::optional<rnic::wire::ReadRequestHeader> read_request_in(const MessageHead& head,
                                                                           analyzer::Bytes payload);

}  // namespace dissectors::wireshark
