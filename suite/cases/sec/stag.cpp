// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 8.1.1, RFC 5042 section 6.1.1: an STag is valid only for the streams it belongs
// to, and is hard to guess.
#include <algorithm>
#include <set>
#include <vector>

#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/sec/window_steps.hpp"
#include "suite/lower_tester/stag_guess.hpp"

namespace suite::cases {

namespace {

constexpr std::size_t sample = 64;  ///< registrations that are examined

std::vector<std::uint32_t> stags_of_many(Consumer& iut) {
  std::vector<std::uint32_t> stags(sample);
  std::ranges::generate(stags, [&] { return iut.register_memory(64, access::remote_read).stag; });
  return stags;
}

/// A stream with a window of its own, as its peer uses it.
struct Owner {
  Peer& peer;
  Region region;
  Window window;
};

Owner window_of_another_stream(Body& body, const iut::Access& rights) {
  body.establish({.opening = true});
  const iut::Handle endpoint = body.iut.create_endpoint();
  Peer& other = body.another_peer();
  body.establish(other, {.endpoint = endpoint, .opening = true});
  Region region = body.iut.register_memory(16, access::under_windows);
  const Window window = body.iut.bind_window(region, 0, 16, rights, endpoint);
  return {other, std::move(region), window};
}

/// The owner's stream continues, and its window stays accessible to it.
void expect_open_to_owner(Body& body, Owner& owner, RuleRef rule) {
  owner.peer.send(read_of(owner.window.stag, owner.window.base, 16));
  body.expect(owner.peer, message(Opcode::read_response, owner.region.contents), rule);
}

}  // namespace

CONFORMANCE_CASE(each_of_many_regions_is_written_by_its_own_stag, rules("ddp.tagged.placed-at-to"),
                 in_both_roles, deadline_of(30s)) {
  constexpr std::size_t many = 300;  // more than the lowest octet of an index can distinguish
  std::vector<Region> regions(many);
  std::ranges::generate(regions, [&] { return iut.register_memory(16, access::remote_write); });
  const Work receive = iut.post_receive(16);
  for (std::size_t i = 0; i < many; ++i)
    peer.send(rdma_write(regions[i].stag, regions[i].base,
                         payload(16, static_cast<std::uint8_t>(i % 251))));
  peer.send(send_message(payload(4)));
  expect(receive, completes().with_length(4));
  for (std::size_t i = 0; i < many; ++i)
    expect_that(iut.read_memory(regions[i]) == payload(16, static_cast<std::uint8_t>(i % 251)),
                fmt::format("the octets that were written to region {}", i), "other octets");
}

CONFORMANCE_CASE(window_opens_no_region_of_another_domain, rules("sec.stag.pd-isolation"),
                 needs(capability::memory_windows)) {
  establish({.opening = true});
  const Region region = iut.register_memory(16, access::under_windows, 0xA5, iut.create_domain());
  expect_not_opened(*this, {region.handle, 0, 16}, region.base, "sec.stag.pd-isolation");
}

CONFORMANCE_CASE(stag_of_one_stream_cannot_be_written_through_another,
                 rules("sec.stag.single-stream-isolation"),
                 needs(capability::memory_windows, capability::stream_windows), in_both_roles) {
  const Owner owner = window_of_another_stream(*this, access::remote_write);
  peer.send(rdma_write(owner.window.stag, owner.window.base, payload(16)));
  watch();
  expect(owner.region, unchanged);
}

CONFORMANCE_CASE(stag_of_one_stream_cannot_be_read_through_another,
                 rules("sec.stag.single-stream-isolation"),
                 needs(capability::memory_windows, capability::stream_windows)) {
  Owner owner = window_of_another_stream(*this, access::remote_read);
  expect_open_to_owner(*this, owner, "sec.stag.single-stream-isolation");
  peer.send(read_of(owner.window.stag, owner.window.base, 16));
  expect(peer, any_terminate() | torn_down());
  expect_open_to_owner(*this, owner, "sec.stag.single-stream-isolation");
}

CONFORMANCE_CASE(stag_of_one_stream_cannot_be_invalidated_through_another,
                 rules("sec.stag.single-stream-isolation"),
                 needs(capability::memory_windows, capability::stream_windows,
                       capability::remote_invalidate)) {
  Owner owner = window_of_another_stream(*this, access::remote_read);
  const Work receive = iut.post_receive(16);
  peer.send(send_invalidate(owner.window.stag, payload(8)));
  watch();
  expect_open_to_owner(*this, owner, "sec.stag.single-stream-isolation");
}

CONFORMANCE_CASE(window_of_one_stream_cannot_be_taken_by_another,
                 rules("sec.stag.single-stream-isolation"),
                 needs(capability::memory_windows, capability::stream_windows)) {
  const auto left_alone = [&](const char* name, std::vector<iut::Piece> (*pieces)(Body&)) {
    row(name, [&] {
      Owner owner = window_of_another_stream(*this, access::remote_read);
      expect_open_to_owner(*this, owner, "sec.stag.single-stream-isolation");
      iut::PostWork bind;
      bind.operation = operation::bind_window;
      bind.window = owner.window.handle;
      bind.window_access = access::remote_read;
      bind.pieces = pieces(*this);
      static_cast<void>(iut.try_post(bind));
      watch();
      expect_open_to_owner(*this, owner, "sec.stag.single-stream-isolation");
    });
  };
  left_alone("unbound", [](Body&) { return std::vector<iut::Piece>{}; });
  left_alone("bound to another region", [](Body& body) {
    const Region region = body.iut.register_memory(16, access::under_windows, 0xC3);
    return std::vector<iut::Piece>{{region.handle, 0, 16}};
  });
}

CONFORMANCE_CASE(window_that_another_stream_binds_belongs_to_that_one,
                 rules("ddp.security.stream-association-supported",
                       "sec.stag.single-stream-isolation"),
                 needs(capability::memory_windows, capability::stream_windows), in_both_roles) {
  Owner first = window_of_another_stream(*this, access::remote_read);
  expect_open_to_owner(*this, first, "ddp.security.stream-association-supported");
  iut.unbind(first.window);
  iut::PostWork again;
  again.operation = operation::bind_window;
  again.pieces = {{first.region.handle, 0, 16}};
  again.window = first.window.handle;
  again.window_access = access::remote_read;
  const Attempt bound = iut.try_post(again);
  if (!bound.taken() ||
      !iut.take(success_of(bound.work).matches, context().loop.now() + environment().quiet_window))
    stop(Verdict::not_applicable, "the API binds a window on one endpoint only");
  const std::uint32_t stag = bound.reply.stag.value_or(first.window.stag);
  peer.send(read_of(stag, first.window.base, 16));
  expect(peer, message(Opcode::read_response, first.region.contents),
         "ddp.security.stream-association-supported");
  first.peer.send(read_of(stag, first.window.base, 16));
  expect(first.peer, any_terminate() | torn_down(), "sec.stag.single-stream-isolation");
}

CONFORMANCE_CASE(use_of_an_stag_of_another_stream_ends_the_stream,
                 rules("sec.stag.scope-mismatch-ends-stream",
                       "ddp.terminate.tagged-stag-not-associated",
                       "rdmap.terminate.code-stag-not-associated",
                       "rdmap.invalidate.terminate-if-not-associated"),
                 needs(capability::memory_windows, capability::stream_windows)) {
  row("Write", [&] {
    const Owner owner = window_of_another_stream(*this, access::remote_write);
    peer.send(rdma_write(owner.window.stag, owner.window.base, payload(16)));
    expect_rejection(refusal::tagged_of_another_domain, "sec.stag.scope-mismatch-ends-stream",
                     "ddp.terminate.tagged-stag-not-associated");
  });
  row("Read Request", [&] {
    const Owner owner = window_of_another_stream(*this, access::remote_read);
    peer.send(read_of(owner.window.stag, owner.window.base, 16));
    expect_rejection(refusal::read_of_another_domain, "sec.stag.scope-mismatch-ends-stream",
                     "rdmap.terminate.code-stag-not-associated");
  });
  row("Send with Invalidate", [&] {
    if (!iut.can(capability::remote_invalidate))
      stop(Verdict::not_applicable, "no remote invalidation");
    const Owner owner = window_of_another_stream(*this, access::remote_read);
    const Work receive = iut.post_receive(16);
    peer.send(send_invalidate(owner.window.stag, payload(8)));
    expect_rejection(refusal::invalidation_of_another_domain, "sec.stag.scope-mismatch-ends-stream",
                     "rdmap.invalidate.terminate-if-not-associated");
  });
}

CONFORMANCE_CASE(use_of_an_stag_of_another_domain_ends_that_stream_only,
                 rules("sec.stag.pd-mismatch-ends-stream")) {
  for (const bool writes : {true, false}) {
    row(writes ? "Write" : "Read Request", [&] {
      iut::CreateEndpoint elsewhere;
      elsewhere.domain = iut.create_domain();
      Peer& owner = another_peer();
      establish(owner, {.endpoint = iut.create_endpoint(elsewhere)});
      const Region written = iut.register_memory(16, access::remote_write, 0xA5, elsewhere.domain);
      const Region read = iut.register_memory(16, access::remote_read, 0xA5, elsewhere.domain);
      peer.send(writes ? rdma_write(written.stag, written.base, payload(16))
                       : read_of(read.stag, read.base, 16));
      expect(peer, any_terminate() | torn_down());
      owner.send(read_of(read.stag, read.base, 16));
      expect(owner, message(Opcode::read_response, read.contents));
    });
  }
}

CONFORMANCE_CASE(stag_of_another_domain_stays_usable_there,
                 rules("rdmap.invalidate.association-verified",
                       "rdmap.stream.connection-torn-down"),
                 needs(capability::remote_invalidate)) {
  iut::CreateEndpoint elsewhere;
  elsewhere.domain = iut.create_domain();
  Peer& owner = another_peer();
  establish(owner, {.endpoint = iut.create_endpoint(elsewhere)});
  const Region region = iut.register_memory(16, access::remote_read, 0xA5, elsewhere.domain);
  const Work receive = iut.post_receive(16);
  peer.send(send_invalidate(region.stag, payload(8)));
  watch();
  owner.send(read_of(region.stag, region.base, 16));
  expect(owner, message(Opcode::read_response, region.contents));
  // What the IUT still sends about the other stream arrives before that one has ended.
  peer.half_close();
  expect(peer, any_terminate() | torn_down(), then_close, "rdmap.stream.connection-torn-down");
}

CONFORMANCE_CASE(use_of_an_invalid_stag_ends_the_stream,
                 rules("sec.stag.invalid-stag-ends-stream")) {
  row("Write", [&] {
    const Region region = iut.register_memory(16, access::remote_write);
    peer.send(rdma_write(region.stag_with_other_key(), region.base, payload(16)));
    expect(peer, any_terminate() | torn_down(), then_close);
  });
  row("Read Request", [&] {
    const Region region = iut.register_memory(16, access::remote_read);
    peer.send(read_of(region.stag_with_other_key(), region.base, 16));
    expect(peer, any_terminate() | torn_down(), then_close);
  });
  row("Send with Invalidate", [&] {
    if (!iut.can(capability::remote_invalidate))
      stop(Verdict::not_applicable, "no remote invalidation");
    const Region region = iut.register_memory(16, access::remote_read);
    const Work receive = iut.post_receive(16);
    peer.send(send_invalidate(region.stag_with_other_key(), payload(8)));
    expect(peer, any_terminate() | torn_down(), then_close);
  });
}

CONFORMANCE_CASE(next_stag_is_hard_to_guess, rules("sec.stag.hard-to-predict")) {
  std::vector<std::uint32_t> stags;
  for (std::size_t i = 0; i <= sample; ++i)
    stags.push_back(iut.register_memory(64, access::remote_read).stag);
  const lower_tester::StagGuess step = lower_tester::guess_by_step(stags);
  advise_that(step.hits <= sample / 4, "no difference in more than a quarter of all steps",
              fmt::format("{} of {} STags are {:#x} above the one before", step.hits, sample,
                          step.difference));
  const lower_tester::StagGuess key = lower_tester::guess_key_by_index(stags);
  advise_that(key.hits <= sample / 4, "keys that do not follow from the index",
              fmt::format("the lowest octet of {} of {} STags is another octet of the STag plus {}",
                          key.hits, stags.size(), key.difference));
}

CONFORMANCE_CASE(freed_stag_is_not_reused_at_once, rules("sec.stag.slow-reuse")) {
  const auto few_again = [&](const char* name, const std::function<std::uint32_t()>& used) {
    row(name, [&] {
      std::set<std::uint32_t> seen;
      for (std::size_t i = 0; i < sample; ++i) seen.insert(used());
      advise_that(
          seen.size() > sample / 2, "few STags used again",
          fmt::format("{} different STags of {}, each freed before the next", seen.size(), sample));
    });
  };
  few_again("regions", [&] {
    const Region region = iut.register_memory(64, access::remote_read);
    iut.deregister(region);
    return region.stag;
  });
  if (!iut.can(capability::memory_windows)) return;
  few_again("windows", [&] {
    const iut::Handle window = iut.new_handle();
    const iut::Reply allocated = iut.call(iut::AllocateWindow{window, 0}, "allocate a window");
    iut.call(iut::FreeWindow{window}, "free the window");
    if (!allocated.stag) stop(Verdict::not_applicable, "the API gives no STag before a bind");
    return *allocated.stag;
  });
}

CONFORMANCE_CASE(each_bit_of_an_stag_is_checked, rules("ddp.tagged.check-stag-valid")) {
  for (unsigned bit = 0; bit < 32; ++bit) {
    row(fmt::format("bit {}", bit), [&] {
      const Region region = iut.register_memory(64, access::remote_write);
      peer.send(rdma_write(region.stag ^ (1U << bit), region.base, payload(16)));
      expect(peer, any_terminate() | torn_down());
      expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "octets placed");
    });
  }
}

