// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 4.8: the layout of a Terminate that the IUT sends, and the headers that it copies.
#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/long_work.hpp"
#include "suite/cases/rdmap/error_steps.hpp"

namespace suite::cases {

namespace {

using Control = rnic::wire::TerminateControl;

/// A Read Request whose sink fields the Terminate must repeat.
Outgoing read_into(std::uint32_t sink_stag, std::uint64_t sink_offset, const Region& source,
                   std::uint32_t length) {
  return read_request({.sink_stag = sink_stag,
                       .sink_offset = sink_offset,
                       .length = length,
                       .source_stag = source.stag,
                       .source_offset = source.base});
}

/// A Terminate contains what its M, D and R bits say, and the bits are those of Figure 10.
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
                       "rdmap.terminate.nothing-sent-after", "rdmap.terminate.carries-no-payload",
                       "rdmap.terminate.ddp-header-size", "ddp.terminate.error-numbers-used"),
                 in_both_roles) {
  const Region region = iut.register_memory(100, access::remote_write);
  peer.send(rdma_write(region.stag, region.base + 90, payload(33)));
  const Arrival arrival =
      expect(peer, any_terminate() | advisory(torn_down()), "rdmap.terminate.header-format");
  if (arrival.is_end()) return;
  const Octets& body = arrival.as<Message>()->payload;
  expect_that(body.size() >= sizeof(Control), "four octets of control", arrival.text(),
              "rdmap.terminate.header-format");
  const auto control = rnic::wire::Reader(body).read<Control>();
  const unsigned what = control.layer_type_code.value(), bits = control.header_control.value();
  const rnic::wire::TerminateCause told{static_cast<std::uint8_t>(what >> 12),
                                        static_cast<std::uint8_t>(what >> 8 & 15),
                                        static_cast<std::uint8_t>(what)};
  expect_that(rnic::wire::is_registered(told), "a registered cause", arrival.text(),
              "rdmap.terminate.control-values-defined");
  expect_that(told.layer == 1, "layer DDP", arrival.text(), "rdmap.terminate.layer-names-detector");
  expect_that(bits & Control::m, "M set", arrival.text(), "rdmap.terminate.m-bit-per-figure");
  expect_that(bits & Control::d, "D set", arrival.text(), "rdmap.terminate.d-bit-per-figure");
  // Control, segment length and the header of a tagged segment: 4 + 2 + 14 octets.
  const bool d = bits & Control::d;
  expect_that(!d || body.size() >= 18, "the DDP header with D", arrival.text(),
              "rdmap.terminate.ddp-header-present-with-d");
  expect_that(!d || body.size() >= 20, "the segment length with D", arrival.text(),
              "rdmap.terminate.segment-length-present-with-d");
  expect_teardown(peer.raw());
}

CONFORMANCE_CASE(terminate_is_an_untagged_message,
                 rules("rdmap.terminate.untagged-buffer", "rdmap.terminate.marked-untagged",
                       "rdmap.terminate.control-field-format"),
                 in_both_roles) {
  see_iut_send();
  peer.send(send_message(payload(1)).with_queue(7));
  const Arrival arrival = expect(peer, some_terminate());
  if (arrival.is_end()) return;
  const Message& terminate = *arrival.message(Opcode::terminate);
  expect_that(!terminate.tagged, "an untagged header", arrival.text());
  const std::byte control = terminate.segments.front().front();
  expect_that((control & std::byte{0x80}) == std::byte{}, "T clear", arrival.text(),
              "rdmap.terminate.marked-untagged");
  // Layer 1 and type 2 share the first octet, code 1 (or 2, D54) has the second.
  const Octets& body = terminate.payload;
  expect_that(body.size() >= 4 && body[0] == std::byte{0x12} &&
                  (body[1] == std::byte{0x01} || body[1] == std::byte{0x02}),
              "12 01 or 12 02 at the beginning", arrival.text(),
              "rdmap.terminate.control-field-format");
}

