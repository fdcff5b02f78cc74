// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Commands into the loop, events out of it.
#include "suite/upper_tester/reference/reference_iut.hpp"

#include <algorithm>
#include <utility>

namespace suite::upper_tester::reference {

ReferenceIut::ReferenceIut(base::EventLoop& loop, rnic::llp::Network& network,
                           const DriverOptions& options)
    : loop_(loop),
      driver_(loop, network, options,
              [this](iut::Event event) { events_.push_back(std::move(event)); }),
      hello_(driver_.hello()) {}

std::uint64_t ReferenceIut::post(iut::Command command) {
  const std::uint64_t number = ++last_number_;
  if (const auto* cancel = std::get_if<iut::Cancel>(&command)) take_back(cancel->command);
  waiting_.push_back({number, std::move(command)});
  loop_.defer([this, alive = std::weak_ptr<char>(alive_)] {
    if (!alive.expired()) carry_out();
  });
  return number;
}

void ReferenceIut::take_back(std::uint64_t number) {
  const auto found = std::ranges::find(waiting_, number, &Waiting::number);
  if (found == waiting_.end()) return;
  waiting_.erase(found);
  iut::Reply reply;
  reply.command = number;
  reply.outcome = iut::Outcome::cancelled;
  events_.emplace_back(std::move(reply));
}

void ReferenceIut::carry_out() {
  if (waiting_.empty()) return;
  const Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  driver_.execute(next.number, next.command);
}

std::optional<iut::Event> ReferenceIut::next_event(base::TimePoint deadline) {
  loop_.run_until(deadline, [this] { return !events_.empty(); });
  if (events_.empty()) return std::nullopt;
  iut::Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

std::unique_ptr<iut::Iut> make_reference_iut(base::EventLoop& loop, rnic::llp::Network& network,
                                             const Behaviour& behaviour) {
  return std::make_unique<ReferenceIut>(loop, network, DriverOptions{.behaviour = behaviour});
}

}  // namespace suite::upper_tester::reference
