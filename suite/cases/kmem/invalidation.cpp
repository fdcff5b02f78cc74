// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 5.3, and IB_WR_LOCAL_INV, IB_WR_SEND_WITH_INV and IB_WR_RDMA_READ_WITH_INV of the
// kernel's verbs: the end of a registration, and the next one after each of them.
#include "suite/cases/framework/long_work.hpp"
#include "suite/cases/kmem/registration_steps.hpp"

namespace suite::cases {

namespace {

void expect_closed(Body& body, const Region& region, RuleRef rule) {
  body.peer.send(rdma_write(region.stag, region.base, payload(16)));
  body.expect(body.peer, any_terminate() | torn_down(), rule);
  body.expect(region, unchanged, rule);
}

/// The region is registered again, which takes one whose STag is invalid, and open.
void expect_reopened(Body& body, Region& region, RuleRef rule) {
  expect_registered(body, region, 0, static_cast<std::uint32_t>(region.length), rule);
  const Octets data = payload(region.length, static_cast<std::uint8_t>(region.stag));
  body.peer.send(rdma_write(region.stag, region.base, data));
  body.expect(region, holds(data), rule);
}

}  // namespace

CONFORMANCE_CASE(region_is_closed_by_its_owner, rules("rdmap.security.no-write-after-revoke"),
                 needs(capability::fast_registration, capability::local_invalidate),
                 in_both_roles) {
  see_iut_send();
  Region region = iut.allocate_region(64, 1);
  iut.register_part(region, remote_use, 0, 64);
  iut.invalidate(region.stag);
  expect_closed(*this, region, "rdmap.security.no-write-after-revoke");
}

CONFORMANCE_CASE(region_is_closed_and_opened_again_after_the_peer_s_send,
                 rules("rdmap.invalidate.stag-invalidated",
                       "rdmap.invalidate.stag-reported-to-ulp"),
                 needs(capability::fast_registration, capability::remote_invalidate),
                 in_both_roles) {
  see_iut_send();
  Region region = iut.allocate_region(64, 1);
  iut.register_part(region, remote_use, 0, 64);
  for (const bool solicited : {false, true, false}) {
    const Work receive = iut.post_receive(16);
    peer.send(solicited ? send_solicited_invalidate(region.stag, payload(8))
                        : send_invalidate(region.stag, payload(8)));
    expect(receive, completes().with_length(8).invalidating(region.stag),
           "rdmap.invalidate.stag-reported-to-ulp");
    expect_reopened(*this, region, "rdmap.invalidate.stag-invalidated");
  }
  const Work receive = iut.post_receive(16);
  peer.send(send_invalidate(region.stag, payload(8)));
  expect(receive, completes().with_length(8), "rdmap.invalidate.stag-reported-to-ulp");
  region.contents = iut.read_memory(region);
  expect_closed(*this, region, "rdmap.invalidate.stag-invalidated");
}

CONFORMANCE_CASE(sink_is_closed_and_opened_again_after_a_read_with_invalidate,
                 rules("rdmap.security.no-write-after-revoke"),
                 needs(capability::fast_registration, capability::read_invalidate), in_both_roles) {
  see_iut_send();
  Region region = iut.allocate_region(64, 1);
  const auto read_and_invalidate = [&] {
    iut::PostWork command = work_on(region, operation::read_invalidate);
    command.remote_stag = 0x01020304;
    const Work read = iut.post(command);
    const auto request = expect_message(Opcode::read_request).read_request();
    peer.send(read_response(request->sink_stag, request->sink_offset, payload(64)));
    expect(read, completes());
  };
  iut.register_part(region, remote_use, 0, 64);
  read_and_invalidate();
  expect_reopened(*this, region, "rdmap.security.no-write-after-revoke");
  read_and_invalidate();
  region.contents = payload(64);
  expect_closed(*this, region, "rdmap.security.no-write-after-revoke");
}

CASES_OF_FILE(kmem, invalidation)

}  // namespace suite::cases
