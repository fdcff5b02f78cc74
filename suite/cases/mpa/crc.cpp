// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 sections 4.4 and 7.1.1: when CRCs are in use,
// how they are computed, and what follows a wrong one.
#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

/// CRCs are in use unless neither side asks for them: if the tester has not asked, the IUT's C
/// decides (RFC 5044 section 7.1.1). mpa.startup_responder judges that the IUT asks.
void need_crcs(Body& test, bool asked) {
  const auto& reply = test.peer.raw().received_frame();
  if (!asked && reply && !reply->frame().flags.crc())
    test.stop(Verdict::not_applicable, "neither side asks for CRCs");
}

/// Positive control, in a row of its own: where neither side asks for CRCs, and the field holds the
/// right one, the IUT takes two Sends of the tester, and one of its own follows. An IUT that does
/// not know the field breaks other rules (without_crcs_the_field_is_...).
bool sends_follow_without_crcs(Body& test) {
  bool follow = false;
  test.row("positive control", [&] {
    test.establish({.request = mpa_request().with_crc(false)});
    const Work first = test.iut.post_receive(16), second = test.iut.post_receive(16);
    for (int i = 0; i < 2; ++i)
      test.peer.send(send_message(payload(16)).with_crc(CrcChoice::right));
    static_cast<void>(test.iut.post_send(payload(16)));
    const Arrival arrival = test.peer.raw().next(test.context().deadline);
    follow = arrival.message(Opcode::send) != nullptr &&
             test.iut.take(success_of(second).matches, test.context().deadline);
    if (!follow)
      test.stop(Verdict::inconclusive,
                "without CRCs Sends are not exchanged where the field is right either: " +
                    arrival.text());
    test.expect(first, completes().with_length(16));
  });
  return follow;
}

}  // namespace

