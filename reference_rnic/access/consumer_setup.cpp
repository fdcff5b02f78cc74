// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/access/consumer_setup.hpp"

#include <chrono>
#include <random>
#include <utility>

namespace rnic::access {

verbs::Host host_in(base::EventLoop& loop) {
  return {.now = [&loop] { return loop.now(); },
          .defer = [&loop](std::function<void()> callback) { loop.defer(std::move(callback)); }};
}

std::uint64_t secret_seed() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random();
}

StartupOptions consumer_startup() {
  StartupOptions options;
  options.peer_to_peer = true;
  options.close_timeout = std::chrono::seconds(3);
  options.gathered_for = std::chrono::microseconds(20);
  return options;
}

}  // namespace rnic::access
