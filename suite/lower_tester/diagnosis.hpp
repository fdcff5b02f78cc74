// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Why octets are no FPDU: the sender's mistake that explains them,
// proved by a CRC or a Marker that fits it.
#pragma once

#include <string_view>

#include "reference_rnic/wire/fpdu.hpp"
#include "rules/rule_id.hpp"

namespace suite::lower_tester {

namespace wire = rnic::wire;
using ::rules::RuleId;

struct Diagnosis {
  RuleId rule;
  std::string_view what;
};

/// `octets` begin with an FPDU that does not parse with `options`, or that is not all there though
/// nothing more comes (`complete` is false then).
[[nodiscard]] Diagnosis diagnose(wire::Bytes octets, const wire::FpduOptions& options,
                                 bool complete);
/// What must be zero in the Markers of an FPDU, and is not, without harm to a receiver.
struct MarkerBits {
  bool reserved_set = false;  ///< in the first 16 bits
  bool low_bits_set = false;  ///< in the two lowest bits of FPDUPTR
};
[[nodiscard]] MarkerBits marker_bits(wire::Bytes fpdu, std::uint64_t position);

}  // namespace suite::lower_tester
