// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the connection manager of Linux takes, and how it is asked: the same for a consumer of
// librdmacm and for one in the kernel.
#pragma once

#include <sys/socket.h>

#include <optional>
#include <string>

#include "suite/iut/messages.hpp"
#include "suite/upper_tester/start_driver.hpp"

namespace suite::upper_tester::verbs {

/// The kernel may miss the answer to its own neighbour request, and then waits until its timeout; so
/// there are many short attempts.
constexpr int resolve_deadline_ms = 500;
constexpr int resolve_attempts = 10;
constexpr int backlog = 128;

/// It counts private data and read depths in octets, and librdmacm keeps 255 of the latter for "the
/// most there is".
constexpr int max_private_data = 255;
constexpr int max_read_depth = 254;

/// What does not fit into the parameters of `taker`, which the reply names.
[[nodiscard]] std::optional<iut::Reply> too_much(const iut::ConnectParameters& parameters,
                                                 const std::string& taker);

/// The IUT's own address of this family, if the suite has named one.
[[nodiscard]] std::optional<sockaddr_storage> own_address(const DriverOptions& options, int family);
/// The literal of the address to listen on: the one of the command, else our own, else any.
[[nodiscard]] std::string address_to_listen_on(const iut::Listen& command,
                                               const DriverOptions& options);
[[nodiscard]] bool is_any(const std::string& literal);

}  // namespace suite::upper_tester::verbs
