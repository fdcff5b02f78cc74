// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A bench whose IUT stands behind an agent: started when it is first needed, restarted once it died.
#pragma once

#include "suite/runner/bench.hpp"
#include "suite/runner/bench_host.hpp"

namespace suite::runner {

[[nodiscard]] std::unique_ptr<Bench> make_agent_bench(BenchHost tester, base::Address iut_ipv4,
                                                      base::Address iut_ipv6,
                                                      const WorkerSetup& setup);

}  // namespace suite::runner
