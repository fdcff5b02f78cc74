// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The receiving side of tagged messages (RFC 5041 sections 4.2 and 7.1): RDMA Writes, and the
// Responses to our own Reads.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "reference_rnic/stream/context.hpp"
#include "reference_rnic/stream/fault.hpp"
#include "reference_rnic/stream/send_queue.hpp"

namespace rnic::stream {

class TaggedReceive {
 public:
  TaggedReceive(Context& context, SendQueue& send_queue)
      : context_(context), send_queue_(send_queue) {}

  using Places = std::span<const wire::MutableBytes>;
  /// Checks the segment and says where its payload goes.
  [[nodiscard]] std::expected<Places, Fault> begin(const IncomingSegment& incoming);
  /// Where the last `left` octets of the payload go; checked anew.
  [[nodiscard]] std::expected<Places, Fault> rest(const IncomingSegment& incoming,
                                                  std::size_t left);
  /// The payload of `incoming`, begun before, is in place.
  [[nodiscard]] std::optional<Fault> end(const IncomingSegment& incoming);

 private:
  [[nodiscard]] std::optional<Fault> check_response(const IncomingSegment& incoming);
  [[nodiscard]] std::expected<Places, Fault> places(const IncomingSegment& incoming,
                                                    std::size_t from);
  [[nodiscard]] bool ignores(MemoryFault fault) const;

  Context& context_;
  SendQueue& send_queue_;
  std::vector<wire::MutableBytes> places_;
};

}  // namespace rnic::stream
