// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A test bed whose IUT is reached through an agent, which is started when it is first needed and
// restarted after it has ended unexpectedly.
#pragma once

#include "suite/runner/test_bed.hpp"
#include "suite/runner/test_host.hpp"

namespace suite::runner {

[[nodiscard]] std::unique_ptr<TestBed> make_agent_test_bed(TestHost tester, base::Address iut_ipv4,
                                                           base::Address iut_ipv6,
                                                           const WorkerSetup& setup);

}  // namespace suite::runner
