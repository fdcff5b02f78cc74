// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <array>
#include <map>

#include <fmt/format.h>

#include "plugfest/scenarios/scenario_table.hpp"
#include "plugfest/scenarios/steps.hpp"

namespace plugfest::scenario_table {

namespace {

/// Around the sizes of an FPDU on Ethernet, and many of them.
constexpr std::array<std::size_t, 7> sizes{0, 1, 63, 1428, 1500, 4096, 65'537};
constexpr std::array<Side, 2> sides{Side::initiator, Side::responder};

}  // namespace

void sends(ScenarioRun& run, const char* operation) {
  const Link link = open(run);
  const bool solicited = std::string_view(operation) == iut::operation::send_solicited;
  for (const Side from : sides)
    for (const std::size_t size : sizes) {
      const auto received = send(run, link, from, size, {.operation = operation});
      // Not every API reports it.
      if (received.solicited)
        run.record.expect(other(from), "solicited event of the receive",
                          solicited ? "solicited" : "unsolicited",
                          *received.solicited ? "solicited" : "unsolicited");
    }
  close(run, link);
}

void writes(ScenarioRun& run) {
  const Link link = open(run);
  for (const Side from : sides)
    for (const std::size_t size : sizes) write(run, link, from, size);
  close(run, link);
}

void reads(ScenarioRun& run) {
  const Link link = open(run);
  for (const Side by : sides)
    for (const std::size_t size : sizes) read(run, link, by, size);
  close(run, link);
}

void mebibyte(ScenarioRun& run, bool by_reading) {
  constexpr std::size_t length = std::size_t{1} << 20;
  const Link link = open(run);
  for (const Side by : sides) {
    if (by_reading)
      read(run, link, by, length);
    else
      write(run, link, by, length);
  }
  close(run, link);
}

/// One message of so many segments that every counter of octets is tested. The memory of both sides
/// is compared piece by piece.
void gibibyte(ScenarioRun& run, bool by_reading) {
  constexpr std::uint32_t length = std::uint32_t{1} << 30U, piece = std::uint32_t{1} << 22U;
  const Link link = open(run);
  AgentSide& owner = by_reading ? run.responder : run.initiator;
  AgentSide& taker = by_reading ? run.initiator : run.responder;
  const Region source = owner.register_memory({.length = length, .access = access::remote_read});
  const Region sink = taker.register_memory({.length = length, .access = access::remote_write});
  for (std::uint32_t at = 0; at < length; at += piece)
    owner.call(iut::WriteMemory{source.handle, at, content(piece, at)}, "fill a piece");
  const Region& remote = by_reading ? source : sink;
  iut::PostWork work;
  work.endpoint = link.initiator;
  work.operation = by_reading ? iut::operation::read : iut::operation::write;
  work.remote_stag = remote.stag;
  work.remote_offset = remote.base;
  work.pieces = {{(by_reading ? sink : source).handle, 0, length}};
  run.initiator.expect_completion(run.initiator.post(work), "a transfer of 1 GiB");
  send(run, link, Side::initiator, 1);  // delivered when what was sent before it is in place
  for (std::uint32_t at = 0; at < length; at += piece) {
    const auto came = taker.call(iut::ReadMemory{sink.handle, at, piece}, "read a piece");
    run.record.require(taker.side(), fmt::format("4 MiB from octet {}", at),
                       hash(content(piece, at)), hash(came.octets.value_or(Octets{})));
  }
  close(run, link);
}

/// Messages of both connections take receives from one queue, each a different one.
void shared_queue(ScenarioRun& run) {
  constexpr std::size_t count = 8, length = 512;
  AgentSide& taker = run.responder;
  const Handle queue = taker.create_shared_queue(2 * count);
  const std::array<Link, 2> links{connect_shared(run, queue), connect_shared(run, queue)};
  std::map<iut::WorkId, Region> waiting;
  for (std::size_t at = 0; at < 2 * count; ++at) {
    const Region sink = taker.register_memory(length);
    const Work receive =
        taker.post_receive({.shared_queue = queue, .pieces = {{sink.handle, 0, length}}});
    waiting.emplace(receive.id, sink);
  }
  for (std::size_t at = 0; at < 2 * count; ++at) {
    const Link& link = links[at % links.size()];
    const Octets data = content(length, at);
    const auto on_link = [&](iut::PostWork& work) { work.endpoint = link.initiator; };
    run.initiator.expect_completion(run.initiator.post_send(data, iut::operation::send, on_link),
                                    "a send");
    const auto done = taker.next_received(link.responder);
    run.record.require(Side::responder, "status of a receive", "success", done.status);
    const auto taken = waiting.extract(done.work);
    run.record.require(Side::responder, "the receive that a message took", "one that waited",
                       taken ? "one that waited" : "another");
    run.record.require(Side::responder, "contents of a send", hash(data),
                       hash(taker.read_memory(taken.mapped())));
  }
  for (const Link& link : links) close(run, link);
}

/// RFC 7306 section 6: eight octets, which the receive's completion brings.
void immediate(ScenarioRun& run) {
  const Link link = open(run);
  const Octets value = content(8, 1);
  for (const Side from : sides) {
    const Handle theirs = link.of(other(from));
    const Work receive = run.of(other(from)).post_receive(0, theirs);
    iut::PostWork work;
    work.endpoint = link.of(from);
    work.operation = iut::operation::immediate;
    std::ranges::copy(value, work.immediate.begin());
    const Work posted = run.of(from).post(work);
    const auto received =
        run.of(other(from)).expect_completion(receive, "the receive of immediate data");
    run.of(from).expect_completion(posted, "immediate data");
    if (received.immediate)  // not every API reports it
      run.record.expect(other(from), "immediate data", hash(value),
                        hash(Octets(received.immediate->begin(), received.immediate->end())));
  }
  close(run, link);
}

/// RFC 7306 section 5: FetchAdd, then CompareSwap of what it left.
void atomics(ScenarioRun& run) {
  const Link link = open(run);
  const Region word = run.responder.register_octets(Octets(8), access::remote_atomic);
  const auto carry_out = [&](const char* operation, std::uint64_t operand, std::uint64_t compare) {
    const Region original = run.initiator.register_memory(8, access::remote_write);
    iut::PostWork work;
    work.endpoint = link.initiator;
    work.operation = operation;
    work.pieces = {{original.handle, 0, 8}};
    work.remote_stag = word.stag;
    work.remote_offset = word.base;
    work.add_or_swap = operand;
    work.compare = compare;
    run.initiator.expect_completion(run.initiator.post(work), operation);
    return run.initiator.read_memory(original);
  };
  const auto expect = [&](Side side, const std::string& what, const Octets& octets, bool zero) {
    const bool is_zero = octets == Octets(8);
    run.record.expect(side, what, zero ? "zero" : "changed", is_zero ? "zero" : "changed");
  };
  constexpr std::uint64_t added = 0x0102030405060708;
  expect(Side::initiator, "original value of FetchAdd",
         carry_out(iut::operation::fetch_add, added, 0), true);
  expect(Side::responder, "memory after FetchAdd", run.responder.read_memory(word), false);
  expect(Side::initiator, "original value of CompareSwap",
         carry_out(iut::operation::compare_swap, 0, added), false);
  expect(Side::responder, "memory after CompareSwap", run.responder.read_memory(word), true);
  close(run, link);
}

}  // namespace plugfest::scenario_table
