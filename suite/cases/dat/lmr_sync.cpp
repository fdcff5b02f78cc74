// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Synchronization of local memory regions: dat_lmr_sync_rdma_read, dat_lmr_sync_rdma_write.
#include "suite/cases/dat/framework/dat_handle_cases.hpp"

namespace suite::cases::dat {

namespace {

using Sync = DAT_RETURN (*)(DAT_IA_HANDLE, const DAT_LMR_TRIPLET*, DAT_VLEN);

void expect_syncs(DatBody& body, Sync sync) {
  const Pz first = body.ia().pz(), second = body.ia().pz();
  const Lmr one(body.ia(), first.get(), 64), other(body.ia(), second.get(), 64);
  const DAT_LMR_TRIPLET segments[] = {one.triplet(), other.triplet(63, 1), one.triplet(0, 0)};
  const DAT_IA_HANDLE ia = body.ia().get();
  body.row("three segments of two zones",
           [&] { body.expect(CALL(sync, ia, segments, 3), succeeds); });
  body.row("one", [&] { body.expect(CALL(sync, ia, segments, 1), succeeds); });
  body.row("none", [&] { body.expect(CALL(sync, ia, nullptr, 0), succeeds); });
}

void expect_sync_refusals(DatBody& body, Sync sync) {
  const Pz pz = body.ia().pz();
  const Lmr region(body.ia(), pz.get(), 64);
  DAT_LMR_TRIPLET beyond = region.triplet(), before = region.triplet(0, 8),
                  unknown = region.triplet();
  beyond.segment_length += 1;
  before.virtual_address -= 1;
  unknown.lmr_context ^= 0x5A5A00;
  const DAT_IA_HANDLE ia = body.ia().get();
  const auto refused = [&](const char* name, const DAT_LMR_TRIPLET& segment) {
    body.row(name, [&] {
      const DAT_LMR_TRIPLET segments[] = {region.triplet(), segment};
      body.expect(CALL(sync, ia, segments, 2), returns(DAT_INVALID_PARAMETER));
    });
  };
  refused("an octet beyond the region", beyond);
  refused("an octet before the region", before);
  refused("a context of no region", unknown);
}

void expect_refusal_of_no_segments(DatBody& body, Sync sync) {
  body.expect(CALL(sync, body.ia().get(), nullptr, 1), returns(DAT_INVALID_PARAMETER));
}

}  // namespace

DAT_CASE(segments_are_synchronized_for_reads, calls(dat_lmr_sync_rdma_read),
         rules("dat.lmr-sync-rdma-read.success")) {
  expect_syncs(*this, dat_lmr_sync_rdma_read);
}

DAT_CASE(segments_outside_regions_are_not_synchronized_for_reads, calls(dat_lmr_sync_rdma_read),
         rules("dat.lmr-sync-rdma-read.invalid-parameter")) {
  expect_sync_refusals(*this, dat_lmr_sync_rdma_read);
}

DAT_CASE(segments_that_are_not_there_are_not_synchronized_for_reads, calls(dat_lmr_sync_rdma_read),
         rules("dat.lmr-sync-rdma-read.invalid-parameter"), with_hostile_handles) {
  expect_refusal_of_no_segments(*this, dat_lmr_sync_rdma_read);
}

DAT_CASE(synchronization_for_reads_with_an_invalid_ia_is_refused, calls(dat_lmr_sync_rdma_read),
         rules("dat.lmr-sync-rdma-read.invalid-handle")) {
  const Pz pz = ia().pz();
  const Lmr region(ia(), pz.get(), 64);
  const DAT_LMR_TRIPLET segment = region.triplet();
  expect_refusal_of_no_ia(*this, [&](DAT_IA_HANDLE handle) {
    return CALL(dat_lmr_sync_rdma_read, handle, &segment, 1);
  });
}

DAT_CASE(segments_are_synchronized_for_writes, calls(dat_lmr_sync_rdma_write),
         rules("dat.lmr-sync-rdma-write.success")) {
  expect_syncs(*this, dat_lmr_sync_rdma_write);
}

DAT_CASE(segments_outside_regions_are_not_synchronized_for_writes, calls(dat_lmr_sync_rdma_write),
         rules("dat.lmr-sync-rdma-write.invalid-parameter")) {
  expect_sync_refusals(*this, dat_lmr_sync_rdma_write);
}

DAT_CASE(segments_that_are_not_there_are_not_synchronized_for_writes,
         calls(dat_lmr_sync_rdma_write), rules("dat.lmr-sync-rdma-write.invalid-parameter"),
         with_hostile_handles) {
  expect_refusal_of_no_segments(*this, dat_lmr_sync_rdma_write);
}

DAT_CASE(synchronization_for_writes_with_an_invalid_ia_is_refused, calls(dat_lmr_sync_rdma_write),
         rules("dat.lmr-sync-rdma-write.invalid-handle")) {
  const Pz pz = ia().pz();
  const Lmr region(ia(), pz.get(), 64);
  const DAT_LMR_TRIPLET segment = region.triplet();
  expect_refusal_of_no_ia(*this, [&](DAT_IA_HANDLE handle) {
    return CALL(dat_lmr_sync_rdma_write, handle, &segment, 1);
  });
}

DAT_CASES_OF_PART(lmr, sync)

}  // namespace suite::cases::dat
