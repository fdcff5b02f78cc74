// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/jobs/schedule.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <queue>

namespace suite::jobs {

Schedule::Schedule(std::vector<Job> jobs, const Limits& limits)
    : slots_(limits.slots), barrier_(limits.barrier), hosts_(limits.capacity.size()) {
  for (std::size_t at = 0; at < hosts_.size(); ++at)
    hosts_[at].free = hosts_[at].capacity = limits.capacity[at];
  // A job that runs alone separates those before it from those after it; between two such jobs the
  // others are ordered by group.
  for (auto part = jobs.begin(); part != jobs.end();) {
    const auto end = std::ranges::find(part, jobs.end(), true, &Job::alone);
    std::ranges::stable_sort(part, end, {}, &Job::group);
    add_sections(part, end);
    if (end == jobs.end()) break;
    add(sections_.emplace_back(Section{.alone = true, .group = end->group}), *end);
    part = end + 1;
  }
}

void Schedule::add_sections(std::vector<Job>::const_iterator begin,
                            std::vector<Job>::const_iterator end) {
  for (auto job = begin; job != end; ++job) {
    if (job == begin || (barrier_ && job->group != sections_.back().group))
      sections_.push_back(Section{.alone = false, .group = job->group});
    add(sections_.back(), *job);
  }
}

void Schedule::add(Section& section, const Job& job) {
  count(job, true);
  ++section.waiting;
  if (!job.hosts) return section.in_order.push_back(job);
  const auto [one, other] = *job.hosts;
  assert(one != other && one < hosts_.size() && other < hosts_.size());
  section.pairings.resize(hosts_.size());
  const auto [found, fresh] =
      section.queue_of.try_emplace(std::minmax(one, other), section.queues.size());
  if (fresh) {
    section.queues.emplace_back();
    section.pairings[one].push_back({other, found->second});
    section.pairings[other].push_back({one, found->second});
  }
  // Of equal ones the first comes first, so that a run can be read from its beginning.
  auto& queue = section.queues[found->second];
  queue.insert(std::ranges::lower_bound(queue, job.length, {}, &Job::length), job);
}

void Schedule::Section::forget(const Job::Hosts& pair) {
  const auto [one, other] = pair;
  const auto queue = queue_of.extract(std::minmax(one, other)).mapped();
  for (const std::size_t host : {one, other})
    std::erase_if(pairings[host], [&](const Pairing& it) { return it.queue == queue; });
}

void Schedule::push_front(const Job& job) {
  count(job, true);
  first_.push_front(job);
}

// What waits is counted as a whole and by host.
void Schedule::count(const Job& job, bool waits) {
  const double sign = waits ? 1 : -1;
  const auto change = [&](std::size_t& jobs, double& load) {
    jobs = waits ? jobs + 1 : jobs - 1;
    load += sign * job.length;
  };
  change(waiting_, load_);
  longest_ = std::max(longest_, job.length);
  if (!job.hosts) return;
  for (const std::size_t at : {job.hosts->first, job.hosts->second})
    change(hosts_[at].waiting, hosts_[at].load);
}

bool Schedule::must_wait(bool alone, std::size_t group) const {
  return running_ > 0 && (alone_ || alone || (barrier_ && group != group_));
}

bool Schedule::finds_its_hosts(const Job& job) const {
  return !job.hosts ||
         (hosts_[job.hosts->first].can_start() && hosts_[job.hosts->second].can_start());
}

Job Schedule::start(const Job& job) {
  count(job, false);
  if (job.hosts)
    for (const std::size_t at : {job.hosts->first, job.hosts->second}) --hosts_[at].free;
  ++running_;
  begun_ = true;
  alone_ = job.alone;
  group_ = job.group;
  return job;
}

std::optional<Job> Schedule::next() {
  if (running_ >= slots_) return std::nullopt;
  if (!first_.empty()) {
    const Job job = first_.front();
    if (must_wait(job.alone, job.group) || !finds_its_hosts(job)) return std::nullopt;
    first_.pop_front();
    return start(job);
  }
  while (!sections_.empty() && sections_.front().waiting == 0) sections_.pop_front();
  if (sections_.empty() || must_wait(sections_.front().alone, sections_.front().group))
    return std::nullopt;
  const auto job = take_from(sections_.front());
  return job ? std::optional(start(*job)) : std::nullopt;
}

std::optional<Job> Schedule::take_from(Section& section) {
  const auto taken = [&section](Job job) {
    --section.waiting;
    return std::optional(std::move(job));
  };
  if (!section.in_order.empty()) {
    Job job = section.in_order.front();
    section.in_order.pop_front();
    return taken(std::move(job));
  }
  std::vector<std::size_t> free;
  for (std::size_t at = 0; at < section.pairings.size(); ++at)
    if (hosts_[at].can_start() && !section.pairings[at].empty()) free.push_back(at);
  std::ranges::stable_sort(free, std::ranges::greater{},
                           [this](std::size_t at) { return hosts_[at].urgency(); });
  for (const std::size_t host : free) {
    const auto found = queue_for(section, host);
    if (!found) continue;
    Job job = section.queues[*found].back();
    section.queues[*found].pop_back();
    if (section.queues[*found].empty()) section.forget(*job.hosts);
    return taken(std::move(job));
  }
  return std::nullopt;
}

// Of the partners that are free, the one that has most to do; of those, the longest job.
std::optional<std::size_t> Schedule::queue_for(const Section& section, std::size_t host) const {
  std::optional<std::size_t> best;
  std::pair<double, double> rank;
  for (const Pairing& pairing : section.pairings[host]) {
    const Host& partner = hosts_[pairing.partner];
    const auto& queue = section.queues[pairing.queue];
    if (!partner.can_start()) continue;
    const std::pair here{partner.urgency(), queue.back().length};
    if (best && here <= rank) continue;
    best = pairing.queue;
    rank = here;
  }
  return best;
}

void Schedule::ended(const Job& job) {
  assert(running_ > 0);
  if (--running_ == 0) alone_ = false;
  if (!job.hosts) return;
  for (const std::size_t at : {job.hosts->first, job.hosts->second}) ++hosts_[at].free;
}

void Schedule::repeat_all(const std::vector<Job>& jobs) {
  for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) push_front(*job);
}

