// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/scenarios/scenario_run.hpp"

#include <algorithm>
#include <random>
#include <span>

#include <fmt/format.h>

#include "base/sha256.hpp"

namespace plugfest {

namespace {

constexpr std::size_t most_steps = 1000, longest_step = 240;

template <typename T>
const T* as(const iut::Event& event) {
  return std::get_if<T>(&event);
}

}  // namespace

// ---------------------------------------------------------------- the record

void Record::note(std::optional<Side> side, std::string text) {
  if (steps.size() >= most_steps) return;
  if (text.size() > longest_step) text.replace(longest_step, std::string::npos, "...");
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

// ---------------------------------------------------------------- one side

// A crash is the implementation's fault; for another ending the cause is not known.
void AgentSide::stop_as_gone(const iut::GoneEvent& gone) const {
  const bool died = gone.why == iut::GoneEvent::Why::crashed;
  const Fault its = side_ == Side::initiator ? Fault::initiator : Fault::responder;
  throw ScenarioStop{
      died ? Verdict::fail : Verdict::error, died ? its : Fault::unknown,
      fmt::format("{}'s agent is gone ({}): {}", who(), name(gone.why), gone.detail)};
}

std::optional<ScenarioStop> stop_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const ScenarioStop& why) {
    return why;
  } catch (const suite::cases::CaseStop& why) {
    return ScenarioStop{why.verdict, Fault::unknown, why.reason};
  }
  return std::nullopt;
}

std::uint16_t AgentSide::listen() {
  const bool ipv6 = address_.find(':') != std::string::npos;
  const std::uint16_t port =
      Consumer::listen(address_, ipv6 ? base::Family::ipv6 : base::Family::ipv4);
  record_.listened.push_back(port);
  return port;
}

namespace {

/// How often to check whether what one side waits for can still come.
constexpr std::chrono::milliseconds glance{100};

}  // namespace

iut::ConnectRequestEvent AgentSide::request() {
  auto event = take<iut::ConnectRequestEvent>(end_of_step());
  record_.require(side_, "connection request", "one", event ? "one" : "none in time");
  return std::move(*event);
}

iut::ConnectRequestEvent AgentSide::request_from(AgentSide& asker, Handle endpoint) {
  const auto deadline = end_of_step();
  std::string came = "none in time";
  while (now() < deadline) {
    if (auto event = take<iut::ConnectRequestEvent>(std::min(deadline, now() + glance)))
      return std::move(*event);
    const std::string end = asker.failed_attempt(endpoint);
    if (end.empty()) continue;
    // An agent reports earlier events before its next answer.
    static_cast<void>(register_memory(1));
    if (auto event = take<iut::ConnectRequestEvent>(now())) return std::move(*event);
    came = "none, and the other side has " + end;
    break;
  }
  record_.require(side_, "connection request", "one", came);
  throw ScenarioStop{};
}

std::string AgentSide::failed_attempt(Handle endpoint) {
  poll();
  for (const iut::Event& event : events()) {
    if (const auto* it = as<iut::RejectedEvent>(event); it && it->endpoint == endpoint)
      return "rejected";
    if (const auto* it = as<iut::ConnectFailedEvent>(event); it && it->endpoint == endpoint)
      return "connect_failed: " + it->reason;
    if (const auto* it = as<iut::DisconnectedEvent>(event); it && it->endpoint == endpoint)
      return "disconnected";
  }
  return "";
}

iut::Event AgentSide::startup_of(Handle endpoint) {
  const auto is_startup = [endpoint](const iut::Event& candidate) {
    const auto* up = as<iut::EstablishedEvent>(candidate);
    const auto* rejected = as<iut::RejectedEvent>(candidate);
    const auto* failed = as<iut::ConnectFailedEvent>(candidate);
    return (up != nullptr && up->endpoint == endpoint) ||
           (rejected != nullptr && rejected->endpoint == endpoint) ||
           (failed != nullptr && failed->endpoint == endpoint);
  };
  const auto event = take(is_startup, end_of_step());
  record_.require(side_, "end of startup", "an event", event ? "an event" : "nothing in time");
  return *event;
}

bool AgentSide::expect_disconnected(Handle endpoint, bool had_its_time) {
  const auto event = take(
      [endpoint](const iut::Event& candidate) {
        const auto* down = as<iut::DisconnectedEvent>(candidate);
        return down != nullptr && down->endpoint == endpoint;
      },
      had_its_time ? now() : end_of_step());
  record_.expect(side_, "end of the connection", "disconnected",
                 event ? "disconnected" : "nothing in time");
  return event.has_value();
}

iut::CompletionEvent AgentSide::completion(const Work& work, const std::string& of) {
  const auto event = take(
      [&work](const iut::Event& candidate) {
        const auto* done = as<iut::CompletionEvent>(candidate);
        return done != nullptr && done->work == work.id;
      },
      end_of_step());
  record_.require(side_, "completion of " + of, "one", event ? "one" : "none in time");
  return std::get<iut::CompletionEvent>(*event);
}

iut::CompletionEvent AgentSide::expect_completion(const Work& work, const std::string& of,
                                                  const std::string& status) {
  const iut::CompletionEvent done = completion(work, of);
  record_.require(side_, "status of " + of, status, done.status);
  return done;
}

iut::CompletionEvent AgentSide::next_received(Handle endpoint) {
  const auto event = take(
      [endpoint](const iut::Event& candidate) {
        const auto* done = as<iut::CompletionEvent>(candidate);
        return done != nullptr && done->endpoint == endpoint &&
               done->operation == iut::operation::receive;
      },
      end_of_step());
  record_.require(side_, "completion of a receive", "one", event ? "one" : "none in time");
  return std::get<iut::CompletionEvent>(*event);
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
