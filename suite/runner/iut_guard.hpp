// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Tells an in-process IUT's code from the tester's, so that a signal raised in it is laid at the
// right door.
//
// The IUT gets an EventLoop and a Network that mark every call into it; the worker's signal handler
// reads the mark. Exceptions that leave the IUT's callbacks end the process in std::terminate, like
// any crash of it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/event_loop.hpp"
#include "reference_rnic/llp/network.hpp"
#include "suite/iut/iut.hpp"

namespace suite::runner {

/// Reports fatal signals as the worker's last word, a `died` line on `fd`,
/// then lets them take their course.
void report_fatal_signals(int fd);

/// Makes an IUT of the guarded event loop and network.
using IutMaker = std::function<std::unique_ptr<iut::Iut>(base::EventLoop&, rnic::llp::Network&)>;

/// An IUT in this process with the guard around it. `loop` and `network` must outlive it.
[[nodiscard]] std::unique_ptr<iut::Iut> guarded_iut(base::EventLoop& loop,
                                                    rnic::llp::Network& network,
                                                    const IutMaker& make);

}  // namespace suite::runner
