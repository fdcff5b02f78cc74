// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5041 sections 4 and 5: what each field of a segment's header means to its receiver.
#include <algorithm>

#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(tagged_payload_consumes_no_receive, rules("ddp.header.t-one-means-tagged"),
                 in_both_roles) {
  const Region region = iut.register_memory(64, access::remote_write);
  const Work receive = iut.post_receive(64), next = iut.post_receive(64);
  for (const std::size_t size : {0, 1, 40})
    peer.send(rdma_write(region.stag, region.base, payload(size)));
  expect(region, holds(payload(40)));
  peer.send(send_message(payload(9, 0x51)));
  expect(receive, completes().with_length(9));
  expect(receive.buffer, holds(payload(9, 0x51)));
  expect(next.buffer, unchanged);
}

CONFORMANCE_CASE(segment_that_only_lacks_its_crc_delivers_nothing,
                 rules("ddp.delivery.last-after-placement",
                       "ddp.delivery.only-when-segments-placed",
                       "rdmap.order.send-delivered-only-after-ddp"),
                 in_both_roles) {
  const Work receive = iut.post_receive(64);
  const auto segments = peer.prepare(send_message(payload(40)).with_segments_of(20));
  peer.ready().send(segments.front());
  const Octets rest = peer.send_all_but_the_crc(segments.back());
  watch();
  const auto early = iut.take(completion_of(receive).matches, context().loop.now());
  expect_that(!early, "no completion", early ? describe(*early) : "none",
              "ddp.delivery.last-after-placement");
  peer.send_octets(rest);
  expect(receive, completes().with_length(40), "ddp.delivery.only-when-segments-placed");
  expect(receive.buffer, holds(payload(40)), "rdmap.order.send-delivered-only-after-ddp");
}

