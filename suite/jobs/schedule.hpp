// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which job is started next: groups of one configuration one after another, sentinels and
// repetitions alone, no host in more jobs at once than it allows, and the longest jobs first.
//
// Pure: no clock, no process. The same schedule serves a run and a simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace suite::jobs {

/// One attempt at one case, or at one cell of a plugfest.
struct Job {
  using Hosts = std::pair<std::size_t, std::size_t>;

  /// Which case or cell, in the caller's own numbering.
  std::size_t number = 0;
  std::uint32_t attempt = 1;
  /// Jobs of one group need the same configuration of the IUT.
  std::size_t group = 0;
  /// Nothing else may run meanwhile.
  bool alone = false;
  /// An expectation says so.
  bool known_to_hang = false;
  /// The sentinel, run to see whether the IUT still answers: not an attempt.
  bool probe = false;
  /// It was not answered, while others were.
  bool once_lost = false;
  /// The two hosts that it occupies, in the schedule's numbering; nothing: none that is counted.
  std::optional<Hosts> hosts{};
  /// Its likely duration in seconds.
  double length = 1;

  bool operator==(const Job&) const = default;
};

class Schedule {
 public:
  struct Limits {
    /// `capacity[h]`: jobs that host h may be in at once.
    std::vector<int> capacity{};
    /// The number of jobs at the same time.
    std::size_t slots = std::numeric_limits<std::size_t>::max();
    /// The configuration belongs to the whole IUT, so a group begins only when the one before it
    /// has ended. Otherwise the groups only determine the order.
    bool barrier = false;
  };
  /// Jobs without hosts start in their order; for those with hosts, hosts with the most work come
  /// first.
  Schedule(std::vector<Job> jobs, const Limits& limits);

  /// The job that can start now, which is then running; nothing if a running job must end first, or
  /// when all are started.
  [[nodiscard]] std::optional<Job> next();
  /// A job that next() gave has ended.
  void ended(const Job& job);

  /// Runs this one as soon as possible.
  void repeat(const Job& job) { push_front(job); }
  /// Runs these before anything else, one at a time.
  void repeat_alone(const std::vector<Job>& jobs);
  /// Runs these before anything else.
  void repeat_all(const std::vector<Job>& jobs);
  /// Runs this one when all others have been started.
  void repeat_last(const Job& job);
  /// Drops the probe, if it was not started.
  void take_back_probe();
  /// Drops what was not started.
  void give_up();

  /// A host that is away starts no job until it is back; its running jobs continue.
  void set_away(std::size_t host, bool away) { hosts_[host].away = away; }
  [[nodiscard]] std::size_t hosts() const { return hosts_.size(); }
  /// Whether the host is in no job.
  [[nodiscard]] bool idle(std::size_t host) const {
    return hosts_[host].free == hosts_[host].capacity;
  }
  [[nodiscard]] bool has_waiting(std::size_t host) const { return hosts_[host].waiting > 0; }

  [[nodiscard]] bool done() const { return waiting_ == 0 && running_ == 0; }
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  [[nodiscard]] std::size_t running() const { return running_; }
  /// No order of the waiting jobs ends sooner than this many seconds from now.
  [[nodiscard]] double bound() const;

 private:
  struct Host {
    int free = 1, capacity = 1;
    bool away = false;
    /// Its waiting jobs: how many, and how long they take.
    std::size_t waiting = 0;
    double load = 0;

    [[nodiscard]] bool can_start() const { return free > 0 && !away; }
    [[nodiscard]] double urgency() const { return load / capacity; }
  };
  /// The waiting jobs of two hosts, in `queues` of their section.
  struct Pairing {
    std::size_t partner = 0, queue = 0;
  };
  /// Jobs of which any may start if its hosts are free, once those of the section before it have
  /// been started.
  struct Section {
    bool alone = false;
    std::size_t group = 0;
    /// Jobs that are repeated when all others have been started.
    bool last = false;
    /// Jobs without hosts.
    std::deque<Job> in_order{};
    /// For each pair of hosts, the longest job last.
    std::vector<std::vector<Job>> queues{};
    /// By pair, the smaller host first, and by host.
    std::map<Job::Hosts, std::size_t> queue_of{};
    std::vector<std::vector<Pairing>> pairings{};
    std::size_t waiting = 0;

    void forget(const Job::Hosts& pair);
  };
  void add_sections(std::vector<Job>::const_iterator begin, std::vector<Job>::const_iterator end);
  void add(Section& section, const Job& job);
  void push_front(const Job& job);
  void count(const Job& job, bool waits);
  [[nodiscard]] bool must_wait(bool alone, std::size_t group) const;
  [[nodiscard]] bool finds_its_hosts(const Job& job) const;
  [[nodiscard]] std::optional<Job> take_from(Section& section);
  [[nodiscard]] std::optional<std::size_t> queue_for(const Section& section,
                                                     std::size_t host) const;
  Job start(const Job& job);

  std::size_t slots_;
  bool barrier_;
  std::vector<Host> hosts_;
  /// Repetitions that come before all sections.
  std::deque<Job> first_;
  std::deque<Section> sections_;
  std::size_t waiting_ = 0, running_ = 0;
  double load_ = 0, longest_ = 0;
  bool begun_ = false;
  /// About the running jobs.
  bool alone_ = false;
  std::size_t group_ = 0;
};

/// How long jobs take if each takes its length exactly.
struct Simulated {
  double makespan = 0, bound = 0;
};
[[nodiscard]] Simulated simulate(std::vector<Job> jobs, const Schedule::Limits& limits);

}  // namespace suite::jobs
