// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// More than one thing at a time.
#include <algorithm>
#include <array>
#include <random>

#include <fmt/format.h>

#include "plugfest/scenarios/plays.hpp"
#include "plugfest/scenarios/steps.hpp"

namespace plugfest::plays {

namespace {

/// One octet of a number each, so that the responder can tell who asks.
Octets number(std::size_t value) {
  return {static_cast<std::byte>(value >> 8U), static_cast<std::byte>(value)};
}

/// Who of so many asks for a connection.
std::size_t asker(Stage& stage, const iut::ConnectRequestEvent& request, std::size_t count) {
  const auto& said = request.private_data;
  std::size_t who = said.size() == 2 ? 0 : count;
  if (said.size() == 2)
    for (const std::byte octet : said) who = who * 256 + std::to_integer<std::size_t>(octet);
  const std::string right = fmt::format("a number below {}", count);
  stage.record.require(Side::responder, "private data of a request", right,
                       who < count ? right : count_of(said));
  return who;
}

struct Posted {
  iut::WorkId receive = 0, send = 0;
  Region sink;
  Octets data;
};

Posted post_send(Stage& stage, const Link& link, Side from, std::size_t length,
                 std::uint64_t seed) {
  Posted posted;
  posted.data = content(length, seed);
  posted.sink = stage.of(other(from)).memory(length);
  posted.receive = stage.of(other(from)).receive(link.of(other(from)), &posted.sink);
  iut::PostWork work;
  work.endpoint = link.of(from);
  work.operation = iut::operation::send;
  work.pieces = {
      {stage.of(from).memory_of(posted.data).handle, 0, static_cast<std::uint32_t>(length)}};
  posted.send = stage.of(from).post(work);
  return posted;
}

void expect_arrival(Stage& stage, Side from, const Posted& posted, const std::string& what) {
  stage.of(other(from)).expect_completion(posted.receive, "the receive of " + what);
  stage.of(from).expect_completion(posted.send, what);
  stage.record.require(other(from), "contents of " + what, hash(posted.data),
                       hash(stage.of(other(from)).contents(posted.sink)));
}

}  // namespace

/// A hundred requests are on their way before the first of them is looked at.
void many_connections(Stage& stage, std::size_t count) {
  constexpr std::size_t wave = 100;  // nobody has to remember more requests that wait
  const std::uint16_t port = stage.responder.listen();
  std::vector<Link> links(count);
  for (std::size_t first = 0; first < count; first += wave) {
    const std::size_t end = std::min(count, first + wave);
    // Made beforehand: the initiator's patience with its first request is not for making endpoints.
    for (std::size_t at = first; at < end; ++at)
      links[at] = {stage.initiator.endpoint(), stage.responder.endpoint()};
    for (std::size_t at = first; at < end; ++at) {
      stage.initiator.connect(links[at].initiator, stage.responder, port,
                              {.private_data = number(at)});
    }
    for (std::size_t at = first; at < end; ++at) {
      const auto request = stage.responder.request();
      stage.responder.accept(request.request, links[asker(stage, request, count)].responder);
    }
  }
  for (const Link& link : links) {
    stage.record.require(Side::initiator, "startup", "established",
                         word_of(stage.initiator.startup_of(link.initiator)));
    stage.record.require(Side::responder, "startup", "established",
                         word_of(stage.responder.startup_of(link.responder)));
  }
  std::vector<Posted> posted;
  for (std::size_t at = 0; at < count; ++at)
    posted.push_back(post_send(stage, links[at], Side::initiator, 64, at));
  for (const Posted& each : posted)
    expect_arrival(stage, Side::initiator, each, "a send on one of many connections");
  for (const Link& link : links) close(stage, link);
}

/// Some are rejected, the others end as soon as they are up, in every way that there is. Then one
/// more comes up as if nothing had happened.
void connect_storm(Stage& stage) {
  constexpr std::size_t rounds = 4, count = 24, ways = 4;
  const std::uint16_t port = stage.responder.listen();
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<Link> links(count);
    // Made beforehand: the initiator's patience with its first request is not for making endpoints.
    for (Link& link : links) link.initiator = stage.initiator.endpoint();
    for (std::size_t at = 0; at < count; ++at)
      stage.initiator.connect(links[at].initiator, stage.responder, port,
                              {.private_data = number(at)});
    for (std::size_t at = 0; at < count; ++at) {
      const auto request = stage.responder.request();
      const std::size_t who = asker(stage, request, count);
      if (who % ways == 0) {
        stage.responder.call(iut::Reject{request.request, {}}, "reject");
        continue;
      }
      links[who].responder = stage.responder.endpoint();
      stage.responder.accept(request.request, links[who].responder);
    }
    for (std::size_t at = 0; at < count; ++at) {
      const bool rejected = at % ways == 0;
      stage.record.require(Side::initiator, "startup", rejected ? "rejected" : "established",
                           word_of(stage.initiator.startup_of(links[at].initiator)));
      if (rejected) continue;
      stage.record.require(Side::responder, "startup", "established",
                           word_of(stage.responder.startup_of(links[at].responder)));
      const Side by = at % ways == 2 ? Side::responder : Side::initiator;
      stage.of(by).disconnect(links[at].of(by), at % ways != 3);
    }
    for (std::size_t at = 0; at < count; ++at)
      for (const Side side : {Side::initiator, Side::responder}) {
        const Handle endpoint = links[at].of(side);
        if (endpoint == 0) continue;
        if (at % ways != 0) stage.of(side).expect_disconnected(endpoint);
        stage.of(side).call(iut::DestroyEndpoint{endpoint}, "destroy an endpoint");
      }
  }
  close(stage, open(stage));
}