void Schedule::repeat_alone(const std::vector<Job>& jobs) {
  for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {
    push_front(*job);
    first_.front().alone = true;
  }
}

void Schedule::repeat_last(const Job& job) {
  if (sections_.empty() || !sections_.back().last)
    sections_.push_back(Section{.alone = job.alone, .group = job.group, .last = true});
  add(sections_.back(), job);
}

void Schedule::take_back_probe() {
  std::erase_if(first_, [this](const Job& job) {
    if (job.probe) count(job, false);
    return job.probe;
  });
}

void Schedule::give_up() {
  first_.clear();
  sections_.clear();
  waiting_ = 0;
  load_ = 0;
  for (Host& host : hosts_) {
    host.waiting = 0;
    host.load = 0;
  }
}

double Schedule::bound() const {
  double bound = slots_ > 0 ? load_ / static_cast<double>(slots_) : 0;
  for (const Host& host : hosts_) bound = std::max(bound, host.urgency());
  return waiting_ > 0 ? std::max(bound, begun_ ? 0 : longest_) : 0;
}

Simulated simulate(std::vector<Job> jobs, const Schedule::Limits& limits) {
  Schedule schedule(std::move(jobs), limits);
  Simulated result{.makespan = 0, .bound = schedule.bound()};
  struct Running {
    double end = 0;
    Job job;
    bool operator>(const Running& other) const { return end > other.end; }
  };
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running;
  for (;;) {
    while (const auto job = schedule.next()) running.push({result.makespan + job->length, *job});
    if (running.empty()) return result;
    result.makespan = running.top().end;
    while (!running.empty() && running.top().end <= result.makespan) {
      schedule.ended(running.top().job);
      running.pop();
    }
  }
}

}  // namespace suite::jobs
