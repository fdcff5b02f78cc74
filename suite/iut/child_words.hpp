// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is said to a child process before it is listened to.
#pragma once

#include <string_view>

#include "suite/iut/child_process.hpp"

namespace suite::iut {

/// Writes all of it to the channel, waiting while that is full. What a child does not take that has
/// ended is lost: what it says, or does not say, shows that.
void tell(const ChildProcess& child, std::string_view text);

}  // namespace suite::iut
