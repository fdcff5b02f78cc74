// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A memory window: a part of a region that a peer may use while the window is bound to it.
#pragma once

#include "reference_rnic/verbs/stag_table.hpp"

namespace rnic::verbs {

struct Window {
  WindowInfo info{};
  DomainHandle domain{};
  RegionHandle region{};  ///< while bound
};

/// The octets that a window opens of the region of `under`, if it may be bound to it in this way:
/// the region is valid and bindable, contains them, and is open to its owner for what the window
/// lets a peer do.
[[nodiscard]] std::expected<wire::MutableBytes, stream::MemoryFault> octets_of_window(
    const Tag& under, const BindRequest& request);

}  // namespace rnic::verbs
