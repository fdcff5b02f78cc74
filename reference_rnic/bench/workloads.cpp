// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/bench/workloads.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include <fmt/format.h>

namespace rnic::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Contender {
  std::string name;
  std::unique_ptr<Channels> (*open)(const Setup&);
  bool crc = true, markers = false;
};

const std::vector<Contender>& table() {
  static const std::vector<Contender> all{
      {"tcp", raw_tcp},
      {"floor", floor_program},
      {"stream", stream_channels},
      {"stream-no-crc", stream_channels, false},
      {"stream-markers", stream_channels, true, true},
#ifdef RNIC_BENCH_DAT
      {"dat", dat_channels},
#endif
#ifdef RNIC_BENCH_VERBS
      {"verbs", verbs_channels},
      {"verbs-no-crc", verbs_channels, false},
#endif
  };
  return all;
}

void stay_on_processor(bool serves, bool one_processor) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  CPU_SET(static_cast<std::size_t>(processor_of(serves, one_processor)), &mine);
  need(sched_setaffinity(0, sizeof mine, &mine) == 0, "sched_setaffinity");
}

/// Thousands of connections need more descriptors than a process usually has.
void allow_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));
}

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double resident_octets() {
  std::size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Nothing announces it. The end of the starter, at the other end of our standard input, ends the wait.
void await_listener(std::uint16_t port) {
  pollfd starter{STDIN_FILENO, POLLIN, 0};
  while (!listens(port)) need(poll(&starter, 1, 1) == 0, "the server does not come to listen");
}

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

unsigned active_of(const Work& work) {
  return work.workload == Workload::idle ? 1 : work.connections;
}

/// One end of a workload over channels that are connected.
class Player {
 public:
  Player(Channels& channels, const Work& work, bool serves)
      : channels_(channels),
        work_(work),
        serves_(serves),
        active_(active_of(work)),
        transferred_(work.connections) {}

  /// Both ends are there; then the transfer, and the event that all of it has arrived.
  Measured run() {
    meet();
    const double used = processor_seconds();
    const auto begin = Clock::now();
    for (unsigned i = 0; i < work_.messages / work_.batch; ++i)
      work_.workload == Workload::latency ? exchange() : transfer(i % active_);
    channels_.flush();
    take_last_credits();
    meet();
    return {.seconds = since(begin), .processor_seconds = processor_seconds() - used};
  }

 private:
  /// Sends between two credits; half of what the receiver has buffers for.
  static constexpr unsigned credit = receives_posted / 4;

  void meet() {
    for (unsigned i = 0; i < active_; ++i) {
      if (serves_) channels_.receive(i, 1, 1);
      channels_.post(i, Operation::send, 1, 1);
      if (!serves_) channels_.receive(i, 1, 1);
    }
    channels_.flush();
  }
  void exchange() {
    if (work_.operation != Operation::send) {
      if (serves_) return channels_.serve(0, work_.operation, work_.size, 1);
      channels_.post(0, work_.operation, work_.size, 1);
      return channels_.flush();
    }
    if (serves_) channels_.receive(0, work_.size, 1);
    channels_.post(0, Operation::send, work_.size, 1);
    if (!serves_) channels_.receive(0, work_.size, 1);
  }
  void transfer(unsigned connection) {
    if (!serves_)
      channels_.post(connection, work_.operation, work_.size, work_.batch);
    else if (work_.operation == Operation::send)
      channels_.receive(connection, work_.size, work_.batch);
    else
      return channels_.serve(connection, work_.operation, work_.size, work_.batch);
    if (work_.operation != Operation::send) return;
    transferred_[connection] += work_.batch;
    if (transferred_[connection] % credit != 0) return;
    // A receiver without a buffer ends the stream, so the sender waits for credits, one in advance.
    if (serves_)
      channels_.post(connection, Operation::send, 1, 1);
    else if (transferred_[connection] > credit)
      channels_.receive(connection, 1, 1);
  }
  void take_last_credits() {
    for (unsigned i = 0; i < active_ && !serves_; ++i)
      if (transferred_[i] >= credit) channels_.receive(i, 1, 1);
  }

  Channels& channels_;
  const Work& work_;
  bool serves_;
  unsigned active_;
  std::vector<unsigned> transferred_;
};

}  // namespace

/// A socket in state LISTEN (0A) on the port is a line of its own there.
bool listens(std::uint16_t port) {
  std::ifstream table("/proc/net/tcp");
  const std::string wanted = fmt::format(":{:04X} 00000000:0000 0A", port);
  for (std::string line; std::getline(table, line);)
    if (line.find(wanted) != std::string::npos) return true;
  return false;
}

long processor_of(bool serves, bool one_processor) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  return serves || one_processor || processors < 2 ? processors - 1 : processors - 2;
}

const std::vector<std::string>& contenders() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Contender& each : table()) list.push_back(each.name);
    return list;
  }();
  return names;
}

Played play(const std::string& contender, const Work& work, bool serves, std::uint16_t port) {
  for (const Contender& each : table()) {
    if (each.name != contender) continue;
    stay_on_processor(serves, work.one_processor);
    allow_descriptors();
    if (!serves) await_listener(port);
    const double before = resident_octets();
    const auto begin = Clock::now();
    auto channels = each.open({.serves = serves,
                               .connections = work.connections,
                               .active = active_of(work),
                               .size = work.size,
                               .batch = work.batch,
                               .spins = work.spins,
                               .crc = each.crc,
                               .markers = each.markers,
                               .port = port});
    const double connecting = since(begin);
    const double added = resident_octets() - before;
    Measured measured = Player(*channels, work, serves).run();
    measured.connecting_seconds = connecting;
    measured.resident_octets = added;
    return {measured, std::move(channels)};
  }
  throw std::runtime_error("no contender " + contender);
}

}  // namespace rnic::bench
