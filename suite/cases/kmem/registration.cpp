// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// IB_WR_REG_MR of the kernel's verbs: what a region is open to, from its first registration to its
// last.
#include "suite/cases/kmem/registration_steps.hpp"

namespace suite::cases {

CONFORMANCE_CASE(registered_region_is_open_to_the_peer, rules("kmem.registration.opens-the-region"),
                 needs(capability::fast_registration), in_both_roles) {
  see_iut_send();
  const std::uint32_t page = page_of(*this);
  Region region = iut.allocate_region(2 * page, 2);
  expect_registered(*this, region, 0, 2 * page, "kmem.registration.opens-the-region");
  peer.send(rdma_write(region.stag, region.base + page - 100, payload(200)));
  expect(region, holds(payload(200), page - 100));
  expect_readable(*this, region, page - 100, payload(200), "kmem.registration.opens-the-region");
}

CONFORMANCE_CASE(region_is_open_under_each_key, rules("kmem.registration.opens-the-region"),
                 needs(capability::fast_registration, capability::local_invalidate),
                 in_both_roles) {
  see_iut_send();
  const Region region = iut.allocate_region(64, 1);
  for (const std::uint8_t key : std::initializer_list<std::uint8_t>{1, 0, 0xFF}) {
    iut::PostWork command = registration_of(region, remote_use, 0, 64);
    command.registration->key = key;
    const auto [reply, work] = iut.try_post(command);
    expect_that(reply.outcome == iut::Outcome::ok, "the registration accepted", reply.error);
    expect(work, completes());
    const std::uint32_t stag = (region.stag & ~0xFFU) | key;
    expect_that(reply.stag == stag, fmt::format("STag {:#x}", stag),
                fmt::format("{:#x}", reply.stag.value_or(0)));
    const std::uint64_t base = reply.base.value_or(0);
    peer.send(rdma_write(stag, base, payload(16, key)));
    peer.send(read_of(stag, base, 16));
    expect(peer, message(Opcode::read_response, payload(16, key)));
    iut.invalidate(stag);
  }
}

// The registration waits for a Read that nobody answers.
CONFORMANCE_CASE(region_is_closed_until_its_registration_is_executed,
                 rules("kmem.registration.not-before-its-turn"),
                 needs(capability::fast_registration), in_both_roles) {
  see_iut_send();
  Region region = iut.allocate_region(64, 1);
  const Work read = iut.post_read(8, 0x01020304, 0);
  expect_message(Opcode::read_request);
  const Work registration = iut.post_registration(region, remote_use, 0, 64, true);
  peer.send(read_of(region.stag, region.base, 8));
  expect(peer, any_terminate() | torn_down());
}

CONFORMANCE_CASE(region_is_registered_again_after_each_invalidation,
                 rules("kmem.registration.again-after-invalidation"),
                 needs(capability::fast_registration, capability::local_invalidate),
                 in_both_roles) {
  see_iut_send();
  Region region = iut.allocate_region(64, 1);
  for (std::uint8_t round = 1; round <= 10; ++round) {
    expect_registered(*this, region, 0, 64, "kmem.registration.again-after-invalidation");
    peer.send(rdma_write(region.stag, region.base, payload(64, round)));
    expect(region, holds(payload(64, round)));
    iut.invalidate(region.stag);
  }
}

CONFORMANCE_CASE(access_is_that_of_the_last_registration,
                 rules("kmem.registration.access-as-given"),
                 needs(capability::fast_registration, capability::local_invalidate),
                 in_both_roles) {
  const auto register_twice = [&](const iut::Access& first, const iut::Access& then) {
    see_iut_send();
    Region region = iut.allocate_region(64, 1);
    iut.register_part(region, first, 0, 64);
    iut.invalidate(region.stag);
    iut.register_part(region, then, 0, 64);
    return region;
  };
  const auto refused = [&](const Region& region, const Outgoing& use) {
    peer.send(use);
    expect(peer, any_terminate() | torn_down());
    expect(region, unchanged);
  };
  row("for writes, then for reads", [&] {
    const Region region = register_twice(access::remote_write, access::remote_read);
    expect_readable(*this, region, 0, part_of(region.contents, 0, 8),
                    "kmem.registration.access-as-given");
    refused(region, rdma_write(region.stag, region.base, payload(8)));
  });
  row("for reads, then for writes", [&] {
    const Region region = register_twice(access::remote_read, access::remote_write);
    peer.send(rdma_write(region.stag, region.base, payload(8)));
    expect(region, holds(payload(8)));
    peer.send(read_of(region.stag, region.base, 8));
    expect(peer, any_terminate() | torn_down());
  });
  row("for both, then for the consumer alone", [&] {
    const Region region = register_twice(remote_use, access::local);
    refused(region, rdma_write(region.stag, region.base, payload(8)));
  });
  row("for writes, then for reads of the peer alone, and received into", [&] {
    const Region region = register_twice(access::remote_write, {.remote_read = true});
    const Attempt receive =
        iut.try_post(iut::PostReceive{iut.endpoint(), 0, 0, {{region.handle, 0, 8}}});
    peer.send(send_message(payload(8)));
    watch();
    expect_refused_or(receive, completes_in_error());
    expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "octets placed");
  });
  if (!iut.can(capability::atomics)) return;
  row("for reads, then for Atomics", [&] {
    const Region region = register_twice(access::remote_read, access::remote_atomic);
    peer.send(fetch_add(1, region.stag, region.base, 1));
    expect(peer, message(Opcode::atomic_response));
  });
}

