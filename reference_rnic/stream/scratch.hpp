// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Memory that streams which are driven one after another share.
#pragma once

#include <vector>

#include "reference_rnic/stream/framing_decisions.hpp"
#include "reference_rnic/stream/outbound_buffer.hpp"
#include "reference_rnic/stream/receive_scratch.hpp"

namespace rnic::stream {

struct Scratch {
  ReceiveScratch receive;
  SendScratch send;

  // Lists of one call into a stream, kept for their memory.
  std::vector<wire::MutableBytes> targets;  ///< of the next octets from the LLP
  std::vector<wire::MutableBytes> places;   ///< of the payload of a segment
  std::vector<wire::Bytes> pieces;          ///< of the segment being queued
  std::vector<wire::Bytes> covered;         ///< by the CRC of the FPDU being queued
  FpduOutcome outcome;                      ///< of the FPDU being received
};

}  // namespace rnic::stream