CONFORMANCE_CASE(stags_do_not_form_an_arithmetic_sequence,
                 rules("rdmap.security.stag-unpredictable")) {
  const std::vector<std::uint32_t> stags = stags_of_many(iut);
  const std::uint32_t step = stags[1] - stags[0];
  const bool counted = std::ranges::adjacent_find(stags, [&](std::uint32_t a, std::uint32_t b) {
                         return b - a != step;
                       }) == stags.end();
  expect_that(!counted, "more than one difference from STag to STag",
              fmt::format("{} STags from {:#010x} on, each {:#x} above the one before",
                          stags.size(), stags.front(), step));
}

CONFORMANCE_CASE(stags_are_spread_over_the_range, rules("rdmap.security.stag-sparse")) {
  const std::vector<std::uint32_t> stags = stags_of_many(iut);
  const auto [lowest, highest] = std::ranges::minmax(stags);
  // Random STags practically never all lie within a sixteenth of the range.
  constexpr std::uint32_t sixteenth = 1U << 28;
  advise_that(highest - lowest >= sixteenth, "STags from more than a sixteenth of the range",
              fmt::format("{} STags from {:#010x} to {:#010x}", stags.size(), lowest, highest));
}

CONFORMANCE_CASE(guessed_stags_give_no_access,
                 rules("ddp.tagged.check-stag-valid", "sec.stag.invalid-stag-ends-stream"),
                 in_both_roles, deadline_of(20s)) {
  struct Guess {
    const char* name;
    std::function<std::uint32_t(std::uint32_t)> of;
  };
  const Guess guesses[] = {
      {"the next key", [](std::uint32_t stag) { return (stag & ~0xFFU) | ((stag + 1) & 0xFFU); }},
      {"the last key", [](std::uint32_t stag) { return (stag & ~0xFFU) | ((stag - 1) & 0xFFU); }},
      {"a key with one bit changed", [](std::uint32_t stag) { return stag ^ 0x80U; }},
      {"its octets reversed", [](std::uint32_t stag) { return __builtin_bswap32(stag); }},
      {"the next index", [](std::uint32_t stag) { return stag + 0x100; }},
      {"the lowest index", [](std::uint32_t stag) { return stag & 0xFFU; }},
      {"the highest index", [](std::uint32_t stag) { return stag | 0xFFFFFF00U; }},
  };
  for (const Guess& guess : guesses) {
    row(guess.name, [&] {
      const Region region = iut.register_memory(64, access::remote_read_write);
      const std::uint32_t stag = guess.of(region.stag);
      if (stag == region.stag) stop(Verdict::inconclusive, "the guess is right");
      peer.send(rdma_write(stag, region.base, payload(16)));
      expect(peer, any_terminate() | torn_down(), "ddp.tagged.check-stag-valid");
      expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "octets placed",
                  "ddp.tagged.check-stag-valid");
    });
  }
  row("a Read by the key alone", [&] {
    const Region region = iut.register_memory(64, access::remote_read);
    peer.send(read_of(region.stag_with_other_key(), region.base, 16));
    expect(peer, any_terminate() | torn_down(), "sec.stag.invalid-stag-ends-stream");
  });
}

CASES_OF_FILE(sec, stag)

}  // namespace suite::cases
