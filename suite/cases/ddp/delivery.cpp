// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5041 sections 5.2 to 5.4: segmentation, placement and delivery.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(message_of_many_segments_is_delivered_whole,
                 rules("ddp.delivery.complete-message-delivered", "ddp.untagged.placed-at-mo"),
                 in_both_roles, over_both_families) {
  const Work receive = iut.post_receive(4096);
  peer.send(send_message(payload(4000)).with_segments_of(700));
  expect(receive, completes().with_length(4000), "ddp.delivery.complete-message-delivered");
  expect(receive.buffer, holds(payload(4000)), "ddp.untagged.placed-at-mo");
}

CONFORMANCE_CASE(message_is_not_delivered_before_its_last_segment,
                 rules("ddp.delivery.only-with-last-flag")) {
  const Work receive = iut.post_receive(64);
  const auto segments = peer.prepare(send_message(payload(40)).with_segments_of(20));
  peer.send(segments[0]);
  expect_none(completion_of(receive));
  peer.send(segments[1]);
  expect(receive, completes().with_length(40));
}

CONFORMANCE_CASE(messages_are_delivered_in_the_order_sent, rules("rdmap.send.delivered-in-order")) {
  std::vector<Work> receives;
  for (int i = 0; i < 8; ++i) receives.push_back(iut.post_receive(64));
  for (std::size_t i = 0; i < 8; ++i) peer.send(send_message(payload(10 + i)));
  for (std::size_t i = 0; i < 8; ++i) {
    const auto next = iut.take<iut::CompletionEvent>(context().deadline);
    expect_that(next && next->work == receives[i].id && next->length == 10 + i,
                fmt::format("the completion of receive {} with {} octets", receives[i].id, 10 + i),
                next ? describe(*next) : "none", "rdmap.send.delivered-in-order");
  }
}

CONFORMANCE_CASE(message_is_delivered_once, rules("ddp.delivery.at-most-once")) {
  const Work first = iut.post_receive(64), second = iut.post_receive(64);
  peer.send(send_message(payload(16)));
  expect(first, completes().with_length(16));
  expect_none(completion_of(first) | completion_of(second));
}

CONFORMANCE_CASE(message_without_payload_is_delivered,
                 rules("ddp.segmentation.zero-length-accepted",
                       "rdmap.send.zero-length-consumes-buffer"),
                 in_both_roles) {
  const Work first = iut.post_receive(64), second = iut.post_receive(64);
  peer.send(send_message({}));
  expect_still_working("ddp.segmentation.zero-length-accepted");
  expect(first, completes().with_length(0), "rdmap.send.zero-length-consumes-buffer");
  peer.send(send_message(payload(5)));
  expect(second, completes().with_length(5), "rdmap.send.zero-length-consumes-buffer");
}

CONFORMANCE_CASE(message_that_fills_its_buffer_exactly_is_delivered,
                 rules("rdmap.send.shorter-than-buffer", "ddp.untagged.check-end-in-range")) {
  const Work receive = iut.post_receive(64);
  peer.send(send_message(payload(64)));
  expect(receive, completes().with_length(64), "ddp.untagged.check-end-in-range");
  expect(receive.buffer, holds(payload(64)));
}

CONFORMANCE_CASE(write_is_placed_before_the_send_after_it_is_delivered,
                 rules("ddp.delivery.only-when-prior-placed",
                       "rdmap.order.send-covers-earlier-writes")) {
  const Region region = iut.register_memory(4096, access::remote_write);
  const Work receive = iut.post_receive(64);
  peer.send_together({rdma_write(region.stag, region.base, payload(1000)), send_message({})});
  expect(receive, completes());
  expect_that(iut.read_memory(region) == holds(payload(1000)).wanted(region),
              "the data of the Write in memory", "other octets",
              "rdmap.order.send-covers-earlier-writes");
}

CASES_OF_FILE(ddp, delivery)

}  // namespace suite::cases
