// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The ports of an RDMA device, and the network interface of each, as their host reports them.
#pragma once

#include <string>
#include <vector>

#include "suite/doctor/system.hpp"
#include "suite/results/record.hpp"

namespace suite::doctor {

/// What the port says of itself: `4: ACTIVE`.
[[nodiscard]] bool is_active(const results::PortRecord& port);

/// Every port of the device, in their order; none if the host has no such device. One question to
/// the host, whatever the number of ports.
[[nodiscard]] std::vector<results::PortRecord> ports_of(const std::string& device,
                                                        const System& host);

}  // namespace suite::doctor
