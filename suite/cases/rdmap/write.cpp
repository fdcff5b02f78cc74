// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 5.1: RDMA Write.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {
namespace {

/// The IUT has sent the Request of a Read that is unsignaled.
Work leave_unsignaled_read_unanswered(Body& test) {
  iut::PostWork silent;
  silent.operation = operation::read;
  silent.signaled = false;
  silent.remote_stag = 0x01020304;
  const Region sink = test.iut.register_memory(16, access::remote_write);
  silent.pieces = {{sink.handle, 0, 16}};
  const Work unsignaled = test.iut.post(silent);
  static_cast<void>(test.expect_message(Opcode::read_request));
  return unsignaled;
}

}  // namespace

CONFORMANCE_CASE(writes_are_well_formed,
                 rules("rdmap.write.tagged-buffer", "ddp.tagged.header-format",
                       "ddp.tagged.stag-from-ulp", "ddp.tagged.stag-same-in-segments",
                       "ddp.segmentation.to-is-initial-plus-offset",
                       "rdmap.write.one-buffer-per-message", "ddp.tagged.rsvdulp-same-in-segments",
                       "ddp.segmentation.increasing-to"),
                 rules("ddp.segmentation.zero-length-one-segment"), in_both_roles) {
  let_iut_send();
  for (const std::size_t size : {5000, 1, 0}) {
    const Work work = iut.post_write(payload(size), 0x01020304, 0x1122334455667788);
    const Arrival arrival = expect(peer, message(Opcode::rdma_write, payload(size)),
                                   size > 0 ? RuleRef("rdmap.write.tagged-buffer")
                                            : RuleRef("ddp.segmentation.zero-length-one-segment"));
    if (size > 0) {
      const Message& write = *arrival.as<Message>();
      expect_that(write.stag() == 0x01020304, "the STag as posted", arrival.text(),
                  "ddp.tagged.stag-from-ulp");
      expect_that(write.tagged_offset() == 0x1122334455667788, "the offset as posted",
                  arrival.text(), "ddp.segmentation.to-is-initial-plus-offset");
    }
    expect(work, completes());
  }
}

CONFORMANCE_CASE(stag_stays_the_same_in_all_segments, rules("ddp.tagged.stag-same-in-segments")) {
  let_iut_send();
  const Work work = iut.post_write(payload(5000), 0x01020304, 0x1000);
  expect(peer, tagged_message(Opcode::rdma_write, 0x01020304, 0x1000, payload(5000)));
}

CONFORMANCE_CASE(write_is_not_shown_to_the_consumer, rules("rdmap.write.not-delivered-to-ulp")) {
  const Region region = iut.register_memory(4096, access::remote_write);
  const Work receive = iut.post_receive(64);
  for (int i = 0; i < 3; ++i) peer.send(rdma_write(region.stag, region.base, payload(100)));
  expect_none(completion_of(receive));
  peer.send(send_message(payload(3)));
  expect(receive, completes().with_length(3));
}

CONFORMANCE_CASE(long_write_is_placed_in_any_segmentation, rules("ddp.tagged.placed-at-to"),
                 in_both_roles) {
  for (const std::size_t part : {1, 100, 1000}) {
    row(fmt::format("segments of {} octets", part), [&] {
      const Region region = iut.register_memory(4096, access::remote_write);
      peer.send(rdma_write(region.stag, region.base + 3, payload(700)).with_segments_of(part));
      expect(region, holds(payload(700), 3));
    });
  }
}

CONFORMANCE_CASE(zero_based_region_is_written_from_offset_zero, rules("rdmap.write.nonzero-offset"),
                 needs(capability::zero_based)) {
  const Region region = iut.register_zero_based(4096, access::remote_write);
  expect_that(region.base == 0, "base 0", fmt::format("{:#x}", region.base));
  peer.send(rdma_write(region.stag, 0, payload(50)));
  expect(region, holds(payload(50)));
}

CONFORMANCE_CASE(write_of_another_rdmap_version_is_reported,
                 rules("rdmap.write.invalid-surfaced")) {
  const Region region = iut.register_memory(64, access::remote_write);
  peer.send(rdma_write(region.stag, region.base, payload(8)).with_rdmap_version(2));
  expect_rejection({cause::rdmap_invalid_version}, "rdmap.write.invalid-surfaced",
                   "rdmap.write.invalid-surfaced");
}

CONFORMANCE_CASE(failed_write_is_reported_to_consumer_and_peer,
                 rules("rdmap.write.error-passed-up-and-terminated"), in_both_roles) {
  const Region region = iut.register_memory(64, access::remote_write);
  see_iut_send();
  const Work unsignaled = leave_unsignaled_read_unanswered(*this);
  peer.send(rdma_write(region.stag, region.base + 60, payload(8)));
  expect(peer, any_terminate() | advisory(torn_down()));
  expect(iut, asynchronous_error() | disconnected());
  // A consumer that only waits for completions learns of it from that of its work.
  const auto ended = iut.take(completion_of(unsignaled).matches, context().deadline);
  advise_that(ended && !success_of(unsignaled).matches(*ended), "unsignaled work ended in error",
              ended ? describe(*ended) : "no completion");
}

CONFORMANCE_CASE(unsignaled_work_that_fails_completes,
                 rules("rdmap.terminate.outstanding-completed-in-error")) {
  let_iut_send();
  const Work read = iut.post_read(16, 0x01020304, 0);
  static_cast<void>(expect_message(Opcode::read_request));
  const Work unsignaled = leave_unsignaled_read_unanswered(*this);
  peer.send(terminate_message(cause::rdmap_invalid_stag));
  expect(read, completes_in_error());
  expect(unsignaled, completes_in_error());
}

CONFORMANCE_CASE(write_without_payload_is_accepted, rules("rdmap.write.zero-length")) {
  const Region region = iut.register_memory(64, access::remote_write);
  peer.send(rdma_write(region.stag, region.base, {}));
  expect_still_working();
  expect(region, unchanged);
}

CASES_OF_FILE(rdmap, write)

}  // namespace suite::cases
