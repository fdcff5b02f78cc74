// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What excuses a failure: that something else is known to be wrong, after which it shows nothing
// (docs/disputes.md D65, D66).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "suite/cases/framework/environment.hpp"
#include "suite/cases/framework/outcome.hpp"

namespace suite::cases {

/// What is known of the row when an expectation fails.
struct RowSoFar {
  std::string_view row;
  std::span<const ExpectationRecord> made;
  /// The tester's own stream, which acts by itself, has ended because it could not take what came.
  bool stream_gave_up = false;
};
/// The IUT sends no CRC field, or wrong Markers: where its FPDUs begin can only be guessed, and the
/// tester's streams wait for octets that do not come.
[[nodiscard]] bool framing_is_unreadable(const RowSoFar& so_far);
/// The rule of the CRC that the IUT broke in this row, if it is one below the rule `awaited`; else
/// empty.
[[nodiscard]] std::string wrong_crc_below(std::string_view awaited, const RowSoFar& so_far);
/// The IUT broke a rule of a lower layer in this row, and the tester's stream ended by what came, or
/// cannot read it: after that no layer above can do its work. A lower fault that the stream
/// survived excuses nothing.
[[nodiscard]] bool excused_by_lower_layer(std::string_view rule, const RowSoFar& so_far);
/// The same of a connection that has ended, whatever the layer of the fault.
[[nodiscard]] bool end_is_explained(const RowSoFar& so_far);

/// Why a Read that was used shows nothing: its positive control has failed, and the case is not
/// about just that. Empty: none was used, or it shows what it says.
[[nodiscard]] std::string why_reads_show_nothing(const Controls& controls,
                                                 const lower_tester::ReadsUsed& used,
                                                 std::span<const std::string_view> aims);

}  // namespace suite::cases
