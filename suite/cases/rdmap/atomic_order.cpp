// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 7306 sections 5.2 to 5.4 and 7: Atomics in relation to each other and to Reads, Sends and
// Writes, and the queues that they share with them.
#include <algorithm>
#include <array>
#include <set>

#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/limits.hpp"
#include "suite/cases/rdmap/atomic_steps.hpp"

namespace suite::cases {

namespace {

Outgoing add_one_to(const Region& region) { return fetch_add(7, region.stag, region.base, 1); }

Outgoing swap_word(const Region& region, std::uint64_t compare, std::uint64_t swap) {
  return atomic_request({.operation = compare_swap_code,
                         .stag = region.stag,
                         .offset = region.base,
                         .add_or_swap = swap,
                         .compare = compare});
}

/// The number that the first eight octets of memory hold, in one byte order or the other.
std::uint64_t number_in(Body& test, const Region& region, bool big_endian) {
  const Octets octets = test.iut.read_memory(region);
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i)
    number = number << 8 | std::to_integer<std::uint64_t>(octets[big_endian ? i : 7 - i]);
  return number;
}

/// The byte order in which the IUT took memory that holds `octets` for `original`.
bool took_for_big_endian(Body& test, const Octets& octets, std::uint64_t original, RuleRef rule) {
  Octets reversed = octets;
  std::ranges::reverse(reversed);
  const Octets told = octets_of(original);
  test.expect_that(told == octets || told == reversed, "the octets of memory in either order",
                   fmt::format("{:#018x}", original), rule);
  return told == octets;
}

/// The number is in memory, in either byte order.
void expect_number(Body& test, const Region& region, std::uint64_t wanted) {
  const std::uint64_t big = number_in(test, region, true);
  const std::uint64_t little = number_in(test, region, false);
  test.expect_that(big == wanted || little == wanted, fmt::format("{} in memory", wanted),
                   fmt::format("{:#018x}", little), "rdmap.atomic.no-overlapping-execution");
}

constexpr std::uint64_t streams = 4;
/// Connections of several endpoints of the IUT, on each of which this many Requests may be
/// outstanding.
std::vector<Peer*> several_streams(Body& test, std::uint64_t depth) {
  std::vector<Peer*> peers;
  for (std::uint64_t i = 0; i < streams; ++i) {
    peers.push_back(&test.another_peer());
    test.establish(*peers.back(),
                   {.parameters = {.private_data = {}, .ird = static_cast<int>(depth)},
                    .endpoint = test.iut.create_endpoint()});
  }
  return peers;
}

/// A connection on which two Requests of the tester may be outstanding.
void establish_with_two_places(Body& test) {
  test.establish(
      {.parameters = {.private_data = {}, .ird = 2}, .opening = !test.iut_is_responder()});
}

/// An endpoint of this depth that may send immediately.
void let_iut_send_many(Body& test, int depth) {
  test.establish({.parameters = {.private_data = {}, .ird = depth, .ord = depth}});
  test.let_iut_send();
}

}  // namespace

// ---------------------------------------------------------------- the IUT as Responder

CONFORMANCE_CASE(atomics_of_two_streams_lose_no_update,
                 rules("rdmap.atomic.no-overlapping-execution"), needs(capability::atomics)) {
  constexpr int rounds = 8;
  Peer& other = another_peer();
  establish(other, {.endpoint = iut.create_endpoint()});
  const Region region = word_of(*this, 0);
  std::set<std::uint64_t> originals;
  for (int i = 0; i < rounds; ++i) {
    peer.send(add_one_to(region));
    other.send(add_one_to(region));
    originals.insert(original_from(*this, peer.ready(), "rdmap.atomic.valid-request-answered"));
    originals.insert(original_from(*this, other, "rdmap.atomic.valid-request-answered"));
  }
  expect_that(originals.size() == 2 * rounds && *originals.rbegin() == 2 * rounds - 1,
              "each number from 0 to 15 returned once",
              fmt::format("{} different numbers up to {}", originals.size(), *originals.rbegin()));
  expect_number(*this, region, 2 * rounds);
}

