// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/rdmap/transfer_steps.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reference_rnic/wire/ddp.hpp"

namespace suite::cases {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t guard = 16;  ///< octets before and after a transfer that must not change
constexpr std::byte guard_octet{0xEE};

/// The expected buffer after `data` has been placed in the middle of it.
Octets guarded(const Octets& data) {
  Octets all(data.size() + 2 * guard, guard_octet);
  std::ranges::copy(data, all.begin() + guard);
  return all;
}

}  // namespace

std::vector<std::size_t> sizes_around_segments(const StreamPeer& partner) {
  const std::size_t untagged = partner.max_ulpdu() - rnic::wire::untagged_header_size;
  const std::size_t tagged = partner.max_ulpdu() - rnic::wire::tagged_header_size;
  return {0,
          1,
          2,
          3,
          4,
          5,
          untagged - 1,
          untagged,
          untagged + 1,
          tagged - 1,
          tagged,
          tagged + 1,
          page - 1,
          page,
          page + 1,
          2 * untagged,
          2 * tagged,
          3 * tagged + 1,
          30'001};
}

StreamPeer& connect_and_find_fpdus(Body& test, const Partner& terms) {
  constexpr std::uint32_t length = 8;
  const Work first = test.iut.post_receive(length), second = test.iut.post_receive(length);
  StreamPeer& partner = test.connect_partner(terms);
  for (int i = 0; i < 2; ++i) partner.send(payload(length));
  for (const Work& receive : {first, second})
    test.expect(receive, completes().with_length(length), "mpa.receive.boundaries-by-length-field");
  return partner;
}

void send_to_iut(Body& test, StreamPeer& partner, const Octets& data) {
  const std::size_t spare = data.size() % 2 == 0 ? guard : 0;
  const Work receive = test.iut.post_receive(static_cast<std::uint32_t>(data.size() + spare));
  partner.send(data);
  const auto event = test.expect(receive, completes(), "ddp.delivery.complete-message-delivered");
  test.expect_that(event.length == data.size(), fmt::format("{} octets", data.size()),
                   fmt::format("{} octets", event.length), "ddp.delivery.message-length-given");
  test.expect(receive.buffer, holds(data), "ddp.untagged.placed-at-mo");
}

void send_from_iut(Body& test, StreamPeer& partner, const Octets& data) {
  const Work send = test.iut.post_send(data);
  test.expect_received(partner, data, "ddp.segmentation.all-data-sent");
  test.expect(send, completes(), "rdmap.order.completion-after-ddp");
}

void write_to_iut(Body& test, StreamPeer& partner, const Octets& data) {
  constexpr std::size_t before_the_page = page - 3;
  const Region region =
      test.iut.register_memory(before_the_page + data.size() + guard, access::remote_write);
  partner.write(data, region.stag, region.base + before_the_page);
  test.expect(region, holds(data, before_the_page), "ddp.tagged.placed-at-to");
}

void write_from_iut(Body& test, StreamPeer& partner, const Octets& data) {
  const TesterBuffer& buffer = partner.add_buffer(Octets(data.size() + 2 * guard, guard_octet));
  const Work write = test.iut.post_write(data, buffer.stag, buffer.base + guard);
  const Work announcement = test.iut.post_send(octets("written"));
  test.expect_received(partner, octets("written"), "rdmap.write.send-signals-delivery");
  test.expect_buffer(buffer, guarded(data), "ddp.segmentation.to-is-initial-plus-offset");
  test.expect(write, completes(), "rdmap.order.completion-after-ddp");
  test.expect(announcement, completes(), "rdmap.order.completion-after-ddp");
}

void read_from_iut(Body& test, StreamPeer& partner, const Octets& data) {
  Region source = test.iut.register_memory(data.size() + guard, access::remote_read);
  test.iut.write_memory(source, data, 7);
  const TesterBuffer& sink = partner.add_buffer(Octets(data.size() + 2 * guard, guard_octet));
  const auto read = partner.read(sink, static_cast<std::uint32_t>(data.size()), source.stag,
                                 source.base + 7, guard);
  test.expect_done(partner, read, "rdmap.read.valid-request-answered");
  test.expect_buffer(sink, guarded(data), "rdmap.read.response-data-from-source");
}

void read_by_iut(Body& test, StreamPeer& partner, const Octets& data) {
  const TesterBuffer& source = partner.add_buffer(guarded(data));
  const auto length = static_cast<std::uint32_t>(data.size());
  const Work read = test.iut.post_read(length, source.stag, source.base + guard);
  test.expect(read, completes().with_length(length), "rdmap.read.response-delivered-to-ulp");
  // Without any further exchange: the data of completed work must be there.
  const Octets seen = test.iut.read_memory(read.buffer);
  test.expect_that(seen == data, "the sink holds " + digest(data), digest(seen),
                   "rdmap.order.read-completes-after-response");
}

void transfer_everything(Body& test, StreamPeer& partner) {
  PayloadGenerator generator(2);
  for (const std::size_t size : sizes_around_segments(partner)) {
    const Octets data = generator.octets(size);
    send_to_iut(test, partner, data);
    send_from_iut(test, partner, data);
    write_to_iut(test, partner, data);
    write_from_iut(test, partner, data);
    if (size == 0) continue;  // nothing to be read
    read_from_iut(test, partner, data);
    read_by_iut(test, partner, data);
  }
}

void go_on_behind_a_read_and_a_send(Body& test, StreamPeer& partner) {
  const Context& context = test.context();
  const auto until = context.loop.now() + (context.deadline - context.loop.now()) / 4;
  for (bool read_came = false, send_came = false; !send_came;) {
    const Arrival arrival = partner.next(until);
    if (arrival.as<Message>() == nullptr && arrival.as<ReceivedFrame>() == nullptr) break;
    if (arrival.message(Opcode::read_request) != nullptr) read_came = true;
    send_came = read_came && arrival.message(Opcode::send) != nullptr;
  }
  partner.hold_back(false);
}

std::vector<iut::CompletionEvent> expect_all(Body& test, const std::vector<Work>& works,
                                             const RuleRef& rule) {
  std::vector<iut::CompletionEvent> came;
  while (came.size() < works.size()) {
    const auto event = test.iut.take(
        [&](const iut::Event& one) {
          return std::ranges::any_of(
              works, [&](const Work& work) { return completion_of(work).matches(one); });
        },
        test.context().deadline);
    const auto* completion = event ? std::get_if<iut::CompletionEvent>(&*event) : nullptr;
    test.expect_that(completion != nullptr && completes().matches(*completion),
                     "a successful completion of each work",
                     event ? describe(*event) : "no completion; " + test.iut.untaken(), rule);
    came.push_back(*completion);
  }
  return came;
}

void expect_order(Body& test, const std::vector<iut::CompletionEvent>& came,
                  const std::vector<Work>& posted, const RuleRef& rule) {
  const auto [out_of_turn, awaited] =
      std::ranges::mismatch(came, posted, {}, &iut::CompletionEvent::work, &Work::id);
  const bool in_order = out_of_turn == came.end() && awaited == posted.end();
  test.expect_that(in_order,
                   in_order ? "completions in the order of posting"
                            : fmt::format("a successful completion of work {}", awaited->id),
                   in_order ? "so they came" : describe(*out_of_turn), rule);
}

}  // namespace suite::cases
