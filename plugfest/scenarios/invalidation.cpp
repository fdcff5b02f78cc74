// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <fmt/format.h>

#include "plugfest/scenarios/scenario_table.hpp"
#include "plugfest/scenarios/steps.hpp"

namespace plugfest::scenario_table {

namespace {

/// The message that invalidates an STag of the other side; the completion of its receive reports
/// it.
void invalidate_one(ScenarioRun& run, const Link& link, Side from, const char* operation,
                    std::uint32_t stag) {
  const auto received =
      send(run, link, from, 64, {.operation = operation, .invalidate_stag = stag});
  if (received.invalidated_stag)  // not every API reports it
    run.record.expect(other(from), "STag that the receive reports as invalidated",
                      fmt::format("{:#010x}", stag),
                      fmt::format("{:#010x}", *received.invalidated_stag));
}

}  // namespace

void invalidate(ScenarioRun& run, bool solicited) {
  const char* operation =
      solicited ? iut::operation::send_solicited_invalidate : iut::operation::send_invalidate;
  const Link link = open(run);
  for (const Side from : {Side::initiator, Side::responder}) {
    const Region region = run.of(other(from)).register_memory(4096, access::remote_write);
    invalidate_one(run, link, from, operation, region.stag);
  }
  send(run, link, Side::initiator, 1);  // the stream continues
  close(run, link);
}

/// RFC 5040 5.2: an STag that was invalidated gives no access any more.
void use_after_invalidation(ScenarioRun& run) {
  const Link link = open(run);
  const Octets before = content(4096, 11);
  const Region region = run.responder.register_octets(before, access::remote_write);
  invalidate_one(run, link, Side::initiator, iut::operation::send_invalidate, region.stag);
  static_cast<void>(
      run.initiator.post_write(content(64, 12), region.stag, region.base, link.initiator));
  run.expectation.terminate_from = Side::responder;
  run.expectation.provoked.emplace_back(Side::initiator, "ddp.tagged.stag-valid-for-stream");
  expect_end(run, link, Side::responder);
  run.record.expect(Side::responder, "memory of the invalidated STag", hash(before),
                    hash(run.responder.read_memory(region)));
}

}  // namespace plugfest::scenario_table
