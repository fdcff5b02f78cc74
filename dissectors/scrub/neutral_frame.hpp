// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A frame made anew of a TCP segment, with addresses that are kept for documentation. Nothing of the
// old frame is in it but what the segment holds.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "dissectors/capture/frame.hpp"

namespace dissectors::scrub {

/// Gives each address another one, in the order in which they are first asked for: 192.0.2.1, ...
/// (RFC 5737), then 198.18.0.1, ... (RFC 2544); 2001:db8::1, ... (RFC 3849).
class Pseudonyms {
 public:
  [[nodiscard]] capture::Endpoint of(const capture::Endpoint& endpoint);
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::map<capture::Endpoint, std::array<std::byte, 16>> names_;  ///< of port 0
  std::size_t ipv4_ = 0, ipv6_ = 0;
};

/// An Ethernet frame of the segment with this payload, of which a capture has kept only the beginning
/// if it is shorter than the segment's payload_length. Its checksum is right, wrong or not filled
/// in, as the segment's was.
[[nodiscard]] capture::Frame neutral_frame(const capture::Segment& segment, Pseudonyms& names,
                                           std::span<const std::byte> payload, std::uint64_t time);

/// A frame that keeps the place of one that had no TCP segment: of an EtherType for experiments, and
/// empty.
[[nodiscard]] capture::Frame empty_frame(std::uint64_t time);

}  // namespace dissectors::scrub
