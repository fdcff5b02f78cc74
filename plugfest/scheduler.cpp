// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/scheduler.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <queue>
#include <utility>

namespace plugfest {

Scheduler::Scheduler(std::vector<int> capacity, std::size_t slots, std::vector<Job> jobs)
    : slots_(slots), jobs_(std::move(jobs)), hosts_(capacity.size()), waiting_(jobs_.size()) {
  for (std::size_t at = 0; at < capacity.size(); ++at)
    hosts_[at].free = hosts_[at].capacity = capacity[at];
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> queue_of;
  for (std::size_t at = 0; at < jobs_.size(); ++at) {
    const Job& job = jobs_[at];
    assert(job.one != job.other && job.one < hosts_.size() && job.other < hosts_.size());
    const auto [found, fresh] =
        queue_of.try_emplace(std::minmax(job.one, job.other), queues_.size());
    if (fresh) {
      queues_.emplace_back();
      hosts_[job.one].partners.push_back({job.other, found->second});
      hosts_[job.other].partners.push_back({job.one, found->second});
    }
    queues_[found->second].push_back(at);
    for (const std::size_t host : {job.one, job.other}) {
      hosts_[host].load += job.length;
      ++hosts_[host].waiting;
    }
    load_ += job.length;
    longest_ = std::max(longest_, job.length);
  }
  // Of equal ones the first comes first, so that a run can be read from its beginning.
  for (auto& queue : queues_) {
    std::ranges::reverse(queue);
    std::ranges::stable_sort(queue, {}, [this](std::size_t at) { return jobs_[at].length; });
  }
}

/// Of the partners that are free, the one that has most before it; of those, the longest job.
std::optional<std::size_t> Scheduler::queue_for(std::size_t host) {
  std::optional<std::size_t> best;
  std::pair<double, double> rank;
  auto& partners = hosts_[host].partners;
  std::erase_if(partners,
                [this](const Pairing& pairing) { return queues_[pairing.queue].empty(); });
  for (const Pairing& pairing : partners) {
    const Host& partner = hosts_[pairing.partner];
    if (!partner.can_start()) continue;
    const std::pair here{partner.urgency(), jobs_[queues_[pairing.queue].back()].length};
    if (best && here <= rank) continue;
    best = pairing.queue;
    rank = here;
  }
  return best;
}

std::size_t Scheduler::start(std::size_t queue) {
  const std::size_t job = queues_[queue].back();
  queues_[queue].pop_back();
  for (const std::size_t at : {jobs_[job].one, jobs_[job].other}) {
    --hosts_[at].free;
    --hosts_[at].waiting;
    hosts_[at].load -= jobs_[job].length;
  }
  load_ -= jobs_[job].length;
  --waiting_;
  ++running_;
  return job;
}

std::optional<std::size_t> Scheduler::next() {
  if (waiting_ == 0 || running_ >= slots_) return std::nullopt;
  std::vector<std::size_t> free;
  for (std::size_t at = 0; at < hosts_.size(); ++at)
    if (hosts_[at].can_start() && !hosts_[at].partners.empty()) free.push_back(at);
  std::ranges::stable_sort(free, std::ranges::greater{},
                           [this](std::size_t at) { return hosts_[at].urgency(); });
  for (const std::size_t host : free)
    if (const auto queue = queue_for(host)) return start(*queue);
  return std::nullopt;
}

void Scheduler::finished(std::size_t job) {
  assert(running_ > 0);
  ++hosts_[jobs_[job].one].free;
  ++hosts_[jobs_[job].other].free;
  --running_;
}

double Scheduler::bound() const {
  double bound = slots_ > 0 ? load_ / static_cast<double>(slots_) : 0;
  for (const Host& host : hosts_) bound = std::max(bound, host.urgency());
  return waiting_ > 0 ? std::max(bound, waiting_ == jobs_.size() ? longest_ : 0) : 0;
}

Simulated simulate(std::vector<int> capacity, std::size_t slots, std::vector<Job> jobs) {
  const std::vector<Job> all = jobs;
  Scheduler scheduler(std::move(capacity), slots, std::move(jobs));
  Simulated result{.makespan = 0, .bound = scheduler.bound()};
  using Ending = std::pair<double, std::size_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings;
  for (;;) {
    while (const auto job = scheduler.next())
      endings.emplace(result.makespan + all[*job].length, *job);
    if (endings.empty()) return result;
    result.makespan = endings.top().first;
    while (!endings.empty() && endings.top().first <= result.makespan) {
      scheduler.finished(endings.top().second);
      endings.pop();
    }
  }
}

}  // namespace plugfest
