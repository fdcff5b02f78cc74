// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An RDMA device behind /dev/rnic_kagent: how it is opened, and what it is and can do.
#pragma once

#include <string>
#include <vector>

#include "suite/iut/messages.hpp"
#include "suite/upper_tester/kverbs/kernel_file.hpp"
#include "suite/upper_tester/start_driver.hpp"

namespace suite::upper_tester::kverbs {

/// Opens the module and in it the device that the options name, or the only RNIC if they name none.
/// Empty, or one line that says what is missing and what to do.
[[nodiscard]] std::string open_device(KernelFile& file, const DriverOptions& options,
                                      rnic_kagent_open& device);
[[nodiscard]] bool is_iwarp(const rnic_kagent_open& device);

/// What the kernel's consumers can do with it, and the user's claims.
[[nodiscard]] std::vector<std::string> capabilities(const rnic_kagent_open& device,
                                                    const DriverOptions& options);
[[nodiscard]] iut::Hello describe(const rnic_kagent_open& device, const DriverOptions& options);

}  // namespace suite::upper_tester::kverbs
