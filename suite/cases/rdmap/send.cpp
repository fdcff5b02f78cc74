// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 sections 3.3 and 5.1: the four kinds of Send, received and sent by the IUT.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(send_is_delivered_with_its_length,
                 rules("rdmap.send.result-passed-to-ulp", "rdmap.send.size-reported"),
                 in_both_roles, over_both_families) {
  const Work receive = iut.post_receive(256);
  peer.send(send_message(payload(100)));
  expect(receive, completes().with_length(100), "rdmap.send.size-reported");
  expect(receive.buffer, holds(payload(100)), "rdmap.send.result-passed-to-ulp");
}

CONFORMANCE_CASE(send_of_each_kind_consumes_one_receive, rules("rdmap.send.consumes-one-buffer"),
                 needs(capability::remote_invalidate)) {
  const Region target = iut.register_memory(64, access::remote_write);
  const Region other = iut.register_memory(64, access::remote_write);
  const std::vector<Outgoing> kinds{send_message(payload(8, 1)), send_solicited(payload(8, 2)),
                                    send_invalidate(target.stag, payload(8, 3)),
                                    send_solicited_invalidate(other.stag, payload(8, 4))};
  std::vector<Work> receives;
  for (std::size_t i = 0; i < kinds.size(); ++i) receives.push_back(iut.post_receive(16));
  for (const Outgoing& kind : kinds) peer.send(kind);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    expect(receives[i], completes().with_length(8));
    expect(receives[i].buffer, holds(payload(8, static_cast<std::uint8_t>(i + 1))));
  }
}

CONFORMANCE_CASE(sends_of_all_kinds_are_delivered_in_order,
                 rules("rdmap.send.delivered-in-order")) {
  std::vector<Work> receives;
  for (int i = 0; i < 8; ++i) receives.push_back(iut.post_receive(64));
  for (std::uint8_t i = 0; i < 8; ++i)
    peer.send(i % 2 == 0 ? send_message(payload(20, i)) : send_solicited(payload(20, i)));
  for (std::uint8_t i = 0; i < 8; ++i) {
    expect(receives[i], completes().with_length(20));
    expect(receives[i].buffer, holds(payload(20, i)));
  }
}

CONFORMANCE_CASE(send_without_payload_takes_a_receive,
                 rules("rdmap.send.zero-length-consumes-buffer", "rdmap.send.zero-length")) {
  const Work first = iut.post_receive(16), second = iut.post_receive(16);
  peer.send(send_message({}));
  peer.send(send_message(payload(5)));
  expect(first, completes().with_length(0), "rdmap.send.zero-length-consumes-buffer");
  expect(second, completes().with_length(5), "rdmap.send.zero-length-consumes-buffer");
}

CONFORMANCE_CASE(send_shorter_than_the_receive_or_as_long_completes,
                 rules("rdmap.send.shorter-than-buffer", "rdmap.send.size-reported")) {
  for (const std::size_t length : {1UZ, 63UZ, 64UZ}) {
    row(fmt::format("{} octets into 64", length), [&] {
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(length)));
      expect(receive, completes().with_length(static_cast<std::uint32_t>(length)));
      expect(receive.buffer, holds(payload(length)));
    });
  }
}

CONFORMANCE_CASE(send_longer_than_the_receive_fails_the_stream,
                 rules("rdmap.send.too-long-is-error", "ddp.terminate.untagged-message-too-long")) {
  const Work receive = iut.post_receive(64);
  peer.send(send_message(payload(65)));
  expect_rejection({cause::ddp_untagged_message_too_long}, "rdmap.send.too-long-is-error",
                   "ddp.terminate.untagged-message-too-long");
  expect(receive, completes_in_error(), "rdmap.send.too-long-is-error");
}

CONFORMANCE_CASE(failed_send_is_reported_to_the_consumer,
                 rules("rdmap.send.error-passed-up-and-terminated")) {
  const Work receive = iut.post_receive(16);
  peer.send(send_message(payload(200)));
  expect(peer, any_terminate() | advisory(torn_down()));
  expect(receive, completes_in_error());
}

