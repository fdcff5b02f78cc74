// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A protocol violation as a value: its Terminate cause, and the segment in which it was found.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "reference_rnic/wire/ddp.hpp"
#include "reference_rnic/wire/rdmap.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace rnic::stream {

/// What a Terminate copies of the segment at fault (RFC 5040 section 4.8): its DDP header and its
/// length.
struct Offender {
  std::array<std::byte, wire::untagged_header_size> header{};
  std::size_t header_size = 0;
  std::uint16_t segment_length = 0;  ///< of the whole segment as DDP received it, header included

  [[nodiscard]] wire::Bytes ddp_header() const { return wire::Bytes(header).first(header_size); }
  [[nodiscard]] static Offender of(wire::Bytes ddp_header, std::size_t segment_length) {
    Offender offender;
    offender.header_size = std::min(ddp_header.size(), offender.header.size());
    std::ranges::copy(ddp_header.first(offender.header_size), offender.header.begin());
    offender.segment_length = static_cast<std::uint16_t>(segment_length);
    return offender;
  }
};

struct Fault {
  wire::TerminateCause cause;
  std::string detail;                ///< one line for engineers
  std::optional<Offender> offender;  ///< none for errors that no incoming segment caused
  std::optional<wire::ReadRequestHeader>
      request;  ///< the part of the Read Request at fault that is not served yet
  /// Other causes that also describe the fault, besides those of describing_too()
  /// (docs/disputes.md).
  std::span<const wire::TerminateCause> also{};
};

/// A segment whose DDP header has arrived. `segment.payload` is empty if the payload is received
/// directly into place.
struct IncomingSegment {
  wire::Segment segment;
  std::size_t payload_length = 0;

  [[nodiscard]] Offender offender() const {
    return Offender::of(segment.header(), segment.header().size() + payload_length);
  }
  [[nodiscard]] Fault fault(wire::TerminateCause cause, std::string detail) const {
    return {cause, std::move(detail), offender(), std::nullopt};
  }
};

}  // namespace rnic::stream
