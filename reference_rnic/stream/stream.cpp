// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "reference_rnic/stream/machine.hpp"

namespace rnic::stream {

std::unique_ptr<Stream> make_stream(Config config, Memory& memory, TimePoint now,
                                    StreamDecisions decisions, std::shared_ptr<Scratch> scratch) {
  if (!scratch) scratch = std::make_shared<Scratch>();
  return std::make_unique<Machine>(std::move(config), memory, now, std::move(decisions),
                                   std::move(scratch));
}

void Stream::receive(wire::Bytes octets, TimePoint now) {
  while (!octets.empty()) {
    std::size_t taken = 0;
    for (const wire::MutableBytes target : receive_targets()) {
      const std::size_t here = std::min(target.size(), octets.size());
      if (here != 0) std::memcpy(target.data(), octets.data(), here);
      octets = octets.subspan(here);
      taken += here;
    }
    received(taken, now);
  }
}

std::vector<std::byte> Stream::take_output(TimePoint now) {
  constexpr std::size_t step = 1U << 20;
  std::vector<std::byte> output;
  std::vector<wire::Bytes> list;
  while (true) {
    list.clear();
    gather(list, step);
    if (list.empty()) return output;
    std::size_t count = 0;
    for (const wire::Bytes piece : list) {
      output.insert(output.end(), piece.begin(), piece.end());
      count += piece.size();
    }
    transmitted(count, now);
  }
}

}  // namespace rnic::stream
