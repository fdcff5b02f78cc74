// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An iWARP device of libibverbs: how it is found and opened, and what it is and can do.
#pragma once

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

/// librdmacm counts private data and read depths in octets, and keeps 255 of the latter for "the
/// most there is".
constexpr int max_private_data = 255;
constexpr int max_read_depth = 254;

/// What the device can do, according to its attributes and the user's claims.
[[nodiscard]] std::vector<std::string> capabilities(const ibv_device_attr& attributes,
                                                    const DriverOptions& options);
[[nodiscard]] iut::Hello describe(const Device& device, const DriverOptions& options);

}  // namespace suite::upper_tester::verbs
