// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 sections 4.8, 5.4, 6.2.1 and 7.1: Terminate, sent and received.
#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/long_work.hpp"

namespace suite::cases {

namespace {

using Control = rnic::wire::TerminateControl;

constexpr std::uint32_t some_stag = 0x7FFFFF01;

/// Something that DDP has to refuse: a Write to nowhere.
Outgoing bad_write() { return rdma_write(some_stag, 0x1000, payload(24)); }

Outgoing read_of(std::uint32_t stag, std::uint64_t offset, std::uint32_t length) {
  return read_request({.sink_stag = some_stag,
                       .sink_offset = 0x5000,
                       .length = length,
                       .source_stag = stag,
                       .source_offset = offset});
}

/// A Terminate that tells of an error on the IUT's own side: type 0 of the layer that found it.
Expected local_error() {
  return {
      "a Terminate about a local error", [](const Arrival& arrival) {
        const auto terminate = arrival.terminate();
        return terminate && terminate->cause.type == 0 &&
               (terminate->cause.layer != 2 || terminate->cause == cause::mpa_local_catastrophic);
      }};
}

/// A Terminate holds what its M, D and R bits say, and the bits are those that Figure 10 wants.
void expect_contents(Body& test, const Arrival& arrival, bool ddp_header, bool read_header) {
  const Octets& body = arrival.as<Message>()->payload;
  const unsigned bits = rnic::wire::Reader(body).read<Control>().header_control.value();
  const bool m = bits & Control::m, d = bits & Control::d, r = bits & Control::r;
  const std::size_t length_size = m ? 2 : 0, read_size = r ? 28 : 0;
  const std::size_t least = sizeof(Control) + length_size + read_size;
  if (d) {
    test.expect_that(body.size() >= least + rnic::wire::tagged_header_size, "the DDP header",
                     arrival.text(), "rdmap.terminate.ddp-header-present-with-d");
    test.expect_that(m, "M with D", arrival.text(),
                     "rdmap.terminate.segment-length-present-with-d");
  }
  if (r)
    test.expect_that(body.size() >= least, "the RDMA header", arrival.text(),
                     "rdmap.terminate.rdma-header-present-with-r");
  test.advise_that(m == ddp_header, ddp_header ? "M set" : "M clear", arrival.text(),
                   "rdmap.terminate.m-bit-per-figure");
  test.advise_that(d == ddp_header, ddp_header ? "D set" : "D clear", arrival.text(),
                   "rdmap.terminate.d-bit-per-figure");
  test.advise_that(r == read_header, read_header ? "R set" : "R clear", arrival.text(),
                   "rdmap.terminate.r-bit-per-figure");
}

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
  const Arrival arrival =
      expect(peer, any_terminate() | advisory(torn_down()), "rdmap.terminate.header-format");
  if (arrival.is_end()) return;
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
  const bool d = bits & rnic::wire::TerminateControl::d;
  expect_that(!d || body.size() >= 18, "the DDP header with D", arrival.text(),
              "rdmap.terminate.ddp-header-present-with-d");
  expect_that(!d || body.size() >= 20, "the segment length with D", arrival.text(),
              "rdmap.terminate.segment-length-present-with-d");
  expect_teardown(peer.raw());
}

CONFORMANCE_CASE(terminate_goes_ahead_of_messages_that_wait,
                 rules("rdmap.error.terminate-sent-promptly"), in_both_roles) {
  see_iut_send();
  peer.stall();
  const Work under_way = post_much(iut);
  std::vector<Work> waiting;
  for (std::uint8_t i = 0; i < 8; ++i) waiting.push_back(iut.post_send(payload(16, i)));
  peer.send(send_message(payload(1)).with_queue(7));
  watch();
  peer.resume();
  // The message under way comes first, whole or in part.
  const Arrival first = peer.raw().next(context().deadline);
  if (first.message(Opcode::send) == nullptr) peer.raw().put_back(first);
  expect(peer, any_terminate() | advisory(torn_down()));
}

CONFORMANCE_CASE(nothing_follows_a_terminate, rules("rdmap.terminate.nothing-sent-after")) {
  const Region region = iut.register_memory(100, access::remote_write);
  peer.send(rdma_write(region.stag, region.base + 90, payload(33)));
  if (expect(peer, any_terminate() | advisory(torn_down())).is_end()) return;
  expect(peer, torn_down() | silence());
}

CONFORMANCE_CASE(stream_ends_gracefully_after_a_terminate,
                 rules("rdmap.terminate.graceful-llp-teardown", "rdmap.stream.connection-torn-down",
                       "rdmap.error.streams-terminated", "rdmap.terminate.sent-on-rdmap-error")) {
  peer.send(send_message(payload(16)).with_opcode(0xF).with_queue(0));
  const Arrival arrival =
      expect(peer, any_terminate() | torn_down(), "rdmap.error.streams-terminated");
  // Torn down without one: docs/disputes.md D7.
  advise_that(!arrival.is_end(), "a Terminate", arrival.text(),
              "rdmap.terminate.sent-on-rdmap-error");
  if (!arrival.is_end()) expect_teardown(peer.raw());
}

CONFORMANCE_CASE(nothing_behind_an_error_takes_effect,
                 rules("rdmap.error.streams-terminated", "ddp.terminate.later-segments-dropped")) {
  const Region region = iut.register_memory(100, access::remote_write);
  peer.send_together({rdma_write(region.stag, region.base + 90, payload(33)),
                      rdma_write(region.stag, region.base, payload(10))});
  watch();
  expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "memory changed",
              "ddp.terminate.later-segments-dropped");
}

