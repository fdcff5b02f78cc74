// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5041 section 4.3: which of the untagged buffer queues a message takes its buffer from.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(each_message_takes_a_buffer_of_its_own_queue,
                 rules("ddp.untagged.qn-selects-queue", "ddp.header.t-zero-means-untagged"),
                 in_both_roles) {
  Region source = iut.register_memory(64, access::remote_read);
  iut.write_memory(source, payload(64));
  const Work first = iut.post_receive(64), second = iut.post_receive(64);
  peer.send(read_request({.length = 16, .source_stag = source.stag, .source_offset = source.base}));
  expect(peer, message(Opcode::read_response, payload(16)));
  peer.send(send_message(payload(10)));
  expect(first, completes().with_length(10));
  expect(first.buffer, holds(payload(10)), "ddp.header.t-zero-means-untagged");
  peer.send(terminate_message(cause::rdmap_operation_unspecified));
  peer.half_close();  // after a Terminate nothing more can be requested
  expect_none(success_of(second));
  expect(second.buffer, unchanged);
}

CASES_OF_FILE(ddp, untagged_queues)

}  // namespace suite::cases
