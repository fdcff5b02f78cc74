// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is measured: a workload, played by two processes, and what each of them finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reference_rnic/bench/channels.hpp"

namespace rnic::bench {

enum class Workload : std::uint8_t {
  throughput,  ///< messages one after another, as many as the window holds
  latency,     ///< one message, its answer, the next
  connecting,  ///< connections that are set up one after another
  idle         ///< connections that do nothing, beside one that transfers
};

struct Work {
  Workload workload = Workload::throughput;
  Operation operation = Operation::write;
  std::size_t size = 64;
  unsigned connections = 1;
  unsigned messages = 1;
  unsigned batch = 1;  ///< messages that are posted at once
  bool spins = false;
  bool one_processor = false;  ///< both ends on the same one
};

/// What one end has measured. The client's time is that of the transfer.
struct Measured {
  double seconds = 0;
  double processor_seconds = 0;
  double connecting_seconds = 0;
  double resident_octets = 0;  ///< that the connections have added
};

/// Whether a socket listens on the port.
[[nodiscard]] bool listens(std::uint16_t port);
/// The last processor is the server's, the one before it the client's.
[[nodiscard]] long processor_of(bool serves, bool one_processor);

/// Names of the contenders, in the order in which they are shown: raw TCP first.
[[nodiscard]] const std::vector<std::string>& contenders();
/// The channels stay as long as the other end may transfer.
struct Played {
  Measured measured;
  std::unique_ptr<Channels> channels;
};
[[nodiscard]] Played play(const std::string& contender, const Work& work, bool serves,
                          std::uint16_t port);

}  // namespace rnic::bench