/// Each side connects to the other at the same time: two connections, each with its own roles.
void both_at_once(Stage& stage) {
  const std::uint16_t at_responder = stage.responder.listen();
  const std::uint16_t at_initiator = stage.initiator.listen();
  const Handle out = stage.initiator.endpoint(), out_accepted = stage.responder.endpoint();
  const Handle in = stage.responder.endpoint(), in_accepted = stage.initiator.endpoint();
  stage.initiator.connect(out, stage.responder, at_responder);
  stage.responder.connect(in, stage.initiator, at_initiator);
  stage.responder.accept(stage.responder.request().request, out_accepted);
  stage.initiator.accept(stage.initiator.request().request, in_accepted);
  for (const auto& [side, endpoint] :
       {std::pair{Side::initiator, out}, std::pair{Side::initiator, in_accepted},
        std::pair{Side::responder, in}, std::pair{Side::responder, out_accepted}})
    stage.record.require(side, "startup", "established",
                         word_of(stage.of(side).startup_of(endpoint)));
  const Link forth{out, out_accepted}, back{in_accepted, in};
  send(stage, forth, Side::initiator, 1000);
  send(stage, back, Side::responder, 1000);
  send(stage, forth, Side::responder, 1000);
  send(stage, back, Side::initiator, 1000);
  close(stage, forth);
  close(stage, back, Side::responder);
}

/// Both send at once, many messages before either waits.
void traffic_both_ways(Stage& stage) {
  const Link link = open(stage);
  constexpr std::size_t count = 16, length = 20'000;
  std::vector<std::pair<Side, Posted>> posted;
  for (std::size_t at = 0; at < count; ++at)
    for (const Side from : {Side::initiator, Side::responder})
      posted.emplace_back(from, post_send(stage, link, from, length, at));
  for (const auto& [from, each] : posted)
    expect_arrival(stage, from, each, "a send while the other side sends");
  close(stage, link);
}

/// Everything in turn, by a seed that the steps show.
void mixed_traffic(Stage& stage) {
  constexpr unsigned seed = 20'260'101, rounds = 40;
  stage.record.note(std::nullopt, fmt::format("seed {}", seed));
  std::mt19937 numbers(seed);
  const Link link = open(stage);
  for (unsigned round = 0; round < rounds; ++round) {
    const Side side = numbers() % 2 == 0 ? Side::initiator : Side::responder;
    const std::size_t length = numbers() % 30'000;
    switch (numbers() % 3) {
      case 0:
        send(stage, link, side, length);
        break;
      case 1:
        write(stage, link, side, length);
        break;
      default:
        read(stage, link, side, length);
    }
  }
  close(stage, link);
}

}  // namespace plugfest::plays
