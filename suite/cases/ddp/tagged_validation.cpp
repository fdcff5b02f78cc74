// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5041 section 7: what the Data Sink checks of a tagged segment, and the Terminate that
// follows.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(write_beyond_bounds_is_terminated, rules("ddp.terminate.tagged-base-or-bounds"),
                 in_both_roles) {
  const Region region = iut.register_memory(4096, access::remote_write);
  peer.send(rdma_write(region.stag, region.base + 4090, payload(16)));
  expect(peer, terminate(cause::ddp_tagged_base_or_bounds), then_close);
  expect(region, unchanged);
}

CASES_OF_FILE(ddp, tagged_validation)

}  // namespace suite::cases
