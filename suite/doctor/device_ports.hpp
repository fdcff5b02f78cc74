// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The ports of an RDMA device, and the network interface of each, as their host reports them.
#pragma once

#include <string>
#include <vector>

#include "suite/doctor/system.hpp"

namespace suite::doctor {

struct DevicePort {
  unsigned number = 0;  ///< from 1
  std::string state;    ///< as sysfs has it: `4: ACTIVE`
  std::string rate;     ///< `100 Gb/sec (4X EDR)`
  std::vector<std::string> gids;
  std::string interface;                         ///< empty: neither iproute2 nor sysfs shows it
  unsigned speed = 0;                            ///< of the interface, in Mb/s; 0: not known
  unsigned mtu = 0;                              ///< of the interface; 0: not known
  std::string driver, driver_version, firmware;  ///< of the interface
  std::vector<std::string> offloads;             ///< those that are on, as `ethtool -K` names them

  [[nodiscard]] bool active() const { return state.find("ACTIVE") != std::string::npos; }
};

/// Every port of the device, in their order; none if the host has no such device. One question to
/// the host, whatever the number of ports.
[[nodiscard]] std::vector<DevicePort> ports_of(const std::string& device, const System& host);

}  // namespace suite::doctor
