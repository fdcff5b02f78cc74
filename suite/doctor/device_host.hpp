// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the host of an RDMA device must have, whether it is this host or another: the device and its
// link, the right to use it, memory that may be locked, and the addresses at which it is tested.
#pragma once

#include <string>
#include <vector>

#include "suite/doctor/finding.hpp"
#include "suite/doctor/system.hpp"

namespace suite::doctor {

/// `device`: its RDMA name, e.g. cxgb4_0.
[[nodiscard]] std::vector<Finding> examine_device(const std::string& device, const System& host);

/// Whether each address is one of the host, and of the network interface of the device. `device` is
/// empty if only its provider knows it.
[[nodiscard]] std::vector<Finding> examine_addresses(const std::vector<std::string>& addresses,
                                                     const std::string& device, const System& host);

}  // namespace suite::doctor
