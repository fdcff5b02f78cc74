// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 sections 4.8, 5.4 and 6.2.1: Terminates that the IUT receives.
#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/rdmap/error_steps.hpp"
#include "suite/cases/rdmap/terminate_matrix.hpp"

namespace suite::cases {

namespace {

/// The effect of a special Terminate can be judged only if the plain one ends a stream. The case
/// continues with a new connection.
void expect_plain_terminate_heeded(Body& test) {
  test.peer.send(terminate_message(cause::rdmap_local_catastrophic));
  test.expect_end_by_terminate("rdmap.terminate.delivered-to-rdmap");
  test.close_connections();
  test.iut.reset();
}

}  // namespace

CONFORMANCE_CASE(received_terminate_ends_the_stream,
                 rules("rdmap.terminate.delivered-to-rdmap",
                       "rdmap.terminate.outstanding-completed-in-error"),
                 in_both_roles) {
  const Work receive = iut.post_receive(64);
  peer.send(terminate_message(cause::rdmap_local_catastrophic));
  expect_end_by_terminate("rdmap.terminate.delivered-to-rdmap");
  if (peer.raw().is_open()) peer.half_close();
  expect(receive, flushed(), "rdmap.terminate.outstanding-completed-in-error");
}

CONFORMANCE_CASE(received_terminate_reaches_the_consumer,
                 rules("rdmap.terminate.delivered-to-ulp")) {
  peer.send(terminate_message(cause::rdmap_local_catastrophic));
  expect(iut, asynchronous_error());
}

CONFORMANCE_CASE(reserved_bits_of_a_terminate_are_ignored,
                 rules("rdmap.terminate.reserved-ignored", "rdmap.terminate.delivered-to-rdmap")) {
  expect_plain_terminate_heeded(*this);
  Outgoing terminate = terminate_message(cause::rdmap_local_catastrophic);
  terminate.payload[2] |= std::byte{0x1F};
  terminate.payload[3] = std::byte{0xFF};
  peer.send(terminate);
  expect_end_by_terminate();
}

CONFORMANCE_CASE(received_terminate_consumes_no_receive,
                 rules("rdmap.terminate.consumes-one-buffer", "rdmap.terminate.delivered-to-rdmap"),
                 in_both_roles) {
  const Work first = iut.post_receive(64), second = iut.post_receive(64);
  peer.send(terminate_message(cause::rdmap_operation_unspecified));
  expect_end_by_terminate("rdmap.terminate.delivered-to-rdmap");
  if (peer.raw().is_open()) peer.half_close();
  expect(first, completes_in_error());
  expect(second, completes_in_error());
  expect_that(iut.read_memory(first.buffer) == first.buffer.contents, "the buffer unchanged",
              "octets placed");
}

CONFORMANCE_CASE(terminate_is_taken_though_all_queues_are_full,
                 rules("rdmap.terminate.placement-guaranteed",
                       "rdmap.terminate.delivered-to-rdmap"),
                 in_both_roles) {
  expect_plain_terminate_heeded(*this);
  constexpr int granted = 2;
  const Region region = iut.register_memory(much_data().size(), access::remote_read);
  establish({.parameters = {.private_data = {}, .ird = granted, .ord = granted}, .opening = true});
  // No Receive is posted, and no Response can be sent, so none of the Requests is done.
  peer.stall();
  const auto length = static_cast<std::uint32_t>(region.length);
  peer.send_together(std::vector<Outgoing>(granted, read_of(region.stag, region.base, length)));
  peer.send(terminate_message(cause::rdmap_local_catastrophic));
  watch();
  peer.resume();
  watch();
  expect_end_by_terminate();
}

CONFORMANCE_CASE(invalidate_stag_of_a_terminate_is_ignored,
                 rules("rdmap.header.invalidate-stag-ignored",
                       "rdmap.terminate.delivered-to-rdmap")) {
  const Region region = iut.register_memory(64, access::remote_read);
  peer.send(terminate_message(cause::rdmap_local_catastrophic).with_ulp_word(region.stag));
  expect_end_by_terminate("rdmap.terminate.delivered-to-rdmap");
  Peer& next = another_peer();
  establish(next, {.endpoint = iut.create_endpoint(), .opening = true});
  next.send(read_of(region.stag, region.base, 8));
  expect(next, message(Opcode::read_response, part_of(region.contents, 0, 8)));
}

CONFORMANCE_CASE(malformed_terminate_ends_the_stream_too, rules("rdmap.terminate.invalid-surfaced"),
                 in_both_roles) {
  const auto take = [&](const char* name, const Outgoing& terminate) {
    row(name, [&] {
      see_iut_send();
      peer.send(terminate);
      expect(peer, stream_end());
      expect(iut, or_at_least(disconnected(), asynchronous_error()));
    });
  };
  const Outgoing good = terminate_message(cause::rdmap_operation_unspecified);
  Outgoing cut_short = good, too_long = good;
  cut_short.payload.resize(2);
  too_long.payload.resize(200);
  take("two octets", cut_short);
  take("two hundred octets", too_long);
  take("RDMAP version 3", good.with_rdmap_version(3));
  take("DDP version 2", good.with_ddp_version(2));
  take("MSN 2", good.with_msn(2));
  take("MO 4096", at_message_offset(good, 4096));
}

CONFORMANCE_CASE(local_catastrophic_error_of_any_code_is_accepted,
                 rules("rdmap.terminate.local-catastrophic-any-code",
                       "rdmap.terminate.delivered-to-rdmap"),
                 in_both_roles) {
  expect_plain_terminate_heeded(*this);
  for (const std::uint8_t code : std::initializer_list<std::uint8_t>{0, 1, 0x7F, 0xFF}) {
    row(fmt::format("code {:#04x}", code), [&] {
      const Work receive = iut.post_receive(16);
      peer.send(terminate_message({0, 0, code}));
      expect(peer, stream_end());
      if (peer.raw().is_open()) peer.half_close();
      expect(receive, completes_in_error());
    });
  }
}

CONFORMANCE_CASE(connection_may_close_immediately_after_a_terminate,
                 rules("rdmap.terminate.teardown-at-once"), in_both_roles) {
  const auto end_by = [&](const char* name, const std::function<void()>& end) {
    row(name, [&] {
      see_iut_send();
      const Work receive = iut.post_receive(16);
      peer.send(terminate_message(cause::rdmap_operation_unspecified));
      end();
      expect(receive, completes_in_error());
      expect(iut, or_at_least(disconnected(), asynchronous_error()));
    });
  };
  end_by("by a reset", [&] { peer.reset(); });
  end_by("by a FIN", [&] { peer.half_close(); });
}

CONFORMANCE_CASE(terminate_of_every_cause_ends_the_stream,
                 rules("rdmap.terminate.delivered-to-rdmap",
                       "rdmap.terminate.outstanding-completed-in-error")) {
  const auto ended = [&](const Octets& payload) {
    const Work receive = iut.post_receive(32);
    Outgoing terminate = terminate_message(cause::rdmap_local_catastrophic);
    terminate.payload = payload;
    peer.send(terminate);
    // It is not answered with another one.
    expect_end_by_terminate("rdmap.terminate.delivered-to-rdmap");
    if (peer.raw().is_open()) peer.half_close();
    expect(receive, flushed(), "rdmap.terminate.outstanding-completed-in-error");
  };
  for (const MatrixEntry& entry : terminate_matrix())
    row(rnic::wire::describe(entry.cause), [&] { ended(terminate_message(entry.cause).payload); });
  row("a local catastrophic error of any code", [&] { ended(octets({0x00, 0x7E, 0, 0})); });
  row("copied headers", [&] {
    Octets told = octets({0x11, 0x00, 0xC0, 0x00, 0x00, 0x12});
    const Octets header = part_of(peer.prepare(rdma_write(5, 6, payload(4))).front().ulpdu, 0, 14);
    told.insert(told.end(), header.begin(), header.end());
    ended(told);
  });
}

CASES_OF_FILE(rdmap, terminate_received)

}  // namespace suite::cases
