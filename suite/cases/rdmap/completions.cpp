// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 5.5 and RFC 5041 section 6.2: what the consumer learns about the work it has
// posted.
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/long_work.hpp"

namespace suite::cases {

namespace {

constexpr std::uint32_t remote_stag = 0x01020304;

}  // namespace

CONFORMANCE_CASE(each_completion_wakes_the_consumer, rules("rdmap.send.delivered-in-order"),
                 deadline_of(30s)) {
  // The next message is sent as soon as the last one has completed, so that it comes while the
  // consumer asks to be woken again.
  for (std::size_t i = 0; i < 300; ++i) {
    const Work receive = iut.post_receive(16);
    peer.send(send_message(payload(i % 16)));
    expect(receive, completes().with_length(static_cast<std::uint32_t>(i % 16)));
  }
}

CONFORMANCE_CASE(completion_names_its_operation, rules("rdmap.read.response-delivered-to-ulp"),
                 in_both_roles) {
  see_iut_send();
  const Work write = iut.post_write(payload(8), remote_stag, 0), send = iut.post_send(payload(9)),
             read = iut.post_read(10, remote_stag, 0);
  expect(peer, message(Opcode::rdma_write));
  expect(peer, message(Opcode::send));
  const auto request = expect_message(Opcode::read_request).read_request();
  peer.send(read_response(request->sink_stag, request->sink_offset, payload(10)));
  const auto of = [&](const Work& work, const char* wanted) {
    const iut::CompletionEvent done = expect(work, completes());
    expect_that(done.operation == wanted, fmt::format("a completion of a {}", wanted),
                done.operation);
  };
  of(write, operation::write);
  of(send, operation::send);
  of(read, operation::read);
}

CONFORMANCE_CASE(work_posted_after_the_end_is_refused_or_fails,
                 rules("ddp.close.outstanding-requests-fail"), in_both_roles) {
  const auto post_behind = [&](const char* name, const std::function<void()>& end) {
    row(name, [&] {
      see_iut_send();
      end();
      expect(iut, disconnected());
      const Region source = iut.register_memory(16);
      for (int i = 0; i < 3; ++i)
        expect_refused_or(iut.try_post(work_on(source, operation::send, iut.endpoint())),
                          completes_in_error());
    });
  };
  post_behind("of a reset", [&] { peer.reset(); });
  post_behind("of a Terminate", [&] {
    peer.send(terminate_message(cause::rdmap_operation_unspecified));
    peer.half_close();
  });
}

namespace {

/// Invalidates the sink of a Read, once that is done.
Work post_fenced_invalidation(Consumer& iut, const Work& read) {
  iut::PostWork command;
  command.operation = operation::local_invalidate;
  command.invalidate_stag = read.buffer.stag;
  command.fence = true;
  return iut.post(command);
}

}  // namespace

// Whether the IUT answers Reads in the meantime is what the next case is about, so nothing is asked
// here.
CONFORMANCE_CASE(fenced_invalidation_waits_for_earlier_reads,
                 rules("rdmap.order.read-completes-after-response"),
                 needs(capability::local_invalidate), in_both_roles) {
  see_iut_send();
  const Work read = iut.post_read(24, remote_stag, 0);
  const auto request = expect_message(Opcode::read_request).read_request();
  const Work invalidation = post_fenced_invalidation(iut, read);
  watch();
  expect_that(!iut.take(completion_of(invalidation).matches, {}), "no completion before the Read's",
              "the invalidation completes");
  peer.send(read_response(request->sink_stag, request->sink_offset, payload(24)));
  expect(read, completes());
  expect(invalidation, completes());
  expect_that(iut.read_memory(read.buffer) == payload(24), "the octets read", "others");
}

// What waits has no effect yet: the peer can use the window until its unbinding starts.
CONFORMANCE_CASE(fenced_unbinding_waits_for_earlier_reads,
                 rules("rdmap.order.read-completes-after-response"),
                 needs(capability::memory_windows), in_both_roles) {
  see_iut_send();
  const Region region = iut.register_memory(64, access::under_windows);
  const Window window = iut.bind_window(region, 0, 64, access::remote_write);
  const Work read = iut.post_read(24, remote_stag, 0);
  const auto request = expect_message(Opcode::read_request).read_request();
  iut::PostWork command;
  command.operation = operation::bind_window;
  command.window = window.handle;
  command.fence = true;
  const Work unbinding = iut.post(command);
  watch();
  expect_that(!iut.take(completion_of(unbinding).matches, {}), "no completion before the Read's",
              "the unbinding completes");
  peer.send_together({rdma_write(window.stag, window.base, payload(64)),
                      read_response(request->sink_stag, request->sink_offset, payload(24))});
  expect(read, completes());
  expect(unbinding, completes());
  expect_that(iut.read_memory(region) == payload(64), "the octets written", "others");
  peer.send(rdma_write(window.stag, window.base, payload(64, 0x91)));
  expect(peer, any_terminate() | torn_down());
}

// RFC 5040 section 5.2.1 binds the Data Source to respond, and does not say when. But two peers that
// hold Responses back until their own Reads are answered would wait for each other for ever.
CONFORMANCE_CASE(reads_are_answered_while_an_invalidation_is_fenced,
                 rules("rdmap.read.one-request-one-response"), needs(capability::local_invalidate),
                 in_both_roles) {
  constexpr std::uint32_t sink_stag = 0xCAFEBABE;
  constexpr std::uint64_t sink_offset = 0x2000;
  see_iut_send();
  Region source = iut.register_memory(8, access::remote_read);
  iut.write_memory(source, payload(8));
  const Work read = iut.post_read(24, remote_stag, 0);
  const auto request = expect_message(Opcode::read_request).read_request();
  const Work invalidation = post_fenced_invalidation(iut, read);
  peer.send(read_request({.sink_stag = sink_stag,
                          .sink_offset = sink_offset,
                          .length = 8,
                          .source_stag = source.stag,
                          .source_offset = source.base}));
  const bool held_back = expect_around(
      {tagged_message(Opcode::read_response, sink_stag, sink_offset, payload(8))},
      [&] { peer.send(read_response(request->sink_stag, request->sink_offset, payload(24))); });
  advise_that(!held_back, "a Read Response while work of its own waits for one",
              "it comes only after the tester's");
  expect(read, completes());
  expect(invalidation, completes());
}

CASES_OF_FILE(rdmap, completions)

}  // namespace suite::cases
