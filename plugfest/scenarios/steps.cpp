// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/scenarios/steps.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace plugfest {

namespace {

constexpr std::size_t guard = 16;  ///< octets around a written range that nobody may touch

std::uint32_t narrow(std::size_t length) { return static_cast<std::uint32_t>(length); }

void expect_contents(ScenarioRun& run, Side side, const std::string& what, const Octets& expected,
                     const Octets& actual) {
  run.record.require(side, what, hash(expected), hash(actual));
}

}  // namespace

std::string word_of(const iut::Event& startup) {
  if (std::holds_alternative<iut::EstablishedEvent>(startup)) return "established";
  if (std::holds_alternative<iut::RejectedEvent>(startup)) return "rejected";
  if (const auto* failed = std::get_if<iut::ConnectFailedEvent>(&startup))
    return "connect_failed: " + failed->reason;
  return "another event";
}

std::string count_of(const Octets& octets) {
  return fmt::format("{} octets, {}", octets.size(), hash(octets));
}

namespace {

Link connect_ends(ScenarioRun& run, const Link& link, const ConnectOptions& options) {
  const std::uint16_t port = run.responder.listen();
  run.initiator.connect(link.initiator, run.responder, port, options.request);
  const auto request = run.responder.request_from(run.initiator, link.initiator);
  run.record.expect(Side::responder, "private data of the request",
                    count_of(options.request.private_data), count_of(request.private_data));
  run.responder.accept(request.request, link.responder, options.reply);
  const iut::Event up = run.initiator.startup_of(link.initiator);
  run.record.require(Side::initiator, "startup", "established", word_of(up));
  run.record.expect(Side::initiator, "private data of the reply",
                    count_of(options.reply.private_data),
                    count_of(std::get<iut::EstablishedEvent>(up).private_data));
  run.record.require(Side::responder, "startup", "established",
                     word_of(run.responder.startup_of(link.responder)));
  return link;
}

}  // namespace

Link connect(ScenarioRun& run, const ConnectOptions& options) {
  return connect_ends(run, {run.initiator.endpoint(), run.responder.endpoint()}, options);
}

Link connect_shared(ScenarioRun& run, Handle shared_queue) {
  return connect_ends(run, {run.initiator.endpoint(), run.responder.endpoint(shared_queue)}, {});
}

Link open(ScenarioRun& run, const ConnectOptions& options) {
  const Link link = connect(run, options);
  send(run, link, Side::initiator, 1);
  return link;
}

iut::CompletionEvent send(ScenarioRun& run, const Link& link, Side from, std::size_t length,
                          const SendOptions& options) {
  AgentSide &sender = run.of(from), &receiver = run.of(other(from));
  const std::string what = fmt::format("{} of {} octets", options.operation, length);
  const Octets data = content(length, length + 1);
  Region source;
  // A receive without any room is not to be had everywhere.
  const Region sink = receiver.memory(std::max<std::size_t>(length, 1));
  const auto receive = receiver.receive(link.of(other(from)), &sink);
  iut::PostWork work;
  work.endpoint = link.of(from);
  work.operation = options.operation;
  work.invalidate_stag = options.invalidate_stag;
  if (length > 0) {
    source = sender.memory_of(data);
    work.pieces = {{source.handle, 0, narrow(length)}};
  }
  const auto posted = sender.post(work);
  auto received = receiver.expect_completion(receive, "the receive of a " + what);
  sender.expect_completion(posted, what);
  run.record.require(other(from), "length of a " + what, std::to_string(length),
                     std::to_string(received.length));
  Octets came = receiver.contents(sink);
  came.resize(length);
  expect_contents(run, other(from), "contents of a " + what, data, came);
  return received;
}

void write(ScenarioRun& run, const Link& link, Side from, std::size_t length) {
  AgentSide &writer = run.of(from), &target = run.of(other(from));
  const std::string what = fmt::format("write of {} octets", length);
  Octets expected = content(length + 2 * guard, length + 2);
  const Region sink = target.memory_of(expected, rights::write);
  const Octets data = content(length, length + 3);
  std::copy(data.begin(), data.end(), expected.begin() + guard);
  iut::PostWork work;
  work.endpoint = link.of(from);
  work.operation = iut::operation::write;
  work.remote_stag = sink.stag;
  work.remote_offset = sink.base + guard;
  if (length > 0) work.pieces = {{writer.memory_of(data).handle, 0, narrow(length)}};
  writer.expect_completion(writer.post(work), what);
  // What was sent after the write is delivered only when the write is in place.
  send(run, link, from, 1);
  expect_contents(run, other(from), "memory after a " + what, expected, target.contents(sink));
}

void read(ScenarioRun& run, const Link& link, Side by, std::size_t length) {
  AgentSide &reader = run.of(by), &target = run.of(other(by));
  const std::string what = fmt::format("read of {} octets", length);
  const Octets data = content(length + 2 * guard, length + 4);
  const Region source = target.memory_of(data, rights::read);
  iut::PostWork work;
  work.endpoint = link.of(by);
  work.operation = iut::operation::read;
  work.remote_stag = source.stag;
  work.remote_offset = source.base + guard;
  Region sink;
  if (length > 0) {
    // On iWARP the sink of a Read is a tagged buffer that the peer writes to.
    sink = reader.memory(length, rights::write);
    work.pieces = {{sink.handle, 0, narrow(length)}};
  }
  reader.expect_completion(reader.post(work), what);
  const auto wanted = data.begin() + guard;
  expect_contents(run, by, "contents of a " + what,
                  Octets(wanted, wanted + static_cast<std::ptrdiff_t>(length)),
                  reader.contents(sink));
}

void close(ScenarioRun& run, const Link& link, Side by) {
  run.of(by).disconnect(link.of(by), false);
  expect_end(run, link, by);
}

void expect_end(ScenarioRun& run, const Link& link, Side first) {
  const bool ended = run.of(first).expect_disconnected(link.of(first));
  run.of(other(first)).expect_disconnected(link.of(other(first)), !ended);
}

}  // namespace plugfest
