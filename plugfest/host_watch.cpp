// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/host_watch.hpp"

#include <algorithm>

namespace plugfest {

HostWatch::HostWatch(std::size_t hosts, base::Duration first_pause)
    : hosts_(hosts), first_pause_(first_pause) {}

void HostWatch::failed(Host& host, base::TimePoint now) const {
  if (!host.met) return;
  // One that was set aside is tried with a single cell.
  if (++host.failures < failures_in_a_row && host.trials == 0) return;
  base::Duration pause = first_pause_;
  for (int i = 0; i < host.trials && pause < longest_pause; ++i) pause *= 2;
  ++host.trials;
  host.until = now + std::min<base::Duration>(pause, longest_pause);
}

void HostWatch::ended(const Cell& cell, const Outcome& outcome, base::TimePoint now) {
  for (const auto& [side, number] :
       {std::pair{Side::initiator, cell.initiator}, std::pair{Side::responder, cell.responder}}) {
    Host& host = hosts_[number];
    const bool answered =
        std::ranges::find(outcome.hosts, side, &HostFacts::side) != outcome.hosts.end();
    if (outcome.absent == side)
      failed(host, now);
    else if (answered)
      host = {.met = true};
  }
}

bool HostWatch::aside(std::size_t host, base::TimePoint now) const {
  return !given_up(host) && now < hosts_[host].until;
}

bool HostWatch::given_up(std::size_t host) const { return hosts_[host].trials >= most_trials; }

bool HostWatch::again(const Cell& cell, const Outcome& outcome, int attempt) const {
  if (!outcome.absent || attempt >= most_attempts) return false;
  const std::size_t host = *outcome.absent == Side::initiator ? cell.initiator : cell.responder;
  return hosts_[host].met && !given_up(host);
}

}  // namespace plugfest
