// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One side of a test bed: its addresses, and the network namespace in which its sockets are opened.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"
#include "reference_rnic/llp/tcp_network.hpp"
#include "suite/runner/worker_messages.hpp"

namespace suite::runner {

struct TestHost {
  base::FileDescriptor network_namespace;
  rnic::llp::TcpHost tcp;
};

/// The further addresses of a host. The error is one line.
[[nodiscard]] std::expected<std::vector<base::Address>, std::string> further_addresses(
    const HostSetup& words);
/// Made according to the parent's setup. The error is one line.
[[nodiscard]] std::expected<TestHost, std::string> make_test_host(const HostSetup& words);

}  // namespace suite::runner
