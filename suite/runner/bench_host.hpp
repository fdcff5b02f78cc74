// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One side of a bench: its addresses, and the network namespace that its sockets are opened in.
#pragma once

#include <expected>
#include <string>

#include "base/file_descriptor.hpp"
#include "reference_rnic/llp/tcp_network.hpp"
#include "suite/runner/worker_words.hpp"

namespace suite::runner {

struct BenchHost {
  base::FileDescriptor network_namespace;
  rnic::llp::TcpHost tcp;
};

/// As the parent's words say it. The error is one line.
[[nodiscard]] std::expected<BenchHost, std::string> make_bench_host(const HostWords& words);

}  // namespace suite::runner
