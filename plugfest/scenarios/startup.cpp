// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <algorithm>

#include "plugfest/scenarios/plays.hpp"
#include "plugfest/scenarios/steps.hpp"

namespace plugfest::plays {

namespace {

/// A Configure in which one thing is chosen, or a few.
template <typename... Choices>
iut::Configure chosen(Choices... choices) {
  iut::Configure wanted;
  (choices(wanted), ...);
  return wanted;
}

/// Only what an agent says it can configure is asked of it; the rest is as it stands.
void configure(Party& party, const char* capability, const iut::Configure& wanted) {
  if (party.can(capability)) party.call(wanted, "configure");
}

void transfer_and_close(Stage& stage, const Link& link) {
  constexpr std::size_t length = 5000;
  send(stage, link, Side::initiator, length);
  send(stage, link, Side::responder, length);
  write(stage, link, Side::responder, length);
  read(stage, link, Side::initiator, length);
  close(stage, link);
}

}  // namespace

void revision(Stage& stage, int revision) {
  stage.wish.revision = revision;
  configure(stage.initiator, iut::capability::configure_revision_1,
            chosen([=](auto& it) { it.revision = revision; }));
  // Revision 1 tells the peer nothing of the depths: each side says what it takes.
  constexpr int depth = 4;
  const iut::ConnectParameters said{.ird = depth, .ord = depth};
  transfer_and_close(stage, connect(stage, {.request = said, .reply = said}));
}

void peer_to_peer(Stage& stage, const char* rtr) {
  stage.wish.peer_to_peer = true;
  const auto kind = [rtr](iut::Configure& it) { it.rtr = std::vector<std::string>{rtr}; };
  stage.initiator.call(chosen([](auto& it) { it.peer_to_peer = true; }, kind),
                       std::string("configure peer to peer with RTR ") + rtr);
  configure(stage.responder, iut::capability::configure_rtr, chosen(kind));
  const Link link = connect(stage);
  // The responder may send first: that is what it is for.
  send(stage, link, Side::responder, 100);
  transfer_and_close(stage, link);
}

void crc(Stage& stage, bool wanted) {
  stage.wish.crc = wanted;
  for (Party* party : {&stage.initiator, &stage.responder})
    party->call(chosen([=](auto& it) { it.crc = wanted; }),
                wanted ? "configure CRC" : "configure no CRC");
  transfer_and_close(stage, connect(stage));
}

void markers(Stage& stage) {
  stage.wish.markers = true;
  for (Party* party : {&stage.initiator, &stage.responder})
    party->call(chosen([](auto& it) { it.markers = true; }), "configure Markers");
  transfer_and_close(stage, connect(stage));
}

/// The initiator serves more Reads than the responder issues, and the other way round; more are
/// posted than either depth, and all have to be served.
void depths(Stage& stage) {
  const Link link = open(stage, {.request = {.ird = 4, .ord = 2}, .reply = {.ird = 2, .ord = 3}});
  for (const Side by : {Side::initiator, Side::responder}) {
    Party &reader = stage.of(by), &target = stage.of(other(by));
    constexpr std::size_t length = 3000, count = 8;
    const Octets data = content(length, count);
    const Region source = target.memory_of(data, rights::read);
    std::vector<std::pair<iut::WorkId, Region>> posted;
    for (std::size_t at = 0; at < count; ++at) {
      const Region sink = reader.memory(length, rights::write);
      iut::PostWork work;
      work.endpoint = link.of(by);
      work.operation = iut::operation::read;
      work.pieces = {{sink.handle, 0, length}};
      work.remote_stag = source.stag;
      work.remote_offset = source.base;
      posted.emplace_back(reader.post(work), sink);
    }
    for (const auto& [work, sink] : posted) {
      reader.expect_completion(work, "one of eight reads");
      stage.record.expect(by, "contents of one of eight reads", hash(data),
                          hash(reader.contents(sink)));
    }
  }
  close(stage, link);
}

}  // namespace plugfest::plays
