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
  peer_atomic,
  peer_immediate,
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
  atomic,
  immediate,
  invalidate,
  bind_window,
  unbind_window,
  arm_limit,
  disconnect,
  abort,
  destroy_endpoint,
};
constexpr auto names_of(Action) {
  return std::array{"peer_send",
                    "peer_write",
                    "peer_read",
                    "peer_answer",
                    "peer_atomic",
                    "peer_immediate",
                    "peer_terminate",
                    "peer_close",
                    "peer_reset",
                    "register_region",
                    "deregister_region",
                    "write_memory",
                    "look_at_memory",
                    "receive",
                    "send",
                    "write",
                    "read",
                    "atomic",
                    "immediate",
                    "invalidate",
                    "bind_window",
                    "unbind_window",
                    "arm_limit",
                    "disconnect",
                    "abort",
                    "destroy_endpoint"};
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
  request_reserved,
  unused_operands,
  marker_reserved,
  marker_low_bits,
  empty_last,
  // to be accepted or refused (RFC 5041 section 5.2)
  gap,
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
  marker,
  marker_on_path,
  cut_short,
  unaligned,
  atomic_operation,
  wrong_length,
  unasked,
};
constexpr auto names_of(Wrong) {
  return std::array{"nothing",
                    "ddp_reserved",
                    "rdmap_reserved",
                    "rdmap_version_zero",
                    "unused_stag",
                    "pad",
                    "request_reserved",
                    "unused_operands",
                    "marker_reserved",
                    "marker_low_bits",
                    "empty_last",
                    "gap",
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
                    "marker",
                    "marker_on_path",
                    "cut_short",
                    "unaligned",
                    "atomic_operation",
                    "wrong_length",
                    "unasked"};
}

/// The rights to a new region, as bits of a step's `value`.
struct Right {
  const char* name;
  std::uint64_t bit;
};
inline constexpr Right local_write{"local_write", 1}, remote_read{"remote_read", 2},
    remote_write{"remote_write", 4}, remote_atomic{"remote_atomic", 8},
    bind_windows{"bind_window", 16};
inline constexpr std::array all_rights{local_write, remote_read, remote_write, remote_atomic,
                                       bind_windows};

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
  /// So many octets at the end of the message are sent only after the IUT has had its time, at most
  /// those of the last FPDU.
  std::uint32_t rest = 0;
  /// In one TCP segment with what follows on the stream, as far as its size allows.
  bool packed = false;
  /// For the fault, for payloads, and for everything else that is free.
  std::uint64_t value = 0;
  bool solicited = false, invalidate = false, fence = false, unsignaled = false;
  /// How often it is done before anything is waited for.
  std::uint32_t times = 1;
  /// The tester takes nothing from TCP before the step and those that are done together with it are
  /// done.
  bool stalled = false;
  /// The next step does not wait for what becomes of this one.
  bool together = false;
  bool operator==(const Step&) const = default;
};

/// What is odd or wrong while a stream comes up. `startup_faults.hpp` says what must follow.
enum class StartupFault : std::uint8_t {
  nothing,
  // to be accepted (RFC 5044 section 7.1.1)
  reserved_bits,
  reserved_s_bit,
  rtr_flags_without_a,
  in_pieces,
  longest_private_data,
  beside_half_open,
  beside_malformed,
  // to be refused
  wrong_key,
  key_of_other_side,
  revision_zero,
  later_revision,
  oversize_private_data,
  short_enhanced_data,
  enhanced_for_revision_one,
  octets_after_frame,
  cut_short,
  closed_at_once,
  no_frame,
  half_a_frame,
  // fails, though nothing is malformed
  rejection_bit,
  rejected,
  gone_before_accept,
  insufficient_ird,
  no_common_rtr,
  no_rtr_stated,
};
constexpr auto names_of(StartupFault) {
  return std::array{"nothing",
                    "reserved_bits",
                    "reserved_s_bit",
                    "rtr_flags_without_a",
                    "in_pieces",
                    "longest_private_data",
                    "beside_half_open",
                    "beside_malformed",
                    "wrong_key",
                    "key_of_other_side",
                    "revision_zero",
                    "later_revision",
                    "oversize_private_data",
                    "short_enhanced_data",
                    "enhanced_for_revision_one",
                    "octets_after_frame",
                    "cut_short",
                    "closed_at_once",
                    "no_frame",
                    "half_a_frame",
                    "rejection_bit",
                    "rejected",
                    "gone_before_accept",
                    "insufficient_ird",
                    "no_common_rtr",
                    "no_rtr_stated"};
}

/// RTR kinds as bits (RFC 6581 section 9.2).
inline constexpr std::uint32_t rtr_send = 1, rtr_write = 2, rtr_read = 4, rtr_any = 7;
/// In place of a depth: the tester agrees to what the IUT asks for, or asks for what it has.
inline constexpr std::uint32_t depth_as_asked = 0xFFFF;

struct StreamSetup {
  bool iut_initiates = false;
  std::uint32_t revision = 1;
  /// In revision 2 the tester's Request has enhanced words (0), is of revision 1 (1), or is of revision 2
  /// without words (2).
  std::uint32_t plain = 0;
  /// The IUT is not told whether to ask for CRCs; `iut_crc` is what it does by default.
  bool default_crc = false;
  bool iut_crc = true, peer_crc = true, iut_markers = false, peer_markers = false;
  /// The IUT's.
  std::uint32_t ird = 4, ord = 4;
  /// The tester's enhanced words.
  std::uint32_t peer_ird = depth_as_asked, peer_ord = depth_as_asked;
  /// The Initiator asks for the peer-to-peer model.
  bool peer_to_peer = false;
  /// RTR kinds of each side, and which of those in common is used.
  std::uint32_t rtr = rtr_any, iut_rtr = rtr_any, rtr_choice = 0;
  /// The consumer posts a receive, or as Initiator work, before the connection is up.
  bool early = false;
  /// Of TCP, both ways; 0: the link's own.
  std::uint32_t emss = 0;
  /// It has its own protection domain.
  bool own_domain = false;
  /// It takes its receives from the shared queue of the default domain, if it is in that domain.
  bool shared_receives = false;
  std::uint32_t private_data = 0;
  StartupFault fault = StartupFault::nothing;
  /// Octets of each piece, which part of the key is wrong, and what else the fault leaves open.
  std::uint32_t fault_value = 0;
  bool operator==(const StreamSetup&) const = default;
};

struct Session {
  std::uint64_t seed = 0;
  std::vector<StreamSetup> streams;
  std::vector<Step> steps;
  bool operator==(const Session&) const = default;
};

}  // namespace suite::sessions
