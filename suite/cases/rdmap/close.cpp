// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 6, RFC 5041 section 6, RFC 5044 section 7.2: how a stream ends.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(fin_of_the_peer_is_told_to_the_consumer,
                 rules("mpa.close.graceful-close-indicated"), in_both_roles, over_both_families) {
  establish();
  peer.half_close();
  expect(iut, disconnected());
}

CONFORMANCE_CASE(reset_of_the_peer_is_told_to_the_consumer, rules("ddp.close.llp-lost-indicated"),
                 in_both_roles) {
  establish();
  peer.reset();
  expect(iut, disconnected());
}

CONFORMANCE_CASE(work_is_completed_in_error_when_the_llp_is_lost,
                 rules("ddp.close.outstanding-requests-fail"), in_both_roles) {
  let_iut_send();
  const Work receive = iut.post_receive(64);
  const Work read = iut.post_read(8, 0x01020304, 0);
  static_cast<void>(expect_message(Opcode::read_request));
  peer.reset();
  expect(receive, completes_in_error());
  expect(read, completes_in_error());
}

CONFORMANCE_CASE(fin_within_an_fpdu_ends_the_stream, rules("mpa.terminate.tcp-loss-detected")) {
  const Work receive = iut.post_receive(64);
  establish();
  const Fpdu fpdu = peer.prepare(send_message(payload(32))).front();
  const Octets whole = encode(fpdu, peer.raw().sending());
  peer.send_octets(std::span(whole).first(20));
  peer.half_close();
  expect(receive, completes_in_error());
  expect(iut, disconnected());
}

CONFORMANCE_CASE(graceful_disconnect_sends_what_was_posted,
                 rules("ddp.close.graceful-sends-pending-data"), in_both_roles) {
  let_iut_send();
  const Work send = iut.post_send(payload(20000));
  iut.disconnect();
  expect(peer, message(Opcode::send, payload(20000)));
  expect(peer, torn_down());
  expect(send, completes());
}

CONFORMANCE_CASE(graceful_disconnect_ends_with_a_fin, rules("ddp.close.half-closed-close-graceful"),
                 in_both_roles) {
  let_iut_send();
  iut.disconnect();
  expect(peer, fin() | advisory(connection_reset()));
}

CONFORMANCE_CASE(abortive_disconnect_ends_the_connection,
                 rules("rdmap.stream.connection-torn-down"), in_both_roles) {
  let_iut_send();
  iut.disconnect(true);
  expect(peer, any_terminate() | torn_down());
}

CASES_OF_FILE(rdmap, close)

}  // namespace suite::cases
