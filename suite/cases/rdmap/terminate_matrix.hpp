// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The Terminate matrix: for each cause that RFC 6580 and RFC 6581 register, the case that provokes
// it, or the reason why no peer can.
#pragma once

#include <span>
#include <string_view>

#include "reference_rnic/wire/terminate.hpp"

namespace suite::cases {

struct MatrixEntry {
  rnic::wire::TerminateCause cause;
  /// The registry has no codes for this type.
  bool any_code = false;
  /// What went wrong, as the RFCs call it.
  std::string_view name;
  /// Empty: cannot be provoked.
  std::string_view case_id;
  /// Why not, or what else a case accepts.
  std::string_view note;
};
/// In the order of layer, type and code; every registered cause once.
[[nodiscard]] std::span<const MatrixEntry> terminate_matrix();

}  // namespace suite::cases
