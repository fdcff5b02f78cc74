// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Made-up connections for the tests of rnic-lint.
#pragma once

#include <string_view>
#include <vector>

#include "dissectors/capture/synthesizer.hpp"

namespace dissectors::lint::tests {

inline capture::Flow flow(std::uint16_t port) {
  return {*capture::Endpoint::parse("10.0.0.1", port), *capture::Endpoint::parse("10.0.0.2", 5000)};
}

inline base::Bytes text(std::string_view octets) {
  return std::as_bytes(std::span(octets.data(), octets.size()));
}

inline capture::FrameView view(const capture::Frame& frame) {
  return {.time = frame.time, .original_length = frame.original_length, .octets = frame.octets};
}

}  // namespace dissectors::lint::tests
