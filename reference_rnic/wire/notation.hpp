// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One line of text for any ULPDU: the notation of reports, lint and failing cases.
#pragma once

#include <string>

#include "reference_rnic/wire/bytes.hpp"

namespace rnic::wire {

/// Decodes a ULPDU as far as its own octets allow, whatever they are: `Terminate L qn=2 msn=1 mo=0
/// len=4 | MPA error: CRC mismatch (2/0/0x02) []`. The segment comes first, after a `|` the header
/// that is its payload, after each `!` a fault.
[[nodiscard]] std::string describe_ulpdu(Bytes ulpdu);
/// `00 1f c0 ..`, at most `limit` octets, then `.. (+N octets)`.
[[nodiscard]] std::string hex(Bytes octets, std::size_t limit = 64);

}  // namespace rnic::wire
