// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 sections 5.4, 6.2.1 and 7: what happens to a stream, its work and its messages after an
// error.
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/long_work.hpp"
#include "suite/cases/rdmap/error_steps.hpp"

namespace suite::cases {

CONFORMANCE_CASE(terminate_is_sent_before_waiting_messages,
                 rules("rdmap.error.terminate-sent-promptly"), in_both_roles) {
  see_iut_send();
  peer.stall();
  const Work under_way = post_much(iut);
  std::vector<Work> waiting;
  for (std::uint8_t i = 0; i < 8; ++i) waiting.push_back(iut.post_send(payload(16, i)));
  peer.send(send_message(payload(1)).with_queue(7));
  watch();
  peer.resume();
  // The message in transmission arrives first, whole or in part.
  const Arrival first = peer.raw().next(context().deadline);
  if (first.message(Opcode::send) == nullptr) peer.raw().put_back(first);
  expect(peer, any_terminate() | advisory(torn_down()));
}

CONFORMANCE_CASE(nothing_follows_a_terminate, rules("rdmap.terminate.nothing-sent-after")) {
  const Region region = iut.register_memory(100, access::remote_write);
  peer.send(rdma_write(region.stag, region.base + 90, payload(33)));
  if (expect(peer, any_terminate() | advisory(torn_down())).is_end()) return;
  expect(peer, torn_down() | silence());
}

CONFORMANCE_CASE(stream_ends_gracefully_after_a_terminate,
                 rules("rdmap.terminate.graceful-llp-teardown", "rdmap.stream.connection-torn-down",
                       "rdmap.error.streams-terminated", "rdmap.terminate.sent-on-rdmap-error")) {
  peer.send(send_message(payload(16)).with_opcode(0xF).with_queue(0));
  const Arrival arrival =
      expect(peer, any_terminate() | torn_down(), "rdmap.error.streams-terminated");
  // Torn down without a Terminate: docs/disputes.md D7.
  advise_that(!arrival.is_end(), "a Terminate", arrival.text(),
              "rdmap.terminate.sent-on-rdmap-error");
  if (!arrival.is_end()) expect_teardown(peer.raw());
}

CONFORMANCE_CASE(nothing_after_an_error_takes_effect,
                 rules("ddp.terminate.later-segments-dropped")) {
  const Region region = iut.register_memory(100, access::remote_write);
  peer.send_together({rdma_write(region.stag, region.base + 90, payload(33)),
                      rdma_write(region.stag, region.base, payload(10))});
  watch();
  expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "memory changed",
              "ddp.terminate.later-segments-dropped");
}

CONFORMANCE_CASE(message_after_an_error_is_not_delivered,
                 rules("ddp.terminate.later-segments-dropped", "rdmap.error.streams-terminated"),
                 in_both_roles) {
  const Work receive = iut.post_receive(64);
  peer.send_together({bad_write(), send_message(payload(16))});
  expect(peer, any_terminate() | torn_down(), "rdmap.error.streams-terminated");
  expect(receive, flushed());
}

CONFORMANCE_CASE(connection_is_closed_after_an_error, rules("rdmap.error.streams-terminated")) {
  const Region region = iut.register_memory(100, access::remote_write);
  peer.send(rdma_write(region.stag, region.base + 90, payload(33)));
  if (expect(peer, any_terminate() | torn_down()).is_end()) return;
  peer.half_close();
  expect(peer, torn_down());
}

CONFORMANCE_CASE(consumer_learns_of_an_error,
                 rules("rdmap.error.local-ulp-informed", "ddp.close.invalid-header-indicated",
                       "rdmap.terminate.outstanding-completed-in-error",
                       "rdmap.error.streams-terminated")) {
  const auto learns_of = [&](const Outgoing& message, RuleRef rule) {
    const Work receive = iut.post_receive(64);
    peer.send(message);
    expect(peer, any_terminate() | torn_down(), "rdmap.error.streams-terminated");
    expect(iut, or_at_least(asynchronous_error(), disconnected()), rule);
    expect(receive, flushed(), "rdmap.terminate.outstanding-completed-in-error");
  };
  row("a Write out of bounds", [&] {
    const Region region = iut.register_memory(100, access::remote_write);
    learns_of(rdma_write(region.stag, region.base + 90, payload(33)),
              "rdmap.error.local-ulp-informed");
  });
  row("a DDP header with an invalid field", [&] {
    learns_of(send_message(payload(8)).with_ddp_version(3), "ddp.close.invalid-header-indicated");
  });
}

