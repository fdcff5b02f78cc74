// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Agents for a tester that this host connects to, over TLS that both ends authenticate: where
// nothing may connect to this host.
#pragma once

#include <string>
#include <vector>

#include "suite/iut/tls/endpoint.hpp"
#include "suite/iut/tls/tls_context.hpp"

namespace suite::upper_tester {

/// Starts an agent, by `argv`, each time the tester wants one, until this process is ended. What
/// happens is said on standard error. Returns only why it cannot go on: our certificate or the
/// tester's is wrong, and no agent was ever wanted.
[[nodiscard]] std::string serve_tester(const iut::tls::Endpoint& tester,
                                       const iut::tls::Identity& identity,
                                       const std::vector<std::string>& argv);

}  // namespace suite::upper_tester
