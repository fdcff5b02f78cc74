// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 5.3: the four Sends, in both directions.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(sends_are_well_formed,
                 rules("rdmap.send.queue-zero", "ddp.untagged.header-format",
                       "ddp.header.dv-is-one", "ddp.header.rsvd-zero-on-send",
                       "rdmap.header.version-one", "rdmap.header.reserved-bits-zero",
                       "rdmap.header.invalidate-stag-zero", "ddp.untagged.msn-starts-at-one"),
                 rules("ddp.untagged.msn-increments-per-message", "ddp.untagged.first-mo-zero",
                       "ddp.segmentation.mo-is-message-offset", "ddp.untagged.msn-same-in-segments",
                       "ddp.header.l-set-on-last", "ddp.header.l-clear-on-others",
                       "ddp.segmentation.all-data-sent",
                       "ddp.segmentation.zero-length-one-segment"),
                 rules("ddp.untagged.qn-same-in-segments", "ddp.untagged.rsvdulp-same-in-segments",
                       "rdmap.send.untagged-buffer", "rdmap.atomic.queue-three-responses-only",
                       "rdmap.header.reserved-opcodes-not-sent", "ddp.segmentation.increasing-mo",
                       "ddp.header.l-segment-sent-last", "ddp.untagged.l-segment-highest-mo"),
                 rules("ddp.header.present-in-every-segment"), in_both_roles) {
  let_iut_send();
  for (const std::size_t size : {5000, 0, 1, 100}) {
    const Work work = iut.post_send(payload(size));
    expect(peer, message(Opcode::send, payload(size)), "ddp.segmentation.all-data-sent");
    expect(work, completes());  // APIs report no length for what is sent
  }
}

CONFORMANCE_CASE(opcode_is_that_of_the_posted_operation, rules("rdmap.header.opcode-values"),
                 needs(capability::solicited)) {
  let_iut_send();
  const Work plain = iut.post_send(payload(4)),
             solicited = iut.post_send(payload(4), operation::send_solicited);
  expect(peer, message(Opcode::send, payload(4)));
  expect(peer, message(Opcode::send_solicited, payload(4)));
}

CONFORMANCE_CASE(send_with_invalidate_carries_the_stag,
                 rules("rdmap.invalidate.references-stag", "rdmap.header.invalidate-stag-octets",
                       "rdmap.invalidate.stag-passed-to-ddp"),
                 needs(capability::send_invalidate)) {
  let_iut_send();
  const Work work = iut.post_send(payload(3000), operation::send_invalidate,
                                  [](auto& post) { post.invalidate_stag = 0x01020304; });
  const Arrival arrival = expect(peer, message(Opcode::send_invalidate, payload(3000)));
  const std::uint32_t stag = arrival.as<Message>()->untagged_header.ulp_word.value();
  expect_that(stag == 0x01020304, "the STag 0x01020304", fmt::format("{:#010x}", stag),
              "rdmap.header.invalidate-stag-octets");
}

CONFORMANCE_CASE(work_is_sent_in_the_order_posted,
                 rules("rdmap.order.messages-in-submission-order",
                       "rdmap.order.completed-in-submission-order")) {
  let_iut_send();
  std::vector<Work> works;
  for (std::size_t i = 0; i < 6; ++i)
    works.push_back(i % 2 == 0 ? iut.post_send(payload(10 + i))
                               : iut.post_write(payload(10 + i), 0x77, 0x1000 + i));
  for (std::size_t i = 0; i < 6; ++i)
    expect(peer,
           i % 2 == 0 ? message(Opcode::send, payload(10 + i))
                      : tagged_message(Opcode::rdma_write, 0x77, 0x1000 + i, payload(10 + i)),
           "rdmap.order.messages-in-submission-order");
  for (const Work& work : works) {
    const auto next = iut.take<iut::CompletionEvent>(context().deadline);
    expect_that(next && next->work == work.id, fmt::format("the completion of work {}", work.id),
                next ? describe(*next) : "none", "rdmap.order.completed-in-submission-order");
  }
}

CONFORMANCE_CASE(received_send_is_shown_with_its_length,
                 rules("rdmap.send.size-reported", "rdmap.send.result-passed-to-ulp"),
                 in_both_roles) {
  const Work receive = iut.post_receive(256);
  peer.send(send_message(payload(77)));
  expect(receive, completes().with_length(77));
  expect(receive.buffer, holds(payload(77)), "rdmap.send.result-passed-to-ulp");
}

