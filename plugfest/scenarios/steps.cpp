// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/scenarios/steps.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace plugfest {

namespace {

constexpr std::size_t guard = 16;  ///< octets around a written range that may not change

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
  return connect_ends(run, {run.initiator.create_endpoint(), run.responder.create_endpoint()},
                      options);
}

Link connect_shared(ScenarioRun& run, Handle shared_queue) {
  return connect_ends(run,
                      {run.initiator.create_endpoint(),
                       run.responder.create_endpoint({.shared_queue = shared_queue})},
                      {});
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
  // Not every API allows a receive without any room.
  const Work receive =
      receiver.post_receive(narrow(std::max<std::size_t>(length, 1)), link.of(other(from)));
  const Work posted = sender.post_send(data, options.operation, [&](iut::PostWork& work) {
    work.endpoint = link.of(from);
    work.invalidate_stag = options.invalidate_stag;
  });
  auto received = receiver.expect_completion(receive, "the receive of a " + what);
  sender.expect_completion(posted, what);
  run.record.require(other(from), "length of a " + what, std::to_string(length),
                     std::to_string(received.length));
  Octets came = receiver.read_memory(receive.buffer);
  came.resize(length);
  expect_contents(run, other(from), "contents of a " + what, data, came);
  return received;
}

void write(ScenarioRun& run, const Link& link, Side from, std::size_t length) {
  AgentSide &writer = run.of(from), &target = run.of(other(from));
  const std::string what = fmt::format("write of {} octets", length);
  Octets expected = content(length + 2 * guard, length + 2);
  const Region sink = target.register_octets(expected, access::remote_write);
  const Octets data = content(length, length + 3);
  std::copy(data.begin(), data.end(), expected.begin() + guard);
  writer.expect_completion(writer.post_write(data, sink.stag, sink.base + guard, link.of(from)),
                           what);
  // What was sent after the write is delivered only when the write has been placed.
  send(run, link, from, 1);
  expect_contents(run, other(from), "memory after a " + what, expected, target.read_memory(sink));
}

void read(ScenarioRun& run, const Link& link, Side by, std::size_t length) {
  AgentSide &reader = run.of(by), &target = run.of(other(by));
  const std::string what = fmt::format("read of {} octets", length);
  const Octets data = content(length + 2 * guard, length + 4);
  const Region source = target.register_octets(data, access::remote_read);
  const Work posted =
      reader.post_read(narrow(length), source.stag, source.base + guard, link.of(by));
  reader.expect_completion(posted, what);
  const auto wanted = data.begin() + guard;
  expect_contents(run, by, "contents of a " + what,
                  Octets(wanted, wanted + static_cast<std::ptrdiff_t>(length)),
                  reader.read_memory(posted.buffer));
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
