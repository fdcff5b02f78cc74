// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 sections 4.8, 5.4, 6.2.1 and 7.1: Terminate, sent and received.
#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

/// Something that DDP has to refuse: a Write to nowhere.
Outgoing bad_write() { return rdma_write(0x7FFFFF01, 0x1000, payload(24)); }

}  // namespace

CONFORMANCE_CASE(terminate_about_a_write_is_well_formed,
                 rules("rdmap.terminate.header-format", "rdmap.terminate.control-values-defined",
                       "rdmap.terminate.layer-names-detector", "rdmap.terminate.queue-two",
                       "rdmap.terminate.reserved-zero", "rdmap.terminate.ddp-error-ddp-header",
                       "rdmap.terminate.ddp-header-copied", "rdmap.terminate.segment-length-value"),
                 rules("rdmap.terminate.m-bit-per-figure", "rdmap.terminate.d-bit-per-figure",
                       "rdmap.terminate.ddp-header-present-with-d",
                       "rdmap.terminate.segment-length-present-with-d",
                       "rdmap.terminate.nothing-sent-after", "rdmap.error.incoming-message-fields"),
                 in_both_roles) {
  const Region region = iut.register_memory(100, access::remote_write);
  peer.send(rdma_write(region.stag, region.base + 90, payload(33)));
  const Arrival arrival = expect(peer, any_terminate(), "rdmap.terminate.header-format");
  const Octets& body = arrival.as<Message>()->payload;
  expect_that(body.size() >= sizeof(rnic::wire::TerminateControl), "four octets of control",
              arrival.text(), "rdmap.terminate.header-format");
  const auto control = rnic::wire::Reader(body).read<rnic::wire::TerminateControl>();
  const unsigned what = control.layer_type_code.value(), bits = control.header_control.value();
  const rnic::wire::TerminateCause told{static_cast<std::uint8_t>(what >> 12),
                                        static_cast<std::uint8_t>(what >> 8 & 15),
                                        static_cast<std::uint8_t>(what)};
  expect_that(rnic::wire::is_registered(told), "a registered cause", arrival.text(),
              "rdmap.terminate.control-values-defined");
  expect_that(told.layer == 1, "layer DDP", arrival.text(), "rdmap.terminate.layer-names-detector");
  expect_that(bits & rnic::wire::TerminateControl::m, "M set", arrival.text(),
              "rdmap.terminate.m-bit-per-figure");
  expect_that(bits & rnic::wire::TerminateControl::d, "D set", arrival.text(),
              "rdmap.terminate.d-bit-per-figure");
  // Control, segment length and the header of a tagged segment: 4 + 2 + 14 octets.
  expect_that(body.size() >= 18, "the DDP header", arrival.text(),
              "rdmap.terminate.ddp-header-present-with-d");
  expect_that(body.size() >= 20, "the segment length", arrival.text(),
              "rdmap.terminate.segment-length-present-with-d");
  expect_teardown(peer.raw());
}

CONFORMANCE_CASE(nothing_follows_a_terminate, rules("rdmap.terminate.nothing-sent-after",
                                                    "rdmap.error.terminate-sent-promptly")) {
  const Region region = iut.register_memory(100, access::remote_write);
  peer.send(rdma_write(region.stag, region.base + 90, payload(33)));
  expect(peer, any_terminate());
  expect(peer, torn_down() | silence());
}

CONFORMANCE_CASE(stream_ends_gracefully_after_a_terminate,
                 rules("rdmap.terminate.graceful-llp-teardown", "rdmap.stream.connection-torn-down",
                       "rdmap.error.streams-terminated", "rdmap.terminate.sent-on-rdmap-error")) {
  peer.send(send_message(payload(16)).with_opcode(0xF).with_queue(0));
  const Arrival arrival =
      expect(peer, any_terminate() | torn_down(), "rdmap.error.streams-terminated");
  if (arrival.is_end())
    expect_that(false, "a Terminate", arrival.text(), "rdmap.terminate.sent-on-rdmap-error");
  else
    expect_teardown(peer.raw());
}

CONFORMANCE_CASE(nothing_behind_an_error_takes_effect,
                 rules("rdmap.error.streams-terminated", "ddp.terminate.later-segments-dropped")) {
  const Region region = iut.register_memory(100, access::remote_write);
  peer.send_together({rdma_write(region.stag, region.base + 90, payload(33)),
                      rdma_write(region.stag, region.base, payload(10))});
  watch();
  expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "memory changed");
}

CONFORMANCE_CASE(connection_is_closed_after_an_error, rules("rdmap.error.streams-terminated")) {
  const Region region = iut.register_memory(100, access::remote_write);
  peer.send(rdma_write(region.stag, region.base + 90, payload(33)));
  expect(peer, any_terminate() | torn_down());
  peer.half_close();
  expect(peer, torn_down());
}

CONFORMANCE_CASE(consumer_learns_of_an_error,
                 rules("rdmap.error.local-ulp-informed", "ddp.close.invalid-header-indicated")) {
  const Work receive = iut.post_receive(64);
  const Region region = iut.register_memory(100, access::remote_write);
  peer.send(rdma_write(region.stag, region.base + 90, payload(33)));
  expect(peer, any_terminate() | torn_down());
  expect(iut, asynchronous("qp_access_error") | asynchronous("qp_request_error") |
                  asynchronous("qp_fatal") | disconnected());
  expect(receive, flushed(), "rdmap.terminate.outstanding-completed-in-error");
}

CONFORMANCE_CASE(received_terminate_ends_the_stream,
                 rules("rdmap.terminate.delivered-to-rdmap",
                       "rdmap.terminate.outstanding-completed-in-error",
                       "rdmap.terminate.placement-guaranteed"),
                 in_both_roles) {
  const Work receive = iut.post_receive(64);
  peer.send(terminate_message(cause::rdmap_local_catastrophic));
  expect(peer, torn_down(), "rdmap.terminate.delivered-to-rdmap");
  peer.half_close();
  expect(receive, flushed(), "rdmap.terminate.outstanding-completed-in-error");
}

CONFORMANCE_CASE(received_terminate_reaches_the_consumer,
                 rules("rdmap.terminate.delivered-to-ulp")) {
  peer.send(terminate_message(cause::rdmap_local_catastrophic));
  expect(iut, asynchronous("qp_fatal") | asynchronous("qp_access_error") |
                  asynchronous("qp_request_error"));
}

CONFORMANCE_CASE(reserved_bits_of_a_terminate_are_ignored,
                 rules("rdmap.terminate.reserved-ignored")) {
  Outgoing terminate = terminate_message(cause::rdmap_local_catastrophic);
  terminate.payload[2] |= std::byte{0x1F};
  terminate.payload[3] = std::byte{0xFF};
  peer.send(terminate);
  expect(peer, torn_down());
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

CASES_OF_FILE(rdmap, terminate)

}  // namespace suite::cases
