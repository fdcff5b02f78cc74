// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 sections 3.3, 5.1: RDMA Write, sent by the IUT and to it.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(write_raises_no_completion_and_takes_no_receive,
                 rules("rdmap.write.not-delivered-to-ulp"), in_both_roles) {
  const Region region = iut.register_memory(64, access::remote_write);
  const Work receive = iut.post_receive(16);
  for (int i = 0; i < 3; ++i) peer.send(rdma_write(region.stag, region.base, payload(16)));
  expect_none(completion_of(receive));
  peer.send(send_message(payload(8)));
  expect(receive, completes().with_length(8));
}

CONFORMANCE_CASE(write_without_payload_is_taken, rules("rdmap.write.zero-length")) {
  const Region region = iut.register_memory(64, access::remote_write);
  peer.send(rdma_write(region.stag, region.base, {}));
  expect_still_working();
  expect(region, unchanged);
}

CONFORMANCE_CASE(long_write_lands_where_it_belongs, rules("ddp.tagged.placed-at-to"),
                 over_both_families) {
  const Region region = iut.register_memory(65536, access::remote_write);
  peer.send(rdma_write(region.stag, region.base + 100, payload(60000)));
  expect(region, holds(payload(60000), 100));
}

CONFORMANCE_CASE(iut_writes_to_the_place_named, rules("ddp.segmentation.to-is-initial-plus-offset"),
                 in_both_roles, over_both_families) {
  let_iut_send();
  const Work write = iut.post_write(payload(10000), 0xCAFE0102, 0xFFFFFFFF0);
  const Message sent = expect_message(Opcode::rdma_write);
  expect_that(sent.stag() == 0xCAFE0102 && sent.tagged_offset() == 0xFFFFFFFF0 &&
                  sent.payload == payload(10000),
              "10000 octets to STag 0xcafe0102 TO 0xffffffff0",
              fmt::format("{} octets ({}) to STag {:#010x} TO {:#x}", sent.payload.size(),
                          sent.payload == payload(10000) ? "equal" : "different", sent.stag(),
                          sent.tagged_offset()));
  expect(write, completes());
}

CONFORMANCE_CASE(iut_writes_nothing_where_nothing_is_to_write, rules("rdmap.write.zero-length")) {
  let_iut_send();
  const Work write = iut.post_write({}, 0xCAFE0102, 0);
  const Message sent = expect_message(Opcode::rdma_write);
  expect_that(sent.payload.empty(), "no payload", fmt::format("{} octets", sent.payload.size()));
  expect(write, completes());
}

CONFORMANCE_CASE(unsignaled_work_that_fails_completes,
                 rules("rdmap.write.error-passed-up-and-terminated")) {
  let_iut_send();
  const Work read = iut.post_read(16, 0x01020304, 0);
  static_cast<void>(expect_message(Opcode::read_request));
  iut::PostWork silent;
  silent.operation = operation::read;
  silent.signaled = false;
  silent.remote_stag = 0x01020304;
  const Region sink = iut.register_memory(16, access::remote_write);
  silent.pieces = {{sink.handle, 0, 16}};
  const Work unsignaled = iut.post(silent);
  static_cast<void>(expect_message(Opcode::read_request));
  peer.send(terminate_message(cause::rdmap_invalid_stag));
  expect(read, completes_in_error());
  expect(unsignaled, completes_in_error());
}

CASES_OF_FILE(rdmap, write)

}  // namespace suite::cases
