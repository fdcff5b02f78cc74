// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An iWARP device of libibverbs: how it is found and opened, and what it is and can do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "suite/iut/messages.hpp"
#include "suite/upper_tester/start_driver.hpp"
#include "suite/upper_tester/verbs/handles.hpp"

namespace suite::upper_tester::verbs {

struct Device {
  Context context;
  CompletionQueue placeholder;  ///< of a device that needs one before all other queues
  std::string name;
  ibv_device_attr attributes{};
};

/// Opens the device of this name, or the only iWARP device if the name is empty. On failure
/// `error` says in one line what is missing and what to do.
[[nodiscard]] Device open_device(const std::string& name, std::string& error);

constexpr std::uint32_t soft_iwarp = 0x626d74;  ///< vendor

/// What the hello says of a device, also of one that a kernel consumer drives.
[[nodiscard]] std::string device_text(const std::string& name, std::uint32_t vendor,
                                      std::uint32_t part, std::uint32_t revision);
/// The version of the driver's module or, where it has none, the checksum of its source.
[[nodiscard]] std::string driver_version(const std::string& device, std::uint32_t vendor);
[[nodiscard]] bool has_ipv6(const std::vector<std::string>& addresses);

/// What the device can do, according to its attributes and the user's claims.
[[nodiscard]] std::vector<std::string> capabilities(const ibv_device_attr& attributes,
                                                    const DriverOptions& options);
[[nodiscard]] iut::Hello describe(const Device& device, const DriverOptions& options);

}  // namespace suite::upper_tester::verbs