CONFORMANCE_CASE(solicited_send_is_shown_as_such, rules("rdmap.send.solicited-event"),
                 needs(capability::solicited)) {
  const Work plain = iut.post_receive(64), solicited = iut.post_receive(64);
  peer.send(send_message(payload(4)));
  peer.send(send_solicited(payload(5)));
  expect(plain, completes().with_length(4).with_solicited(false));
  expect(solicited, completes().with_length(5).with_solicited(true));
}

CONFORMANCE_CASE(solicited_event_reaches_the_consumer, rules("ddp.delivery.rsvdulp-given"),
                 needs(capability::solicited)) {
  const Work receive = iut.post_receive(64);
  peer.send(send_solicited(payload(5)));
  expect(receive, completes().with_solicited(true));
}

CONFORMANCE_CASE(send_with_invalidate_ends_remote_access,
                 rules("rdmap.invalidate.stag-invalidated", "rdmap.invalidate.stag-reported-to-ulp",
                       "ddp.untagged.rsvdulp-given-to-ulp"),
                 needs(capability::remote_invalidate)) {
  const Region region = iut.register_memory(4096, access::remote_write);
  const Work receive = iut.post_receive(64);
  peer.send(send_invalidate(region.stag, payload(8)));
  expect(receive, completes().with_length(8).invalidating(region.stag),
         "rdmap.invalidate.stag-reported-to-ulp");
  peer.send(rdma_write(region.stag, region.base, payload(16)));
  expect(peer, any_terminate() | torn_down(), "rdmap.invalidate.stag-invalidated");
  expect(region, unchanged, "ddp.untagged.rsvdulp-given-to-ulp");
}

CONFORMANCE_CASE(invalidating_an_unknown_stag_is_an_error,
                 rules("rdmap.error.invalidate-stag-valid"), needs(capability::remote_invalidate)) {
  const Work receive = iut.post_receive(64);
  const Region region = iut.register_memory(64, access::remote_write);
  peer.send(send_invalidate(region.stag_with_other_key(), payload(8)));
  expect_rejection(refusal::invalidation_of_nothing, "rdmap.error.invalidate-stag-valid",
                   "rdmap.error.invalidate-stag-valid");
}

CONFORMANCE_CASE(stag_of_another_domain_is_not_invalidated,
                 rules("rdmap.invalidate.association-verified",
                       "rdmap.terminate.code-cannot-invalidate-protection"),
                 needs(capability::remote_invalidate)) {
  const Work receive = iut.post_receive(64);
  const Region region = iut.register_memory(64, access::remote_write, 0xA5, iut.create_domain());
  peer.send(send_invalidate(region.stag, payload(8)));
  expect_rejection(refusal::invalidation_of_another_domain, "rdmap.invalidate.association-verified",
                   "rdmap.terminate.code-cannot-invalidate-protection");
}

CONFORMANCE_CASE(refused_invalidation_ends_the_stream,
                 rules("rdmap.invalidate.terminate-if-not-associated",
                       "rdmap.error.invalidate-stag-associated"),
                 needs(capability::remote_invalidate)) {
  const Work receive = iut.post_receive(64);
  const Region region = iut.register_memory(64, access::remote_write, 0xA5, iut.create_domain());
  peer.send(send_invalidate(region.stag, payload(8)));
  expect(peer, any_terminate() | torn_down());
  expect(receive, completes_in_error(), "rdmap.error.invalidate-stag-associated");
}

CONFORMANCE_CASE(each_queue_counts_its_own_messages,
                 rules("ddp.untagged.msn-increments-per-message")) {
  let_iut_send();
  for (int i = 0; i < 3; ++i) {
    const Work send = iut.post_send(payload(8)), read = iut.post_read(8, 0x77, 0x1000);
    expect(peer, message(Opcode::send));
    const auto request = expect_message(Opcode::read_request).read_request();
    peer.send(read_response(request->sink_stag, request->sink_offset, payload(8)));
  }
}

CONFORMANCE_CASE(reserved_rdmap_bits_are_ignored, rules("rdmap.header.reserved-bits-ignored")) {
  const Work receive = iut.post_receive(64);
  peer.send(send_message(payload(16)).with_rdmap_reserved());
  expect(receive, completes().with_length(16));
}

CONFORMANCE_CASE(reserved_opcodes_are_rejected,
                 rules("rdmap.error.opcode-validated", "rdmap.terminate.code-unexpected-opcode")) {
  for (const std::uint8_t opcode : std::initializer_list<std::uint8_t>{0xC, 0xD, 0xE, 0xF}) {
    row(fmt::format("opcode {:#x}", opcode), [&] {
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(16)).with_opcode(opcode));
      expect_rejection({cause::rdmap_unexpected_opcode}, "rdmap.error.opcode-validated",
                       "rdmap.terminate.code-unexpected-opcode");
    });
  }
}

