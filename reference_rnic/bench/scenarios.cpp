// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/bench/scenarios.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "reference_rnic/bench/stock_programs.hpp"

namespace rnic::bench {
namespace {

const char* name_of(Operation operation) {
  static constexpr std::array names{"send", "write", "read"};
  return names[static_cast<std::size_t>(operation)];
}

std::vector<std::string> those(std::initializer_list<const char*> wanted) {
  std::vector<std::string> there;
  for (const char* name : wanted)
    if (std::ranges::find(contenders(), name) != contenders().end() || is_installed(name))
      there.emplace_back(name);
  return there;
}

std::string text_of(std::size_t octets) {
  if (octets >= std::size_t{1} << 20) return fmt::format("{}MiB", octets >> 20);
  if (octets >= std::size_t{1} << 10) return fmt::format("{}KiB", octets >> 10);
  return fmt::format("{}B", octets);
}

/// As many messages as take some tenths of a second.
unsigned messages_of(std::size_t size) {
  constexpr std::size_t octets = std::size_t{512} << 20, most = 100'000, least = 32;
  return static_cast<unsigned>(std::clamp(octets / size, least, most));
}

}  // namespace

std::vector<Scenario> scenarios(bool quick) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  constexpr unsigned busy_processes = 8;
  std::vector<Scenario> all;
  const auto add = [&](std::string name, Work work, std::vector<std::string> who,
                       unsigned busy = 0) {
    if (quick && (work.size > 4096 || work.connections == 16)) return;
    if (quick) work.messages = std::min(work.messages, 128U);
    if (quick) work.connections = std::min(work.connections, 8U);
    if (!who.empty()) all.push_back({std::move(name), work, std::move(who), busy});
  };
  const auto consumers = those({"tcp", "floor", "stream", "dat", "verbs"});
  const auto throughput = [&](Operation operation, std::size_t size, unsigned connections) {
    return Work{.operation = operation,
                .size = size,
                .connections = connections,
                .messages = messages_of(size)};
  };
  for (const unsigned connections : {1U, 16U})
    for (const Operation operation : {Operation::write, Operation::read, Operation::send})
      for (const std::size_t size :
           {std::size_t{64}, std::size_t{4096}, std::size_t{65536}, mebibyte, 16 * mebibyte})
        add(fmt::format("throughput.{}.{}.{}", name_of(operation), text_of(size), connections),
            throughput(operation, size, connections), consumers);
  for (const unsigned connections : {1U, 16U})
    for (const Operation operation : {Operation::write, Operation::read, Operation::send})
      add(fmt::format("loaded.{}.1MiB.{}", name_of(operation), connections),
          throughput(operation, mebibyte, connections), consumers, busy_processes);
  for (const Operation operation : {Operation::write, Operation::send})
    add(fmt::format("batched.{}.64B", name_of(operation)),
        {.operation = operation, .messages = 400'000, .batch = 32}, consumers);
  add("perftest.write.64B", {.messages = 1'000'000}, those({"ib_write_bw"}));
  for (const bool spins : {false, true}) {
    const auto name = [&](const char* what) {
      return fmt::format("latency.{}.{}", what, spins ? "spinning" : "blocking");
    };
    add(name("send.64B"),
        {.workload = Workload::latency,
         .operation = Operation::send,
         .messages = 20'000,
         .spins = spins,
         .one_processor = !spins},
        consumers);
    add(name("read.8B"),
        {.workload = Workload::latency,
         .operation = Operation::read,
         .size = 8,
         .messages = 20'000,
         .spins = spins,
         .one_processor = !spins},
        consumers);
  }
  for (const std::size_t size : {std::size_t{64}, std::size_t{65536}, mebibyte})
    add("pingpong.send." + text_of(size),
        {.workload = Workload::latency,
         .operation = Operation::send,
         .size = size,
         .messages = std::clamp(messages_of(size) / 2, 200U, 20'000U),
         .spins = true},
        those({"tcp", "stream-no-crc", "verbs-no-crc", "fi_pingpong"}));
  add("checks.write.1MiB", {.size = mebibyte, .messages = messages_of(mebibyte)},
      those({"tcp", "stream", "stream-no-crc", "stream-markers"}));
  const auto services = those({"tcp", "stream", "dat", "verbs"});
  add("connecting", {.workload = Workload::connecting, .connections = 5'000}, services);
  const auto beside = [&](unsigned idle) {
    return Work{.workload = Workload::idle,
                .size = mebibyte,
                .connections = idle + 1,
                .messages = messages_of(mebibyte)};
  };
  add("idle.beside-10000", beside(10'000), services);
  if (!quick) all.back().alone = beside(0);
  return all;
}

}  // namespace rnic::bench
