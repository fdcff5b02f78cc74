// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One side does what the other may not allow: the memory stays as it is, and the connection ends on
// both sides (RFC 5040 section 7.1).
#include "plugfest/scenarios/plays.hpp"
#include "plugfest/scenarios/steps.hpp"

namespace plugfest::plays {

namespace {

/// Same index, another key: there is no such STag.
std::uint32_t bad(std::uint32_t stag) {
  constexpr std::uint32_t key = 0xFF;
  return stag ^ key;
}

void expect_untouched(Stage& stage, Side side, const Octets& before, const Region& region) {
  stage.record.expect(side, "memory that nobody may touch", hash(before),
                      hash(stage.of(side).contents(region)));
}

/// The offender is `by`.
void expect_refusal(Stage& stage, const Link& link, Side by) {
  stage.wish.terminate_from = other(by);
  stage.wish.provoked.emplace_back(by, "ddp.tagged.stag-valid-for-stream");
  expect_end(stage, link, other(by));
}

void write_to(Stage& stage, const Link& link, Side by, std::uint32_t stag, std::uint64_t offset) {
  iut::PostWork work;
  work.endpoint = link.of(by);
  work.operation = iut::operation::write;
  work.remote_stag = stag;
  work.remote_offset = offset;
  work.pieces = {{stage.of(by).memory_of(content(64, 21)).handle, 0, 64}};
  // The writer may be told of success: it has sent what it was to send.
  static_cast<void>(stage.of(by).post(work));
}

/// A new connection comes up as if nothing had happened.
void expect_next_connection(Stage& stage) { close(stage, open(stage)); }

}  // namespace

void write_to_bad_stag(Stage& stage, Side by) {
  const Link link = open(stage);
  const Octets before = content(256, 22);
  const Region region = stage.of(other(by)).memory_of(before, rights::write);
  write_to(stage, link, by, bad(region.stag), region.base);
  expect_refusal(stage, link, by);
  expect_untouched(stage, other(by), before, region);
  expect_next_connection(stage);
}

void read_from_bad_stag(Stage& stage, Side by) {
  const Link link = open(stage);
  const Region region = stage.of(other(by)).memory_of(content(256, 23), rights::read);
  const Octets before = content(256, 24);
  const Region sink = stage.of(by).memory_of(before, rights::write);
  iut::PostWork work;
  work.endpoint = link.of(by);
  work.operation = iut::operation::read;
  work.remote_stag = bad(region.stag);
  work.remote_offset = region.base;
  work.pieces = {{sink.handle, 0, 256}};
  const auto done = stage.of(by).completion(stage.of(by).post(work), "a read from a bad STag");
  stage.record.expect(by, "status of a read from a bad STag", "an error",
                      done.status == "success" ? "success" : "an error");
  expect_refusal(stage, link, by);
  expect_untouched(stage, by, before, sink);
  expect_next_connection(stage);
}

void write_without_right(Stage& stage) {
  const Link link = open(stage);
  const Octets before = content(256, 25);
  const Region region = stage.responder.memory_of(before, rights::read);
  write_to(stage, link, Side::initiator, region.stag, region.base);
  expect_refusal(stage, link, Side::initiator);
  expect_untouched(stage, Side::responder, before, region);
}

}  // namespace plugfest::plays
