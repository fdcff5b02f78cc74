// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 sections 3.3, 5.3: Send with Invalidate and Send with Solicited Event and Invalidate.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

// It needs no capability: where remote invalidation is missing, this is the case that fails.
CONFORMANCE_CASE(invalidated_stag_refuses_writes,
                 rules("rdmap.invalidate.stag-invalidated", "ddp.terminate.tagged-invalid-stag"),
                 in_both_roles) {
  for (const bool solicited : {false, true}) {
    row(solicited ? "Send with SE and Invalidate" : "Send with Invalidate", [&] {
      const Region region = iut.register_memory(64, access::remote_write);
      const Work receive = iut.post_receive(16);
      peer.send(solicited ? send_solicited_invalidate(region.stag, payload(8))
                          : send_invalidate(region.stag, payload(8)));
      expect(receive, completes().with_length(8));
      peer.send(rdma_write(region.stag, region.base, payload(16)));
      expect_rejection({cause::ddp_tagged_invalid_stag}, "rdmap.invalidate.stag-invalidated",
                       "ddp.terminate.tagged-invalid-stag");
      expect(region, unchanged, "rdmap.invalidate.stag-invalidated");
    });
  }
}

CONFORMANCE_CASE(invalidated_stag_refuses_reads,
                 rules("rdmap.invalidate.stag-invalidated", "rdmap.terminate.code-invalid-stag"),
                 needs(capability::remote_invalidate)) {
  const Region region = iut.register_memory(64, access::remote_read);
  const Work receive = iut.post_receive(16);
  peer.send(send_invalidate(region.stag, payload(8)));
  expect(receive, completes().with_length(8));
  peer.send(read_request(
      {.sink_stag = 7, .length = 16, .source_stag = region.stag, .source_offset = region.base}));
  expect_rejection({cause::rdmap_invalid_stag}, "rdmap.invalidate.stag-invalidated",
                   "rdmap.terminate.code-invalid-stag");
}

CONFORMANCE_CASE(only_the_named_stag_is_invalidated,
                 rules("rdmap.invalidate.stag-invalidated", "rdmap.terminate.code-invalid-stag"),
                 needs(capability::remote_invalidate), in_both_roles) {
  std::vector<Region> regions;
  for (int i = 0; i < 3; ++i) regions.push_back(iut.register_memory(64, access::remote_read_write));
  const auto read_all_but = [&](std::size_t gone) {
    for (std::size_t i = 0; i < regions.size(); ++i) {
      if (i == gone) continue;
      peer.send(read_of(regions[i].stag, regions[i].base, 8));
      expect(peer, message(Opcode::read_response, payload(8, static_cast<std::uint8_t>(i))));
    }
  };
  for (std::size_t i = 0; i < regions.size(); ++i)
    peer.send(
        rdma_write(regions[i].stag, regions[i].base, payload(8, static_cast<std::uint8_t>(i))));
  read_all_but(regions.size());
  const Work receive = iut.post_receive(16);
  peer.send(send_invalidate(regions[1].stag, payload(8)));
  expect(receive, completes().with_length(8));
  read_all_but(1);
  peer.send(read_of(regions[1].stag, regions[1].base, 8));
  expect_rejection({cause::rdmap_invalid_stag}, "rdmap.invalidate.stag-invalidated",
                   "rdmap.terminate.code-invalid-stag");
}

CONFORMANCE_CASE(invalidation_does_not_change_memory, rules("rdmap.invalidate.stag-invalidated"),
                 needs(capability::remote_invalidate)) {
  const Region region = iut.register_memory(64, access::remote_write);
  const Work receive = iut.post_receive(16);
  peer.send(send_invalidate(region.stag, payload(8)));
  expect(receive, completes().with_length(8));
  expect(region, unchanged);
}

CONFORMANCE_CASE(other_stags_stay_valid_after_an_invalidation,
                 rules("rdmap.invalidate.stag-invalidated"), needs(capability::remote_invalidate)) {
  const Region victim = iut.register_memory(64, access::remote_write);
  const Region survivor = iut.register_memory(64, access::remote_write);
  const Work receive = iut.post_receive(16);
  peer.send(send_invalidate(victim.stag, payload(4)));
  expect(receive, completes().with_length(4));
  peer.send(rdma_write(survivor.stag, survivor.base, payload(32)));
  expect(survivor, holds(payload(32)));
}

