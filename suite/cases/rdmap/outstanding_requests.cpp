// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Many Reads and Atomics outstanding at once, in both directions, among other messages: each is
// answered once, correctly and in order.
#include <cstring>

#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/rdmap/transfer_steps.hpp"

namespace suite::cases {

namespace {

/// Whether eight octets of memory hold this number, in the byte order of either host.
bool hold_number(const Octets& memory, std::uint64_t value) {
  std::uint64_t seen = 0;
  std::memcpy(&seen, memory.data(), sizeof seen);
  return seen == value || __builtin_bswap64(seen) == value;
}

Work post_atomic(Body& test, const TesterBuffer& counter, const Region& original,
                 const std::function<void(iut::PostWork&)>& change) {
  iut::PostWork work;
  work.remote_stag = counter.stag;
  work.remote_offset = counter.base;
  work.pieces = {{original.handle, 0, 8}};
  change(work);
  return test.iut.post(work);
}

/// Transfers in both directions, which give no completions other than their own.
void transfer_behind_the_rtr(Body& test, StreamPeer& partner, std::uint64_t seed) {
  PayloadGenerator generator(seed);
  send_to_iut(test, partner, generator.octets(3000));
  send_from_iut(test, partner, generator.octets(3000));
  read_from_iut(test, partner, generator.octets(3000));
  read_by_iut(test, partner, generator.octets(3000));
  const auto stray = test.iut.take<iut::CompletionEvent>(test.context().loop.now());
  test.expect_that(!stray, "no completions other than those of posted work",
                   stray ? describe(*stray) : "none", "mpa.enhanced.startup-gives-no-completion");
}

}  // namespace

CONFORMANCE_CASE(more_reads_than_the_depth_are_answered_in_their_order,
                 rules("rdmap.read.responses-in-request-order",
                       "rdmap.read.one-request-one-response",
                       "rdmap.resources.read-queue-holds-ird"),
                 in_both_roles, over_both_families, deadline_of(20s)) {
  constexpr std::uint32_t reads = 40, length = 3000;
  StreamPeer& partner = connect_partner();
  Region source = iut.register_memory(reads * length, access::remote_read);
  iut.write_memory(source, PayloadGenerator(51).octets(reads * length));
  const TesterBuffer& sink = partner.add_buffer(Octets(reads * length));
  std::vector<std::uint64_t> works;
  for (std::uint32_t i = 0; i < reads; ++i)
    works.push_back(partner.read(sink, length, source.stag, source.base + i * length, i * length));
  for (const std::uint64_t work : works)
    expect_done(partner, work, "rdmap.resources.read-queue-holds-ird");
  expect_buffer(sink, source.contents, "rdmap.read.response-data-from-source");
  for (std::uint32_t i = 0; i < reads; ++i)
    expect(partner,
           message(Opcode::read_response, fmt::format("to={:#x}", sink.base + i * length),
                   [&](const Message& m) { return m.tagged_offset() == sink.base + i * length; }),
           "rdmap.read.responses-in-request-order");
}

CONFORMANCE_CASE(more_reads_than_the_depth_complete_in_their_order,
                 rules("rdmap.order.completed-in-submission-order",
                       "rdmap.order.read-completes-after-response"),
                 in_both_roles, over_both_families, deadline_of(20s)) {
  constexpr std::uint32_t reads = 40, length = 3000;
  StreamPeer& partner = connect_partner();
  const TesterBuffer& source = partner.add_buffer(PayloadGenerator(52).octets(reads * length));
  std::vector<Work> works;
  for (std::uint32_t i = 0; i < reads; ++i)
    works.push_back(iut.post_read(length, source.stag, source.base + i * length));
  expect_in_order(works, "rdmap.order.completed-in-submission-order");
  for (std::uint32_t i = 0; i < reads; ++i) {
    const auto from = source.octets.begin() + static_cast<std::ptrdiff_t>(i * length);
    const bool there = iut.read_memory(works[i].buffer) == Octets(from, from + length);
    expect_that(there, "the sink holds what was read", "other octets",
                "rdmap.order.read-completes-after-response");
  }
}

CONFORMANCE_CASE(reads_complete_in_their_order_among_sends_and_writes,
                 rules("rdmap.order.completed-in-submission-order",
                       "rdmap.order.messages-in-submission-order",
                       "rdmap.order.read-completes-after-response"),
                 in_both_roles, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  PayloadGenerator generator(53);
  const TesterBuffer& source = partner.add_buffer(generator.octets(20'000));
  const TesterBuffer& target = partner.add_buffer(Octets(4000));
  std::vector<Work> works;
  std::vector<Octets> sent;
  // The first Writes and Sends are sent after Reads that are not answered yet.
  partner.hold_back();
  for (int i = 0; i < 10; ++i) {
    works.push_back(iut.post_read(20'000, source.stag, source.base));
    works.push_back(iut.post_write(generator.octets(4000), target.stag, target.base));
    sent.push_back(generator.octets(generator.number(0, 2000)));
    works.push_back(iut.post_send(sent.back()));
  }
  go_on_behind_a_read_and_a_send(*this, partner);
  const auto came = expect_all(*this, works, "rdmap.order.read-completes-after-response");
  for (const Work& work : works)
    if (work.buffer.length == source.octets.size())
      expect(work.buffer, holds(source.octets), "rdmap.order.read-completes-after-response");
  for (const Octets& data : sent)
    expect_received(partner, data, "rdmap.order.messages-in-submission-order");
  expect_order(*this, came, works, "rdmap.order.completed-in-submission-order");
}

CONFORMANCE_CASE(fenced_send_is_sent_after_all_earlier_reads,
                 rules("rdmap.order.read-completes-after-response",
                       "rdmap.order.completed-in-submission-order"),
                 in_both_roles, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  const TesterBuffer& source = partner.add_buffer(PayloadGenerator(54).octets(100'000));
  std::vector<Work> works;
  for (int i = 0; i < 6; ++i) works.push_back(iut.post_read(100'000, source.stag, source.base));
  // The consumer may use what it has read in a fenced Send: all of it is there by then.
  const Region sink = works.back().buffer;
  works.push_back(iut.post_send({}, operation::send, [&](iut::PostWork& work) {
    work.fence = true;
    work.pieces = {{sink.handle, 0, 100'000}};
  }));
  expect_received(partner, source.octets);
  expect_in_order(works, "rdmap.order.completed-in-submission-order");
}

CONFORMANCE_CASE(unsignaled_work_is_done_like_any_other,
                 rules("rdmap.order.messages-in-submission-order",
                       "rdmap.order.completed-in-submission-order"),
                 in_both_roles, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  PayloadGenerator generator(55);
  for (int round = 0; round < 4; ++round) {
    std::vector<Octets> sent;
    std::vector<Work> silent;
    for (int i = 0; i < 20; ++i) {
      sent.push_back(generator.octets(generator.number(1, 3000)));
      silent.push_back(iut.post_send(sent.back(), operation::send,
                                     [](iut::PostWork& work) { work.signaled = false; }));
    }
    const Work last = iut.post_send({});
    sent.emplace_back();
    for (const Octets& data : sent)
      expect_received(partner, data, "rdmap.order.messages-in-submission-order");
    expect(last, completes(), "rdmap.order.completed-in-submission-order");
    for (const Work& work : silent) {
      const auto event = iut.take(completion_of(work).matches, context().loop.now());
      expect_that(!event.has_value(), "no completion of unsignaled work",
                  event ? describe(*event) : "none", "rdmap.order.completed-in-submission-order");
    }
  }
}

CONFORMANCE_CASE(unsignaled_work_of_whole_pages_is_sent_as_posted,
                 rules("ddp.segmentation.all-data-sent",
                       "rdmap.order.completed-in-submission-order"),
                 in_both_roles, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  PayloadGenerator generator(77);
  // An IUT may send a source of a page or more from where it is.
  for (const bool signaled : {true, false}) {
    std::vector<Octets> sent;
    for (const std::size_t size : {4095U, 4096U, 4097U, 8192U, 12345U, 65536U}) {
      sent.push_back(generator.octets(size));
      static_cast<void>(iut.post_send(sent.back(), operation::send,
                                      [=](iut::PostWork& work) { work.signaled = signaled; }));
    }
    const Work last = iut.post_send({});
    sent.emplace_back();
    for (const Octets& data : sent)
      expect_received(partner, data, "ddp.segmentation.all-data-sent");
    expect(last, completes(), "rdmap.order.completed-in-submission-order");
  }
}

// ---------------------------------------------------------------- Atomics

CONFORMANCE_CASE(atomics_of_the_peer_count_without_a_gap,
                 rules("rdmap.atomic.response-original-value", "rdmap.atomic.fetchadd-implemented"),
                 needs(capability::atomics), in_both_roles, deadline_of(20s)) {
  constexpr std::uint64_t count = 60;
  StreamPeer& partner = connect_partner();
  Region counter = iut.register_memory(8, access::remote_atomic, 0);
  std::vector<std::uint64_t> works;
  for (std::uint64_t i = 0; i < count; ++i)
    works.push_back(partner.fetch_add(counter.stag, counter.base, 3));
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto end = expect_done(partner, works[i], "rdmap.atomic.fetchadd-implemented");
    expect_that(end.original_value == 3 * i, fmt::format("the original value {}", 3 * i),
                fmt::format("{}", end.original_value), "rdmap.atomic.response-original-value");
  }
  const auto mismatch = partner.compare_swap(counter.stag, counter.base, 1, 2);
  const auto match = partner.compare_swap(counter.stag, counter.base, 3 * count, 0);
  for (const auto work : {mismatch, match})
    expect_that(expect_done(partner, work).original_value == 3 * count,
                fmt::format("the original value {}", 3 * count), "another");
  expect(counter, unchanged, "rdmap.atomic.fetchadd-implemented");
}

CONFORMANCE_CASE(atomics_of_the_iut_are_answered_to_its_consumer,
                 rules("rdmap.atomic.response-delivered-to-ulp",
                       "rdmap.atomic.response-matched-by-msn",
                       "rdmap.order.completed-in-submission-order"),
                 needs(capability::atomics), in_both_roles, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  TesterBuffer& counter = partner.add_buffer(Octets(8));
  std::vector<Work> works;
  std::vector<Region> originals;
  for (int i = 0; i < 20; ++i) {
    originals.push_back(iut.register_memory(8));
    works.push_back(post_atomic(*this, counter, originals.back(), [](iut::PostWork& work) {
      work.operation = operation::fetch_add;
      work.add_or_swap = 5;
    }));
  }
  expect_in_order(works, "rdmap.order.completed-in-submission-order");
  std::uint64_t sum = 0;
  for (const Region& original : originals) {
    const Octets memory = iut.read_memory(original);
    expect_that(hold_number(memory, sum), fmt::format("the original value {}", sum),
                rnic::wire::hex(memory), "rdmap.atomic.response-delivered-to-ulp");
    sum += 5;
  }
  expect_that(hold_number(counter.octets, sum), fmt::format("{} in the tester's memory", sum),
              rnic::wire::hex(counter.octets), "rdmap.atomic.response-matched-by-msn");
}

CONFORMANCE_CASE(atomics_and_reads_are_answered_in_one_order,
                 rules("rdmap.read.responses-in-request-order",
                       "rdmap.atomic.response-original-value",
                       "rdmap.atomic.response-after-read-response"),
                 needs(capability::atomics), in_both_roles, deadline_of(20s)) {
  constexpr std::uint32_t rounds = 12, length = 2000;
  StreamPeer& partner = connect_partner();
  Region counter = iut.register_memory(8, access::remote_atomic, 0);
  Region source = iut.register_memory(rounds * length, access::remote_read);
  iut.write_memory(source, PayloadGenerator(56).octets(rounds * length));
  const TesterBuffer& sink = partner.add_buffer(Octets(rounds * length));
  std::vector<std::uint64_t> reads, atomics;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    reads.push_back(partner.read(sink, length, source.stag, source.base + i * length, i * length));
    atomics.push_back(partner.fetch_add(counter.stag, counter.base, 1));
  }
  for (std::uint32_t i = 0; i < rounds; ++i) {
    expect_done(partner, reads[i], "rdmap.read.responses-in-request-order");
    const auto end = expect_done(partner, atomics[i], "rdmap.atomic.response-original-value");
    expect_that(end.original_value == i, fmt::format("the original value {}", i),
                fmt::format("{}", end.original_value), "rdmap.atomic.response-original-value");
    expect(partner, message(Opcode::read_response), "rdmap.read.responses-in-request-order");
    expect(partner, message(Opcode::atomic_response), "rdmap.atomic.response-after-read-response");
  }
  expect_buffer(sink, source.contents, "rdmap.read.response-data-from-source");
}

// ---------------------------------------------------------------- Immediate Data, invalidation

CONFORMANCE_CASE(immediate_data_mix_with_sends_in_both_directions,
                 rules("rdmap.immediate.data-passed-to-ulp", "rdmap.immediate.header-format",
                       "rdmap.immediate.in-submission-order",
                       "rdmap.immediate.completed-in-order-with-sends",
                       "rdmap.order.completed-in-submission-order"),
                 needs(capability::immediate), in_both_roles, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  PayloadGenerator generator(57);
  for (int round = 0; round < 10; ++round) {
    const Octets data = generator.octets(generator.number(0, 3000)), eight = generator.octets(8);
    const Work first = iut.post_receive(3000), second = iut.post_receive(3000);
    partner.send(data);
    partner.immediate(eight, round % 2 != 0);
    expect(first, completes().with_length(static_cast<std::uint32_t>(data.size())),
           "rdmap.immediate.completed-in-order-with-sends");
    expect(second, completes().with_immediate(eight).with_solicited(round % 2 != 0),
           "rdmap.immediate.data-passed-to-ulp");
    expect(first.buffer, holds(data), "rdmap.immediate.completed-in-order-with-sends");
    expect(second.buffer, unchanged, "rdmap.immediate.data-passed-to-ulp");
    const Work sent = iut.post_send(data);
    const Work immediate = iut.post_send({}, operation::immediate, [&](iut::PostWork& work) {
      std::ranges::copy(eight, work.immediate.begin());
    });
    expect_received(partner, data, "rdmap.immediate.in-submission-order");
    const auto message = partner.received();
    const bool right =
        message && message->immediate && std::ranges::equal(*message->immediate, eight);
    expect_that(right, "the eight octets as posted", message ? "other octets" : partner.trouble(),
                "rdmap.immediate.header-format");
    expect_in_order({sent, immediate}, "rdmap.order.completed-in-submission-order");
  }
}

CONFORMANCE_CASE(buffer_of_the_iut_is_used_and_then_invalidated,
                 rules("rdmap.invalidate.stag-invalidated",
                       "rdmap.invalidate.stag-reported-to-ulp"),
                 needs(capability::remote_invalidate), in_both_roles) {
  StreamPeer& partner = connect_partner();
  const Octets data = PayloadGenerator(58).octets(10'000);
  const Region region = iut.register_memory(data.size(), access::remote_write);
  const Work receive = iut.post_receive(2000);
  partner.write(data, region.stag, region.base);
  partner.send(payload(2000), {.invalidate = region.stag});
  expect(receive, completes().with_length(2000).invalidating(region.stag),
         "rdmap.invalidate.stag-reported-to-ulp");
  expect(region, holds(data), "ddp.tagged.placed-at-to");
  partner.skip_arrivals();
  partner.write(Octets(100), region.stag, region.base);
  expect(partner, any_terminate() | advisory(torn_down()), "rdmap.invalidate.stag-invalidated");
  expect(region, holds(data), "rdmap.invalidate.stag-invalidated");
}

CONFORMANCE_CASE(buffer_of_the_peer_is_used_and_then_invalidated,
                 rules("rdmap.invalidate.references-stag",
                       "rdmap.order.completed-in-submission-order"),
                 needs(capability::send_invalidate), in_both_roles) {
  StreamPeer& partner = connect_partner();
  const Octets data = PayloadGenerator(59).octets(10'000);
  const TesterBuffer& buffer = partner.add_buffer(Octets(data.size()));
  const TesterBuffer& other = partner.add_buffer(Octets(8));
  const Work write = iut.post_write(data, buffer.stag, buffer.base);
  const Work send = iut.post_send(data, operation::send_invalidate,
                                  [&](iut::PostWork& work) { work.invalidate_stag = buffer.stag; });
  const auto message = expect_received(partner, data, "ddp.segmentation.all-data-sent");
  expect_that(message.invalidated == buffer.stag,
              fmt::format("STag {:#x} invalidated", buffer.stag),
              message.invalidated ? fmt::format("{:#x}", *message.invalidated) : "none");
  expect_that(
      partner.memory().is_invalidated(buffer.stag) && !partner.memory().is_invalidated(other.stag),
      "this STag invalid and no other", "another state");
  expect_buffer(buffer, data, "ddp.tagged.placed-at-to");
  expect_in_order({write, send}, "rdmap.order.completed-in-submission-order");
}

// ---------------------------------------------------------------- the peer-to-peer model

CONFORMANCE_CASE(transfers_continue_after_each_rtr_indication,
                 rules("mpa.enhanced.responder-supports-one-rtr-kind",
                       "mpa.enhanced.startup-gives-no-completion"),
                 needs(capability::enhanced_startup, capability::peer_to_peer)) {
  constexpr rnic::stream::RtrKinds kinds{true, true, true};
  StreamPeer& partner =
      connect_partner({.revision = 2,
                       .peer_to_peer = kinds,
                       .judged_by = "mpa.enhanced.responder-supports-one-rtr-kind"});
  expect_still_working("mpa.enhanced.responder-supports-one-rtr-kind");
  // The RTR has used no receive and given no completion: the first Send gets the first receive.
  transfer_behind_the_rtr(*this, partner, 60);
}

CONFORMANCE_CASE(transfers_continue_after_the_rtr_of_the_iut,
                 rules("mpa.enhanced.rtr-sent-after-accept",
                       "mpa.enhanced.startup-gives-no-completion"),
                 as_initiator, needs(capability::enhanced_startup),
                 configured({.peer_to_peer = true})) {
  StreamPeer& partner = connect_partner({.judged_by = "mpa.enhanced.rtr-sent-after-accept"});
  transfer_behind_the_rtr(*this, partner, 61);
}

CASES_OF_FILE(rdmap, outstanding_requests)

}  // namespace suite::cases
