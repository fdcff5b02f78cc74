// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5041 sections 6.2 and 7: what happens to a stream in error, and to whom it is reported.
#include <algorithm>

#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/long_work.hpp"

namespace suite::cases {

namespace {

/// An error that DDP has to find, and how its Terminate begins.
struct DdpError {
  const char* name;
  std::function<Outgoing(Body&)> message;
  std::uint8_t type;        ///< 1 tagged, 2 untagged
  std::size_t header_size;  ///< of the segment at fault
};

const DdpError ddp_errors[] = {
    {"Write beyond its buffer",
     [](Body& body) {
       const Region region = body.iut.register_memory(16, access::remote_write);
       return rdma_write(region.stag, region.base + 10, payload(23));
     },
     1, rnic::wire::tagged_header_size},
    {"Write of another DDP version",
     [](Body& body) {
       const Region region = body.iut.register_memory(16, access::remote_write);
       return rdma_write(region.stag, region.base, payload(7)).with_ddp_version(2);
     },
     1, rnic::wire::tagged_header_size},
    {"Send to an unknown queue",
     [](Body&) { return send_message(payload(22)).with_queue(0x80000000); }, 2,
     rnic::wire::untagged_header_size},
    {"Send without payload, of another DDP version",
     [](Body&) { return send_message({}).with_ddp_version(0); }, 2,
     rnic::wire::untagged_header_size},
};

/// Takes the Terminate; a teardown instead leaves nothing to judge.
std::optional<rnic::wire::Terminate> take_terminate(Body& body, Arrival& kept, RuleRef rule) {
  kept = body.expect(body.peer, any_terminate() | advisory(torn_down()), rule);
  return kept.terminate();
}

}  // namespace

CONFORMANCE_CASE(ddp_error_is_reported_to_rdmap_in_full,
                 rules("ddp.terminate.error-reported", "ddp.security.invalid-access-passed-up",
                       "ddp.terminate.report-has-error-type", "ddp.terminate.report-has-header",
                       "ddp.terminate.report-has-segment-length"),
                 in_both_roles) {
  for (const DdpError& error : ddp_errors) {
    row(error.name, [&] {
      see_iut_send();
      const Fpdu fpdu = peer.prepare(error.message(*this)).front();
      peer.ready().send(fpdu);
      Arrival arrival;
      const auto told = take_terminate(*this, arrival, "ddp.terminate.error-reported");
      if (!told) return;
      const std::string text = arrival.text();
      expect_that(told->cause.layer == rnic::wire::layer::ddp, "layer DDP", text,
                  "ddp.terminate.error-reported");
      expect_that(told->cause.type == error.type, fmt::format("error type {}", error.type), text,
                  "ddp.terminate.report-has-error-type");
      advise_that(told->ddp_header.size() == error.header_size &&
                      std::ranges::equal(told->ddp_header,
                                         wire::Bytes(fpdu.ulpdu).first(error.header_size)),
                  "the header of the segment", text, "ddp.terminate.report-has-header");
      advise_that(told->segment_length == fpdu.ulpdu.size(),
                  fmt::format("segment length {}", fpdu.ulpdu.size()), text,
                  "ddp.terminate.report-has-segment-length");
    });
  }
  row("Write to an STag that is not valid", [&] {
    const Region region = iut.register_memory(16, access::remote_write);
    peer.send(rdma_write(region.stag_with_other_key(), region.base, payload(8)));
    Arrival arrival;
    const auto told = take_terminate(*this, arrival, "ddp.security.invalid-access-passed-up");
    if (!told) return;
    expect_that(told->cause.layer == rnic::wire::layer::ddp && told->cause.type == 1,
                "a tagged error of DDP", arrival.text(), "ddp.security.invalid-access-passed-up");
  });
}

CONFORMANCE_CASE(terminate_is_sent_before_the_stream_ends,
                 rules("ddp.close.waits-for-ulp", "ddp.terminate.one-message-allowed",
                       "ddp.close.may-send-after-fatal-error"),
                 in_both_roles) {
  const Expected told = any_terminate() | advisory(torn_down());
  row("a tagged error", [&] {
    const Region region = iut.register_memory(16, access::remote_write);
    peer.send(rdma_write(region.stag, region.base + 16, payload(1)));
    expect(peer, told, then_close, "ddp.close.waits-for-ulp");
  });
  row("an untagged error", [&] {
    see_iut_send();
    peer.send(send_message(payload(1)).with_queue(7));
    expect(peer, told, then_close, "ddp.terminate.one-message-allowed");
  });
  row("an error while the IUT is sending", [&] {
    see_iut_send();
    peer.stall();
    const Work work = post_much(iut);
    peer.send(send_message(payload(1)).with_queue(7));
    watch();
    peer.resume();
    // What the IUT had begun to send arrives first, whole or in part.
    const Expected send("a Send or its beginning", [](const Arrival& arrival) {
      const auto* message = arrival.as<Message>();
      return message != nullptr && message->opcode() == Opcode::send;
    });
    const Arrival first = expect(peer, send | told, "ddp.close.may-send-after-fatal-error");
    if (first.message(Opcode::terminate) == nullptr && !first.is_end())
      expect(peer, told, "ddp.close.may-send-after-fatal-error");
  });
}

CONFORMANCE_CASE(fatal_llp_error_is_reported_to_the_consumer,
                 rules("ddp.close.llp-fatal-error-indicated", "ddp.close.llp-error-reported",
                       "ddp.terminate.llp-errors-passed-up"),
                 in_both_roles) {
  const ExpectedEvent told = or_at_least(asynchronous_error(), disconnected());
  row("a reset", [&] {
    see_iut_send();
    peer.reset();
    expect(iut, told, "ddp.close.llp-error-reported");
  });
  row("an FPDU cut short by a FIN", [&] {
    see_iut_send();
    const Octets fpdu =
        encode(peer.prepare(send_message(payload(16))).front(), peer.raw().sending());
    peer.send_octets(wire::Bytes(fpdu).first(fpdu.size() - 1));
    peer.half_close();
    expect(iut, told, "ddp.close.llp-fatal-error-indicated");
  });
  row("a CRC that does not match", [&] {
    see_iut_send();
    const Region region = iut.register_memory(16, access::remote_write);
    peer.send(rdma_write(region.stag, region.base, payload(8)).with_crc(CrcChoice::wrong));
    const Arrival arrival =
        expect_unless_dropped(any_terminate() | torn_down(), "ddp.terminate.llp-errors-passed-up");
    if (arrival.as<Nothing>() != nullptr)
      stop(Verdict::not_applicable, "the IUT drops what MPA refuses, and no error is passed up");
    expect(iut, told, "ddp.terminate.llp-errors-passed-up");
  });
}

CONFORMANCE_CASE(segment_that_fails_a_check_changes_no_buffer,
                 rules("ddp.untagged.validated-before-placement", "ddp.terminate.placement-ceases"),
                 in_both_roles) {
  const auto refuse = [&](const char* name, const std::function<Outgoing(const Outgoing&)>& spoil,
                          RuleRef rule = "ddp.untagged.validated-before-placement") {
    row(name, [&] {
      const Work first = iut.post_receive(64), second = iut.post_receive(64);
      peer.send(spoil(send_message(payload(48))));
      watch();
      for (const Work& receive : {first, second})
        expect_that(iut.read_memory(receive.buffer) == receive.buffer.contents,
                    "both buffers unchanged", "octets placed", rule);
    });
  };
  using rnic::wire::UntaggedHeader;
  refuse("DDP version 0", [](const Outgoing& m) { return m.with_ddp_version(0); });
  refuse("queue 4", [](const Outgoing& m) { return m.with_queue(4); });
  refuse("MSN in the past", [](const Outgoing& m) { return m.with_msn(0); });
  refuse("MSN in the far future", [](const Outgoing& m) { return m.with_msn(1U << 31U); });
  refuse("end outside the buffer", [](const Outgoing& m) {
    return m.with_untagged(
        [](std::size_t, UntaggedHeader& header) { header.message_offset = 17U; });
  });
  refuse(
      "only four octets within the buffer",
      [](const Outgoing& m) {
        return m.with_untagged(
            [](std::size_t, UntaggedHeader& header) { header.message_offset = 60U; });
      },
      "ddp.terminate.placement-ceases");
  refuse("MO outside the buffer", [](const Outgoing& m) {
    return m.with_untagged(
        [](std::size_t, UntaggedHeader& header) { header.message_offset = 65U; });
  });
}

CONFORMANCE_CASE(send_without_a_receive_waits_for_one_or_ends_the_stream,
                 rules("ddp.untagged.no-buffer-llp-recovery",
                       "ddp.untagged.no-buffer-disables-stream"),
                 in_both_roles) {
  see_iut_send();
  peer.send(send_message(payload(16)));
  const Arrival arrival = expect(peer, any_terminate() | advisory(torn_down()) | silence(),
                                 "ddp.untagged.no-buffer-disables-stream");
  if (arrival.is_end() || arrival.message(Opcode::terminate) != nullptr) return;
  // It holds the message back until there is a buffer for it (docs/disputes.md D9).
  const Work receive = iut.post_receive(64);
  expect(receive, completes().with_length(16), "ddp.untagged.no-buffer-llp-recovery");
  expect(receive.buffer, holds(payload(16)), "ddp.untagged.no-buffer-llp-recovery");
}

CONFORMANCE_CASE(half_close_is_reported_to_the_consumer, rules("ddp.close.half-close-indicated"),
                 in_both_roles) {
  see_iut_send();
  const Work receive = iut.post_receive(16);
  peer.send(send_message(payload(8)));
  peer.half_close();
  expect(receive, completes().with_length(8));
  const auto event = iut.take(disconnected().matches, context().deadline);
  advise_that(event.has_value(), "a report to the consumer that the peer has closed",
              iut.untaken());
}

CASES_OF_FILE(ddp, error_reporting)

}  // namespace suite::cases