CONFORMANCE_CASE(message_behind_an_error_is_not_delivered,
                 rules("ddp.terminate.later-segments-dropped"), in_both_roles) {
  const Work receive = iut.post_receive(64);
  peer.send_together({bad_write(), send_message(payload(16))});
  expect(peer, any_terminate() | torn_down(), "rdmap.error.streams-terminated");
  expect(receive, flushed());
}

CONFORMANCE_CASE(connection_is_closed_after_an_error, rules("rdmap.error.streams-terminated")) {
  const Region region = iut.register_memory(100, access::remote_write);
  peer.send(rdma_write(region.stag, region.base + 90, payload(33)));
  if (expect(peer, any_terminate() | torn_down()).is_end()) return;
  peer.half_close();
  expect(peer, torn_down());
}

CONFORMANCE_CASE(consumer_learns_of_an_error,
                 rules("rdmap.error.local-ulp-informed", "ddp.close.invalid-header-indicated")) {
  const auto learns_of = [&](const Outgoing& message, RuleRef rule) {
    const Work receive = iut.post_receive(64);
    peer.send(message);
    expect(peer, any_terminate() | torn_down());
    expect(iut, asynchronous_error() | disconnected(), rule);
    expect(receive, flushed(), "rdmap.terminate.outstanding-completed-in-error");
  };
  row("a Write out of bounds", [&] {
    const Region region = iut.register_memory(100, access::remote_write);
    learns_of(rdma_write(region.stag, region.base + 90, payload(33)),
              "rdmap.error.local-ulp-informed");
  });
  row("a DDP header with an invalid field", [&] {
    learns_of(send_message(payload(8)).with_ddp_version(3), "ddp.close.invalid-header-indicated");
  });
}

CONFORMANCE_CASE(received_terminate_ends_the_stream,
                 rules("rdmap.terminate.delivered-to-rdmap",
                       "rdmap.terminate.outstanding-completed-in-error",
                       "rdmap.terminate.placement-guaranteed"),
                 in_both_roles) {
  const Work receive = iut.post_receive(64);
  peer.send(terminate_message(cause::rdmap_local_catastrophic));
  expect_end_by_terminate("rdmap.terminate.delivered-to-rdmap");
  if (peer.raw().is_open()) peer.half_close();
  expect(receive, flushed(), "rdmap.terminate.outstanding-completed-in-error");
}

