// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 7306 section 6: Immediate Data, in both directions.
#include <algorithm>

#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/rdmap/atomic_steps.hpp"

namespace suite::cases {

namespace {

Work post_immediate(Body& test, const Octets& eight, const char* kind = operation::immediate) {
  iut::PostWork post;
  post.operation = kind;
  std::ranges::copy(eight, post.immediate.begin());
  return test.iut.post(post);
}

}  // namespace

CONFORMANCE_CASE(immediate_data_are_sent_as_eight_octets,
                 rules("rdmap.immediate.eight-octets-sent", "rdmap.immediate.header-format",
                       "rdmap.immediate.opcode-values", "rdmap.immediate.queue-zero",
                       "rdmap.immediate.untagged-buffer", "rdmap.immediate.version-one",
                       "rdmap.immediate.other-control-fields",
                       "rdmap.immediate.invalidate-stag-zero"),
                 needs(capability::immediate), in_both_roles) {
  let_iut_send();
  const Work plain = post_immediate(*this, payload(8));
  const Message sent = expect_message(Opcode::immediate, "rdmap.immediate.opcode-values");
  expect_that(sent.payload.size() == 8, "8 octets", fmt::format("{} octets", sent.payload.size()),
              "rdmap.immediate.eight-octets-sent");
  expect_that(sent.payload == payload(8), "the octets that the consumer gave", "other octets",
              "rdmap.immediate.header-format");
  expect(plain, completes(), "rdmap.immediate.eight-octets-sent");
  const Work solicited = post_immediate(*this, payload(8, 40), operation::immediate_solicited);
  expect(peer, message(Opcode::immediate_solicited, payload(8, 40)),
         "rdmap.immediate.opcode-values");
}

CONFORMANCE_CASE(immediate_data_keep_their_place_among_sends,
                 rules("rdmap.immediate.in-submission-order"), needs(capability::immediate)) {
  let_iut_send();
  const Work first = iut.post_send(payload(5)), second = post_immediate(*this, payload(8)),
             third = iut.post_write(payload(6), 0x77, 0x1000), fourth = iut.post_send(payload(7));
  expect(peer, message(Opcode::send, payload(5)));
  expect(peer, message(Opcode::immediate));
  expect(peer, tagged_message(Opcode::rdma_write, 0x77, 0x1000, payload(6)));
  expect(peer, message(Opcode::send, payload(7)));
}

CONFORMANCE_CASE(immediate_data_cause_a_completion, rules("rdmap.immediate.causes-completion"),
                 needs(capability::immediate), in_both_roles) {
  const Work receive = iut.post_receive(64);
  peer.send(immediate_data(payload(8)));
  expect(receive, completes());
}

CONFORMANCE_CASE(immediate_data_reach_the_consumer, rules("rdmap.immediate.data-passed-to-ulp"),
                 needs(capability::immediate), in_both_roles) {
  for (const bool solicited : {false, true}) {
    row(solicited ? "with SE" : "without SE", [&] {
      const Work receive = iut.post_receive(64);
      peer.send(immediate_data(payload(8), solicited));
      expect(receive, completes().with_immediate(payload(8)).with_solicited(solicited));
    });
  }
}

CONFORMANCE_CASE(immediate_data_consume_one_receive, rules("rdmap.immediate.consumes-one-buffer"),
                 needs(capability::immediate)) {
  const Work first = iut.post_receive(64), second = iut.post_receive(64);
  peer.send_together({immediate_data(payload(8)), send_message(payload(10))});
  expect(first, completes().with_immediate(payload(8)));
  expect(second, completes().with_length(10));
}

CONFORMANCE_CASE(immediate_data_without_a_receive_are_refused,
                 rules("rdmap.immediate.consumes-one-buffer"), needs(capability::immediate)) {
  let_iut_send();
  peer.send(immediate_data(payload(8)));
  // They may wait for a buffer, where the LLP lets them (docs/disputes.md D9).
  expect(peer, only_terminate({cause::ddp_untagged_no_buffer}) | silence() |
                   advisory(torn_down() | any_terminate()));
}

CONFORMANCE_CASE(immediate_data_of_another_length_are_detected,
                 rules("rdmap.immediate.length-checked"), needs(capability::immediate)) {
  for (const std::size_t length : {0U, 7U, 9U}) {
    row(fmt::format("{} octets", length), [&] {
      const Work receive = iut.post_receive(64);
      peer.send(immediate_data(payload(length)));
      expect(peer, any_terminate() | advisory(torn_down()), "rdmap.immediate.length-checked");
    });
  }
}

CONFORMANCE_CASE(immediate_data_come_after_the_write_before_them,
                 rules("rdmap.immediate.covers-earlier-writes",
                       "rdmap.immediate.causes-completion"),
                 needs(capability::immediate)) {
  const Region region = iut.register_memory(4096, access::remote_write);
  const Work receive = iut.post_receive(64);
  peer.send_together(
      {rdma_write(region.stag, region.base, payload(4000)), immediate_data(payload(8))});
  expect(receive, completes(), "rdmap.immediate.causes-completion");
  // Read immediately: what arrives later does not count.
  expect_that(iut.read_memory(region) == holds(payload(4000)).wanted(region),
              "the payload of the Write in place", "other contents");
}

CONFORMANCE_CASE(immediate_data_arrive_in_the_order_sent,
                 rules("rdmap.immediate.delivered-in-order", "rdmap.immediate.ordered-like-send"),
                 needs(capability::immediate), in_both_roles) {
  std::vector<Work> receives;
  for (int i = 0; i < 5; ++i) receives.push_back(iut.post_receive(64));
  peer.send_together({immediate_data(payload(8, 1)), immediate_data(payload(8, 2), true),
                      send_message(payload(12)), immediate_data(payload(8, 3)),
                      immediate_data(payload(8, 4))});
  expect(receives[0], completes().with_immediate(payload(8, 1)));
  expect(receives[1], completes().with_immediate(payload(8, 2)).with_solicited(true));
  expect(receives[2], completes().with_length(12), "rdmap.immediate.ordered-like-send");
  expect(receives[3], completes().with_immediate(payload(8, 3)));
  expect(receives[4], completes().with_immediate(payload(8, 4)));
}

CONFORMANCE_CASE(late_read_response_is_accepted_after_immediate_data,
                 rules("rdmap.immediate.may-pass-read-response"), needs(capability::immediate),
                 in_both_roles) {
  let_iut_send();
  const Work read = iut.post_read(8, 0x77, 0x1000), sent = post_immediate(*this, payload(8));
  const auto request = expect_message(Opcode::read_request).read_request();
  expect_around({message(Opcode::immediate, payload(8))}, [&] {
    peer.send(read_response(request->sink_stag, request->sink_offset, payload(8, 9)));
  });
  expect_in_order({read, sent});
  expect(read.buffer, holds(payload(8, 9)));
}

CONFORMANCE_CASE(late_atomic_response_is_accepted_after_immediate_data,
                 rules("rdmap.immediate.may-pass-atomic-response",
                       "rdmap.atomic.response-after-later-messages"),
                 needs(capability::immediate, capability::atomics), in_both_roles) {
  let_iut_send();
  const Work atomic = post_atomic(*this, operation::fetch_add, 1),
             sent = post_immediate(*this, payload(8));
  const AtomicRequestFields request = expect_request(*this);
  expect_around({message(Opcode::immediate, payload(8))},
                [&] { peer.send(atomic_response(request.request_id, symmetric)); });
  expect_in_order({atomic, sent}, "rdmap.atomic.response-after-later-messages");
  expect(atomic.buffer, holds(octets_of(symmetric)));
}

CASES_OF_FILE(rdmap, immediate)

}  // namespace suite::cases