CONFORMANCE_CASE(long_message_is_delivered_before_the_short_one_after_it,
                 rules("ddp.delivery.last-after-prior-deliveries",
                       "ddp.delivery.only-when-prior-delivered", "ddp.delivery.in-sent-order"),
                 in_both_roles) {
  const Work first = iut.post_receive(20'000), second = iut.post_receive(16),
             third = iut.post_receive(20'000);
  peer.send_together(
      {send_message(payload(20'000)), send_message(payload(1, 0x51)), send_message({})});
  expect_in_order({first, second, third}, "ddp.delivery.last-after-prior-deliveries");
  expect(first.buffer, holds(payload(20'000)), "ddp.delivery.only-when-prior-delivered");
  expect(second.buffer, holds(payload(1, 0x51)), "ddp.delivery.in-sent-order");
}

CONFORMANCE_CASE(full_buffer_without_a_last_segment_is_not_delivered,
                 rules("ddp.header.l-zero-is-intermediate"), in_both_roles) {
  const Work receive = iut.post_receive(64);
  peer.send(
      send_message(payload(64)).with_untagged([](std::size_t, rnic::wire::UntaggedHeader& header) {
        header.ddp = rnic::wire::DdpControl::make(false, false, rnic::wire::ddp_version);
      }));
  watch();
  const auto early = iut.take(completion_of(receive).matches, context().loop.now());
  expect_that(!early, "no completion", early ? describe(*early) : "none");
  peer.half_close();  // so that no last segment can come
  expect(receive, completes_in_error());
}

CONFORMANCE_CASE(opcode_of_a_tagged_segment_reaches_rdmap,
                 rules("ddp.tagged.rsvdulp-given-to-ulp", "rdmap.terminate.code-unexpected-opcode"),
                 in_both_roles) {
  // All opcodes except Write (0) and Read Response (2) belong to untagged messages or are reserved.
  for (const std::uint8_t opcode : std::initializer_list<std::uint8_t>{1, 3, 4, 5, 6, 7, 12, 15}) {
    row(fmt::format("opcode {:#x}", opcode), [&] {
      const Region region = iut.register_memory(64, access::remote_write);
      peer.send(rdma_write(region.stag, region.base, payload(16)).with_opcode(opcode));
      expect_rejection({cause::rdmap_unexpected_opcode}, "ddp.tagged.rsvdulp-given-to-ulp",
                       "rdmap.terminate.code-unexpected-opcode");
    });
  }
}

CONFORMANCE_CASE(stags_are_sent_as_given, rules("ddp.tagged.stag-valid-for-stream"),
                 in_both_roles) {
  see_iut_send();
  for (const std::uint32_t stag : {0xFFFFFFFFU, 0x00000101U, 0x80000001U, 0x12345678U}) {
    const Work write = iut.post_write(payload(12), stag, 0x1000);
    expect(peer, tagged_message(Opcode::rdma_write, stag, 0x1000, payload(12)));
    expect(write, completes());
    const Region source = iut.register_memory(16, access::remote_read);
    peer.send(read_request({.sink_stag = stag,
                            .sink_offset = 0x2000,
                            .length = 16,
                            .source_stag = source.stag,
                            .source_offset = source.base}));
    expect(peer, tagged_message(Opcode::read_response, stag, 0x2000, source.contents));
  }
}

CONFORMANCE_CASE(message_of_two_opcodes_is_delivered_or_refused,
                 rules("ddp.untagged.rsvdulp-sameness-unverified",
                       "ddp.untagged.rsvdulp-from-any-segment"),
                 in_both_roles) {
  const Work receive = iut.post_receive(64);
  peer.send(send_message(payload(40))
                .with_segments_of(20)
                .with_untagged([](std::size_t index, rnic::wire::UntaggedHeader& header) {
                  if (index == 1)
                    header.rdmap = rnic::wire::RdmapControl::make(Opcode::send_solicited);
                }));
  // An IUT need not compare them. But the message must not vanish without a completion.
  const auto end = iut.take(completion_of(receive).matches, context().deadline);
  expect_that(end.has_value(), "a completion, with success or in error", "none",
              "ddp.untagged.rsvdulp-sameness-unverified");
  if (success_of(receive).matches(*end)) {
    expect(receive.buffer, holds(payload(40)), "ddp.untagged.rsvdulp-from-any-segment");
    expect_still_working("ddp.untagged.rsvdulp-from-any-segment");
  } else {
    expect(peer, any_terminate() | torn_down(), "ddp.untagged.rsvdulp-from-any-segment");
  }
}

CONFORMANCE_CASE(message_with_a_gap_is_delivered_or_refused,
                 rules("ddp.delivery.completeness-check-not-required",
                       "ddp.delivery.message-length-given"),
                 in_both_roles) {
  const auto second_at = [&](const char* name, std::uint32_t offset) {
    row(name, [&] {
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(40))
                    .with_segments_of(20)
                    .with_untagged([=](std::size_t index, rnic::wire::UntaggedHeader& header) {
                      if (index == 1) header.message_offset = offset;
                    }));
      const auto end = iut.take(completion_of(receive).matches, context().deadline);
      expect_that(end.has_value(), "a completion, with success or in error", "none");
      if (!success_of(receive).matches(*end)) {
        expect(peer, any_terminate() | torn_down());
        return;
      }
      expect_that(std::get<iut::CompletionEvent>(*end).length == offset + 20,
                  fmt::format("a length of {}", offset + 20), describe(*end),
                  "ddp.delivery.message-length-given");
    });
  };
  second_at("a gap of 10 octets", 30);
  second_at("segments that overlap", 10);
  second_at("two segments at one place", 0);
}

CONFORMANCE_CASE(ulpdu_shorter_than_its_header_is_rejected,
                 rules("ddp.header.truncated-segment-rejected"), in_both_roles) {
  const auto refuse = [&](const Fpdu& whole, std::size_t length) {
    expect_still_working("ddp.header.truncated-segment-rejected");
    Fpdu fpdu = whole;
    fpdu.ulpdu.resize(length);
    peer.ready().send(fpdu);
    expect(peer, any_terminate() | torn_down());
  };
  for (const std::size_t length : {0UZ, 1UZ, 2UZ, 6UZ, 13UZ}) {
    row(fmt::format("{} octets, tagged", length), [&] {
      const Region region = iut.register_memory(16, access::remote_write);
      refuse(peer.prepare(rdma_write(region.stag, region.base, payload(4))).front(), length);
      expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "octets placed");
    });
  }
  for (const std::size_t length : {1UZ, 6UZ, 14UZ, 17UZ}) {
    row(fmt::format("{} octets, untagged", length), [&] {
      const Work receive = iut.post_receive(16);
      refuse(peer.prepare(send_message(payload(4))).front(), length);
      expect(receive, completes_in_error());
    });
  }
}

CONFORMANCE_CASE(message_of_four_gibibytes_is_not_sent,
                 rules("ddp.segmentation.message-below-4gib"), deadline_of(20s)) {
  // Every piece is the same sixteen mebibytes, so that a long message needs little memory.
  constexpr std::uint32_t pieces = 256;
  constexpr std::uint64_t length = (std::uint64_t{1} << 32) / pieces + 1;
  const iut::Handle endpoint = iut.new_handle();
  // Only one work request is posted, so the pieces are all that the IUT may lack.
  const iut::CreateEndpoint wanted{
      .endpoint = endpoint, .send_depth = 1, .receive_depth = 1, .max_pieces = pieces};
  if (iut.try_call(wanted, "create an endpoint").outcome != iut::Outcome::ok)
    throw lacking_limit("max_pieces",
                        fmt::format("the IUT has no {} pieces for a work request", pieces));
  establish({.endpoint = endpoint, .opening = true});
  const Region region = iut.register_memory(length);
  iut::PostWork command;
  command.endpoint = endpoint;
  command.operation = operation::send;
  command.pieces.assign(pieces, {region.handle, 0, static_cast<std::uint32_t>(region.length)});
  expect_refused_or(iut.try_post(command), completes_in_error());
  expect(peer, silence() | any_terminate() | torn_down());
}

CONFORMANCE_CASE(offset_that_wraps_the_message_is_rejected,
                 rules("ddp.untagged.check-mo-in-range", "ddp.terminate.untagged-invalid-mo"),
                 in_both_roles) {
  struct End {
    std::uint32_t offset;
    std::size_t length;
  };
  // The sum is 2^32 - 1, 2^32 (which is 0 in 32 bits), one more, and the buffer's size more.
  for (const End end : {End{0xFFFFFFFE, 1}, End{0xFFFFFFFF, 1}, End{0xFFFFFFFF, 2},
                        End{0xFFFFFFE0, 32}, End{0xFFFFFFE0, 64}}) {
    row(fmt::format("{} octets at MO {:#x}", end.length, end.offset), [&] {
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(end.length))
                    .with_untagged([=](std::size_t, rnic::wire::UntaggedHeader& header) {
                      header.message_offset = end.offset;
                    }));
      expect_rejection(refusal::offset_beyond_buffer, "ddp.untagged.check-mo-in-range",
                       "ddp.terminate.untagged-invalid-mo");
      expect(receive.buffer, unchanged, "ddp.untagged.check-mo-in-range");
    });
  }
}

CONFORMANCE_CASE(each_reserved_bit_alone_is_ignored,
                 rules("ddp.header.rsvd-ignored-on-receive", "rdmap.header.reserved-bits-ignored"),
                 in_both_roles) {
  for (unsigned bit = 1; bit < 0x100; bit <<= 1U) {
    const auto mask = static_cast<std::uint8_t>(bit);
    const auto try_with = [&](const char* name, bool of_ddp, RuleRef rule) {
      row(fmt::format("bit {:#04x} of {}", bit, name), [&] {
        const Region region = iut.register_memory(64, access::remote_read_write);
        const Work receive = iut.post_receive(64);
        const auto marked = [&](const Outgoing& message) {
          return of_ddp ? message.with_ddp_reserved(mask) : message.with_rdmap_reserved(mask);
        };
        peer.send(marked(rdma_write(region.stag, region.base, payload(16))));
        peer.send(marked(send_message(payload(16))));
        peer.send(marked(read_of(region.stag, region.base, 16)));
        expect(receive, completes().with_length(16), rule);
        expect(peer, message(Opcode::read_response, payload(16)), rule);
      });
    };
    if ((bit & rnic::wire::DdpControl::reserved_mask) != 0)
      try_with("DDP", true, "ddp.header.rsvd-ignored-on-receive");
    if ((bit & rnic::wire::RdmapControl::reserved_mask) != 0)
      try_with("RDMAP", false, "rdmap.header.reserved-bits-ignored");
  }
}

CASES_OF_FILE(ddp, headers)

}  // namespace suite::cases
