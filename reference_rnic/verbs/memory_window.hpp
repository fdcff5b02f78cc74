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

/// Whether a window may be bound in this way to the region of `under`: valid, bindable, inside the
/// region, and without rights that the region's owner does not have.
[[nodiscard]] bool admits_window(const Tag& under, const BindRequest& request);

}  // namespace rnic::verbs