CONFORMANCE_CASE(terminate_for_a_ddp_error_carries_the_ddp_header,
                 rules("rdmap.terminate.ddp-error-ddp-header",
                       "rdmap.terminate.segment-length-present-with-d",
                       "rdmap.terminate.ddp-header-present-with-d",
                       "rdmap.terminate.d-bit-per-figure", "rdmap.terminate.m-bit-per-figure",
                       "rdmap.terminate.segment-length-value", "rdmap.terminate.header-format")) {
  const Octets ulpdu = peer.prepare(bad_write()).front().ulpdu;
  peer.send(Fpdu{.ulpdu = ulpdu});
  const Arrival arrival = expect(peer, any_terminate() | advisory(torn_down()));
  if (arrival.is_end()) return;
  const auto terminate = arrival.terminate();
  expect_that(arrival.is_terminate_as_specified(),
              "a Terminate as long as its header control bits say", arrival.text(),
              "rdmap.terminate.header-format");
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

CONFORMANCE_CASE(terminate_holds_what_its_bits_say,
                 rules("rdmap.terminate.ddp-header-present-with-d",
                       "rdmap.terminate.segment-length-present-with-d",
                       "rdmap.terminate.rdma-header-present-with-r",
                       "rdmap.terminate.m-bit-per-figure", "rdmap.terminate.d-bit-per-figure",
                       "rdmap.terminate.r-bit-per-figure", "rdmap.terminate.sent-on-llp-error",
                       "rdmap.error.incoming-message-terminate"),
                 rules("rdmap.error.local-error-terminate",
                       "rdmap.terminate.operation-error-ddp-header",
                       "rdmap.terminate.operation-error-no-rdma-header",
                       "rdmap.terminate.local-catastrophic-no-ddp-header",
                       "rdmap.terminate.local-catastrophic-no-headers"),
                 in_both_roles) {
  struct Error {
    const char* name;
    Outgoing message;
    bool read;
  };
  const Error errors[] = {
      {"tagged segment", bad_write(), false},
      {"untagged segment", send_message(payload(16)).with_queue(7), false},
      {"RDMAP opcode", send_message(payload(16)).with_opcode(0xF).with_queue(0), false},
      {"Read Request", read_of(unknown_stag, 0x1000, 8), true},
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

CONFORMANCE_CASE(terminate_about_data_holds_no_read_request,
                 rules("rdmap.terminate.rdma-header-only-for-reads",
                       "rdmap.terminate.segment-length-valid-with-m",
                       "rdmap.terminate.header-format", "rdmap.error.incoming-message-terminate"),
                 in_both_roles) {
  const auto look = [&](const Outgoing& message) {
    const Fpdu fpdu = peer.prepare(message).front();
    peer.ready().send(fpdu);
    const Arrival arrival =
        expect(peer, some_terminate(), "rdmap.error.incoming-message-terminate");
    if (arrival.is_end()) return;
    const auto terminate = arrival.terminate();
    expect_that(arrival.is_terminate_as_specified(), "a Terminate as long as its control bits say",
                arrival.text(), "rdmap.terminate.header-format");
    expect_that(is_no_header(terminate->rdmap_header), "no RDMA header", arrival.text());
    advise_that(!terminate->r, "R clear", arrival.text());
    expect_that(!terminate->m || tells_length_of(*terminate, fpdu.ulpdu),
                fmt::format("segment length {} or none", fpdu.ulpdu.size()), arrival.text(),
                "rdmap.terminate.segment-length-valid-with-m");
  };
  // Segments of 37, 39 and 41 octets.
  row("Write", [&] {
    const Region region = iut.register_memory(16, access::remote_write);
    look(rdma_write(region.stag, region.base, payload(23)));
  });
  row("Send", [&] {
    const Work receive = iut.post_receive(16);
    look(send_message(payload(21)));
  });
  row("Send with Solicited Event", [&] {
    const Work receive = iut.post_receive(32);
    look(send_solicited(payload(23)).with_rdmap_version(2));
  });
}

namespace {

/// The Terminate about the Read of `source` into these places, of which `served` octets were sent.
void expect_progress(Body& body, const Region& source, std::uint64_t sink_offset,
                     std::uint32_t served) {
  const Arrival arrival = body.expect(body.peer, any_terminate() | advisory(torn_down()));
  if (arrival.is_end()) return;
  const auto terminate = arrival.terminate();
  body.advise_that(terminate->r, "R set", arrival.text(),
                   "rdmap.terminate.protection-error-rdma-header");
  if (!terminate->r) body.stop(Verdict::inconclusive, "no RDMA header in the Terminate");
  const auto told =
      rnic::wire::Reader(terminate->rdmap_header).read<rnic::wire::ReadRequestHeader>();
  body.expect_that(told.sink_offset.value() == sink_offset + served &&
                       told.source_offset.value() == source.base + served,
                   fmt::format("both offsets advanced by {}", served), arrival.text());
  body.expect_that(told.length.value() == source.length - served,
                   fmt::format("{} octets left", source.length - served), arrival.text(),
                   "rdmap.terminate.read-header-size-remaining");
  body.expect_that(
      told.sink_stag.value() == unknown_stag && told.source_stag.value() == source.stag,
      "both STags of the Request", arrival.text(), "rdmap.terminate.read-header-keeps-stags");
}

/// What waited for the LLP is lost with a reset.
bool ended_at_once(Body& body) {
  Arrival arrival = body.peer.raw().next(body.context().deadline);
  const bool ended = arrival.is_end();
  body.peer.raw().put_back(std::move(arrival));
  if (ended) body.expect(body.peer, any_terminate() | advisory(torn_down()));
  return ended;
}

}  // namespace

CONFORMANCE_CASE(terminate_for_a_half_served_read_states_its_progress,
                 rules("rdmap.terminate.read-header-advances-offsets",
                       "rdmap.terminate.read-header-size-remaining",
                       "rdmap.terminate.read-header-keeps-stags",
                       "rdmap.terminate.protection-error-rdma-header")) {
  const auto cut_off = [&](bool half_closed) {
    const Region source = iut.register_memory(much_data().size(), access::remote_read);
    peer.stall();
    peer.send(read_into(unknown_stag, 0x5000, source, static_cast<std::uint32_t>(source.length)));
    watch();  // the Response is being sent
    if (half_closed) {
      peer.half_close();
      watch();
    }
    iut.deregister(source);
    peer.resume();
    if (ended_at_once(*this)) return;
    const Arrival response = peer.raw().next(context().deadline);
    const auto* part = response.as<Message>();
    if (part == nullptr || part->opcode() != Opcode::read_response || !part->cut_off)
      stop(Verdict::inconclusive, "the Read was not cut off: " + response.text());
    expect_progress(*this, source, 0x5000, static_cast<std::uint32_t>(part->payload.size()));
  };
  row("of which a part was sent", [&] { cut_off(false); });
  row("of which a part was sent, to a peer that has closed its half", [&] { cut_off(true); });
  row("that waited behind another", [&] {
    establish({.parameters = {.private_data = {}, .ird = 4, .ord = 4}, .opening = true});
    const Region first = iut.register_memory(much_data().size(), access::remote_read);
    const Region source = iut.register_memory(64, access::remote_read);
    peer.stall();
    peer.send(read_into(unknown_stag, 0x5000, first, static_cast<std::uint32_t>(first.length)));
    peer.send(read_into(unknown_stag, 0x9000, source, 64));
    watch();  // the first Response is being sent
    iut.deregister(source);
    peer.resume();
    if (ended_at_once(*this)) return;
    // The first one is whole or cut off; the octets of the second may have been taken before.
    for (int i = 0; i < 2; ++i) {
      Arrival arrival = peer.raw().next(context().deadline);
      if (arrival.message(Opcode::read_response) != nullptr) continue;
      peer.raw().put_back(std::move(arrival));
      return expect_progress(*this, source, 0x9000, 0);
    }
    stop(Verdict::inconclusive, "both Reads were answered");
  });
  // A sender prepares more than TCP takes: what it has prepared of the second Response is counted
  // only if it is sent.
  for (const std::uint32_t ahead : {100'000U, 300'000U})
    row(fmt::format("behind {} octets of another, and large itself", ahead), [&] {
      establish({.parameters = {.private_data = {}, .ird = 4, .ord = 4}, .opening = true});
      const Region first = iut.register_memory(ahead, access::remote_read);
      const Region source = iut.register_memory(much_data().size(), access::remote_read);
      peer.stall();
      peer.send(read_into(unknown_stag, 0x5000, first, ahead));
      peer.send(read_into(unknown_stag, 0x9000, source, static_cast<std::uint32_t>(source.length)));
      watch();  // the first Response is being sent
      iut.deregister(source);
      peer.resume();
      if (ended_at_once(*this)) return;
      static_cast<void>(peer.raw().next(context().deadline));  // the first Response
      Arrival arrival = peer.raw().next(context().deadline);
      const auto* part = arrival.as<Message>();
      if (part == nullptr || part->opcode() != Opcode::read_response) {
        peer.raw().put_back(std::move(arrival));
        return expect_progress(*this, source, 0x9000, 0);
      }
      if (!part->cut_off) stop(Verdict::inconclusive, "the Read was not cut off");
      expect_progress(*this, source, 0x9000, static_cast<std::uint32_t>(part->payload.size()));
    });
}

CASES_OF_FILE(rdmap, terminate_format)

}  // namespace suite::cases
