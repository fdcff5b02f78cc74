// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// IB_WR_REG_MR and IB_WR_LOCAL_INV of the kernel's verbs among other work: posted together, as the
// consumers in the kernel do (docs/disputes.md D80).
#include "suite/cases/framework/long_work.hpp"
#include "suite/cases/kmem/registration_steps.hpp"

namespace suite::cases {

namespace {

constexpr std::uint32_t remote_stag = 0x01020304;

iut::PostWork invalidation_of(std::uint32_t stag) {
  iut::PostWork work;
  work.operation = operation::local_invalidate;
  work.invalidate_stag = stag;
  return work;
}

}  // namespace

CONFORMANCE_CASE(work_behind_a_registration_uses_the_region,
                 rules("kmem.order.later-work-finds-it-registered"),
                 needs(capability::fast_registration), in_both_roles) {
  const auto post_both = [&](const char* operation) {
    see_iut_send();
    Region region = iut.allocate_region(64, 1);
    iut.write_memory(region, payload(64));
    const Work registration = iut.post_registration(region, remote_use, 0, 64);
    iut::PostWork use = work_on(region, operation);
    use.remote_stag = remote_stag;
    return std::pair{region, std::vector{registration, iut.post(use)}};
  };
  row("Send", [&] {
    const auto [region, works] = post_both(operation::send);
    expect(peer, message(Opcode::send, payload(64)));
    expect_in_order(works);
  });
  row("Send behind a fenced registration that waits for a Read", [&] {
    see_iut_send();
    const Work read = iut.post_read(8, remote_stag, 0x1000);
    const auto request = expect_message(Opcode::read_request).read_request();
    Region region = iut.allocate_region(64, 1);
    iut.write_memory(region, payload(64));
    const Work registration = iut.post_registration(region, remote_use, 0, 64, true);
    const Work send = iut.post(work_on(region, operation::send));
    peer.send(read_response(request->sink_stag, request->sink_offset, payload(8)));
    expect(peer, message(Opcode::send, payload(64)));
    expect_in_order({read, registration, send});
  });
  row("RDMA Write", [&] {
    const auto [region, works] = post_both(operation::write);
    expect(peer, message(Opcode::rdma_write, payload(64)));
    expect_in_order(works);
  });
  row("RDMA Read", [&] {
    const auto [region, works] = post_both(operation::read);
    const auto request = expect_message(Opcode::read_request).read_request();
    peer.send(read_response(request->sink_stag, request->sink_offset, payload(64, 9)));
    expect_in_order(works);
    expect(region, holds(payload(64, 9)));
  });
}

CONFORMANCE_CASE(former_registration_gives_way_to_a_new_one_and_its_work,
                 rules("kmem.order.later-work-finds-it-registered"),
                 needs(capability::fast_registration, capability::local_invalidate),
                 in_both_roles) {
  see_iut_send();
  Region region = iut.allocate_region(128, 1);
  iut.write_memory(region, PayloadGenerator(72).octets(128));
  iut.register_part(region, remote_use, 0, 64);
  const Work invalidation = iut.post(invalidation_of(region.stag));
  const Work registration = iut.post_registration(region, remote_use, 64, 64);
  iut::PostWork send;
  send.operation = operation::send;
  send.pieces = {{region.handle, 64, 64}};
  const Work sent = iut.post(send);
  expect(peer, message(Opcode::send, part_of(region.contents, 64, 64)));
  expect_in_order({invalidation, registration, sent});
  expect_readable(*this, region, 0, part_of(region.contents, 64, 8),
                  "kmem.order.later-work-finds-it-registered");
}

CONFORMANCE_CASE(registration_and_its_work_are_posted_by_one_call,
                 rules("kmem.order.later-work-finds-it-registered"),
                 needs(capability::fast_registration, capability::local_invalidate,
                       capability::chains),
                 in_both_roles) {
  constexpr iut::WorkId first_work = 1000;
  see_iut_send();
  Region region = iut.allocate_region(128, 1);
  iut.write_memory(region, PayloadGenerator(73).octets(128));
  iut.register_part(region, remote_use, 0, 64);
  iut::PostWork send;
  send.operation = operation::send;
  send.pieces = {{region.handle, 64, 64}};
  iut::PostWorkChain chain;
  chain.requests = {invalidation_of(region.stag), registration_of(region, remote_use, 64, 64),
                    send};
  std::vector<Work> works;
  for (iut::PostWork& each : chain.requests) {
    each.endpoint = iut.endpoint();
    each.work = first_work + works.size();
    works.push_back({each.work, each.endpoint, {}});
  }
  const iut::Reply reply = iut.try_call(chain, "post all three");
  expect_that(reply.outcome == iut::Outcome::ok, "accepted", reply.error);
  expect(peer, message(Opcode::send, part_of(region.contents, 64, 64)));
  expect_in_order(works);
}

CONFORMANCE_CASE(peer_that_is_told_of_a_region_can_use_it,
                 rules("kmem.order.peer-finds-it-registered"),
                 needs(capability::fast_registration, capability::local_invalidate), in_both_roles,
                 deadline_of(10s)) {
  see_iut_send();
  Region region = iut.allocate_region(64, 1);
  const Region words = iut.register_octets(payload(8));
  for (std::uint8_t round = 1; round <= 20; ++round) {
    const Work registration = iut.post_registration(region, remote_use, 0, 64);
    const Work told = iut.post(work_on(words, operation::send));
    expect(peer, message(Opcode::send, payload(8)));
    peer.send(rdma_write(region.stag, region.base, payload(64, round)));
    expect(region, holds(payload(64, round)));
    expect_in_order({registration, told});
    iut.invalidate(region.stag);
  }
}

CONFORMANCE_CASE(sink_that_is_invalidated_too_early_takes_nothing_more,
                 rules("rdmap.security.no-write-after-revoke",
                       "rdmap.order.read-completes-after-response"),
                 needs(capability::fast_registration, capability::local_invalidate),
                 in_both_roles) {
  see_iut_send();
  Region region = iut.allocate_region(64, 1);
  iut.register_part(region, remote_use, 0, 64);
  iut::PostWork command = work_on(region, operation::read);
  command.remote_stag = remote_stag;
  const Work read = iut.post(command);
  const auto request = expect_message(Opcode::read_request).read_request();
  const Work invalidation = iut.post(invalidation_of(region.stag));
  const bool closed =
      iut.take(success_of(invalidation).matches, context().loop.now() + environment().quiet_window)
          .has_value();
  peer.send(read_response(request->sink_stag, request->sink_offset, payload(64)));
  const iut::Event done =
      expect(iut, completion_of(read), "rdmap.order.read-completes-after-response");
  const Octets memory = iut.read_memory(region);
  expect_that(!closed || memory == region.contents, "memory unchanged once its STag is invalid",
              "octets placed");
  expect_that(!success_of(read).matches(done) || memory == payload(64), "the octets read", "others",
              "rdmap.order.read-completes-after-response");
}

CASES_OF_FILE(kmem, order)

}  // namespace suite::cases
