// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A session: what the tester and the IUT's consumer do, step by step. Plain values, so that it can be
// drawn, shortened, written and played again.
//
// A step names objects and sizes by numbers that are fitted to what exists when it is played. So
// any steps may be left out, and what remains is a session.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/record/table.hpp"

namespace suite::sessions {

using base::record::name;

enum class Action : std::uint8_t {
  // the tester
  peer_send,
  peer_write,
  peer_read,
  peer_answer,
  peer_terminate,
  peer_close,
  peer_reset,
  // the consumer of the IUT
  register_region,
  deregister_region,
  write_memory,
  look_at_memory,
  receive,
  send,
  write,
  read,
  invalidate,
  disconnect,
  abort,
};
constexpr auto names_of(Action) {
  return std::array{"peer_send",    "peer_write",      "peer_read",
                    "peer_answer",  "peer_terminate",  "peer_close",
                    "peer_reset",   "register_region", "deregister_region",
                    "write_memory", "look_at_memory",  "receive",
                    "send",         "write",           "read",
                    "invalidate",   "disconnect",      "abort"};
}

/// What is odd or wrong in what the tester sends.
enum class Wrong : std::uint8_t {
  nothing,
  // odd, but to be accepted
  ddp_reserved,
  rdmap_reserved,
  rdmap_version_zero,
  unused_stag,
  pad,
  // wrong
  ddp_version,
  rdmap_version,
  opcode,
  queue,
  msn,
  message_offset,
  too_long,
  no_buffer,
  stag,
  stag_key,
  revoked_stag,
  foreign_stag,
  no_right,
  before_start,
  beyond_end,
  wrap,
  crc,
  cut_short,
};
constexpr auto names_of(Wrong) {
  return std::array{"nothing",
                    "ddp_reserved",
                    "rdmap_reserved",
                    "rdmap_version_zero",
                    "unused_stag",
                    "pad",
                    "ddp_version",
                    "rdmap_version",
                    "opcode",
                    "queue",
                    "msn",
                    "message_offset",
                    "too_long",
                    "no_buffer",
                    "stag",
                    "stag_key",
                    "revoked_stag",
                    "foreign_stag",
                    "no_right",
                    "before_start",
                    "beyond_end",
                    "wrap",
                    "crc",
                    "cut_short"};
}

struct Step {
  Action action = Action::peer_send;
  /// Modulo the number that exist.
  std::uint32_t stream = 0, object = 0;
  /// Octets, and where they begin; fitted to the object.
  std::uint64_t length = 0, offset = 0;
  /// Octets of payload in each segment; 0: as many as fit.
  std::uint32_t segment = 0;
  /// Octets in each TCP segment; 0: as TCP likes.
  std::uint32_t cut = 0;
  Wrong wrong = Wrong::nothing;
  /// For the fault, for payloads, and for everything else that is free.
  std::uint64_t value = 0;
  bool solicited = false, invalidate = false, fence = false, unsignaled = false;
  /// The next step does not wait for the effects of this one.
  bool together = false;
  bool operator==(const Step&) const = default;
};

/// What is odd or wrong in the tester's startup frame.
enum class StartupFault : std::uint8_t {
  nothing,
  // to be accepted (RFC 5044 section 7.1.1)
  reserved_bits,
  in_pieces,
  longest_private_data,
  // to be refused
  wrong_key,
  key_of_other_side,
  revision_zero,
  oversize_private_data,
};
constexpr auto names_of(StartupFault) {
  return std::array{"nothing",   "reserved_bits",     "in_pieces",     "longest_private_data",
                    "wrong_key", "key_of_other_side", "revision_zero", "oversize_private_data"};
}

struct StreamSetup {
  bool iut_initiates = false;
  std::uint32_t revision = 1;
  bool iut_crc = true, peer_crc = true, iut_markers = false, peer_markers = false;
  /// The IUT's.
  std::uint32_t ird = 4, ord = 4;
  /// Of TCP, both ways; 0: the link's own.
  std::uint32_t emss = 0;
  /// It has its own protection domain.
  bool own_domain = false;
  std::uint32_t private_data = 0;
  StartupFault fault = StartupFault::nothing;
  bool operator==(const StreamSetup&) const = default;
};

struct Session {
  std::uint64_t seed = 0;
  std::vector<StreamSetup> streams;
  std::vector<Step> steps;
  bool operator==(const Session&) const = default;
};

}  // namespace suite::sessions