CONFORMANCE_CASE(invalidate_stag_of_a_plain_send_is_ignored,
                 rules("rdmap.header.invalidate-stag-ignored")) {
  Region region = iut.register_memory(64, access::remote_write);
  const Work receive = iut.post_receive(16);
  peer.send(send_message(payload(8)).with_ulp_word(region.stag));
  expect(receive, completes().with_length(8));
  peer.send(rdma_write(region.stag, region.base, payload(16)));
  expect(region, holds(payload(16)));
}

CONFORMANCE_CASE(reserved_rdmap_bits_are_ignored, rules("rdmap.header.reserved-bits-ignored")) {
  const Region region = iut.register_memory(64, access::remote_write);
  const Work receive = iut.post_receive(16);
  peer.send(send_message(payload(8)).with_rdmap_reserved());
  expect(receive, completes().with_length(8));
  peer.send(rdma_write(region.stag, region.base, payload(16)).with_rdmap_reserved());
  expect(region, holds(payload(16)));
}

CONFORMANCE_CASE(solicited_sends_are_told_from_others, rules("rdmap.send.solicited-event")) {
  const Work plain = iut.post_receive(16), solicited = iut.post_receive(16);
  peer.send(send_message(payload(4)));
  peer.send(send_solicited(payload(4)));
  expect(plain, completes().with_solicited(false));
  expect(solicited, completes().with_solicited(true));
}

CONFORMANCE_CASE(iut_sends_messages_in_the_order_posted,
                 rules("rdmap.send.in-submission-order",
                       "rdmap.order.messages-in-submission-order"),
                 in_both_roles) {
  let_iut_send();
  std::vector<Work> works;
  for (std::uint8_t i = 1; i <= 6; ++i) works.push_back(iut.post_send(payload(30, i)));
  for (std::uint8_t i = 1; i <= 6; ++i) expect(peer, message(Opcode::send, payload(30, i)));
  for (const Work& work : works) expect(work, completes());
}

CONFORMANCE_CASE(iut_sends_each_kind_with_its_opcode, rules("rdmap.header.opcode-from-table"),
                 needs(capability::solicited)) {
  let_iut_send();
  const Work plain = iut.post_send(payload(9));
  expect(peer, message(Opcode::send, payload(9)));
  const Work solicited = iut.post_send(payload(9, 2), operation::send_solicited);
  expect(peer, message(Opcode::send_solicited, payload(9, 2)));
  expect(plain, completes());
  expect(solicited, completes());
}

CONFORMANCE_CASE(iut_sends_a_message_without_payload, rules("rdmap.send.zero-length")) {
  let_iut_send();
  const Work work = iut.post_send({});
  expect(peer, message(Opcode::send, Octets{}));
  expect(work, completes());
}

CONFORMANCE_CASE(iut_cuts_a_long_send_into_segments, rules("ddp.segmentation.mo-is-message-offset"),
                 over_both_families) {
  let_iut_send();
  const Octets data = payload(20000);
  const Work work = iut.post_send(data);
  const Message sent = expect_message(Opcode::send);
  expect_that(sent.payload == data, "the 20000 octets posted",
              fmt::format("{} octets, {}", sent.payload.size(),
                          sent.payload == data ? "equal" : "different"));
  expect_that(sent.segments.size() > 1, "several segments, as the EMSS demands",
              fmt::format("{} segments", sent.segments.size()));
  expect(work, completes());
}

CONFORMANCE_CASE(unposted_receives_are_flushed_when_the_stream_ends,
                 rules("ddp.close.outstanding-requests-fail")) {
  const Work first = iut.post_receive(16), second = iut.post_receive(16);
  peer.send(send_message(payload(8)));
  expect(first, completes().with_length(8));
  peer.half_close();
  expect(second, flushed());
}

CASES_OF_FILE(rdmap, send)

}  // namespace suite::cases