CONFORMANCE_CASE(received_terminate_reaches_the_consumer,
                 rules("rdmap.terminate.delivered-to-ulp")) {
  peer.send(terminate_message(cause::rdmap_local_catastrophic));
  expect(iut, asynchronous_error());
}

CONFORMANCE_CASE(reserved_bits_of_a_terminate_are_ignored,
                 rules("rdmap.terminate.reserved-ignored")) {
  Outgoing terminate = terminate_message(cause::rdmap_local_catastrophic);
  terminate.payload[2] |= std::byte{0x1F};
  terminate.payload[3] = std::byte{0xFF};
  peer.send(terminate);
  expect_end_by_terminate();
}

CONFORMANCE_CASE(terminate_for_a_ddp_error_carries_the_ddp_header,
                 rules("rdmap.terminate.ddp-error-ddp-header",
                       "rdmap.terminate.segment-length-present-with-d",
                       "rdmap.terminate.ddp-header-present-with-d",
                       "rdmap.terminate.d-bit-per-figure", "rdmap.terminate.m-bit-per-figure",
                       "rdmap.terminate.segment-length-value")) {
  const Octets ulpdu = peer.prepare(bad_write()).front().ulpdu;
  peer.send(Fpdu{.ulpdu = ulpdu});
  const Arrival arrival = expect(peer, any_terminate() | advisory(torn_down()));
  if (arrival.is_end()) return;
  const auto terminate = arrival.terminate();
  expect_that(terminate.has_value(), "a Terminate as long as its header control bits say",
              arrival.text(), "rdmap.terminate.header-format");
  const std::string actual = rnic::wire::describe(*terminate);
  const Octets header(ulpdu.begin(), ulpdu.begin() + rnic::wire::tagged_header_size);
  expect_that(terminate->m, "M = 1", actual, "rdmap.terminate.m-bit-per-figure");
  expect_that(terminate->d, "D = 1", actual, "rdmap.terminate.d-bit-per-figure");
  expect_that(!terminate->d || terminate->segment_length.has_value(), "a DDP Segment Length with D",
              actual, "rdmap.terminate.segment-length-present-with-d");
  expect_that(!terminate->m || terminate->segment_length == ulpdu.size(),
              fmt::format("DDP Segment Length {} with M", ulpdu.size()), actual,
              "rdmap.terminate.segment-length-value");
  if (!terminate->d) return;
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

CONFORMANCE_CASE(terminate_holds_what_its_bits_say,
                 rules("rdmap.terminate.ddp-header-present-with-d",
                       "rdmap.terminate.segment-length-present-with-d",
                       "rdmap.terminate.rdma-header-present-with-r",
                       "rdmap.terminate.m-bit-per-figure", "rdmap.terminate.d-bit-per-figure",
                       "rdmap.terminate.r-bit-per-figure", "rdmap.terminate.sent-on-llp-error",
                       "rdmap.error.incoming-message-terminate"),
                 rules("rdmap.error.local-error-terminate"), in_both_roles) {
  struct Error {
    const char* name;
    Outgoing message;
    bool read;
  };
  const Error errors[] = {
      {"tagged segment", bad_write(), false},
      {"untagged segment", send_message(payload(16)).with_queue(7), false},
      {"RDMAP opcode", send_message(payload(16)).with_opcode(0xF).with_queue(0), false},
      {"Read Request", read_of(some_stag, 0x1000, 8), true},
  };
  for (const Error& error : errors) {
    row(error.name, [&] {
      peer.send(error.message);
      const Arrival arrival = expect(peer, any_terminate() | advisory(torn_down()),
                                     "rdmap.error.incoming-message-terminate");
      if (!arrival.is_end()) expect_contents(*this, arrival, true, error.read);
    });
  }
  row("CRC", [&] {
    see_iut_send();  // a Responder may not answer an invalid first FPDU
    const Work receive = iut.post_receive(64);
    const Fpdu good = peer.prepare(send_message(payload(16))).front();
    peer.send(Fpdu(good).with_crc(CrcChoice::wrong));
    const Arrival arrival = expect_unless_dropped(any_terminate() | advisory(torn_down()),
                                                  "rdmap.terminate.sent-on-llp-error");
    if (arrival.message(Opcode::terminate) != nullptr)
      expect_contents(*this, arrival, false, false);
  });
  row("the consumer's own abort", [&] {
    see_iut_send();
    iut.disconnect(true);
    const Arrival arrival =
        expect(peer, any_terminate() | advisory(torn_down()), "rdmap.error.local-error-terminate");
    if (!arrival.is_end()) expect_contents(*this, arrival, false, false);
  });
}

CONFORMANCE_CASE(local_error_is_told_as_such,
                 rules("rdmap.error.local-error-terminate", "rdmap.error.local-error-no-headers"),
                 in_both_roles) {
  row("abort by the consumer", [&] {
    see_iut_send();
    iut.disconnect(true);
    // The MUST of RFC 5040 section 7.1, as far as a Terminate can be sent (docs/disputes.md D7).
    expect(peer, local_error() | advisory(torn_down()));
  });
  row("Read whose sink is gone before its turn", [&] {
    establish({.parameters = {.private_data = {}, .ird = 1, .ord = 1}});
    let_iut_send();
    const Work first = iut.post_read(8, some_stag, 0), second = iut.post_read(8, some_stag, 8);
    const auto request = expect_message(Opcode::read_request).read_request();
    iut.deregister(second.buffer);
    peer.send(read_response(request->sink_stag, request->sink_offset, payload(8)));
    // An IUT that looks at the sink only when the Response comes finds no error here.
    expect(peer, local_error() | advisory(torn_down()) | message(Opcode::read_request));
  });
}

CONFORMANCE_CASE(terminate_for_a_half_served_read_tells_how_far_it_came,
                 rules("rdmap.terminate.read-header-advances-offsets",
                       "rdmap.terminate.read-header-size-remaining",
                       "rdmap.terminate.read-header-keeps-stags")) {
  const Region source = iut.register_memory(much_data().size(), access::remote_read);
  const auto whole = static_cast<std::uint32_t>(source.length);
  peer.stall();
  peer.send(read_of(source.stag, source.base, whole));
  watch();  // the Response is under way
  iut.deregister(source);
  peer.resume();
  const Arrival response = peer.raw().next(context().deadline);
  const auto* part = response.as<Message>();
  if (part == nullptr || part->opcode() != Opcode::read_response || !part->cut_off)
    stop(Verdict::inconclusive, "the Read was not cut off: " + response.text());
  const std::uint32_t served = static_cast<std::uint32_t>(part->payload.size());
  const Arrival arrival = expect(peer, any_terminate() | advisory(torn_down()));
  if (arrival.is_end()) return;
  const auto terminate = arrival.terminate();
  if (!terminate || !terminate->r) stop(Verdict::inconclusive, "no RDMA header in the Terminate");
  const auto told =
      rnic::wire::Reader(terminate->rdmap_header).read<rnic::wire::ReadRequestHeader>();
  expect_that(told.sink_offset.value() == 0x5000 + served &&
                  told.source_offset.value() == source.base + served,
              fmt::format("both offsets advanced by {}", served), arrival.text());
  expect_that(told.length.value() == whole - served, fmt::format("{} octets left", whole - served),
              arrival.text(), "rdmap.terminate.read-header-size-remaining");
  expect_that(told.sink_stag.value() == some_stag && told.source_stag.value() == source.stag,
              "both STags of the Request", arrival.text(),
              "rdmap.terminate.read-header-keeps-stags");
}

CASES_OF_FILE(rdmap, terminate)

}  // namespace suite::cases
