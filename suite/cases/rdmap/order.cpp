// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 5.5: the order of messages on the stream, of their delivery, and of completions.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(messages_of_all_kinds_leave_in_the_order_posted,
                 rules("rdmap.order.messages-in-submission-order"), in_both_roles) {
  let_iut_send();
  const Work write = iut.post_write(payload(40), 0x01020304, 0x100);
  const Work send = iut.post_send(payload(20));
  const Work read = iut.post_read(8, 0x01020304, 0);
  const Work last = iut.post_send(payload(21, 9));
  expect(peer, tagged_message(Opcode::rdma_write, 0x01020304, 0x100, payload(40)));
  expect(peer, message(Opcode::send, payload(20)));
  const auto request = expect_message(Opcode::read_request).read_request();
  expect(peer, message(Opcode::send, payload(21, 9)));
  peer.send(read_response(request->sink_stag, request->sink_offset, payload(8)));
  for (const Work& work : {write, send, read, last}) expect(work, completes());
}

CONFORMANCE_CASE(receive_does_not_complete_before_the_last_segment,
                 rules("rdmap.order.sends-delivered-after-ddp")) {
  const Work receive = iut.post_receive(64);
  const auto segments = peer.prepare(send_message(payload(64)).with_segments_of(32));
  peer.send(segments.front());
  expect_none(completion_of(receive));
  peer.send(segments.back());
  expect(receive, completes().with_length(64));
}

CONFORMANCE_CASE(send_does_not_complete_before_the_stream_can_carry_it,
                 rules("rdmap.order.completion-after-ddp")) {
  // The Responder may not send before the Initiator's first FPDU
  // (RFC 5044 7.1.2), so its Send has to wait.
  establish();
  if (!iut_is_responder())
    stop(Verdict::not_applicable, "only a Responder can be kept from sending");
  const Work send = iut.post_send(payload(16));
  expect(peer, silence());
  const auto early = iut.take(completion_of(send).matches, context().world.now());
  expect_that(!early.has_value(), "no completion", early ? describe(*early) : "none");
}

CONFORMANCE_CASE(fenced_work_waits_for_all_reads,
                 rules("rdmap.order.read-completes-after-response")) {
  let_iut_send();
  const Work first = iut.post_read(8, 0x01020304, 0), second = iut.post_read(8, 0x01020304, 8);
  const auto one = expect_message(Opcode::read_request).read_request();
  const auto two = expect_message(Opcode::read_request).read_request();
  const Work fenced =
      iut.post_send(payload(10), operation::send, [](iut::PostWork& work) { work.fence = true; });
  peer.send(read_response(one->sink_stag, one->sink_offset, payload(8)));
  expect(first, completes().with_length(8));
  expect(peer, silence());
  peer.send(read_response(two->sink_stag, two->sink_offset, payload(8)));
  expect(peer, message(Opcode::send, payload(10)));
  expect(second, completes().with_length(8));
  expect(fenced, completes());
}

CASES_OF_FILE(rdmap, order)

}  // namespace suite::cases
