// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One RDMA Message to be cut into DDP segments: where it goes, and where its octets come from.
#pragma once

#include <optional>
#include <vector>

#include "reference_rnic/stream/fault.hpp"
#include "reference_rnic/stream/transmitter.hpp"
#include "reference_rnic/wire/ddp.hpp"

namespace rnic::stream {

struct OutgoingMessage {
  wire::Opcode opcode = wire::Opcode::send;
  std::uint32_t invalidate = 0;  ///< untagged: the Invalidate STag field
  std::uint32_t stag = 0;        ///< tagged
  std::uint64_t offset = 0;      ///< tagged: TO of the first octet
  std::uint64_t length = 0;
  MessageTag tag;

  GatherList gather;  ///< payload in consumer memory, if any
  std::vector<std::byte>
      header;  ///< payload that is not the consumer's: an RDMAP header, Immediate Data, a Terminate
  /// Read Response: the payload lies at this STag and offset of our memory, checked and copied
  /// segment by segment.
  struct Source {
    std::uint32_t stag = 0;
    std::uint64_t offset = 0;
    Offender request_segment;
    wire::ReadRequestHeader request;
  };
  std::optional<Source> source;
};

}  // namespace rnic::stream
