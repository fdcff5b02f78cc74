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

/// Connects `other` to a new endpoint whose completion queue is small and never emptied, and sends
/// more messages than it has room for. Returns the endpoint.
[[nodiscard]] inline iut::Handle overflow_completion_queue(Body& body, Peer& other) {
  constexpr std::uint32_t asked = 4, messages = 256;  // since an RNIC may give more than asked
  constexpr iut::WorkId first_work = 1000;
  iut::CreateEndpoint small;
  small.receive_depth = messages;
  small.completion_depth = asked;
  const iut::Handle endpoint = body.iut.create_endpoint(small);
  body.establish(other, {.endpoint = endpoint, .opening = true});
  const Region buffer =
      body.iut.register_memory(8);  // of all of them, whatever it holds afterwards
  for (std::uint32_t i = 0; i < messages; ++i)
    body.iut.call(iut::PostReceive{endpoint, 0, first_work + i, {{buffer.handle, 0, 8}}},
                  "post a receive");
  for (std::uint32_t i = 0; i < messages && other.is_open(); ++i)
    other.send(send_message(payload(8)));
  return endpoint;
}

}  // namespace suite::cases
