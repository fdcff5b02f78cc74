// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Work on whole regions, for cases that keep the IUT busy: long enough to be interrupted, or posted
// again and again.
#pragma once

#include "suite/cases/framework/body.hpp"

namespace suite::cases {

/// Work on all octets of a region; the case sets the other members that its operation needs.
[[nodiscard]] inline iut::PostWork work_on(const Region& region, const char* operation,
                                           iut::Handle endpoint = 0) {
  iut::PostWork work;
  work.endpoint = endpoint;
  work.operation = operation;
  work.pieces = {{region.handle, 0, static_cast<std::uint32_t>(region.length)}};
  return work;
}

/// A Send of much_data().
[[nodiscard]] inline Work post_much(Consumer& iut) {
  return iut.post(work_on(iut.register_memory(much_data().size()), iut::operation::send));
}

/// More than a small completion queue has room for, since an RNIC may give more than asked.
inline constexpr std::uint32_t many_messages = 256;

/// Connects `other` to a new endpoint whose completion queue is small and never emptied, and that has
/// a receive for each of `many_messages`.
[[nodiscard]] inline iut::Handle endpoint_with_a_small_completion_queue(Body& body, Peer& other) {
  constexpr iut::WorkId first_work = 1000;
  iut::CreateEndpoint small;
  small.receive_depth = many_messages;
  small.completion_depth = 4;
  const iut::Handle endpoint = body.iut.create_endpoint(small);
  body.establish(other, {.endpoint = endpoint, .opening = true});
  const Region buffer =
      body.iut.register_memory(8);  // of all of them, whatever it holds afterwards
  for (std::uint32_t i = 0; i < many_messages; ++i)
    body.iut.call(iut::PostReceive{endpoint, 0, first_work + i, {{buffer.handle, 0, 8}}},
                  "post a receive");
  return endpoint;
}

/// Sends more messages to such an endpoint than its completion queue has room for. Returns it.
[[nodiscard]] inline iut::Handle overflow_completion_queue(Body& body, Peer& other) {
  const iut::Handle endpoint = endpoint_with_a_small_completion_queue(body, other);
  for (std::uint32_t i = 0; i < many_messages && other.is_open(); ++i)
    other.send(send_message(payload(8)));
  return endpoint;
}

}  // namespace suite::cases