CONFORMANCE_CASE(posted_work_is_flushed_by_an_error,
                 rules("rdmap.terminate.pending-completed-in-error")) {
  let_iut_send();
  const Work read = iut.post_read(8, 0x01020304, 0);
  const Work send =
      iut.post_send(payload(8), operation::send, [](iut::PostWork& work) { work.fence = true; });
  static_cast<void>(expect_message(Opcode::read_request));
  peer.send(bad_write());
  expect(read, completes_in_error());
  expect(send, completes_in_error());
}

// An API may look at the buffer before the work is posted, when its message is made, or for a Read
// when the Response comes.
CONFORMANCE_CASE(work_whose_buffer_is_not_all_registered_is_an_error,
                 rules("rdmap.error.local-error-terminate"), in_both_roles) {
  const auto refused = [&](const char* operation, Opcode opcode, std::uint64_t from,
                           std::uint32_t length) {
    row(fmt::format("{} of {} octets from {} on", operation, length, from), [&] {
      see_iut_send();
      const Region buffer = iut.register_memory(64, access::remote_write);
      iut::PostWork command = work_on(buffer, operation, iut.endpoint());
      command.pieces = {{buffer.handle, from, length}};
      command.remote_stag = unknown_stag;
      const Attempt attempt = iut.try_post(command);
      if (!attempt.taken())
        return expect_that(true, "refused, or an error", "refused: " + attempt.reply.error);
      expect(peer, any_terminate() | advisory(torn_down() | message(opcode)));
    });
  };
  const std::pair<const char*, Opcode> kinds[] = {{operation::send, Opcode::send},
                                                  {operation::write, Opcode::rdma_write},
                                                  {operation::read, Opcode::read_request}};
  for (const auto& [operation, opcode] : kinds) {
    refused(operation, opcode, 0, 65);
    refused(operation, opcode, 63, 2);
    refused(operation, opcode, 64, 1);
  }
}

CONFORMANCE_CASE(nothing_follows_a_terminate_of_any_layer,
                 rules("rdmap.terminate.nothing-sent-after",
                       "rdmap.error.incoming-message-terminate",
                       "rdmap.terminate.pending-completed-in-error"),
                 in_both_roles) {
  const auto last_words = [&](const std::function<void()>& offend) {
    establish({.parameters = {.private_data = {}, .ird = 4, .ord = 1}});
    see_iut_send();
    // Work and Responses are waiting when the error is found.
    const Work read = iut.post_read(8, unknown_stag, 0);
    static_cast<void>(expect_message(Opcode::read_request));
    const Work fenced =
        iut.post_send(payload(8), operation::send, [](iut::PostWork& work) { work.fence = true; });
    offend();
    const Arrival arrival = expect(peer, any_terminate() | advisory(torn_down()),
                                   "rdmap.error.incoming-message-terminate");
    if (!arrival.is_end()) expect_teardown(peer.raw());
    expect(fenced, completes_in_error(), "rdmap.terminate.pending-completed-in-error");
  };
  row("RDMAP", [&] { last_words([&] { peer.send(read_of(unknown_stag, 0, 8)); }); });
  row("DDP, tagged",
      [&] { last_words([&] { peer.send(rdma_write(unknown_stag, 0, payload(8))); }); });
  row("DDP, untagged",
      [&] { last_words([&] { peer.send(send_message(payload(8)).with_queue(7)); }); });
  row("an error after an error", [&] {
    last_words([&] {
      peer.send_together({rdma_write(unknown_stag, 0, payload(8)), read_of(unknown_stag, 0, 8),
                          send_message(payload(8)).with_queue(7)});
    });
  });
}

CONFORMANCE_CASE(first_of_several_errors_is_reported, rules("rdmap.error.first-error-captured"),
                 in_both_roles) {
  const Region region = iut.register_memory(16, access::remote_write);
  see_iut_send();
  peer.send_together(
      {rdma_write(region.stag, region.base + 9, payload(8)), send_message(payload(1)).with_queue(9),
       rdma_write(unknown_stag, 0, payload(1)), send_message(payload(1)).with_rdmap_version(3)});
  expect(peer, terminate(cause::ddp_tagged_base_or_bounds));
}

CASES_OF_FILE(rdmap, stream_after_error)

}  // namespace suite::cases
