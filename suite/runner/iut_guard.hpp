// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Distinguishes the code of an in-process IUT from the tester's, so that a signal is attributed to
// the side that raised it.
//
// The IUT gets an EventLoop that marks every call into it, and a Network that calls its observers by
// way of call_iut; the worker's signal handler reads the mark. Exceptions that leave the IUT's
// callbacks end the process in std::terminate, like any other crash.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/event_loop.hpp"
#include "reference_rnic/llp/network.hpp"
#include "suite/iut/iut.hpp"

namespace suite::runner {

/// Reports a fatal signal as the worker's last message, a `died` line on `fd`,
/// and then lets the signal end the process.
void report_fatal_signals(int fd);

/// Makes an IUT that uses the guarded event loop and the network.
using IutMaker = std::function<std::unique_ptr<iut::Iut>(base::EventLoop&, rnic::llp::Network&)>;

/// How the Network of an IUT in this process calls its observers: marked as the IUT's code. An
/// exception that they throw ends the process.
void call_iut(const std::function<void()>& callback) noexcept;

/// An IUT in this process with the guard around it. `loop` and `network` must outlive it.
[[nodiscard]] std::unique_ptr<iut::Iut> guarded_iut(base::EventLoop& loop,
                                                    rnic::llp::Network& network,
                                                    const IutMaker& make);

}  // namespace suite::runner
