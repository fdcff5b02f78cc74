// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What of each TCP stream of a capture may be shown: MPA, DDP and RDMAP headers, Markers, pads, and
// CRCs that fit what is left. All other octets become zero.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "dissectors/analyzer/events.hpp"

namespace dissectors::scrub {

/// The octets that are kept of one direction of a connection, by their offset in its stream.
class KeptOctets {
 public:
  /// Keeps these octets, which begin at `offset`; zeros need not be kept.
  void keep(std::uint64_t offset, base::Bytes octets);
  /// Writes what is kept of the stream from `offset` on into `out`, whose other octets stay as they
  /// are.
  void copy_to(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  void add(std::uint64_t offset, base::Bytes octets);
  std::map<std::uint64_t, std::vector<std::byte>> pieces_;
  std::size_t longest_ = 0;
};

/// The MPA Frame with zeros for the private data of the ULP.
[[nodiscard]] std::vector<std::byte> without_private_data(const analyzer::MpaFrameSeen& seen);

/// The FPDU as on the wire, Markers included, with zeros for the payload of Sends, RDMA Writes and
/// Read Responses. A CRC that was right is right, one that was wrong is wrong by the same bits.
[[nodiscard]] std::vector<std::byte> without_payload(const analyzer::FpduSeen& seen);

}  // namespace dissectors::scrub