CONFORMANCE_CASE(octets_are_those_of_the_last_registration,
                 rules("kmem.registration.octets-as-mapped"),
                 needs(capability::fast_registration, capability::local_invalidate),
                 in_both_roles) {
  see_iut_send();
  const std::uint32_t page = page_of(*this);
  Region region = iut.allocate_region(3 * page, 1);
  iut.write_memory(region, PayloadGenerator(71).octets(3 * page));
  for (const std::uint32_t place : {0U, 2U, 1U}) {
    iut.register_part(region, remote_use, place * page, page);
    for (const std::uint32_t within : {0U, page - 8})
      expect_readable(*this, region, within, part_of(region.contents, place * page + within, 8),
                      "kmem.registration.octets-as-mapped");
    iut.invalidate(region.stag);
  }
  iut.register_part(region, remote_use, page, page);
  peer.send(rdma_write(region.stag, region.base, payload(100)));
  expect(region, holds(payload(100), page));
}

CONFORMANCE_CASE(former_key_is_refused_once_the_region_is_registered_again,
                 rules("kmem.key.former-key-refused", "ddp.terminate.tagged-invalid-stag",
                       "rdmap.terminate.code-invalid-stag",
                       "rdmap.invalidate.terminate-if-not-associated"),
                 needs(capability::fast_registration, capability::local_invalidate),
                 in_both_roles) {
  const auto registered_twice = [&](const auto& then) {
    see_iut_send();
    Region region = iut.allocate_region(64, 1);
    iut.register_part(region, remote_use, 0, 64);
    const Region former = region;
    iut.invalidate(former.stag);
    iut.register_part(region, remote_use, 0, 64);
    then(former);
    expect(region, unchanged, "kmem.key.former-key-refused");
  };
  row("written to", [&] {
    registered_twice([&](const Region& former) {
      peer.send(rdma_write(former.stag, former.base, payload(16)));
      expect_rejection({cause::ddp_tagged_invalid_stag}, "kmem.key.former-key-refused",
                       "ddp.terminate.tagged-invalid-stag");
    });
  });
  row("read", [&] {
    registered_twice([&](const Region& former) {
      peer.send(read_of(former.stag, former.base, 8));
      expect_rejection({cause::rdmap_invalid_stag}, "kmem.key.former-key-refused",
                       "rdmap.terminate.code-invalid-stag");
    });
  });
  row("invalidated", [&] {
    registered_twice([&](const Region& former) {
      static_cast<void>(iut.post_receive(16));
      peer.send(send_invalidate(former.stag, payload(8)));
      expect_rejection(refusal::invalidation_of_nothing,
                       "rdmap.invalidate.terminate-if-not-associated",
                       "rdmap.invalidate.terminate-if-not-associated");
    });
  });
}

CASES_OF_FILE(kmem, registration)

}  // namespace suite::cases