CONFORMANCE_CASE(opcode_on_the_wrong_queue_is_rejected,
                 rules("rdmap.terminate.code-unexpected-opcode",
                       "rdmap.error.read-request-opcode")) {
  row("a Read Request on queue 0", [&] {
    const Work receive = iut.post_receive(64);
    peer.send(read_request({}).with_queue(0));
    expect_rejection(refusal::opcode_on_another_queue, "rdmap.terminate.code-unexpected-opcode",
                     "rdmap.terminate.code-unexpected-opcode");
  });
  row("a Terminate on queue 0", [&] {
    const Work receive = iut.post_receive(64);
    peer.send(terminate_message(cause::rdmap_local_catastrophic).with_queue(0));
    expect_rejection(refusal::opcode_on_another_queue, "rdmap.terminate.code-unexpected-opcode",
                     "rdmap.terminate.code-unexpected-opcode");
    expect(receive, completes_in_error(), "rdmap.terminate.code-unexpected-opcode");
  });
  row("a Send on queue 1", [&] {
    const Work receive = iut.post_receive(64);
    peer.send(send_message(payload(28)).with_queue(1));
    expect_rejection(refusal::opcode_on_another_queue, "rdmap.error.read-request-opcode",
                     "rdmap.terminate.code-unexpected-opcode");
  });
}

CONFORMANCE_CASE(other_rdmap_versions_are_rejected,
                 rules("rdmap.error.version-validated", "rdmap.terminate.code-invalid-version")) {
  for (const std::uint8_t version : std::initializer_list<std::uint8_t>{2, 3}) {
    row(fmt::format("RV {}", version), [&] {
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(16)).with_rdmap_version(version));
      expect_rejection({cause::rdmap_invalid_version}, "rdmap.error.version-validated",
                       "rdmap.terminate.code-invalid-version");
    });
  }
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
                 rules("rdmap.send.delivered-in-order", "rdmap.order.sends-delivered-in-order")) {
  std::vector<Work> receives;
  for (int i = 0; i < 8; ++i) receives.push_back(iut.post_receive(64));
  for (std::uint8_t i = 0; i < 8; ++i)
    peer.send(i % 2 == 0 ? send_message(payload(20, i)) : send_solicited(payload(20, i)));
  for (std::uint8_t i = 0; i < 8; ++i) {
    expect(receives[i], completes().with_length(20));
    expect(receives[i].buffer, holds(payload(20, i)), "rdmap.order.sends-delivered-in-order");
  }
}

CONFORMANCE_CASE(send_without_payload_consumes_a_receive,
                 rules("rdmap.send.zero-length-consumes-buffer")) {
  const Work first = iut.post_receive(16), second = iut.post_receive(16);
  peer.send(send_message({}));
  peer.send(send_message(payload(5)));
  expect(first, completes().with_length(0), "rdmap.send.zero-length-consumes-buffer");
  expect(second, completes().with_length(5), "rdmap.send.zero-length-consumes-buffer");
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
  for (const bool solicited : {false, true}) {
    row(solicited ? "Send with SE" : "Send", [&] {
      const Region region = iut.register_memory(64, access::remote_write);
      const Work receive = iut.post_receive(16);
      const Octets data = payload(8);
      peer.send((solicited ? send_solicited(data) : send_message(data)).with_ulp_word(region.stag));
      expect(receive, completes().with_length(8));
      peer.send(rdma_write(region.stag, region.base, payload(16)));
      expect(region, holds(payload(16)));
    });
  }
}

CONFORMANCE_CASE(send_shorter_than_the_receive_or_as_long_completes,
                 rules("rdmap.send.shorter-than-buffer")) {
  for (const std::size_t length : {1UZ, 63UZ, 64UZ}) {
    row(fmt::format("{} octets into 64", length), [&] {
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(length)));
      expect(receive, completes().with_length(static_cast<std::uint32_t>(length)));
      expect(receive.buffer, holds(payload(length)));
    });
  }
}

CONFORMANCE_CASE(empty_solicited_send_consumes_one_receive,
                 rules("rdmap.send.zero-length-consumes-buffer"), in_both_roles) {
  const Work first = iut.post_receive(64), second = iut.post_receive(64);
  peer.send(send_solicited({}));
  peer.send(send_solicited(payload(5)));
  expect(first, completes().with_length(0));
  expect(second, completes().with_length(5));
}

CASES_OF_FILE(rdmap, send)

}  // namespace suite::cases
