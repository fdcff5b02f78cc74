// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/schedule.hpp"

#include <algorithm>
#include <cassert>

namespace suite::runner {

Schedule::Schedule(std::vector<Job> jobs, bool barrier) : barrier_(barrier) {
  // A job that runs alone parts those before it from those behind it; between two such jobs cases
  // are ordered by group.
  for (auto part = jobs.begin(); part != jobs.end();) {
    const auto end = std::ranges::find(part, jobs.end(), true, &Job::alone);
    std::ranges::stable_sort(part, end, {}, &Job::group);
    part = end == jobs.end() ? end : end + 1;
  }
  waiting_.assign(jobs.begin(), jobs.end());
}

std::optional<Job> Schedule::next() {
  if (waiting_.empty()) return {};
  const Job job = waiting_.front();
  const bool must_wait = running_ > 0 && (alone_ || job.alone || (barrier_ && job.group != group_));
  if (must_wait) return {};
  waiting_.pop_front();
  ++running_;
  alone_ = job.alone;
  group_ = job.group;
  return job;
}

void Schedule::ended() {
  assert(running_ > 0);
  if (--running_ == 0) alone_ = false;
}

void Schedule::repeat_all(const std::vector<Job>& jobs) {
  waiting_.insert(waiting_.begin(), jobs.begin(), jobs.end());
}

void Schedule::take_back_probe() { std::erase_if(waiting_, &Job::probe); }

void Schedule::repeat_alone(const std::vector<Job>& jobs) {
  for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {
    waiting_.push_front(*job);
    waiting_.front().alone = true;
  }
}

}  // namespace suite::runner
