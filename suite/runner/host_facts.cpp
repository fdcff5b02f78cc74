// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/host_facts.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "base/time_text.hpp"

namespace suite::runner {

std::string host_name() {
  utsname names{};
  ::uname(&names);
  return names.nodename;
}

results::Machine machine() {
  utsname names{};
  ::uname(&names);
  const auto pages = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  const auto page = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
  return {.system = names.sysname,
          .kernel = names.release,
          .architecture = names.machine,
          .processors = std::thread::hardware_concurrency(),
          .memory = pages * page};
}

std::string new_run_id() {
  std::string id;
  for (const char c : base::time_text(std::chrono::system_clock::now()).substr(0, 19)) {
    if (c != '-' && c != ':') id += c;
  }
  return fmt::format("{}Z-{:08x}", id, static_cast<std::uint32_t>(random_number()));
}

std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace suite::runner
