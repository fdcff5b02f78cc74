// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decision points of how a stream ends (RFC 5041 section 6, RFC 5040 section 6.2, RFC 5044
// section 7.2).
#pragma once

#include <cstdint>
#include <optional>

#include "reference_rnic/stream/choice.hpp"
#include "reference_rnic/stream/config.hpp"
#include "reference_rnic/stream/fault.hpp"
#include "reference_rnic/stream/llp_state.hpp"
#include "reference_rnic/stream/work.hpp"

namespace rnic::stream {

enum class State : std::uint8_t;
enum class Closing : std::uint8_t;

/// How far the end of a stream has progressed.
struct Ending {
  Role role;
  State state;
  LlpState llp = LlpState::open;
  /// Some octets of a startup frame have arrived, but not all.
  bool frame_begun = false;
};

/// What the peer's FIN does.
struct PeerCloseReaction {
  /// The FIN is processed.
  bool heeded = true;
  /// It ends a startup that is not complete (RFC 5044 section 7.1.2).
  bool ends_startup = true;
  /// The fault, if it came within an FPDU.
  std::optional<Fault> fault;
  /// Nothing further is sent: our half closes as well.
  bool ends_sending = false;
};

/// What the consumer's disconnect does.
struct DisconnectReaction {
  /// The stream ends with this error instead of an orderly close.
  std::optional<Fault> fault;
  /// Work that is posted later is flushed (RFC 5041 section 6.2.1).
  bool refuses_work = true;
  /// Work that has been posted is sent first (RFC 5041 section 6.2.1).
  bool sends_posted_work = true;
  /// What the peer still sends is received (RFC 5041 section 6.2.1).
  bool still_receives = true;
};

struct EndingDecisions {
  virtual void peer_closes(const Ending& /*ending*/, PeerCloseReaction& /*reaction*/) {}
  /// Whether posted work is sent before our half closes (RFC 5041 section 6.2.1).
  virtual void sends_before_close(const Choice<bool>&, bool& /*sends*/) {}
  virtual void disconnects(const Ending& /*ending*/, DisconnectReaction& /*reaction*/) {}
  /// How work ends that is cut off by the loss of the LLP connection (RFC 5041 section 6.2.2).
  virtual void llp_lost(WorkStatus& /*status*/) {}
  /// How the LLP connection is closed once all output is sent.
  virtual void closes(const Ending& /*ending*/, const Choice<Closing>& /*choice*/,
                      Closing& /*closing*/) {}

 protected:
  ~EndingDecisions() = default;
};

}  // namespace rnic::stream
