// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One side does what the other may not allow: the memory stays unchanged, and the connection ends
// on both sides (RFC 5040 section 7.1).
#include "plugfest/scenarios/scenario_table.hpp"
#include "plugfest/scenarios/steps.hpp"

namespace plugfest::scenario_table {

namespace {

void expect_untouched(ScenarioRun& run, Side side, const Octets& before, const Region& region) {
  run.record.expect(side, "memory that may not change", hash(before),
                    hash(run.of(side).read_memory(region)));
}

/// The offender is `by`.
void expect_refusal(ScenarioRun& run, const Link& link, Side by) {
  run.expectation.terminate_from = other(by);
  run.expectation.provoked.emplace_back(by, "ddp.tagged.stag-valid-for-stream");
  expect_end(run, link, other(by));
}

void write_to(ScenarioRun& run, const Link& link, Side by, std::uint32_t stag,
              std::uint64_t offset) {
  // The writer may report success: it has sent what it had to send.
  static_cast<void>(run.of(by).post_write(content(64, 21), stag, offset, link.of(by)));
}

/// A new connection comes up as usual.
void expect_next_connection(ScenarioRun& run) { close(run, open(run)); }

}  // namespace

void write_to_bad_stag(ScenarioRun& run, Side by) {
  const Link link = open(run);
  const Octets before = content(256, 22);
  const Region region = run.of(other(by)).register_octets(before, access::remote_write);
  write_to(run, link, by, region.stag_with_other_key(), region.base);
  expect_refusal(run, link, by);
  expect_untouched(run, other(by), before, region);
  expect_next_connection(run);
}

void read_from_bad_stag(ScenarioRun& run, Side by) {
  const Link link = open(run);
  const Region region = run.of(other(by)).register_octets(content(256, 23), access::remote_read);
  const Octets before = content(256, 24);
  const Region sink = run.of(by).register_octets(before, access::remote_write);
  iut::PostWork work;
  work.endpoint = link.of(by);
  work.operation = iut::operation::read;
  work.remote_stag = region.stag_with_other_key();
  work.remote_offset = region.base;
  work.pieces = {{sink.handle, 0, 256}};
  const auto done = run.of(by).completion(run.of(by).post(work), "a read from a bad STag");
  run.record.expect(by, "status of a read from a bad STag", "an error",
                    done.status == "success" ? "success" : "an error");
  expect_refusal(run, link, by);
  expect_untouched(run, by, before, sink);
  expect_next_connection(run);
}

void write_without_right(ScenarioRun& run) {
  const Link link = open(run);
  const Octets before = content(256, 25);
  const Region region = run.responder.register_octets(before, access::remote_read);
  write_to(run, link, Side::initiator, region.stag, region.base);
  expect_refusal(run, link, Side::initiator);
  expect_untouched(run, Side::responder, before, region);
}

}  // namespace plugfest::scenario_table
