// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An IUT for tests of the framework alone: it answers every command as configured, and does
// nothing on the wire.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>

#include "base/simulated_loop.hpp"
#include "reference_rnic/llp/memory_network.hpp"
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

class FakeIut final : public iut::Iut {
 public:
  explicit FakeIut(base::EventLoop& loop) : loop_(loop) {}

  [[nodiscard]] const iut::Hello& hello() const override { return hello_; }
  std::uint64_t post(iut::Command command) override {
    posted.push_back(command);
    iut::Reply reply;
    reply.command = posted.size();
    if (std::holds_alternative<iut::RegisterMemory>(command)) {
      reply.stag = 0x100;
      reply.base = 0;
    }
    if (answer) answer(command, reply);
    if (takes == base::Duration::zero())
      events.emplace_back(reply);
    else
      loop_.schedule(loop_.now() + takes, [this, reply] { events.emplace_back(reply); });
    return posted.size();
  }
  [[nodiscard]] std::optional<iut::Event> next_event(base::TimePoint deadline) override {
    loop_.run_until(deadline, [this] { return !events.empty(); });
    if (events.empty()) return std::nullopt;
    iut::Event event = std::move(events.front());
    events.pop_front();
    return event;
  }
  template <typename T>
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        posted, [](const iut::Command& c) { return std::holds_alternative<T>(c); }));
  }

  std::vector<iut::Command> posted;
  std::deque<iut::Event> events;
  std::function<void(const iut::Command&, iut::Reply&)> answer;
  base::Duration takes{};  ///< from a command to its reply
  iut::Hello hello_;

 private:
  base::EventLoop& loop_;
};

/// An event loop, a fabric with two hosts, and the fake IUT on one of them.
struct FakeSetting {
  base::SimulatedLoop loop;
  rnic::llp::MemoryFabric fabric{loop};
  std::unique_ptr<rnic::llp::Network> tester =
      fabric.add_host(*base::Address::parse("10.77.0.1"), *base::Address::parse("fd77::1"));
  FakeIut iut{loop};
  Environment environment{loop, *tester, iut, *base::Address::parse("10.77.0.2"),
                          *base::Address::parse("fd77::2")};
};

}  // namespace suite::cases
