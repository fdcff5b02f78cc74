// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Everything that an outsider or the consumer can see of a run, as text: two runs with the same
// transcript behaved in the same way.
#pragma once

#include <string>

#include "reference_rnic/stream/tests/hex_octets.hpp"
#include "reference_rnic/stream/tests/stream_pair.hpp"

namespace rnic::deviants::test {

[[nodiscard]] std::string describe(const stream::Event& event);

/// Octets sent, events, and the requested way to close.
[[nodiscard]] std::string transcript(const stream::test::End& end);

}  // namespace rnic::deviants::test
