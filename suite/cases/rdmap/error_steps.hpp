// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Steps that the files about errors and Terminates share: messages that the IUT must refuse, and
// how a stream in error ends.
#pragma once

#include "reference_rnic/wire/zeros.hpp"
#include "suite/cases/framework/body.hpp"

namespace suite::cases {

/// An STag that no IUT gives out in a test.
inline constexpr std::uint32_t unknown_stag = 0x7FFFFF01;

/// A message that DDP must refuse: a Write with an unknown STag.
[[nodiscard]] inline Outgoing bad_write() { return rdma_write(unknown_stag, 0x1000, payload(24)); }

[[nodiscard]] inline Outgoing at_message_offset(const Outgoing& message, std::uint32_t offset) {
  return message.with_untagged(
      [=](std::size_t, rnic::wire::UntaggedHeader& header) { header.message_offset = offset; });
}

/// Its DDP Segment Length is that of the segment `ulpdu`, or of the message that ends with it
/// (docs/disputes.md D100).
[[nodiscard]] inline bool tells_length_of(const rnic::wire::Terminate& terminate,
                                          const Octets& ulpdu) {
  return terminate.segment_length == ulpdu.size() ||
         rnic::wire::tells_message_length(terminate, ulpdu, ulpdu.size());
}
/// A copied header that is left out, or of zeros (docs/disputes.md D101).
[[nodiscard]] inline bool is_no_header(rnic::wire::Bytes header) {
  return rnic::wire::all_zero(header);
}

/// The stream ends, with or without a Terminate.
[[nodiscard]] inline Expected stream_end() { return any_terminate() | torn_down(); }
/// A Terminate, whatever its cause; that the stream is torn down without one is an advisory
/// (docs/disputes.md D7).
[[nodiscard]] inline Expected some_terminate() { return any_terminate() | advisory(torn_down()); }

/// A Terminate about an error on the IUT's own side: type 0 of the layer that found it.
[[nodiscard]] inline Expected local_error() {
  return {
      "a Terminate about a local error", [](const Arrival& arrival) {
        const auto terminate = arrival.terminate();
        return terminate && terminate->cause.type == 0 &&
               (terminate->cause.layer != 2 || terminate->cause == cause::mpa_local_catastrophic);
      }};
}

}  // namespace suite::cases