CONFORMANCE_CASE(crcs_are_sent_if_either_side_asks,
                 rules("mpa.crc.generated-when-either-c-one", "mpa.crc.field-holds-crc32c",
                       "mpa.crc.crc32c-as-in-iscsi", "mpa.crc.covers-length-to-pad",
                       "mpa.framing.pad-checked-by-crc")) {
  for (const bool asked : {true, false}) {
    row(asked ? "both ask" : "the IUT asks", [&] {
      establish({.request = mpa_request().with_crc(asked)});
      need_crcs(*this, asked);
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

CONFORMANCE_CASE(wrong_crc_is_detected_whoever_asked_for_crcs,
                 rules("mpa.crc.checked-when-either-c-one", "mpa.crc.disabled-only-by-both")) {
  for (const bool asked : {true, false}) {
    row(asked ? "both ask" : "the IUT asks", [&] {
      establish({.request = mpa_request().with_crc(asked)});
      need_crcs(*this, asked);
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(16)).with_crc(CrcChoice::wrong));
      watch_refused_fpdu();
      expect_none(success_of(receive), asked ? RuleRef("mpa.crc.checked-when-either-c-one")
                                             : RuleRef("mpa.crc.disabled-only-by-both"));
    });
  }
}

CONFORMANCE_CASE(fpdu_with_a_wrong_crc_changes_nothing, rules("mpa.crc.mismatch-invalidates-fpdu"),
                 in_both_roles) {
  const Region region = iut.register_memory(4096, access::remote_write);
  peer.send(rdma_write(region.stag, region.base, payload(1000)).with_crc(CrcChoice::wrong));
  watch_refused_fpdu();
  expect(region, unchanged);
}

CONFORMANCE_CASE(nothing_is_placed_before_the_crc_is_checked,
                 rules("mpa.receive.fpdu-verified-before-ddp")) {
  const Region region = iut.register_memory(4096, access::remote_write);
  auto fpdu = peer.prepare(rdma_write(region.stag, region.base, payload(1000))).front();
  fpdu.change_after_crc = [](rnic::wire::MutableBytes octets) {
    octets[octets.size() / 2] ^= std::byte{0x10};
  };
  peer.send(fpdu);
  watch_refused_fpdu();
  expect(region, unchanged);
}

CONFORMANCE_CASE(bad_crc_is_reported_as_such,
                 rules("mpa.terminate.crc-error-code", "mpa.terminate.crc-error-detected",
                       "mpa.close.mpa-keeps-tcp-after-error",
                       "rdmap.terminate.sent-on-llp-error")) {
  const Region region = iut.register_memory(4096, access::remote_write);
  expect_still_working();  // a Responder may send a Terminate only after a valid FPDU
  peer.send(rdma_write(region.stag, region.base, payload(100)).with_crc(CrcChoice::wrong));
  const Arrival arrival =
      expect_unless_dropped(any_terminate() | torn_down(), "mpa.terminate.crc-error-detected");
  if (arrival.as<Nothing>() != nullptr) return;
  // A close may be the ULP's (docs/disputes.md D7). After a reset no Terminate can be sent.
  advise_that(connection_reset().judge(arrival) != Judgement::pass,
              "the connection left to the ULP", arrival.text(),
              "mpa.close.mpa-keeps-tcp-after-error");
  const auto told = arrival.terminate();
  advise_that(told.has_value(), "a Terminate", arrival.text(), "rdmap.terminate.sent-on-llp-error");
  if (told)
    expect_that(told->cause == cause::mpa_crc, rnic::wire::describe(cause::mpa_crc),
                arrival.text());
}

CONFORMANCE_CASE(nothing_after_a_bad_crc_is_accepted,
                 rules("mpa.terminate.nothing-passed-after-error")) {
  const Region region = iut.register_memory(4096, access::remote_write);
  std::vector<Fpdu> both =
      peer.prepare(rdma_write(region.stag, region.base, payload(100)).with_crc(CrcChoice::wrong));
  both.push_back(peer.prepare(rdma_write(region.stag, region.base + 1000, payload(100))).front());
  peer.send(both);
  watch();
  // The octets of the bad FPDU itself are judged under another rule.
  const Octets seen = part_of(iut.read_memory(region), 1000, 100);
  expect_that(seen == part_of(region.contents, 1000, 100), "memory of the second Write unchanged",
              rnic::wire::hex(seen, 16));
}

CONFORMANCE_CASE(without_crcs_the_field_is_present_and_not_checked,
                 rules("mpa.crc.field-unchecked-when-disabled",
                       "mpa.receive.boundaries-by-length-field"),
                 configured({.crc = false})) {
  establish({.request = mpa_request().with_crc(false)});
  const Region region = iut.register_memory(4096, access::remote_write);
  // First with a correct CRC; the next FPDU begins where the field ends.
  const Work first = iut.post_receive(16), second = iut.post_receive(16);
  for (const Work& receive : {first, second}) {
    peer.send(send_message(payload(8)).with_crc(CrcChoice::right));
    expect(receive, completes().with_length(8), "mpa.receive.boundaries-by-length-field");
  }
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

CONFORMANCE_CASE(each_octet_of_the_crc_is_checked, rules("mpa.crc.support-implemented"),
                 in_both_roles, over_both_families) {
  for (const std::size_t octet : {0, 1, 2, 3}) {
    row(fmt::format("octet {} wrong", octet), [&] {
      see_iut_send();  // with a correct CRC
      const Work receive = iut.post_receive(64);
      Fpdu fpdu = peer.prepare(send_message(payload(16))).front();
      fpdu.change_after_crc = [=](rnic::wire::MutableBytes all) {
        all[all.size() - 4 + octet] ^= std::byte{0x01};
      };
      peer.send(fpdu);
      watch_refused_fpdu();
      expect_none(success_of(receive));
    });
  }
}

CONFORMANCE_CASE(crc_that_the_peer_asks_for_is_checked_to_the_end,
                 rules("mpa.crc.checked-when-peer-requires"), configured({.crc = false}),
                 in_both_roles) {
  const auto asking = [](const rnic::wire::MpaFrame& request) {
    return mpa_reply_to(request).with_crc(true);
  };
  for (const int good : {0, 1, 20}) {
    row(fmt::format("wrong after {} good FPDUs", good), [&] {
      establish({.request = mpa_request().with_crc(true),
                 .reply = asking,
                 .opening = !iut_is_responder()});
      const Region region = iut.register_memory(64, access::remote_write);
      for (int i = 0; i < good; ++i) peer.send(rdma_write(region.stag, region.base, payload(8)));
      const Work receive = iut.post_receive(64);
      peer.send(send_message(payload(16)).with_crc(CrcChoice::wrong));
      watch_refused_fpdu();
      expect_none(success_of(receive));
    });
  }
}

CONFORMANCE_CASE(crc_that_both_decline_is_not_checked_in_the_first_fpdu_either,
                 rules("mpa.crc.checking-off-when-both-decline",
                       "mpa.crc.unused-field-counts-as-valid"),
                 configured({.crc = false}), in_both_roles) {
  if (!sends_follow_without_crcs(*this)) return;
  row("wrong value", [&] {
    const Work receive = iut.post_receive(64);
    peer.send(send_message(payload(16)).with_crc(CrcChoice::wrong));
    expect(receive, completes().with_length(16));
    // It counts as valid for a Responder that waits to send, too (RFC 5044 section 7.1.2, rule 4).
    static_cast<void>(iut.post_send(octets("freed")));
    expect(peer, message(Opcode::send, octets("freed")), "mpa.crc.unused-field-counts-as-valid");
  });
}

CONFORMANCE_CASE(consumer_sees_no_difference_between_crcs_and_none,
                 rules("mpa.crc.invisible-to-ulp"), configured({.crc = false})) {
  const bool without = sends_follow_without_crcs(*this);
  for (const bool asked : {true, false}) {
    if (!asked && !without) continue;
    row(asked ? "CRCs" : "no CRCs", [&] {
      establish({.request = mpa_request().with_crc(asked)});
      for (const std::uint32_t size : {0U, 1U, 10U, 1000U}) {
        const Work receive = iut.post_receive(2048);
        peer.send(send_message(payload(size)));
        expect(receive, completes().with_length(size));
        const Work work = iut.post_send(payload(size));
        expect(peer, message(Opcode::send, payload(size)));
        expect(work, completes());
      }
    });
  }
}

CONFORMANCE_CASE(crc_covers_all_pieces_that_are_gathered, rules("mpa.crc.field-holds-crc32c"),
                 in_both_roles) {
  let_iut_send();
  const Octets data = payload(64);
  Region source = iut.register_memory(data.size());
  iut.write_memory(source, data);
  for (const std::uint32_t first : {1U, 4U, 31U, 63U}) {
    iut::PostWork work;
    work.operation = operation::send;
    work.pieces = {{source.handle, 0, first}, {source.handle, first, 64 - first}};
    const Work sent = iut.post(work);
    expect(peer, message(Opcode::send, data));
    expect(sent, completes());
  }
}

CASES_OF_FILE(mpa, crc)

}  // namespace suite::cases
