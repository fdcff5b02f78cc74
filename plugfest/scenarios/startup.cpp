// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <algorithm>

#include "plugfest/scenarios/scenario_table.hpp"
#include "plugfest/scenarios/steps.hpp"

namespace plugfest::scenario_table {

namespace {

/// A Configure command with only some choices set.
template <typename... Choices>
iut::Configure chosen(Choices... choices) {
  iut::Configure wanted;
  (choices(wanted), ...);
  return wanted;
}

/// An agent is asked only for what it says it can configure; the rest stays as it is.
void configure(AgentSide& side, const char* capability, const iut::Configure& wanted) {
  if (side.can(capability)) side.call(wanted, "configure");
}

void transfer_and_close(ScenarioRun& run, const Link& link) {
  constexpr std::size_t length = 5000;
  send(run, link, Side::initiator, length);
  send(run, link, Side::responder, length);
  write(run, link, Side::responder, length);
  read(run, link, Side::initiator, length);
  close(run, link);
}

}  // namespace

void revision(ScenarioRun& run, int revision) {
  run.expectation.revision = revision;
  configure(run.initiator, iut::capability::configure_revision_1,
            chosen([=](auto& it) { it.revision = revision; }));
  // Revision 1 does not carry the depths to the peer: each side states what it accepts.
  constexpr int depth = 4;
  const iut::ConnectParameters said{.ird = depth, .ord = depth};
  transfer_and_close(run, connect(run, {.request = said, .reply = said}));
}

void peer_to_peer(ScenarioRun& run, const char* rtr) {
  run.expectation.peer_to_peer = true;
  const auto kind = [rtr](iut::Configure& it) { it.rtr = std::vector<std::string>{rtr}; };
  run.initiator.call(chosen([](auto& it) { it.peer_to_peer = true; }, kind),
                     std::string("configure peer to peer with RTR ") + rtr);
  configure(run.responder, iut::capability::configure_rtr, chosen(kind));
  const Link link = connect(run);
  // The responder may send first: that is the purpose of this model.
  send(run, link, Side::responder, 100);
  transfer_and_close(run, link);
}

void crc(ScenarioRun& run, bool wanted) {
  run.expectation.crc = wanted;
  for (AgentSide* side : {&run.initiator, &run.responder})
    side->call(chosen([=](auto& it) { it.crc = wanted; }),
               wanted ? "configure CRC" : "configure no CRC");
  transfer_and_close(run, connect(run));
}

void markers(ScenarioRun& run) {
  run.expectation.markers = true;
  for (AgentSide* side : {&run.initiator, &run.responder})
    side->call(chosen([](auto& it) { it.markers = true; }), "configure Markers");
  transfer_and_close(run, connect(run));
}

/// The initiator serves more Reads than the responder issues, and vice versa; more are posted than
/// either depth, and all must be served.
void depths(ScenarioRun& run) {
  const Link link = open(run, {.request = {.ird = 4, .ord = 2}, .reply = {.ird = 2, .ord = 3}});
  for (const Side by : {Side::initiator, Side::responder}) {
    AgentSide &reader = run.of(by), &target = run.of(other(by));
    constexpr std::size_t length = 3000, count = 8;
    const Octets data = content(length, count);
    const Region source = target.register_octets(data, access::remote_read);
    std::vector<Work> posted;
    for (std::size_t at = 0; at < count; ++at)
      posted.push_back(reader.post_read(length, source.stag, source.base, link.of(by)));
    for (const Work& work : posted) {
      reader.expect_completion(work, "one of eight reads");
      run.record.expect(by, "contents of one of eight reads", hash(data),
                        hash(reader.read_memory(work.buffer)));
    }
  }
  close(run, link);
}

}  // namespace plugfest::scenario_table
