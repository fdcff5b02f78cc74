// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 5.5 and RFC 5041 section 6.2: what the consumer learns about the work it has
// posted.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

constexpr std::uint32_t remote_stag = 0x01020304;
constexpr iut::WorkId late_work = 1000;

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
      for (iut::WorkId work = late_work; work < late_work + 3; ++work) {
        iut::PostWork command;
        command.endpoint = iut.endpoint();
        command.work = work;
        command.operation = operation::send;
        command.pieces = {{source.handle, 0, 16}};
        const iut::Reply reply = iut.try_call(command, "post a Send after the end");
        expect_refused_or(reply, Work{work, command.endpoint, {}}, completes_in_error());
      }
    });
  };
  post_behind("of a reset", [&] { peer.reset(); });
  post_behind("of a Terminate", [&] {
    peer.send(terminate_message(cause::rdmap_operation_unspecified));
    peer.half_close();
  });
}

CONFORMANCE_CASE(fenced_invalidation_waits_for_earlier_reads,
                 rules("rdmap.order.read-completes-after-response"),
                 needs(capability::local_invalidate), in_both_roles) {
  see_iut_send();
  const Work read = iut.post_read(24, remote_stag, 0);
  const auto request = expect_message(Opcode::read_request).read_request();
  iut::PostWork command;
  command.operation = operation::local_invalidate;
  command.invalidate_stag = read.buffer.stag;
  command.fence = true;
  const Work invalidation = iut.post(command);
  expect_none(completion_of(invalidation));
  peer.send(read_response(request->sink_stag, request->sink_offset, payload(24)));
  expect(read, completes());
  expect(invalidation, completes());
  expect_that(iut.read_memory(read.buffer) == payload(24), "the octets read", "others");
}

CASES_OF_FILE(rdmap, completions)

}  // namespace suite::cases