CONFORMANCE_CASE(thousands_of_fetch_adds_of_four_streams_add_up,
                 rules("rdmap.atomic.no-overlapping-execution"), needs(capability::atomics),
                 deadline_of(30s)) {
  constexpr std::uint64_t adds = 512, total = streams * adds;
  const std::uint64_t depth = within_limit(iut.limits(), "max_ird", 4) < 4 ? 1 : 4;
  const std::vector<Peer*> peers = several_streams(*this, depth);
  const Region region = word_of(*this, 0);
  std::set<std::uint64_t> originals;
  for (std::uint64_t i = 0; i < adds / depth; ++i) {
    for (Peer* each : peers) {
      std::vector<Fpdu> fpdus;
      for (std::uint64_t k = 0; k < depth; ++k)
        fpdus.push_back(each->prepare(add_one_to(region)).front());
      each->send(fpdus);
    }
    for (Peer* each : peers)
      for (std::uint64_t k = 0; k < depth; ++k)
        originals.insert(original_from(*this, *each, "rdmap.atomic.valid-request-answered"));
  }
  expect_that(originals.size() == total && *originals.rbegin() == total - 1,
              fmt::format("each number below {} returned once", total),
              fmt::format("{} different numbers up to {}", originals.size(), *originals.rbegin()));
  expect_number(*this, region, total);
}

CONFORMANCE_CASE(compare_swaps_of_four_streams_lose_no_update,
                 rules("rdmap.atomic.no-overlapping-execution"), needs(capability::atomics),
                 deadline_of(30s)) {
  constexpr int rounds = 128;
  const std::vector<Peer*> peers = several_streams(*this, 1);
  const Region region = word_of(*this, 0);
  std::vector<std::uint64_t> known(peers.size());
  std::uint64_t swapped = 0;
  for (int round = 0; round < rounds; ++round) {
    // Each of them swaps the number that it expects for the next one: the first to arrive succeeds.
    for (std::size_t i = 0; i < peers.size(); ++i)
      peers[i]->send(swap_word(region, known[i], known[i] + 1));
    for (std::size_t i = 0; i < peers.size(); ++i) {
      const std::uint64_t original =
          original_from(*this, *peers[i], "rdmap.atomic.valid-request-answered");
      const bool done = original == known[i];
      known[i] = done ? original + 1 : original;
      if (done) ++swapped;
    }
  }
  expect_number(*this, region, swapped);
}

CONFORMANCE_CASE(fetch_add_uses_one_byte_order, rules("rdmap.atomic.fetchadd-target-endian"),
                 needs(capability::atomics)) {
  Region region = word_of(*this);
  const Octets before = octets_of(other_value);
  iut.write_memory(region, before);
  peer.send(add_one_to(region));
  const std::uint64_t original =
      original_from(*this, peer.ready(), "rdmap.atomic.valid-request-answered");
  const bool big =
      took_for_big_endian(*this, before, original, "rdmap.atomic.fetchadd-target-endian");
  const std::uint64_t after = number_in(*this, region, big);
  expect_that(after == original + 1, fmt::format("{:#018x} in the same byte order", original + 1),
              fmt::format("{:#018x}", after));
}

CONFORMANCE_CASE(compare_swap_uses_one_byte_order, rules("rdmap.atomic.cmpswap-target-endian"),
                 needs(capability::atomics)) {
  constexpr std::uint64_t swapped = 0xA1B2C3D4E5F60718;
  Region region = word_of(*this);
  const Octets before = octets_of(other_value);
  iut.write_memory(region, before);
  peer.send(swap_word(region, ~other_value, swapped));  // no match: it shows the byte order
  const std::uint64_t original =
      original_from(*this, peer.ready(), "rdmap.atomic.valid-request-answered");
  const bool big =
      took_for_big_endian(*this, before, original, "rdmap.atomic.cmpswap-target-endian");
  peer.send(swap_word(region, original, swapped));
  expect_original(*this, original, "rdmap.atomic.cmpswap-target-endian");
  const std::uint64_t after = number_in(*this, region, big);
  expect_that(after == swapped, fmt::format("{:#018x} in the same byte order", swapped),
              fmt::format("{:#018x}", after));
}

