// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 sections 4.4 and 7.1.1: when CRCs are in use,
// how they are computed, and what follows a wrong one.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(crcs_are_sent_if_either_side_asks,
                 rules("mpa.crc.generated-when-either-c-one", "mpa.crc.field-holds-crc32c",
                       "mpa.crc.crc32c-as-in-iscsi", "mpa.crc.covers-length-to-pad",
                       "mpa.framing.pad-checked-by-crc")) {
  for (const bool asked : {true, false}) {
    row(asked ? "both ask" : "the IUT asks", [&] {
      establish({.request = mpa_request().with_crc(asked)});
      let_iut_send();
      for (const std::size_t size : {0, 1, 2, 3, 100}) {
        const Work work = iut.post_send(payload(size));
        expect(peer, message(Opcode::send, payload(size)));
      }
    });
  }
}

CONFORMANCE_CASE(crcs_are_sent_if_only_the_peer_asks,
                 rules("mpa.crc.generated-when-peer-requires",
                       "mpa.crc.generated-when-either-c-one"),
                 configured({.crc = false})) {
  establish({.request = mpa_request().with_crc(true)});
  let_iut_send();
  const Work work = iut.post_send(payload(30));
  expect(peer, message(Opcode::send, payload(30)));
}

CONFORMANCE_CASE(wrong_crc_is_noticed_whoever_asked_for_crcs,
                 rules("mpa.crc.checked-when-either-c-one", "mpa.crc.mismatch-invalidates-fpdu",
                       "mpa.terminate.crc-error-detected")) {
  for (const bool asked : {true, false}) {
    row(asked ? "both ask" : "the IUT asks", [&] {
      establish({.request = mpa_request().with_crc(asked)});
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(16)).with_crc(CrcChoice::wrong));
      watch();
      expect_none(success_of(receive), "mpa.crc.checked-when-either-c-one");
    });
  }
}

CONFORMANCE_CASE(fpdu_with_a_wrong_crc_changes_nothing,
                 rules("mpa.crc.mismatch-invalidates-fpdu", "mpa.receive.fpdu-verified-before-ddp"),
                 rules("mpa.receive.crc-verified-before-ddp"), in_both_roles) {
  const Region region = iut.register_memory(4096, access::remote_write);
  peer.send(rdma_write(region.stag, region.base, payload(1000)).with_crc(CrcChoice::wrong));
  watch();
  expect(region, unchanged);
}

CONFORMANCE_CASE(nothing_is_placed_before_the_crc_is_checked,
                 rules("mpa.receive.fpdu-verified-before-ddp")) {
  const Region region = iut.register_memory(4096, access::remote_write);
  auto fpdu = peer.prepare(rdma_write(region.stag, region.base, payload(1000))).front();
  fpdu.change_after_crc = [](rnic::wire::MutableBytes octets) { octets[500] ^= std::byte{0x10}; };
  peer.send(fpdu);
  watch();
  expect(region, unchanged);
}

CONFORMANCE_CASE(bad_crc_is_reported_as_such,
                 rules("mpa.terminate.crc-error-code", "mpa.close.mpa-keeps-tcp-after-error")) {
  const Region region = iut.register_memory(4096, access::remote_write);
  expect_still_working();  // a Responder may send a Terminate only after a valid FPDU
  peer.send(rdma_write(region.stag, region.base, payload(100)).with_crc(CrcChoice::wrong));
  // A silent drop is lawful too (docs/disputes.md D8).
  expect(peer, terminate(cause::mpa_crc) | silence());
}

CONFORMANCE_CASE(nothing_behind_a_bad_crc_is_taken,
                 rules("mpa.terminate.nothing-passed-after-error")) {
  const Region region = iut.register_memory(4096, access::remote_write);
  std::vector<Fpdu> both =
      peer.prepare(rdma_write(region.stag, region.base, payload(100)).with_crc(CrcChoice::wrong));
  both.push_back(peer.prepare(rdma_write(region.stag, region.base + 1000, payload(100))).front());
  peer.send(both);
  watch();
  expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "memory changed");
}

CONFORMANCE_CASE(without_crcs_the_field_is_there_and_not_looked_at,
                 rules("mpa.crc.field-unchecked-when-disabled", "mpa.crc.disabled-only-by-both"),
                 rules("mpa.crc.unchecked-when-both-c-zero"), configured({.crc = false})) {
  establish({.request = mpa_request().with_crc(false)});
  const Region region = iut.register_memory(4096, access::remote_write);
  peer.send(rdma_write(region.stag, region.base, payload(100)).with_crc(CrcChoice::wrong));
  expect(region, holds(payload(100)), "mpa.crc.field-unchecked-when-disabled");
}

CONFORMANCE_CASE(without_crcs_the_field_is_still_sent,
                 rules("mpa.crc.field-present-when-disabled", "mpa.crc.field-always-included"),
                 configured({.crc = false})) {
  establish({.request = mpa_request().with_crc(false)});
  let_iut_send();
  for (const std::size_t size : {3, 30}) {
    const Work work = iut.post_send(payload(size));
    expect(peer, message(Opcode::send, payload(size)));
  }
}

CASES_OF_FILE(mpa, crc)

}  // namespace suite::cases
