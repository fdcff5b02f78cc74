// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/scenarios/scenario_run.hpp"

#include <algorithm>
#include <random>
#include <span>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "suite/iut/message_lines.hpp"

namespace plugfest {

namespace {

constexpr std::size_t most_steps = 1000, longest_step = 240;

template <typename T>
const T* as(const iut::Event& event) {
  return std::get_if<T>(&event);
}

/// The end of an agent ends the scenario: a crash is the implementation's fault, the rest is not
/// known to be.
[[noreturn]] void stop_as_gone(Side side, const iut::GoneEvent& gone) {
  const bool died = gone.why == iut::GoneEvent::Why::crashed;
  const Fault its = side == Side::initiator ? Fault::initiator : Fault::responder;
  throw ScenarioStop{
      died ? Verdict::fail : Verdict::error, died ? its : Fault::unknown,
      fmt::format("the {}'s agent is gone ({}): {}", word(side), name(gone.why), gone.detail)};
}

}  // namespace

// ---------------------------------------------------------------- the record

void Record::note(std::optional<Side> side, std::string text) {
  if (steps.size() >= most_steps) return;
  if (text.size() > longest_step) text = text.substr(0, longest_step) + "...";
  steps.push_back(
      {std::chrono::duration<double>(loop.now() - begun).count(), side, std::move(text)});
}

void Record::expect(Side side, std::string what, std::string expected, std::string actual) {
  const bool good = expected == actual;
  if (!good) note(side, fmt::format("{}: expected {}, came {}", what, expected, actual));
  checks.push_back({side, std::move(what), std::move(expected), std::move(actual), good});
}

void Record::require(Side side, std::string what, std::string expected, std::string actual) {
  expect(side, std::move(what), std::move(expected), std::move(actual));
  if (!checks.back().good) throw ScenarioStop{};
}

// ---------------------------------------------------------------- commands and events

bool AgentSide::fetch(base::TimePoint deadline) {
  auto event = iut_.next_event(deadline);
  if (!event) return false;
  if (const auto* gone = as<iut::GoneEvent>(*event)) stop_as_gone(side_, *gone);
  if (as<iut::Reply>(*event) == nullptr) record_.note(side_, iut::format(*event));
  events_.push_back(std::move(*event));
  return true;
}

std::optional<iut::Event> AgentSide::take(const Wanted& wanted, base::TimePoint deadline) {
  for (auto at = events_.begin();;) {
    at = std::find_if(at, events_.end(), wanted);
    if (at != events_.end()) {
      iut::Event event = std::move(*at);
      events_.erase(at);
      return event;
    }
    if (!fetch(deadline)) return std::nullopt;
    at = std::prev(events_.end());
  }
}

iut::Reply AgentSide::call(iut::Command command, const std::string& what) {
  record_.note(side_, what);
  const std::uint64_t number = iut_.post(std::move(command));
  const auto event = take([number](const iut::Event& candidate) {
    const auto* reply = as<iut::Reply>(candidate);
    return reply != nullptr && reply->command == number;
  });
  const auto stop = [&](Verdict verdict, std::string_view outcome, const std::string& error) {
    throw ScenarioStop{verdict, Fault::unknown,
                       fmt::format("the {} {} {}: {}", word(side_), outcome, what, error)};
  };
  if (!event) stop(Verdict::error, "does not", "no reply in time");
  iut::Reply reply = std::get<iut::Reply>(*event);
  if (reply.outcome == iut::Outcome::unsupported)
    stop(Verdict::not_applicable, "cannot", reply.error);
  if (reply.outcome != iut::Outcome::ok) stop(Verdict::error, "could not", reply.error);
  return reply;
}

bool AgentSide::can(std::string_view capability) const {
  const auto& words = iut_.hello().capabilities;
  return std::ranges::find(words, capability) != words.end();
}

// ---------------------------------------------------------------- memory

Region AgentSide::memory(std::uint64_t length, const iut::Access& access) {
  iut::RegisterMemory command;
  command.region = next_handle_++;
  command.length = length;
  command.access = access;
  command.fill = 0xA5;
  const iut::Reply reply = call(command, fmt::format("register {} octets", length));
  if (!reply.stag || !reply.base)
    throw ScenarioStop{Verdict::error, Fault::unknown, "a registration without STag or base"};
  return {command.region, *reply.stag, *reply.base, length};
}

Region AgentSide::memory_of(const Octets& contents, const iut::Access& access) {
  const Region region = memory(contents.size(), access);
  call(iut::WriteMemory{region.handle, 0, contents}, fmt::format("fill region {}", region.handle));
  return region;
}

Octets AgentSide::contents(const Region& region) {
  if (region.length == 0) return {};
  const iut::Reply reply = call(iut::ReadMemory{region.handle, 0, region.length},
                                fmt::format("read region {}", region.handle));
  return reply.octets.value_or(Octets{});
}

// ---------------------------------------------------------------- connections

Handle AgentSide::endpoint(Handle shared_queue) {
  iut::CreateEndpoint command;
  command.shared_queue = shared_queue;
  command.endpoint = next_handle_++;
  call(command, fmt::format("create endpoint {}", command.endpoint));
  return command.endpoint;
}

std::uint16_t AgentSide::listen() {
  if (port_ != 0) return port_;
  const bool ipv6 = address_.find(':') != std::string::npos;
  const iut::Reply reply =
      call(iut::Listen{next_handle_++, address_, ipv6 ? "ipv6" : "ipv4", 0}, "listen");
  if (!reply.port) throw ScenarioStop{Verdict::error, Fault::unknown, "a listener without a port"};
  return port_ = *reply.port;
}

void AgentSide::connect(Handle endpoint, const AgentSide& to, std::uint16_t port,
                        const iut::ConnectParameters& parameters) {
  call(iut::Connect{endpoint, to.address(), port, parameters},
       fmt::format("connect endpoint {} to {} port {}", endpoint, to.address(), port));
}

namespace {

bool is_request(const iut::Event& event) { return as<iut::ConnectRequestEvent>(event) != nullptr; }

/// How often it is looked whether what one side waits for can still come.
constexpr std::chrono::milliseconds glance{100};

}  // namespace

iut::ConnectRequestEvent AgentSide::request() {
  const auto event = take(is_request);
  record_.require(side_, "connection request", "one", event ? "one" : "none in time");
  return std::get<iut::ConnectRequestEvent>(*event);
}

iut::ConnectRequestEvent AgentSide::request_from(AgentSide& asker, Handle endpoint) {
  const auto deadline = end_of_step();
  std::string came = "none in time";
  while (record_.loop.now() < deadline) {
    if (auto event = take(is_request, std::min(deadline, record_.loop.now() + glance)))
      return std::get<iut::ConnectRequestEvent>(*event);
    const std::string end = asker.failed_attempt(endpoint);
    if (end.empty()) continue;
    // An agent reports what came before that ahead of its next answer.
    static_cast<void>(memory(1));
    if (auto event = take(is_request, record_.loop.now()))
      return std::get<iut::ConnectRequestEvent>(*event);
    came = "none, and the other side has " + end;
    break;
  }
  record_.require(side_, "connection request", "one", came);
  throw ScenarioStop{};
}

std::string AgentSide::failed_attempt(Handle endpoint) {
  while (fetch(record_.loop.now())) {
  }
  for (const iut::Event& event : events_) {
    if (const auto* it = as<iut::RejectedEvent>(event); it && it->endpoint == endpoint)
      return "rejected";
    if (const auto* it = as<iut::ConnectFailedEvent>(event); it && it->endpoint == endpoint)
      return "connect_failed: " + it->reason;
    if (const auto* it = as<iut::DisconnectedEvent>(event); it && it->endpoint == endpoint)
      return "disconnected";
  }
  return "";
}

void AgentSide::accept(Handle request, Handle endpoint, const iut::ConnectParameters& parameters) {
  call(iut::Accept{request, endpoint, parameters},
       fmt::format("accept request {} with endpoint {}", request, endpoint));
}

iut::Event AgentSide::startup_of(Handle endpoint) {
  const auto event = take([endpoint](const iut::Event& candidate) {
    const auto* up = as<iut::EstablishedEvent>(candidate);
    const auto* rejected = as<iut::RejectedEvent>(candidate);
    const auto* failed = as<iut::ConnectFailedEvent>(candidate);
    return (up != nullptr && up->endpoint == endpoint) ||
           (rejected != nullptr && rejected->endpoint == endpoint) ||
           (failed != nullptr && failed->endpoint == endpoint);
  });
  record_.require(side_, "end of startup", "an event", event ? "an event" : "nothing in time");
  return *event;
}

void AgentSide::disconnect(Handle endpoint, bool abortive) {
  call(iut::Disconnect{endpoint, abortive},
       fmt::format("disconnect endpoint {}{}", endpoint, abortive ? " abortively" : ""));
}

bool AgentSide::expect_disconnected(Handle endpoint, bool had_its_time) {
  const auto event = take(
      [endpoint](const iut::Event& candidate) {
        const auto* down = as<iut::DisconnectedEvent>(candidate);
        return down != nullptr && down->endpoint == endpoint;
      },
      had_its_time ? record_.loop.now() : end_of_step());
  record_.expect(side_, "end of the connection", "disconnected",
                 event ? "disconnected" : "nothing in time");
  return event.has_value();
}

// ---------------------------------------------------------------- work

iut::WorkId AgentSide::receive(Handle endpoint, const Region* into) {
  iut::PostReceive command;
  command.endpoint = endpoint;
  command.work = next_work_++;
  if (into != nullptr && into->length > 0)
    command.pieces = {{into->handle, 0, static_cast<std::uint32_t>(into->length)}};
  call(command, fmt::format("post receive {}", command.work));
  return command.work;
}

Handle AgentSide::shared_queue(std::uint32_t depth) {
  iut::CreateSharedQueue command;
  command.queue = next_handle_++;
  command.depth = depth;
  call(command, fmt::format("create shared receive queue {}", command.queue));
  return command.queue;
}

iut::WorkId AgentSide::receive_from_queue(Handle queue, const Region& into) {
  iut::PostReceive command;
  command.shared_queue = queue;
  command.work = next_work_++;
  command.pieces = {{into.handle, 0, static_cast<std::uint32_t>(into.length)}};
  call(command, fmt::format("post receive {} to the shared queue", command.work));
  return command.work;
}

iut::WorkId AgentSide::post(iut::PostWork work) {
  work.work = next_work_++;
  call(work, fmt::format("post {} {}", work.operation, work.work));
  return work.work;
}

iut::CompletionEvent AgentSide::completion(iut::WorkId work, const std::string& of) {
  const auto event = take([work](const iut::Event& candidate) {
    const auto* completion = as<iut::CompletionEvent>(candidate);
    return completion != nullptr && completion->work == work;
  });
  record_.require(side_, "completion of " + of, "one", event ? "one" : "none in time");
  return std::get<iut::CompletionEvent>(*event);
}

iut::CompletionEvent AgentSide::expect_completion(iut::WorkId work, const std::string& of,
                                                  const std::string& status) {
  const iut::CompletionEvent done = completion(work, of);
  record_.require(side_, "status of " + of, status, done.status);
  return done;
}

// ---------------------------------------------------------------- contents

Octets content(std::size_t length, std::uint64_t seed) {
  std::mt19937_64 numbers(seed);
  Octets octets(length);
  constexpr std::uint64_t mask = 0xFF;
  std::ranges::generate(octets, [&] { return static_cast<std::byte>(numbers() & mask); });
  return octets;
}

std::string hash(const Octets& octets) {
  return "sha256:" + base::sha256(std::as_bytes(std::span(octets)));
}

}  // namespace plugfest