CONFORMANCE_CASE(second_atomic_sees_the_result_of_the_first,
                 rules("rdmap.atomic.second-waits-for-first",
                       "rdmap.atomic.responses-in-delivery-order"),
                 needs(capability::atomics), in_both_roles) {
  establish_with_two_places(*this);
  const Region region = word_of(*this);
  peer.send_together({add_one_to(region), swap_word(region, symmetric + 1, other_value)});
  expect_original(*this, symmetric, "rdmap.atomic.responses-in-delivery-order");
  expect_original(*this, symmetric + 1, "rdmap.atomic.second-waits-for-first");
  peer.send(add_one_to(region));
  expect_original(*this, other_value, "rdmap.atomic.second-waits-for-first");
}

CONFORMANCE_CASE(atomic_sees_what_was_written_before, rules("rdmap.atomic.sees-earlier-write"),
                 needs(capability::atomics), in_both_roles) {
  const Region region = word_of(*this);
  peer.send(add_one_to(region));
  expect_original(*this, symmetric, "rdmap.atomic.valid-request-answered");
  // Its octets are the same in both byte orders, too.
  constexpr std::uint64_t written = 0x5566778888776655;
  peer.send_together(
      {rdma_write(region.stag, region.base, octets_of(written)), add_one_to(region)});
  expect_original(*this, written, "rdmap.atomic.sees-earlier-write");
}

CONFORMANCE_CASE(read_after_an_atomic_is_answered_after_it,
                 rules("rdmap.atomic.read-response-after-atomic-response"),
                 needs(capability::atomics), in_both_roles) {
  establish_with_two_places(*this);
  const Region region = word_of(*this);
  peer.send_together({add_one_to(region), read_of(region.stag, region.base + 8, 8)});
  expect(peer, message(Opcode::atomic_response));
  expect(peer, message(Opcode::read_response));
}

CONFORMANCE_CASE(atomics_and_reads_fill_the_queue_together,
                 rules("rdmap.atomic.request-queue-depth"), needs(capability::atomics)) {
  establish({.parameters = {.private_data = {}, .ird = 4, .ord = 4}});
  const Region region = word_of(*this);
  const Outgoing read = read_of(region.stag, region.base + 8, 8);
  peer.send_together({read, add_one_to(region), read, add_one_to(region)});
  for (const Opcode opcode : {Opcode::read_response, Opcode::atomic_response, Opcode::read_response,
                              Opcode::atomic_response})
    expect(peer, message(opcode));
}

CONFORMANCE_CASE(atomics_free_their_places_in_the_queue,
                 rules("rdmap.atomic.request-consumes-one-buffer"), needs(capability::atomics),
                 in_both_roles) {
  // More, one after another, than a queue of the default depth holds; MSNs continue across kinds.
  const Region region = word_of(*this);
  for (int i = 0; i < 40; ++i) {
    peer.send(i % 3 == 2 ? read_of(region.stag, region.base + 8, 8) : add_one_to(region));
    expect(peer, message(i % 3 == 2 ? Opcode::read_response : Opcode::atomic_response));
  }
}

CONFORMANCE_CASE(atomic_request_consumes_no_receive,
                 rules("rdmap.atomic.request-not-delivered",
                       "rdmap.atomic.request-processed-by-rdmap"),
                 needs(capability::atomics), in_both_roles) {
  const Work receive = iut.post_receive(64);
  const Region region = word_of(*this);
  peer.send(add_one_to(region));
  // The consumer has done nothing for this.
  expect(peer, message(Opcode::atomic_response), "rdmap.atomic.request-processed-by-rdmap");
  expect_none(completion_of(receive), "rdmap.atomic.request-not-delivered");
  peer.send(send_message(payload(10)));
  expect(receive, completes().with_length(10), "rdmap.atomic.request-not-delivered");
}

