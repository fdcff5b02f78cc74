// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Both sides send at once: the two directions neither disturb nor reorder each other, and the
// counters continue over hundreds of messages.
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/rdmap/transfer_steps.hpp"

namespace suite::cases {

namespace {

constexpr std::size_t long_message = 300'000;

}  // namespace

CONFORMANCE_CASE(sends_cross_sends,
                 rules("rdmap.send.delivered-in-order", "rdmap.send.in-submission-order",
                       "ddp.delivery.in-sent-order", "rdmap.order.completed-in-submission-order"),
                 in_both_roles, over_both_families, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  PayloadGenerator generator(41);
  std::vector<Octets> to_iut, from_iut;
  std::vector<Work> receives, sends;
  for (int i = 0; i < 24; ++i) {
    to_iut.push_back(generator.octets(generator.number(0, 20'000)));
    from_iut.push_back(generator.octets(generator.number(0, 20'000)));
    receives.push_back(iut.post_receive(20'000));
  }
  for (std::size_t i = 0; i < to_iut.size(); ++i) {
    partner.send(to_iut[i]);
    sends.push_back(iut.post_send(from_iut[i]));
  }
  expect_in_order(receives, "rdmap.send.delivered-in-order");
  for (std::size_t i = 0; i < receives.size(); ++i)
    expect(receives[i].buffer, holds(to_iut[i]), "ddp.delivery.in-sent-order");
  for (const Octets& data : from_iut)
    expect_received(partner, data, "rdmap.send.in-submission-order");
  expect_in_order(sends, "rdmap.order.completed-in-submission-order");
}

CONFORMANCE_CASE(long_writes_cross_long_writes,
                 rules("ddp.tagged.placed-at-to", "ddp.segmentation.to-is-initial-plus-offset",
                       "rdmap.order.completed-in-submission-order"),
                 in_both_roles, over_both_families, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  PayloadGenerator generator(42);
  const Octets there = generator.octets(long_message), back = generator.octets(long_message);
  const Region region = iut.register_memory(long_message + 5, access::remote_write);
  const TesterBuffer& buffer = partner.add_buffer(Octets(long_message));
  const Work write = iut.post_write(back, buffer.stag, buffer.base);
  partner.write(there, region.stag, region.base + 5);
  const Work announcement = iut.post_send({});
  expect(region, holds(there, 5));
  expect_received(partner, {}, "rdmap.write.send-signals-delivery");
  expect_buffer(buffer, back, "ddp.segmentation.to-is-initial-plus-offset");
  expect_in_order({write, announcement}, "rdmap.order.completed-in-submission-order");
}

CONFORMANCE_CASE(long_reads_cross_long_reads,
                 rules("rdmap.read.response-data-from-source",
                       "rdmap.read.response-delivered-to-ulp",
                       "rdmap.read.response-length-matches-request"),
                 in_both_roles, over_both_families, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  PayloadGenerator generator(43);
  const TesterBuffer& theirs = partner.add_buffer(generator.octets(long_message));
  const TesterBuffer& sink = partner.add_buffer(Octets(long_message));
  Region ours = iut.register_memory(long_message, access::remote_read);
  iut.write_memory(ours, generator.octets(long_message));
  const Work read = iut.post_read(long_message, theirs.stag, theirs.base);
  const auto read_back = partner.read(sink, long_message, ours.stag, ours.base);
  expect(read, completes().with_length(long_message), "rdmap.read.response-delivered-to-ulp");
  expect(read.buffer, holds(theirs.octets), "rdmap.read.response-delivered-to-ulp");
  expect_done(partner, read_back, "rdmap.read.response-length-matches-request");
  expect_buffer(sink, ours.contents);
}

CONFORMANCE_CASE(operations_of_all_kinds_cross_one_another,
                 rules("ddp.segmentation.all-payload-placed", "ddp.segmentation.all-data-sent",
                       "rdmap.read.response-data-from-source",
                       "rdmap.read.response-delivered-to-ulp",
                       "rdmap.order.completed-in-submission-order",
                       "rdmap.send.delivered-in-order"),
                 in_both_roles, over_both_families, deadline_of(30s)) {
  constexpr std::size_t slot = 8192, slots = 16;
  StreamPeer& partner = connect_partner();
  PayloadGenerator generator(44);
  // Each operation has its own slot, so the order of placement does not matter.
  Region written = iut.register_memory(slot * slots, access::remote_write);
  Region source = iut.register_memory(slot * slots, access::remote_read);
  iut.write_memory(source, generator.octets(slot * slots));
  TesterBuffer& written_back = partner.add_buffer(Octets(slot * slots));
  const TesterBuffer& source_back = partner.add_buffer(generator.octets(slot * slots));
  const TesterBuffer& sink = partner.add_buffer(Octets(slot * slots));
  Octets wanted = written.contents, wanted_back = written_back.octets, wanted_sink = sink.octets;
  std::vector<Octets> messages, messages_back;
  std::vector<Work> receives, works;
  std::vector<std::pair<Work, Octets>> reads;
  std::vector<std::uint64_t> reads_back;
  for (std::size_t i = 0; i < slots; ++i) receives.push_back(iut.post_receive(slot));
  partner.hold_back();
  for (std::size_t i = 0; i < slots; ++i) {
    // The second Write and Send were sent after a Read that is not answered yet.
    if (i == 2) go_on_behind_a_read_and_a_send(*this, partner);
    const std::size_t at = i * slot, from = generator.number(0, 100);
    const auto size = [&] { return generator.number(1, slot - 100); };
    const Octets write = generator.octets(size()), write_back = generator.octets(size());
    partner.write(write, written.stag, written.base + at + from);
    std::ranges::copy(write, wanted.begin() + static_cast<std::ptrdiff_t>(at + from));
    works.push_back(iut.post_write(write_back, written_back.stag, written_back.base + at + from));
    std::ranges::copy(write_back, wanted_back.begin() + static_cast<std::ptrdiff_t>(at + from));
    messages.push_back(generator.octets(size()));
    partner.send(messages.back());
    messages_back.push_back(generator.octets(size()));
    works.push_back(iut.post_send(messages_back.back()));
    const std::size_t asked = size(), asked_back = size();
    reads_back.push_back(partner.read(sink, static_cast<std::uint32_t>(asked), source.stag,
                                      source.base + at + from, at));
    std::ranges::copy(part_of(source.contents, at + from, asked),
                      wanted_sink.begin() + static_cast<std::ptrdiff_t>(at));
    works.push_back(iut.post_read(static_cast<std::uint32_t>(asked_back), source_back.stag,
                                  source_back.base + at + from));
    reads.emplace_back(works.back(), part_of(source_back.octets, at + from, asked_back));
  }
  expect_in_order(receives, "rdmap.send.delivered-in-order");
  for (std::size_t i = 0; i < slots; ++i)
    expect(receives[i].buffer, holds(messages[i]), "ddp.segmentation.all-payload-placed");
  expect(written, holds(wanted), "ddp.segmentation.all-payload-placed");
  const auto came = expect_all(*this, works, "rdmap.read.response-delivered-to-ulp");
  for (const auto& [read, data] : reads)
    expect(read.buffer, holds(data), "rdmap.read.response-delivered-to-ulp");
  for (const Octets& message : messages_back)
    expect_received(partner, message, "ddp.segmentation.all-data-sent");
  expect_buffer(written_back, wanted_back, "ddp.segmentation.all-data-sent");
  for (const std::uint64_t read : reads_back)
    expect_done(partner, read, "rdmap.read.response-data-from-source");
  expect_buffer(sink, wanted_sink, "rdmap.read.response-data-from-source");
  expect_order(*this, came, works, "rdmap.order.completed-in-submission-order");
}

CONFORMANCE_CASE(hundreds_of_messages_are_counted,
                 rules("ddp.untagged.msn-increments-per-message", "rdmap.send.delivered-in-order",
                       "rdmap.order.completed-in-submission-order"),
                 in_both_roles, deadline_of(60s)) {
  constexpr std::size_t rounds = 35, at_once = 8, place = 64;
  StreamPeer& partner = connect_partner();
  PayloadGenerator generator(45);
  Region memory = iut.register_memory(at_once * place);
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<Work> receives, sends;
    std::vector<Octets> from_iut;
    Octets wanted = iut.read_memory(memory);
    for (std::size_t i = 0; i < at_once; ++i)
      receives.push_back(iut.post_receive({{memory.handle, i * place, place}}));
    for (std::size_t i = 0; i < at_once; ++i) {
      const Octets data = generator.octets(generator.number(0, place));
      std::ranges::copy(data, wanted.begin() + static_cast<std::ptrdiff_t>(i * place));
      partner.send(data);
      from_iut.push_back(generator.octets(generator.number(0, place)));
      sends.push_back(iut.post_send(from_iut.back()));
    }
    expect_in_order(receives, "rdmap.send.delivered-in-order");
    expect(memory, holds(wanted), "rdmap.send.delivered-in-order");
    for (const Octets& data : from_iut)
      expect_received(partner, data, "ddp.untagged.msn-increments-per-message");
    expect_in_order(sends, "rdmap.order.completed-in-submission-order");
  }
}

CASES_OF_FILE(rdmap, full_duplex)

}  // namespace suite::cases
