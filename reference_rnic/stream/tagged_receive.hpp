// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The receiving side of tagged messages (RFC 5041 sections 4.2 and 7.1): RDMA Writes, and the
// Responses to our own Reads.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "reference_rnic/stream/incoming.hpp"
#include "reference_rnic/stream/placed_octets.hpp"

namespace rnic::stream {

class TaggedReceive {
 public:
  TaggedReceive(Context& context, SendQueue& send_queue)
      : context_(context), send_queue_(send_queue), places_(context.scratch.places) {}

  using Places = std::span<const wire::MutableBytes>;
  /// Checks the segment and returns where its payload goes.
  [[nodiscard]] std::expected<Places, Fault> begin(const Incoming& incoming);
  /// Where the last `left` octets of the payload go; checked again.
  [[nodiscard]] std::expected<Places, Fault> rest(const Incoming& incoming, std::size_t left);
  /// The payload of `incoming`, for which begin() was called, is in place.
  [[nodiscard]] std::optional<Fault> end(const Incoming& incoming);

 private:
  [[nodiscard]] std::optional<Fault> check_response(const Incoming& incoming);
  [[nodiscard]] std::expected<Places, Fault> places(const Incoming& incoming, std::size_t from);

  Context& context_;
  SendQueue& send_queue_;
  std::vector<wire::MutableBytes>& places_;  ///< of the segment looked at last
  /// Of the Response in progress, counted from the sink offset of its Read.
  PlacedOctets response_;
};

}  // namespace rnic::stream