CONFORMANCE_CASE(atomic_waits_for_the_rest_of_its_request,
                 rules("rdmap.atomic.request-not-early",
                       "rdmap.atomic.response-starts-after-request"),
                 needs(capability::atomics), in_both_roles) {
  const Region region = word_of(*this);
  // The first segment holds all of the FetchAdd except its unused Compare fields.
  const auto segments = peer.prepare(add_one_to(region).with_segments_of(36));
  peer.send(segments.front());
  expect(peer, silence(), "rdmap.atomic.request-not-early");
  expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "memory changed",
              "rdmap.atomic.request-not-early");
  peer.send(segments.back());
  expect_original(*this, symmetric, "rdmap.atomic.response-starts-after-request");
}

CONFORMANCE_CASE(atomic_after_a_failing_send_is_not_executed,
                 rules("rdmap.atomic.response-after-prior-send",
                       "ddp.terminate.untagged-message-too-long"),
                 needs(capability::atomics)) {
  const Region region = word_of(*this);
  const Work receive = iut.post_receive(16);
  peer.send_together({send_message(payload(17)), add_one_to(region)});
  expect_rejection({cause::ddp_untagged_message_too_long}, "rdmap.atomic.response-after-prior-send",
                   "ddp.terminate.untagged-message-too-long");
  expect(region, unchanged, "rdmap.atomic.response-after-prior-send");
}

// ---------------------------------------------------------------- the IUT as Requester

CONFORMANCE_CASE(atomic_does_not_complete_before_its_response,
                 rules("rdmap.atomic.completes-after-response"), needs(capability::atomics),
                 in_both_roles) {
  let_iut_send();
  const Work work = post_atomic(*this, operation::fetch_add, 1);
  const AtomicRequestFields request = expect_request(*this);
  expect_none(completion_of(work));
  peer.send(atomic_response(request.request_id, symmetric));
  expect(work, completes());
}

CONFORMANCE_CASE(atomics_are_sent_in_the_order_posted,
                 rules("rdmap.atomic.requests-in-submission-order",
                       "rdmap.order.completed-in-submission-order"),
                 needs(capability::atomics)) {
  let_iut_send_many(*this, 4);
  const std::array<std::uint64_t, 4> addends{11, 22, 33, 44};
  std::vector<Work> works;
  for (const std::uint64_t addend : addends)
    works.push_back(post_atomic(*this, operation::fetch_add, addend));
  for (const std::uint64_t addend : addends) {
    const AtomicRequestFields request = expect_request(*this);
    expect_that(request.add_or_swap == addend, fmt::format("Add Data {}", addend),
                fmt::format("Add Data {}", request.add_or_swap));
    peer.send(atomic_response(request.request_id, addend));
  }
  expect_in_order(works, "rdmap.order.completed-in-submission-order");
}

CONFORMANCE_CASE(atomics_and_reads_are_numbered_together,
                 rules("rdmap.atomic.request-consumes-one-buffer",
                       "rdmap.atomic.response-delivered-to-ulp"),
                 needs(capability::atomics)) {
  let_iut_send();
  for (const std::uint32_t msn : {1U, 3U, 5U}) {
    const Work atomic = post_atomic(*this, operation::fetch_add, 1);
    const Message request = expect_message(Opcode::atomic_request);
    expect_that(request.msn() == msn, fmt::format("MSN {} on queue 1", msn),
                fmt::format("MSN {}", request.msn()));
    const auto fields = request.atomic_request();
    peer.send(atomic_response(fields ? fields->request_id : 0, symmetric));
    expect(atomic, completes(), "rdmap.atomic.response-delivered-to-ulp");
    const Work read = iut.post_read(8, 0x77, 0x1000);
    const Message asked = expect_message(Opcode::read_request);
    expect_that(asked.msn() == msn + 1, fmt::format("MSN {} on queue 1", msn + 1),
                fmt::format("MSN {}", asked.msn()));
    const auto sink = asked.read_request();
    peer.send(read_response(sink->sink_stag, sink->sink_offset, payload(8)));
    expect(read, completes().with_length(8), "rdmap.read.response-delivered-to-ulp");
  }
}

