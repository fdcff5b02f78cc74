// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The commands that librdmacm writes to an event channel (rdma/rdma_user_cm.h).
#pragma once

#include <cstddef>
#include <span>

#include "reference_rnic/rdma_core/rdma_cm_id.hpp"

namespace rnic::rdma_core {

/// Carries out one command: 0 or an errno. GET_EVENT waits as the mode of the channel's descriptor
/// says, without the lock.
[[nodiscard]] int carry_out(CmChannel& channel, std::span<const std::byte> command);

/// The channel behind a descriptor of the program, or null.
[[nodiscard]] CmChannel* find_channel(int descriptor);

}  // namespace rnic::rdma_core
