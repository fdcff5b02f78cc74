// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/bench/scenarios.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace rnic::bench {
namespace {

constexpr std::array operation_names{"send", "write", "read"};

std::vector<std::string> those(std::initializer_list<const char*> wanted) {
  std::vector<std::string> there;
  for (const char* name : wanted)
    if (std::ranges::find(contenders(), name) != contenders().end()) there.emplace_back(name);
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
  std::vector<Scenario> all;
  const auto add = [&](std::string name, Work work, std::vector<std::string> who) {
    if (quick && (work.size > 4096 || work.connections == 16)) return;
    if (quick) work.messages = std::min(work.messages, 128U);
    if (quick) work.connections = std::min(work.connections, 8U);
    all.push_back({std::move(name), work, std::move(who)});
  };
  const auto consumers = those({"tcp", "floor", "stream", "dat", "verbs"});
  for (const unsigned connections : {1U, 16U})
    for (const Operation operation : {Operation::write, Operation::read, Operation::send})
      for (const std::size_t size :
           {std::size_t{64}, std::size_t{4096}, std::size_t{65536}, mebibyte, 16 * mebibyte})
        add(fmt::format("throughput.{}.{}.{}", operation_names[static_cast<std::size_t>(operation)],
                        text_of(size), connections),
            {.operation = operation,
             .size = size,
             .connections = connections,
             .messages = messages_of(size)},
            consumers);
  for (const Operation operation : {Operation::write, Operation::send})
    add(fmt::format("batched.{}.64B", operation_names[static_cast<std::size_t>(operation)]),
        {.operation = operation, .messages = 400'000, .batch = 32}, consumers);
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
  add("checks.write.1MiB", {.size = mebibyte, .messages = messages_of(mebibyte)},
      those({"tcp", "stream", "stream-no-crc", "stream-markers"}));
  add("connecting", {.workload = Workload::connecting, .connections = 500},
      those({"tcp", "stream", "dat", "verbs"}));
  add("idle.alone",
      {.workload = Workload::idle, .size = mebibyte, .messages = messages_of(mebibyte)},
      those({"tcp", "stream", "dat", "verbs"}));
  add("idle.beside-400",
      {.workload = Workload::idle,
       .size = mebibyte,
       .connections = 401,
       .messages = messages_of(mebibyte)},
      those({"tcp", "stream", "dat", "verbs"}));
  return all;
}

}  // namespace rnic::bench