CONFORMANCE_CASE(atomic_may_address_any_offset, rules("rdmap.atomic.remote-to-arbitrary"),
                 needs(capability::atomics)) {
  // Only the Responder knows which address an offset stands for.
  for (const std::uint64_t offset : {0x1003ULL, 0x1000000024ULL}) {
    row(fmt::format("offset {:#x}", offset), [&] {
      let_iut_send();
      const Work work = post_atomic(*this, operation::fetch_add, 1, 0, offset);
      const AtomicRequestFields request = expect_request(*this);
      expect_that(request.offset == offset, fmt::format("Remote TO {:#x}", offset),
                  fmt::format("{:#x}", request.offset));
    });
  }
}

CONFORMANCE_CASE(atomic_response_consumes_no_receive,
                 rules("rdmap.atomic.response-consumes-untagged-buffer",
                       "rdmap.atomic.response-delivered-to-ulp"),
                 needs(capability::atomics), in_both_roles) {
  const Work receive = iut.post_receive(64);
  let_iut_send();
  const Work work = post_atomic(*this, operation::fetch_add, 1);
  peer.send(atomic_response(expect_request(*this).request_id, symmetric));
  expect(work, completes(), "rdmap.atomic.response-delivered-to-ulp");
  peer.send(send_message(payload(10)));
  expect(receive, completes().with_length(10));
}

CONFORMANCE_CASE(atomic_responses_may_come_all_at_once, rules("rdmap.atomic.response-queue-depth"),
                 needs(capability::atomics)) {
  let_iut_send_many(*this, 4);
  // The same in both byte orders, and different from each other.
  const auto value = [](std::uint64_t i) { return symmetric ^ i * 0x0101010101010101; };
  std::vector<Work> works;
  std::vector<Outgoing> responses;
  for (std::uint64_t i = 0; i < 4; ++i)
    works.push_back(post_atomic(*this, operation::fetch_add, i));
  for (std::uint64_t i = 0; i < 4; ++i)
    responses.push_back(atomic_response(expect_request(*this).request_id, value(i)));
  peer.send_together(responses);
  for (std::uint64_t i = 0; i < 4; ++i) {
    expect(works[i], completes());
    expect(works[i].buffer, holds(octets_of(value(i))));
  }
}

CONFORMANCE_CASE(atomic_responses_with_exchanged_identifiers_are_detected,
                 rules("rdmap.atomic.invalid-response-surfaced"), needs(capability::atomics)) {
  let_iut_send_many(*this, 2);
  const std::vector<Work> works{post_atomic(*this, operation::fetch_add, 1),
                                post_atomic(*this, operation::fetch_add, 2)};
  const std::uint32_t first = expect_request(*this).request_id;
  const std::uint32_t second = expect_request(*this).request_id;
  if (first == second)
    stop(Verdict::not_applicable, "the IUT uses one identifier for all its Requests");
  peer.send_together({atomic_response(second, symmetric), atomic_response(first, ~symmetric)});
  // Responses come in the order of their Requests (RFC 7306 section 5.2.2), so these are wrong.
  // Whether an identifier is compared in addition to the MSN is left open.
  expect(peer, any_terminate() | torn_down() | advisory(silence()));
}

CONFORMANCE_CASE(late_atomic_response_is_accepted,
                 rules("rdmap.atomic.response-after-later-messages"), needs(capability::atomics),
                 in_both_roles) {
  let_iut_send();
  const Work atomic = post_atomic(*this, operation::fetch_add, 1);
  const AtomicRequestFields request = expect_request(*this);
  const Work write = iut.post_write(payload(6), 0x77, 0x1000), send = iut.post_send(payload(5));
  expect_around({tagged_message(Opcode::rdma_write, 0x77, 0x1000, payload(6)),
                 message(Opcode::send, payload(5))},
                [&] { peer.send(atomic_response(request.request_id, symmetric)); });

  expect_in_order({atomic, write, send}, "rdmap.atomic.response-after-later-messages");
  expect(atomic.buffer, holds(octets_of(symmetric)), "rdmap.atomic.response-after-later-messages");
}

CASES_OF_FILE(rdmap, atomic_order)

}  // namespace suite::cases
