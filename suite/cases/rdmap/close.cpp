// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 6.2, RFC 5041 section 6.2 and RFC 5044 section 7.2: how a stream ends without an
// error, and with a lost LLP.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(peer_close_is_told_to_the_consumer,
                 rules("mpa.close.graceful-close-indicated",
                       "mpa.close.tcp-half-close-ends-mpa-half"),
                 in_both_roles) {
  const Work receive = iut.post_receive(64);
  peer.send(send_message(payload(4)));
  peer.half_close();
  expect(receive, completes().with_length(4));
  expect(iut, disconnected());
}

CONFORMANCE_CASE(consumer_close_is_a_fin,
                 rules("ddp.close.half-closed-close-graceful",
                       "ddp.close.graceful-sends-pending-data"),
                 in_both_roles) {
  let_iut_send();
  const Work first = iut.post_send(payload(4));
  expect(peer, message(Opcode::send, payload(4)),
         "ddp.close.graceful-sends-pending-data");  // now it is free to send
  const Work work = iut.post_send(payload(20000));
  iut.disconnect();
  expect(peer, message(Opcode::send, payload(20000)), "ddp.close.graceful-sends-pending-data");
  const Arrival arrival =
      expect(peer, fin() | advisory(connection_reset()), "ddp.close.half-closed-close-graceful");
  expect(work, completes(), "ddp.close.graceful-sends-pending-data");
  peer.half_close();
  expect(iut, disconnected());
}

CONFORMANCE_CASE(receives_left_at_a_close_are_flushed, rules("ddp.close.outstanding-requests-fail"),
                 in_both_roles) {
  const Work first = iut.post_receive(64), second = iut.post_receive(64);
  static_cast<void>(peer.ready());
  peer.reset();
  expect(first, flushed());
  expect(second, flushed());
}

CONFORMANCE_CASE(sends_left_at_a_close_are_flushed, rules("ddp.close.outstanding-requests-fail")) {
  let_iut_send();
  const Work read = iut.post_read(8, 0x77, 0x1000);
  expect(peer, message(Opcode::read_request));
  peer.reset();
  expect(read, completes_in_error());
}

CONFORMANCE_CASE(lost_connection_is_told_to_the_consumer,
                 rules("ddp.close.llp-lost-indicated", "mpa.terminate.tcp-loss-detected")) {
  static_cast<void>(peer.ready());
  peer.reset();
  expect(iut, or_at_least(asynchronous("qp_fatal"), disconnected()));
}

CONFORMANCE_CASE(fin_within_an_fpdu_is_a_loss, rules("mpa.terminate.tcp-loss-detected")) {
  const Work receive = iut.post_receive(64);
  const Octets fpdu = encode(peer.prepare(send_message(payload(16))).front(), peer.raw().sending());
  peer.send_octets(rnic::wire::Bytes(fpdu).first(fpdu.size() / 2));
  peer.half_close();
  expect(receive, flushed());
  expect(iut, or_at_least(asynchronous("qp_fatal"), disconnected()));
}

CONFORMANCE_CASE(abortive_disconnect_ends_the_connection,
                 rules("rdmap.stream.connection-torn-down"), in_both_roles) {
  let_iut_send();
  iut.disconnect(true);
  expect(peer, any_terminate() | torn_down());
}

CASES_OF_FILE(rdmap, close)

}  // namespace suite::cases
