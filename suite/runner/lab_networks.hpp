// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The networks that suite/lab makes, and what all networks share.
#pragma once

#include "suite/runner/test_network.hpp"

namespace suite::runner {

/// Two namespaces of the run, for the reference in process or as an agent.
[[nodiscard]] TestNetworkOr namespace_network(const Options& options);
/// This many networks, each a namespace and a guest with soft-iWARP that is not up yet.
[[nodiscard]] TestNetworksOr guest_networks(const Options& options, std::size_t count,
                                            const Tell& tell);

/// The setup that the options give every worker of every network.
[[nodiscard]] WorkerSetup common_setup(const Options& options);
/// For agent:reference, verbs:reference and dat:reference: the commands that start our agent and the
/// cases of the DAT API in the IUT's network namespace (-1: in our own). The error is one line.
[[nodiscard]] std::expected<void, std::string> add_reference_agent(WorkerSetup& setup,
                                                                   const Options& options,
                                                                   int network_namespace);
/// Our own programs: next to this one in the build tree, or else by name.
[[nodiscard]] std::string agent_program();
[[nodiscard]] std::string launcher_program();
[[nodiscard]] std::string dat_cases_program();
[[nodiscard]] unsigned processors();
/// Most cases wait most of the time, so there are more workers than processors.
[[nodiscard]] unsigned reference_jobs();

}  // namespace suite::runner
