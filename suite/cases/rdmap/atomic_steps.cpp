// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/rdmap/atomic_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace suite::cases {

Octets octets_of(std::uint64_t value) {
  Octets all(8);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<std::byte>(value >> (8 * (7 - i)));
  return all;
}

Region word_of(Body& test, std::uint64_t value) {
  Region region = test.iut.register_memory(64, access::remote_atomic);
  if (region.base % 8 != 0)
    test.stop(Verdict::inconclusive, "the region does not begin at a multiple of eight");
  test.iut.write_memory(region, octets_of(value));
  return region;
}

void expect_original(Body& test, std::uint64_t value, RuleRef rule) {
  const Message response =
      test.expect_message(Opcode::atomic_response, "rdmap.atomic.valid-request-answered");
  const Octets wanted = octets_of(value);
  const bool same = response.payload.size() == 12 &&
                    std::equal(wanted.begin(), wanted.end(), response.payload.begin() + 4);
  test.expect_that(same, fmt::format("the original value {:#018x}", value),
                   response.segments.empty()
                       ? "none"
                       : fmt::format("{} octets with another value", response.payload.size()),
                   rule);
}

std::uint64_t original_from(Body& test, WireEnd& from, RuleRef rule) {
  const Arrival arrival = test.expect(from, message(Opcode::atomic_response), rule);
  const Octets& payload = arrival.as<Message>()->payload;
  test.expect_that(payload.size() == sizeof(rnic::wire::AtomicResponseHeader), "12 octets",
                   arrival.text(), "rdmap.atomic.response-header-format");
  return rnic::wire::Reader(payload).read<rnic::wire::AtomicResponseHeader>().original_data.value();
}

Work post_atomic(Body& test, const char* kind, std::uint64_t add_or_swap, std::uint64_t compare,
                 std::uint64_t remote_offset) {
  const Region sink = test.iut.register_memory(8, access::remote_write);
  iut::PostWork post;
  post.operation = kind;
  post.pieces = {{sink.handle, 0, 8}};
  post.remote_stag = 0x01020304;
  post.remote_offset = remote_offset;
  post.add_or_swap = add_or_swap;
  post.compare = compare;
  Work work = test.iut.post(post);
  work.buffer = sink;
  return work;
}

AtomicRequestFields expect_request(Body& test) {
  const auto fields =
      test.expect_message(Opcode::atomic_request, "rdmap.atomic.request-header-format")
          .atomic_request();
  test.expect_that(fields.has_value(), "52 octets after the DDP header", "another length",
                   "rdmap.atomic.request-header-format");
  return fields.value_or(AtomicRequestFields{});
}

}  // namespace suite::cases
