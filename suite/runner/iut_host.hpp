// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The host of an IUT that the suite has not made: what can be asked of it.
#pragma once

#include <optional>
#include <vector>

#include "suite/doctor/remote_system.hpp"
#include "suite/results/record.hpp"
#include "suite/runner/options.hpp"

namespace suite::runner {

/// The other host on which the agent runs, if programs can be started there; nothing: it runs here,
/// or nobody knows where.
[[nodiscard]] std::optional<doctor::RemoteSystem> other_host_of(const IutChoice& choice);

/// Every port of the RDMA device; none if the IUT is none, or its host does not answer.
[[nodiscard]] std::vector<results::PortRecord> ports_of_iut(const IutChoice& choice);

}  // namespace suite::runner