CONFORMANCE_CASE(stag_cannot_be_invalidated_twice,
                 rules("rdmap.invalidate.terminate-if-not-associated",
                       "rdmap.terminate.outstanding-completed-in-error"),
                 needs(capability::remote_invalidate)) {
  const Region region = iut.register_memory(64, access::remote_write);
  const Work first = iut.post_receive(16), second = iut.post_receive(16);
  peer.send(send_invalidate(region.stag, payload(8)));
  expect(first, completes().with_length(8));
  peer.send(send_invalidate(region.stag, payload(8)));
  expect_rejection(refusal::invalidation_of_nothing, "rdmap.invalidate.terminate-if-not-associated",
                   "rdmap.invalidate.terminate-if-not-associated");
  // The message that the error is in has taken a receive.
  expect(second, completes_in_error(), "rdmap.terminate.outstanding-completed-in-error");
}

CONFORMANCE_CASE(stream_that_is_left_alone_in_its_domain_invalidates,
                 rules("rdmap.invalidate.stag-invalidated"), needs(capability::remote_invalidate)) {
  const auto left_by = [&](const char* name, const std::function<void(iut::Handle, Peer&)>& leave) {
    row(name, [&] {
      iut::CreateEndpoint within;
      within.domain = iut.create_domain();
      const iut::Handle staying = iut.create_endpoint(within),
                        leaving = iut.create_endpoint(within);
      Peer &to_staying = another_peer(), &to_leaving = another_peer();
      establish(to_staying, {.endpoint = staying});
      establish(to_leaving, {.endpoint = leaving, .opening = true});
      leave(leaving, to_leaving);
      const Region region = iut.register_memory(64, access::remote_write, 0xA5, within.domain);
      const Region buffer = iut.register_memory(16, access::local, 0, within.domain);
      iut::PostReceive posted;
      posted.endpoint = staying;
      posted.pieces = {{buffer.handle, 0, 16}};
      const Work receive = iut.post_receive(posted);
      to_staying.send(send_invalidate(region.stag, payload(8)));
      expect(receive, completes().with_length(8));
      to_staying.send(rdma_write(region.stag, region.base, payload(16)));
      expect(to_staying, any_terminate() | torn_down());
      expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "octets placed");
    });
  };
  left_by("whose other endpoint is destroyed", [&](iut::Handle endpoint, Peer&) {
    iut.call(iut::DestroyEndpoint{endpoint}, "destroy the endpoint");
  });
  left_by("whose other connection is lost", [&](iut::Handle, Peer& other) {
    other.reset();
    expect(iut, disconnected());
  });
  left_by("whose other stream ends by a Terminate", [&](iut::Handle, Peer& other) {
    other.send(terminate_message(cause::rdmap_local_catastrophic));
    other.half_close();
    expect(iut, disconnected());
  });
}

CONFORMANCE_CASE(stag_to_invalidate_is_sent_as_given, rules("rdmap.invalidate.references-stag"),
                 needs(capability::send_invalidate)) {
  let_iut_send();
  for (const bool solicited : {false, true}) {
    const std::uint32_t stag = solicited ? 0xFEDCBA98U : 0x12345678U;
    const Work work = iut.post_send(
        payload(8), solicited ? operation::send_solicited_invalidate : operation::send_invalidate,
        [=](iut::PostWork& post) { post.invalidate_stag = stag; });
    const Message sent =
        expect_message(solicited ? Opcode::send_solicited_invalidate : Opcode::send_invalidate);
    expect_that(sent.untagged_header.ulp_word.value() == stag,
                fmt::format("Invalidate STag {:#010x}", stag),
                fmt::format("{:#010x}", sent.untagged_header.ulp_word.value()));
    expect(work, completes());
  }
}

CONFORMANCE_CASE(empty_send_with_invalidate_invalidates, rules("rdmap.invalidate.stag-invalidated"),
                 rules("rdmap.send.zero-length-consumes-buffer"),
                 needs(capability::remote_invalidate)) {
  for (const bool solicited : {false, true}) {
    row(solicited ? "Send with SE and Invalidate" : "Send with Invalidate", [&] {
      const Region region = iut.register_memory(64, access::remote_write);
      const Work receive = iut.post_receive(16);
      peer.send(solicited ? send_solicited_invalidate(region.stag, {})
                          : send_invalidate(region.stag, {}));
      expect(receive, completes().with_length(0), "rdmap.send.zero-length-consumes-buffer");
      peer.send(rdma_write(region.stag, region.base, payload(16)));
      expect(peer, any_terminate() | torn_down());
      expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "octets placed");
    });
  }
}

CASES_OF_FILE(rdmap, invalidate)

}  // namespace suite::cases
