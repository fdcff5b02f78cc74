// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What arrived from the IUT on one connection: startup frames, whole RDMAP messages, malformed
// octets, endings. Plain values.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "reference_rnic/llp/network.hpp"
#include "suite/lower_tester/evidence.hpp"
#include "suite/lower_tester/outgoing.hpp"

namespace suite::lower_tester {

/// A Request or Reply Frame, with its own copy of the octets.
struct ReceivedFrame {
  wire::MpaFrameKind kind = wire::MpaFrameKind::request;
  Octets octets;
  /// The frame; it refers to `octets`.
  [[nodiscard]] wire::MpaFrame frame() const&;
  wire::MpaFrame frame() const&& = delete;
};

/// An RDMAP message, reassembled from its segments.
struct Message {
  bool tagged = false;
  /// Of its first segment, if `tagged`.
  wire::TaggedHeader tagged_header;
  /// Of its first segment, if not `tagged`.
  wire::UntaggedHeader untagged_header;
  /// RDMAP header and ULP payload, all segments.
  Octets payload;
  /// The ULPDUs as received.
  std::vector<Octets> segments;
  /// A Terminate or the end of the connection came instead of the rest, which is lawful.
  bool cut_off = false;

  [[nodiscard]] wire::RdmapControl rdmap() const {
    return tagged ? tagged_header.rdmap : untagged_header.rdmap;
  }
  [[nodiscard]] wire::Opcode opcode() const { return rdmap().opcode(); }
  [[nodiscard]] std::uint32_t queue() const { return untagged_header.queue_number.value(); }
  [[nodiscard]] std::uint32_t msn() const {
    return untagged_header.message_sequence_number.value();
  }
  [[nodiscard]] std::uint32_t stag() const { return tagged_header.stag.value(); }
  [[nodiscard]] std::uint64_t tagged_offset() const { return tagged_header.tagged_offset.value(); }
  /// The contents of a Terminate, if it is one, as its sender means them: the judge reports a fault
  /// of its layout, once, and the headers are here as far as they are present. It refers to
  /// `payload`.
  [[nodiscard]] std::optional<wire::Terminate> terminate() const&;
  std::optional<wire::Terminate> terminate() const&& = delete;
  /// It is a Terminate, and its layout is the one that its control bits say; zeros may stand for
  /// what they do not announce (docs/disputes.md D101).
  [[nodiscard]] bool is_terminate_as_specified() const;
  /// The fields of a Read Request, if it is one of the right length.
  [[nodiscard]] std::optional<ReadRequestFields> read_request() const;
  [[nodiscard]] std::optional<AtomicRequestFields> atomic_request() const;
};

/// Octets that are not a frame, FPDU or segment, and why.
struct Malformed {
  std::string what;
  Octets octets;
  /// What an FPDU with a wrong CRC is otherwise, if that is a whole message.
  std::optional<Message> but_for_crc{};
};
/// The peer's FIN. `mid_fpdu`: it came inside a frame or FPDU.
struct PeerClosed {
  bool mid_fpdu = false;
};
/// The connection ended in another way: by a reset, or it was refused.
struct Broken {
  rnic::llp::Ending ending = rnic::llp::Ending::reset;
};
/// Nothing arrived while we waited.
struct Nothing {
  std::chrono::nanoseconds waited{};
};

struct Arrival {
  Offset at{};
  std::variant<Nothing, ReceivedFrame, Message, Malformed, PeerClosed, Broken> what;

  template <typename T>
  [[nodiscard]] const T* as() const& {
    return std::get_if<T>(&what);
  }
  template <typename T>
  const T* as() const&& = delete;  // what it points to would be gone
  /// The message, if it is a whole one with this opcode.
  [[nodiscard]] const Message* message(wire::Opcode opcode) const&;
  const Message* message(wire::Opcode opcode) const&& = delete;
  /// Refers to the message's payload.
  [[nodiscard]] std::optional<wire::Terminate> terminate() const&;
  std::optional<wire::Terminate> terminate() const&& = delete;
  [[nodiscard]] bool is_terminate_as_specified() const;
  /// FIN, reset or refusal.
  [[nodiscard]] bool is_end() const {
    return as<PeerClosed>() != nullptr || as<Broken>() != nullptr;
  }
  /// Decoded, one line.
  [[nodiscard]] std::string text() const;
  /// Its first octets; empty for endings.
  [[nodiscard]] std::string hex() const;
};

}  // namespace suite::lower_tester
