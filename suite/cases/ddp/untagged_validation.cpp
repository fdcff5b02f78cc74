// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5041 section 7.1: the checks of an untagged segment,
// and the Terminate that follows each (section 7.2).
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(unknown_queue_is_rejected,
                 rules("ddp.untagged.check-qn-valid", "ddp.terminate.untagged-invalid-qn"),
                 in_both_roles) {
  for (const std::uint32_t queue : {4U, 0x100U, 0xFFFFFFFFU}) {
    row(fmt::format("QN {:#x}", queue), [&] {
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(16)).with_queue(queue));
      expect_rejection(refusal::unknown_queue, "ddp.untagged.check-qn-valid",
                       "ddp.terminate.untagged-invalid-qn");
      expect(receive.buffer, unchanged, "ddp.untagged.check-qn-valid");
    });
  }
}

CONFORMANCE_CASE(send_on_queue_three_is_rejected,
                 rules("ddp.untagged.check-qn-valid", "ddp.terminate.untagged-invalid-qn"),
                 in_both_roles) {
  // RFC 7306 uses that queue for Atomic Responses: an IUT that implements it may find the opcode
  // wrong there, or no buffer (docs/disputes.md D54, D55), whatever its API offers.
  const Work receive = iut.post_receive(64);
  peer.send(send_message(payload(16)).with_queue(3));
  if (iut.can(capability::atomics))
    expect_rejection({cause::ddp_untagged_invalid_queue, cause::ddp_untagged_no_buffer,
                      cause::rdmap_unexpected_opcode},
                     "ddp.untagged.check-qn-valid", "ddp.terminate.untagged-invalid-qn");
  else
    expect_rejection({cause::ddp_untagged_invalid_queue}, "ddp.untagged.check-qn-valid",
                     "ddp.terminate.untagged-invalid-qn",
                     {cause::ddp_untagged_no_buffer, cause::rdmap_unexpected_opcode});
  expect(receive.buffer, unchanged, "ddp.untagged.check-qn-valid");
}

CONFORMANCE_CASE(message_without_a_buffer_is_rejected,
                 rules("ddp.untagged.check-buffer-available", "ddp.terminate.untagged-no-buffer")) {
  peer.send(send_message(payload(16)));
  expect_no_buffer(payload(16), "ddp.untagged.check-buffer-available",
                   "ddp.terminate.untagged-no-buffer");
}

CONFORMANCE_CASE(one_message_more_than_buffers_is_rejected,
                 rules("rdmap.send.consumes-one-buffer", "ddp.terminate.untagged-no-buffer")) {
  const Work first = iut.post_receive(64), second = iut.post_receive(64);
  peer.send(send_message(payload(10)).with_segments_of(3));
  peer.send(send_message(payload(20)));
  expect(first, completes().with_length(10));
  expect(second, completes().with_length(20));
  peer.send(send_message(payload(1)));
  expect_no_buffer(payload(1), "rdmap.send.consumes-one-buffer",
                   "ddp.terminate.untagged-no-buffer");
}

CONFORMANCE_CASE(msn_out_of_range_is_rejected,
                 rules("ddp.untagged.check-msn-in-range", "ddp.terminate.untagged-msn-range"),
                 in_both_roles) {
  for (const std::int64_t distance : {-1, 64, 1 << 20, 1 << 30}) {
    row(fmt::format("MSN {} from the expected one", distance), [&] {
      const Work receive = iut.post_receive(64);
      const std::uint32_t expected = peer.next_msn(Queue::send);
      peer.send(
          send_message(payload(16)).with_msn(static_cast<std::uint32_t>(expected + distance)));
      expect_rejection(refusal::msn_out_of_range, "ddp.untagged.check-msn-in-range",
                       "ddp.terminate.untagged-msn-range");
      expect(receive.buffer, unchanged, "ddp.untagged.check-msn-in-range");
    });
  }
}

CONFORMANCE_CASE(later_segments_of_a_message_are_checked_too,
                 rules("ddp.untagged.check-msn-in-range", "ddp.terminate.untagged-msn-range",
                       "ddp.untagged.check-qn-valid", "ddp.terminate.untagged-invalid-qn")) {
  const auto send_with_later = [&](auto change) {
    static_cast<void>(iut.post_receive(64));
    peer.send(send_message(payload(48))
                  .with_segments_of(16)
                  .with_untagged([=](std::size_t index, rnic::wire::UntaggedHeader& header) {
                    if (index > 0) change(header);
                  }));
  };
  for (const std::int64_t distance : {-1, 64, 1 << 20})
    row(fmt::format("MSN {} from that of the first", distance), [&] {
      send_with_later([=](rnic::wire::UntaggedHeader& header) {
        const auto first = header.message_sequence_number.value();
        header.message_sequence_number = static_cast<std::uint32_t>(first + distance);
      });
      expect_rejection(refusal::msn_out_of_range, "ddp.untagged.check-msn-in-range",
                       "ddp.terminate.untagged-msn-range");
    });
  row("a queue that there is not", [&] {
    send_with_later([](rnic::wire::UntaggedHeader& header) { header.queue_number = 4; });
    expect_rejection(refusal::unknown_queue, "ddp.untagged.check-qn-valid",
                     "ddp.terminate.untagged-invalid-qn");
  });
}

