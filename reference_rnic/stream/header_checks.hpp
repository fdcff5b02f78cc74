// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The checks of an incoming segment that its header alone decides: versions, queue, opcode (RFC
// 5041 section 7, RFC 5040 section 7.2).
#pragma once

#include <optional>

#include "reference_rnic/stream/incoming.hpp"

namespace rnic::stream {

/// The first fault of the header, if it has one.
[[nodiscard]] std::optional<Fault> check_header(const Incoming& incoming);

}  // namespace rnic::stream
