// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 sections 4.8, 5.4, 7: what a Terminate holds, what follows it, and what a received one
// does.
#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

// Something that DDP has to refuse: a Write to nowhere.
Outgoing bad_write() { return rdma_write(0x7FFFFF01, 0x1000, payload(24)); }

}  // namespace

CONFORMANCE_CASE(terminate_goes_to_queue_two, rules("rdmap.terminate.queue-two"), in_both_roles,
                 over_both_families) {
  peer.send(bad_write());
  const Arrival arrival = expect(peer, any_terminate() | advisory(torn_down()));
  const Message* sent = arrival.message(Opcode::terminate);
  if (sent == nullptr) return;
  expect_that(sent->queue() == 2 && sent->msn() == 1, "queue 2, MSN 1",
              fmt::format("queue {}, MSN {}", sent->queue(), sent->msn()));
}

CONFORMANCE_CASE(ddp_error_is_reported_by_the_ddp_layer,
                 rules("rdmap.terminate.layer-names-detector")) {
  peer.send(bad_write());
  expect(peer, terminate(cause::ddp_tagged_invalid_stag));
}

CONFORMANCE_CASE(terminate_for_a_ddp_error_carries_the_ddp_header,
                 rules("rdmap.terminate.ddp-error-ddp-header",
                       "rdmap.terminate.segment-length-present-with-d",
                       "rdmap.terminate.ddp-header-present-with-d",
                       "rdmap.terminate.d-bit-per-figure", "rdmap.terminate.m-bit-per-figure",
                       "rdmap.terminate.segment-length-value")) {
  const Octets ulpdu = peer.prepare(bad_write()).front().ulpdu;
  peer.send(Fpdu{.ulpdu = ulpdu});
  const Arrival arrival = expect(peer, any_terminate());
  const auto terminate = arrival.terminate();
  const std::string actual = rnic::wire::describe(*terminate);
  const Octets header(ulpdu.begin(), ulpdu.begin() + rnic::wire::tagged_header_size);
  expect_that(terminate->m, "M = 1", actual, "rdmap.terminate.m-bit-per-figure");
  expect_that(terminate->d, "D = 1", actual, "rdmap.terminate.d-bit-per-figure");
  expect_that(terminate->segment_length.has_value(), "a DDP Segment Length", actual,
              "rdmap.terminate.segment-length-present-with-d");
  expect_that(terminate->segment_length == ulpdu.size(),
              fmt::format("DDP Segment Length {}", ulpdu.size()), actual,
              "rdmap.terminate.segment-length-value");
  expect_that(terminate->ddp_header.size() == header.size(), "14 octets of DDP header", actual,
              "rdmap.terminate.ddp-header-present-with-d");
  expect_that(std::ranges::equal(terminate->ddp_header, header), rnic::wire::hex(header),
              rnic::wire::hex(terminate->ddp_header), "rdmap.terminate.ddp-error-ddp-header");
}

CONFORMANCE_CASE(reserved_bits_of_a_terminate_are_zero, rules("rdmap.terminate.reserved-zero")) {
  peer.send(bad_write());
  const auto terminate = expect(peer, any_terminate()).terminate();
  expect_that(terminate->reserved == 0, "13 zero bits",
              fmt::format("{:#06x}", terminate->reserved));
}

CONFORMANCE_CASE(nothing_follows_a_terminate, rules("rdmap.terminate.nothing-sent-after"),
                 in_both_roles) {
  let_iut_send();
  peer.send(bad_write());
  expect(peer, any_terminate() | advisory(torn_down()));
  peer.half_close();
  expect(peer, torn_down());
}

CONFORMANCE_CASE(stream_ends_with_its_terminate, rules("rdmap.error.streams-terminated")) {
  const Region region = iut.register_memory(64, access::remote_write);
  const Outgoing good = rdma_write(region.stag, region.base, payload(16));
  peer.send_together({bad_write(), good});
  expect(peer, any_terminate() | advisory(torn_down()), then_close);
  expect(region, unchanged);
}

CONFORMANCE_CASE(error_is_reported_to_the_consumer, rules("rdmap.error.local-ulp-informed")) {
  establish();
  peer.send(bad_write());
  expect(peer, any_terminate() | torn_down());
  expect(iut, asynchronous("qp_access_error") | asynchronous("qp_fatal") |
                  asynchronous("qp_request_error") | disconnected());
}

CONFORMANCE_CASE(posted_work_is_flushed_by_an_error,
                 rules("rdmap.terminate.pending-completed-in-error")) {
  let_iut_send();
  const Work read = iut.post_read(8, 0x01020304, 0);
  const Work send =
      iut.post_send(payload(8), operation::send, [](iut::PostWork& work) { work.fence = true; });
  static_cast<void>(expect_message(Opcode::read_request));
  peer.send(bad_write());
  expect(read, completes_in_error());
  expect(send, completes_in_error());
}

CONFORMANCE_CASE(received_terminate_ends_the_stream, rules("rdmap.terminate.delivered-to-rdmap"),
                 in_both_roles) {
  const Region region = iut.register_memory(64, access::remote_write);
  peer.send(terminate_message(cause::rdmap_catastrophic_stream));
  expect_teardown(peer.raw());
  expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "changed");
}

CONFORMANCE_CASE(received_terminate_is_reported_to_the_consumer,
                 rules("rdmap.terminate.delivered-to-ulp")) {
  establish();
  peer.send(terminate_message(cause::rdmap_catastrophic_stream));
  expect(iut, asynchronous("qp_access_error") | asynchronous("qp_fatal") |
                  asynchronous("qp_request_error") | disconnected());
}

CONFORMANCE_CASE(opcodes_on_foreign_queues_are_terminated,
                 rules("rdmap.terminate.code-unexpected-opcode"), in_both_roles) {
  const auto rejected = [&](const char* name, const Outgoing& message) {
    row(name, [&] {
      const Work receive = iut.post_receive(64);
      peer.send(message);
      // A queue on which nothing can be expected is DDP's to refuse.
      expect_rejection({cause::rdmap_unexpected_opcode, cause::ddp_untagged_invalid_queue,
                        cause::ddp_untagged_no_buffer},
                       "rdmap.terminate.code-unexpected-opcode",
                       "rdmap.terminate.code-unexpected-opcode");
    });
  };
  rejected("Send on queue 1", send_message(payload(28)).with_queue(1));
  rejected("Read Request on queue 0", read_request({.length = 4}).with_queue(0));
  rejected("reserved opcode 0xF", send_message(payload(8)).with_opcode(0xF));
}

CONFORMANCE_CASE(other_rdmap_version_is_terminated, rules("rdmap.terminate.code-invalid-version"),
                 in_both_roles) {
  for (const std::uint8_t version : {std::uint8_t{2}, std::uint8_t{3}}) {
    row(fmt::format("RV {}", version), [&] {
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(8)).with_rdmap_version(version));
      expect_rejection({cause::rdmap_invalid_version}, "rdmap.terminate.code-invalid-version",
                       "rdmap.terminate.code-invalid-version");
    });
  }
}

CASES_OF_FILE(rdmap, terminate)

}  // namespace suite::cases