CONFORMANCE_CASE(completed_msn_is_rejected,
                 rules("ddp.terminate.untagged-msn-range", "ddp.untagged.check-msn-in-range",
                       "ddp.delivery.at-most-once")) {
  const Work first = iut.post_receive(64), second = iut.post_receive(64);
  const std::uint32_t msn = peer.next_msn(Queue::send);
  peer.send(send_message(payload(16)));
  expect(first, completes().with_length(16), "ddp.delivery.at-most-once");
  peer.send(send_message(payload(16)).with_msn(msn));
  expect_rejection(refusal::msn_out_of_range, "ddp.untagged.check-msn-in-range",
                   "ddp.terminate.untagged-msn-range");
  expect(second.buffer, unchanged, "ddp.untagged.check-msn-in-range");
}

CONFORMANCE_CASE(offset_outside_the_buffer_is_rejected,
                 rules("ddp.untagged.check-mo-in-range", "ddp.terminate.untagged-invalid-mo")) {
  for (const std::uint32_t offset : {65U, 4096U, 0xFFFFFFF0U}) {
    row(fmt::format("MO {}", offset), [&] {
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(16))
                    .with_untagged([=](std::size_t, rnic::wire::UntaggedHeader& header) {
                      header.message_offset = offset;
                    }));
      expect_rejection(refusal::offset_beyond_buffer, "ddp.untagged.check-mo-in-range",
                       "ddp.terminate.untagged-invalid-mo");
      expect(receive.buffer, unchanged, "ddp.untagged.check-mo-in-range");
    });
  }
}

CONFORMANCE_CASE(offset_is_checked_before_the_end_of_the_segment,
                 rules("ddp.untagged.check-mo-in-range")) {
  const Work receive = iut.post_receive(64);
  peer.send(
      send_message(payload(1)).with_untagged([](std::size_t, rnic::wire::UntaggedHeader& header) {
        header.message_offset = 65U;
      }));
  // No octet of it lies within the buffer, and no text says whether MO or end is checked first.
  expect_rejection(refusal::offset_beyond_buffer, "ddp.untagged.check-mo-in-range",
                   "ddp.untagged.check-mo-in-range");
  expect(receive.buffer, unchanged);
}

CONFORMANCE_CASE(message_longer_than_its_buffer_is_rejected,
                 rules("ddp.untagged.check-end-in-range", "ddp.terminate.untagged-message-too-long",
                       "rdmap.send.too-long-is-error"),
                 in_both_roles) {
  for (const std::size_t excess : {1, 1000}) {
    row(fmt::format("{} octets too many", excess), [&] {
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(64 + excess)));
      expect_rejection({cause::ddp_untagged_message_too_long}, "ddp.untagged.check-end-in-range",
                       "ddp.terminate.untagged-message-too-long");
      expect(receive, completes_in_error(), "rdmap.send.too-long-is-error");
    });
  }
}

CONFORMANCE_CASE(untagged_segment_of_another_version_is_rejected,
                 rules("ddp.terminate.untagged-invalid-version")) {
  for (const std::uint8_t version : std::initializer_list<std::uint8_t>{0, 2, 3}) {
    row(fmt::format("DV {}", version), [&] {
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(16)).with_ddp_version(version));
      expect_rejection({cause::ddp_untagged_invalid_version},
                       "ddp.terminate.untagged-invalid-version",
                       "ddp.terminate.untagged-invalid-version");
      expect(receive.buffer, unchanged);
    });
  }
}

CONFORMANCE_CASE(reserved_ddp_bits_of_an_untagged_segment_are_ignored,
                 rules("ddp.header.rsvd-ignored-on-receive")) {
  const Work receive = iut.post_receive(64);
  peer.send(send_message(payload(16)).with_ddp_reserved());
  expect(receive, completes().with_length(16));
}

CONFORMANCE_CASE(msn_around_half_of_its_range_is_rejected,
                 rules("ddp.untagged.check-msn-in-range", "ddp.terminate.untagged-msn-range")) {
  // Where a difference of MSNs changes its sign, and where the number itself wraps.
  for (const std::uint32_t msn :
       {0U, 0x7FFFFFFFU, 0x80000000U, 0x80000001U, 0x80000002U, 0xFFFFFFFEU, 0xFFFFFFFFU}) {
    row(fmt::format("MSN {:#x} instead of 1", msn), [&] {
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(16)).with_msn(msn));
      expect_rejection(refusal::msn_out_of_range, "ddp.untagged.check-msn-in-range",
                       "ddp.terminate.untagged-msn-range");
      expect(receive.buffer, unchanged, "ddp.untagged.check-msn-in-range");
    });
  }
}

CASES_OF_FILE(ddp, untagged_validation)

}  // namespace suite::cases
