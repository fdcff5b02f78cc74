// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// More than one thing at the same time.
#include <algorithm>
#include <array>
#include <random>

#include <fmt/format.h>

#include "plugfest/scenarios/scenario_table.hpp"
#include "plugfest/scenarios/steps.hpp"

namespace plugfest::scenario_table {

namespace {

/// One octet of a number each, so that the responder can identify the asker.
Octets number(std::size_t value) {
  return {static_cast<std::byte>(value >> 8U), static_cast<std::byte>(value)};
}

/// Which of the connections is asked for.
std::size_t asker(ScenarioRun& run, const iut::ConnectRequestEvent& request, std::size_t count) {
  const auto& said = request.private_data;
  std::size_t who = said.size() == 2 ? 0 : count;
  if (said.size() == 2)
    for (const std::byte octet : said) who = who * 256 + std::to_integer<std::size_t>(octet);
  const std::string right = fmt::format("a number below {}", count);
  run.record.require(Side::responder, "private data of a request", right,
                     who < count ? right : count_of(said));
  return who;
}

struct Posted {
  Work receive, send;
  Octets data;
};

Posted post_send(ScenarioRun& run, const Link& link, Side from, std::size_t length,
                 std::uint64_t seed) {
  Posted posted;
  posted.data = content(length, seed);
  posted.receive =
      run.of(other(from)).post_receive(static_cast<std::uint32_t>(length), link.of(other(from)));
  posted.send = run.of(from).post_send(posted.data, iut::operation::send,
                                       [&](iut::PostWork& work) { work.endpoint = link.of(from); });
  return posted;
}

void expect_arrival(ScenarioRun& run, Side from, const Posted& posted, const std::string& what) {
  run.of(other(from)).expect_completion(posted.receive, "the receive of " + what);
  run.of(from).expect_completion(posted.send, what);
  // In words that are the same for each of a thousand, so that they are counted (condense.hpp).
  const Octets came = run.of(other(from)).read_memory(posted.receive.buffer);
  run.record.require(
      other(from), "contents of " + what, "as sent",
      came == posted.data ? "as sent" : fmt::format("{}, not {}", hash(came), hash(posted.data)));
}

}  // namespace

/// A hundred requests are sent before the first of them is processed.
void many_connections(ScenarioRun& run, std::size_t count) {
  constexpr std::size_t wave = 100;  // no implementation has to keep more requests waiting
  const std::uint16_t port = run.responder.listen();
  std::vector<Link> links(count);
  for (std::size_t first = 0; first < count; first += wave) {
    const std::size_t end = std::min(count, first + wave);
    // Made first: the initiator waits for the answer to its first request in the meantime.
    for (std::size_t at = first; at < end; ++at)
      links[at] = {run.initiator.create_endpoint(), run.responder.create_endpoint()};
    for (std::size_t at = first; at < end; ++at) {
      run.initiator.connect(links[at].initiator, run.responder, port, {.private_data = number(at)});
    }
    for (std::size_t at = first; at < end; ++at) {
      const auto request = run.responder.request();
      run.responder.accept(request.request, links[asker(run, request, count)].responder);
    }
  }
  for (const Link& link : links) {
    run.record.require(Side::initiator, "startup", "established",
                       word_of(run.initiator.startup_of(link.initiator)));
    run.record.require(Side::responder, "startup", "established",
                       word_of(run.responder.startup_of(link.responder)));
  }
  std::vector<Posted> posted;
  for (std::size_t at = 0; at < count; ++at)
    posted.push_back(post_send(run, links[at], Side::initiator, 64, at));
  for (const Posted& each : posted)
    expect_arrival(run, Side::initiator, each, "a send on one of many connections");
  for (const Link& link : links) close(run, link);
}

/// Some are rejected, the others end as soon as they are up, in every possible way. Then one more
/// comes up as usual.
void connect_storm(ScenarioRun& run) {
  constexpr std::size_t rounds = 4, count = 24, ways = 4;
  const std::uint16_t port = run.responder.listen();
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<Link> links(count);
    // Made first: the initiator waits for the answer to its first request in the meantime.
    for (Link& link : links) link.initiator = run.initiator.create_endpoint();
    for (std::size_t at = 0; at < count; ++at)
      run.initiator.connect(links[at].initiator, run.responder, port, {.private_data = number(at)});
    for (std::size_t at = 0; at < count; ++at) {
      const auto request = run.responder.request();
      const std::size_t who = asker(run, request, count);
      if (who % ways == 0) {
        run.responder.reject(request.request);
        continue;
      }
      links[who].responder = run.responder.create_endpoint();
      run.responder.accept(request.request, links[who].responder);
    }
    for (std::size_t at = 0; at < count; ++at) {
      const bool rejected = at % ways == 0;
      run.record.require(Side::initiator, "startup", rejected ? "rejected" : "established",
                         word_of(run.initiator.startup_of(links[at].initiator)));
      if (rejected) continue;
      run.record.require(Side::responder, "startup", "established",
                         word_of(run.responder.startup_of(links[at].responder)));
      const Side by = at % ways == 2 ? Side::responder : Side::initiator;
      run.of(by).disconnect(links[at].of(by), at % ways != 3);
    }
    for (std::size_t at = 0; at < count; ++at)
      for (const Side side : {Side::initiator, Side::responder}) {
        const Handle endpoint = links[at].of(side);
        if (endpoint == 0) continue;
        if (at % ways != 0) run.of(side).expect_disconnected(endpoint);
        run.of(side).call(iut::DestroyEndpoint{endpoint}, "destroy an endpoint");
      }
  }
  close(run, open(run));
}

