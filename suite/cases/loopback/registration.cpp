// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// IB_WR_REG_MR, IB_WR_LOCAL_INV, IB_WR_SEND_WITH_INV and IB_WR_RDMA_READ_WITH_INV of the kernel's
// verbs, as storage and file systems use them: a region is registered by a work request, the other
// end is told of it and uses it, and it is invalidated from either end.
#include "suite/cases/framework/long_work.hpp"
#include "suite/cases/kmem/registration_steps.hpp"
#include "suite/cases/loopback/loopback_body.hpp"

namespace suite::cases {

namespace {

/// A region that `owner` has registered for 64 octets and any use, and one that is open to Reads.
struct Opened {
  Region region, readable;

  Opened(Consumer& iut, const End& owner, const iut::Access& access = remote_use)
      : region(iut.allocate_region(64, 1)), readable(iut.register_memory(8, access::remote_read)) {
    owner.open(region, access, 0, 64);
  }
};

/// Two consumers, each with a protection domain of its own: an RNIC may keep a peer from invalidating
/// what several streams of a domain share (docs/disputes.md D16). The owner's is the default one.
struct Parties {
  End user, owner;
};

Parties user_that_connects(LoopbackBody& body) {
  LoopbackTerms terms;
  terms.active.domain = body.iut.create_domain();
  const auto [active, passive] = body.connect_to_itself(terms);
  return {active, passive};
}

Parties user_that_accepts(LoopbackBody& body) {
  LoopbackTerms terms;
  terms.passive.domain = body.iut.create_domain();
  const auto [active, passive] = body.connect_to_itself(terms);
  return {passive, active};
}

/// The STag of a region that is no longer open, used by the other end.
void expect_closed(LoopbackBody& body, const char* how, RuleRef rule,
                   const std::function<Opened(const End& user, const End& owner)>& closed) {
  body.row(fmt::format("{}, then written to", how), [&] {
    const auto [user, owner] = user_that_connects(body);
    const Opened memory = closed(user, owner);
    const Work write = user.write(payload(16), memory.region);
    body.expect_refused(user, memory.region, memory.readable, rule);
  });
  body.row(fmt::format("{}, then read", how), [&] {
    const auto [user, owner] = user_that_accepts(body);
    const Opened memory = closed(user, owner);
    const Work read = user.read(8, memory.region);
    body.expect(read, completes_in_error(), rule);
  });
}

iut::PostWork invalidation_of(const Region& region) {
  iut::PostWork work;
  work.operation = operation::local_invalidate;
  work.invalidate_stag = region.stag;
  return work;
}

}  // namespace

LOOPBACK_CASE(registered_pages_are_open_to_the_other_end,
              rules("kmem.registration.opens-the-region", "kmem.pages.whole-list-registered"),
              needs(capability::fast_registration)) {
  from_both_ends([&](const End& user, const End& owner) {
    const std::uint32_t page = page_of(*this), length = 2 * page + 50, inset = page - 25;
    Region region = iut.allocate_region(4 * page, 4);
    const auto [reply, registration] = owner.try_open(region, remote_use, inset, length);
    expect_that(reply.outcome == iut::Outcome::ok, "the registration accepted", reply.error,
                "kmem.pages.whole-list-registered");
    expect(registration, completes(), "kmem.pages.whole-list-registered");
    const Octets data = PayloadGenerator(111).octets(length);
    const Work write = user.write(data, region);
    expect_told(user, owner, "kmem.registration.opens-the-region");
    expect(region, holds(data, inset), "kmem.registration.opens-the-region");
    const Work read = user.read(length, region);
    expect(read, completes(), "kmem.registration.opens-the-region");
    expect(read.buffer, holds(data), "kmem.registration.opens-the-region");
  });
}

LOOPBACK_CASE(region_has_as_many_pages_as_it_was_allocated_for,
              rules("kmem.pages.whole-list-registered", "kmem.pages.no-more-than-allocated"),
              needs(capability::fast_registration), deadline_of(20s)) {
  for (const std::uint32_t pages : {1U, 7U, 64U}) {
    row(fmt::format("{} of them", pages), [&] {
      const auto [user, owner] = connect_to_itself();
      const std::uint32_t page = page_of(*this), length = pages * page;
      Region region = iut.allocate_region(length + page, pages);
      iut.write_memory(region, PayloadGenerator(pages).octets(region.length));
      const auto [reply, registration] = owner.try_open(region, remote_use, 0, length);
      expect_that(reply.outcome == iut::Outcome::ok, "the registration accepted", reply.error);
      expect(registration, completes());
      const Work read = user.read(length, region);
      expect(read, completes());
      expect(read.buffer, holds(part_of(region.contents, 0, length)));
      const Octets data = PayloadGenerator(pages + 1).octets(length);
      const Work write = user.write(data, region);
      expect_told(user, owner, "kmem.pages.whole-list-registered");
      expect(region, holds(data));
    });
    row(fmt::format("one more than {}", pages), [&] {
      const auto [user, owner] = connect_to_itself();
      Region region = iut.allocate_region((pages + 1) * std::uint64_t{page_of(*this)}, pages);
      expect_refused_or(owner.try_open(region, remote_use, 0, pages * page_of(*this) + 1),
                        completes_in_error(), "kmem.pages.no-more-than-allocated");
    });
  }
}

LOOPBACK_CASE(octets_beside_a_registration_are_out_of_reach,
              rules("kmem.pages.first-and-last-in-part"), needs(capability::fast_registration)) {
  constexpr std::uint32_t inset = 100, length = 300;
  constexpr RuleRef rule = "kmem.pages.first-and-last-in-part";
  const auto beside = [&](const char* name, std::uint64_t offset) {
    const auto opened = [&](const auto& use) {
      const auto [user, owner] = connect_to_itself();
      const Region readable = iut.register_memory(8, access::remote_read);
      Region region = iut.allocate_region(page_of(*this), 1);
      owner.open(region, remote_use, inset, length);
      use(user, region, readable);
    };
    row(fmt::format("written {}", name), [&] {
      opened([&](const End& user, const Region& region, const Region& readable) {
        const Work write = user.write(payload(8), region, offset);
        expect_refused(user, region, readable, rule);
      });
    });
    row(fmt::format("read {}", name), [&] {
      opened([&](const End& user, const Region& region, const Region&) {
        const Work read = user.read(8, region, offset);
        expect(read, completes_in_error());
      });
    });
  };
  beside("from one octet before", ~std::uint64_t{0});
  beside("to one octet behind", length - 7);
}

LOOPBACK_CASE(region_is_told_used_and_invalidated_time_and_again,
              rules("kmem.registration.again-after-invalidation",
                    "kmem.order.peer-finds-it-registered", "kmem.invalidation.by-the-peer"),
              needs(capability::fast_registration, capability::send_invalidate,
                    capability::remote_invalidate),
              deadline_of(10s)) {
  const auto storage = [&](const Parties& parties) {
    const auto& [user, owner] = parties;
    const std::uint32_t page = page_of(*this);
    Region region = iut.allocate_region(2 * page, 2);
    for (std::uint8_t round = 1; round <= 10; ++round) {
      const Work answer = owner.receive(16), request = user.receive(16);
      const auto [reply, registration] = owner.try_open(region, remote_use, 0, 2 * page);
      expect_that(reply.outcome == iut::Outcome::ok, "the registration accepted", reply.error);
      const Work told = owner.send(payload(8));
      // Registered again, it has been invalidated by the other end before.
      expect(registration, completes(),
             round == 1 ? RuleRef() : RuleRef("kmem.invalidation.by-the-peer"));
      expect(request, completes().with_length(8), "kmem.order.peer-finds-it-registered");
      const Octets data = PayloadGenerator(round).octets(2 * page);
      const Work write = user.write(data, region);
      const Work done = user.send_and_invalidate(region.stag, payload(4));
      expect(answer, completes().with_length(4).invalidating(region.stag),
             "kmem.invalidation.by-the-peer");
      expect(region, holds(data), "kmem.order.peer-finds-it-registered");
      expect_in_order({told, write, done}, "kmem.order.peer-finds-it-registered");
    }
  };
  row("by the end that has connected", [&] { storage(user_that_connects(*this)); });
  row("by the end that has accepted", [&] { storage(user_that_accepts(*this)); });
}

LOOPBACK_CASE(region_is_closed_by_its_owner, rules("kmem.invalidation.closes-the-region"),
              needs(capability::fast_registration, capability::local_invalidate)) {
  expect_closed(*this, "invalidated", "kmem.invalidation.closes-the-region",
                [&](const End&, const End& owner) {
                  Opened memory(iut, owner);
                  owner.close(memory.region);
                  return memory;
                });
}

LOOPBACK_CASE(region_is_closed_by_the_other_end, rules("kmem.invalidation.by-the-peer"),
              needs(capability::fast_registration, capability::send_invalidate,
                    capability::remote_invalidate)) {
  expect_closed(*this, "invalidated by a Send", "kmem.invalidation.by-the-peer",
                [&](const End& user, const End& owner) {
                  Opened memory(iut, owner);
                  const Work receive = owner.receive(16);
                  const Work sent = user.send_and_invalidate(memory.region.stag, payload(8));
                  expect(receive, completes().with_length(8).invalidating(memory.region.stag));
                  expect(sent, completes());
                  return memory;
                });
}

LOOPBACK_CASE(sink_is_closed_by_a_read_with_invalidate,
              rules("kmem.invalidation.closes-the-region"),
              needs(capability::fast_registration, capability::read_invalidate)) {
  expect_closed(*this, "filled and invalidated by a Read", "kmem.invalidation.closes-the-region",
                [&](const End& user, const End& owner) {
                  Opened memory(iut, owner);
                  Region source = user.memory(64, access::remote_read);
                  iut.write_memory(source, payload(64));
                  iut::PostWork read = owner.read_into(memory.region, source);
                  read.operation = operation::read_invalidate;
                  expect(owner.post(read), completes());
                  expect(memory.region, holds(payload(64)));
                  memory.region.contents = payload(64);
                  return memory;
                });
}

LOOPBACK_CASE(former_key_is_refused_once_the_region_is_registered_again,
              rules("kmem.key.former-key-refused"),
              needs(capability::fast_registration, capability::local_invalidate)) {
  expect_closed(*this, "registered again", "kmem.key.former-key-refused",
                [&](const End&, const End& owner) {
                  Opened memory(iut, owner);
                  Region again = memory.region;
                  owner.close(again);
                  owner.open(again, remote_use, 0, 64);
                  return memory;
                });
}

LOOPBACK_CASE(access_is_that_of_the_last_registration, rules("kmem.registration.access-as-given"),
              needs(capability::fast_registration, capability::local_invalidate)) {
  constexpr RuleRef rule = "kmem.registration.access-as-given";
  const auto registered_twice = [&](const End& owner, const iut::Access& first,
                                    const iut::Access& then) {
    Opened memory(iut, owner, first);
    owner.close(memory.region);
    owner.open(memory.region, then, 0, 64);
    return memory;
  };
  row("for Writes, then for Reads", [&] {
    const auto [user, owner] = connect_to_itself();
    const Opened memory = registered_twice(owner, access::remote_write, access::remote_read);
    const Work read = user.read(8, memory.region);
    expect(read, completes());
    const Work write = user.write(payload(8), memory.region);
    expect_refused(user, memory.region, memory.readable, rule);
  });
  row("for Reads, then for Writes", [&] {
    const auto [user, owner] = connect_to_itself();
    const Opened memory = registered_twice(owner, access::remote_read, access::remote_write);
    const Work write = user.write(payload(8), memory.region);
    expect_told(user, owner, rule);
    expect(memory.region, holds(payload(8)));
    const Work read = user.read(8, memory.region);
    expect(read, completes_in_error());
  });
  row("for both, then for its owner alone", [&] {
    const auto [user, owner] = connect_to_itself();
    const Opened memory = registered_twice(owner, remote_use, access::local);
    const Work write = user.write(payload(8), memory.region);
    expect_refused(user, memory.region, memory.readable, rule);
  });
}

LOOPBACK_CASE(octets_are_those_of_the_last_registration,
              rules("kmem.registration.octets-as-mapped"),
              needs(capability::fast_registration, capability::local_invalidate)) {
  const auto [user, owner] = connect_to_itself();
  const std::uint32_t page = page_of(*this);
  Region region = iut.allocate_region(3 * page, 1);
  iut.write_memory(region, PayloadGenerator(112).octets(3 * page));
  for (const std::uint32_t place : {0U, 2U, 1U}) {
    owner.open(region, remote_use, place * page, page);
    const Work read = user.read(page, region);
    expect(read, completes());
    expect(read.buffer, holds(part_of(region.contents, place * page, page)));
    owner.close(region);
  }
  owner.open(region, remote_use, page, page);
  const Work write = user.write(payload(100), region);
  expect_told(user, owner, "kmem.registration.octets-as-mapped");
  expect(region, holds(payload(100), page));
}

LOOPBACK_CASE(one_call_invalidates_registers_and_uses_a_region,
              rules("kmem.order.later-work-finds-it-registered"),
              needs(capability::fast_registration, capability::local_invalidate,
                    capability::chains)) {
  constexpr iut::WorkId first_work = 1000;
  from_both_ends([&](const End& user, const End& owner) {
    Region region = iut.allocate_region(128, 1);
    iut.write_memory(region, PayloadGenerator(113).octets(128));
    owner.open(region, remote_use, 0, 64);
    const Work receive = user.receive(64);
    iut::PostWork send;
    send.operation = operation::send;
    send.pieces = {{region.handle, 64, 64}};
    iut::PostWorkChain chain;
    chain.requests = {invalidation_of(region), registration_of(region, remote_use, 64, 64), send};
    std::vector<Work> works;
    for (iut::PostWork& each : chain.requests) {
      each.endpoint = owner.handle();
      each.work = first_work + works.size();
      works.push_back({each.work, each.endpoint, {}});
    }
    const iut::Reply reply = iut.try_call(chain, "post all three");
    expect_that(reply.outcome == iut::Outcome::ok, "accepted", reply.error);
    expect(receive, completes().with_length(64));
    expect(receive.buffer, holds(part_of(region.contents, 64, 64)));
    expect_in_order(works);
  });
}

CASES_OF_FILE(loopback, registration)

}  // namespace suite::cases