/// Each side connects to the other at the same time: two connections, each with its own roles.
void both_at_once(ScenarioRun& run) {
  const std::uint16_t at_responder = run.responder.listen();
  const std::uint16_t at_initiator = run.initiator.listen();
  const Handle out = run.initiator.create_endpoint(), in = run.responder.create_endpoint();
  const Handle out_accepted = run.responder.create_endpoint();
  const Handle in_accepted = run.initiator.create_endpoint();
  run.initiator.connect(out, run.responder, at_responder);
  run.responder.connect(in, run.initiator, at_initiator);
  run.responder.accept(run.responder.request().request, out_accepted);
  run.initiator.accept(run.initiator.request().request, in_accepted);
  for (const auto& [side, endpoint] :
       {std::pair{Side::initiator, out}, std::pair{Side::initiator, in_accepted},
        std::pair{Side::responder, in}, std::pair{Side::responder, out_accepted}})
    run.record.require(side, "startup", "established", word_of(run.of(side).startup_of(endpoint)));
  const Link forth{out, out_accepted}, back{in_accepted, in};
  send(run, forth, Side::initiator, 1000);
  send(run, back, Side::responder, 1000);
  send(run, forth, Side::responder, 1000);
  send(run, back, Side::initiator, 1000);
  close(run, forth);
  close(run, back, Side::responder);
}

/// Both send at once, many messages before either waits.
void traffic_both_ways(ScenarioRun& run) {
  const Link link = open(run);
  constexpr std::size_t count = 16, length = 20'000;
  std::vector<std::pair<Side, Posted>> posted;
  for (std::size_t at = 0; at < count; ++at)
    for (const Side from : {Side::initiator, Side::responder})
      posted.emplace_back(from, post_send(run, link, from, length, at));
  for (const auto& [from, each] : posted)
    expect_arrival(run, from, each, "a send while the other side sends");
  close(run, link);
}

/// All operations in turn, drawn from a seed that the steps show.
void mixed_traffic(ScenarioRun& run) {
  constexpr unsigned seed = 20'260'101, rounds = 40;
  run.record.note(std::nullopt, fmt::format("seed {}", seed));
  std::mt19937 numbers(seed);
  const Link link = open(run);
  for (unsigned round = 0; round < rounds; ++round) {
    const Side side = numbers() % 2 == 0 ? Side::initiator : Side::responder;
    const std::size_t length = numbers() % 30'000;
    switch (numbers() % 3) {
      case 0:
        send(run, link, side, length);
        break;
      case 1:
        write(run, link, side, length);
        break;
      default:
        read(run, link, side, length);
    }
  }
  close(run, link);
}

}  // namespace plugfest::scenario_table
