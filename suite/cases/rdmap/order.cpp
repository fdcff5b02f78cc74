// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 5.5: the order of messages on the stream, of their delivery, and of completions.
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/long_work.hpp"

namespace suite::cases {

CONFORMANCE_CASE(messages_of_all_kinds_are_sent_in_the_order_posted,
                 rules("rdmap.order.messages-in-submission-order"), in_both_roles) {
  let_iut_send();
  const Work write = iut.post_write(payload(40), 0x01020304, 0x100);
  const Work send = iut.post_send(payload(20));
  const Work read = iut.post_read(8, 0x01020304, 0);
  const Work last = iut.post_send(payload(21, 9));
  expect(peer, tagged_message(Opcode::rdma_write, 0x01020304, 0x100, payload(40)));
  expect(peer, message(Opcode::send, payload(20)));
  const auto request = expect_message(Opcode::read_request).read_request();
  expect_around({message(Opcode::send, payload(21, 9))}, [&] {
    peer.send(read_response(request->sink_stag, request->sink_offset, payload(8)));
  });
  for (const Work& work : {write, send, read, last}) expect(work, completes());
}

CONFORMANCE_CASE(receive_does_not_complete_before_the_last_segment,
                 rules("rdmap.order.sends-delivered-after-ddp")) {
  const Work receive = iut.post_receive(64);
  const auto segments = peer.prepare(send_message(payload(64)).with_segments_of(32));
  peer.send(segments.front());
  expect_none(completion_of(receive));
  peer.send(segments.back());
  expect(receive, completes().with_length(64));
}

CONFORMANCE_CASE(send_does_not_complete_before_the_stream_can_send_it,
                 rules("rdmap.order.completion-after-ddp",
                       "mpa.startup.responder-silent-before-first-fpdu")) {
  // The Responder may not send before the Initiator's first FPDU
  // (RFC 5044 7.1.2), so its Send has to wait.
  establish();
  if (!iut_is_responder())
    stop(Verdict::not_applicable, "only a Responder can be kept from sending");
  const Work send = iut.post_send(payload(16));
  expect(peer, silence(), "mpa.startup.responder-silent-before-first-fpdu");
  const auto early = iut.take(completion_of(send).matches, context().loop.now());
  expect_that(!early.has_value(), "no completion", early ? describe(*early) : "none");
}

CONFORMANCE_CASE(long_message_does_not_complete_while_the_peer_takes_none_of_it,
                 rules("rdmap.order.completion-after-ddp"), in_both_roles) {
  const auto waits = [&](const char* operation, Opcode opcode) {
    row(operation, [&] {
      see_iut_send();
      peer.stall();
      iut::PostWork command = work_on(iut.register_memory(much_data().size()), operation);
      if (opcode == Opcode::rdma_write) command.remote_stag = 0x01020304;
      const Work work = iut.post(command);
      const auto early =
          iut.take(completion_of(work).matches, context().loop.now() + environment().quiet_window);
      expect_that(!early.has_value(), "no completion", early ? describe(*early) : "none");
      peer.resume();
      expect(peer, message(opcode, much_data()));
      expect(work, completes());
    });
  };
  waits(operation::send, Opcode::send);
  waits(operation::write, Opcode::rdma_write);
}

namespace {

/// Fenced work of eight octets, or with Immediate Data.
iut::PostWork fenced_work(Body& body, const char* operation, Opcode opcode) {
  iut::PostWork work;
  work.operation = operation;
  work.fence = true;
  if (opcode != Opcode::immediate)
    work.pieces = {{body.iut.register_memory(8, access::remote_write).handle, 0, 8}};
  if (opcode == Opcode::send_invalidate) work.invalidate_stag = 0x05060708;
  if (opcode != Opcode::send && opcode != Opcode::send_invalidate) work.remote_stag = 0x01020304;
  return work;
}

/// A Read or Atomic gets its Response: what follows it may wait for that (docs/disputes.md D56).
void answer(Body& body, const Message& sent) {
  if (const auto read = sent.read_request())
    body.peer.send(read_response(read->sink_stag, read->sink_offset, payload(8)));
  if (const auto atomic = sent.atomic_request())
    body.peer.send(atomic_response(atomic->request_id, 0));
}

}  // namespace

CONFORMANCE_CASE(fenced_work_waits_for_all_reads,
                 rules("rdmap.order.read-completes-after-response",
                       "rdmap.order.messages-in-submission-order")) {
  const auto waits = [&](const char* operation, Opcode opcode, const char* needed = nullptr) {
    if (needed != nullptr && !iut.can(needed)) return;
    row(operation, [&] {
      establish({.parameters = {.private_data = {}, .ord = 2}});
      let_iut_send();
      const Work first = iut.post_read(8, 0x01020304, 0), second = iut.post_read(8, 0x01020304, 8);
      const Message one = expect_message(Opcode::read_request);
      const Message two = expect_message(Opcode::read_request);
      const auto [reply, fenced] = iut.try_post(fenced_work(*this, operation, opcode));
      const bool taken = reply.outcome == iut::Outcome::ok;
      // Not every API takes a fenced Read; then what is posted next is sent all the same.
      if (!taken && opcode != Opcode::read_request)
        stop(Verdict::error, fmt::format("the API takes no fenced {}: {}", operation, reply.error));
      const Work next = iut.post_send(payload(20));
      answer(*this, one);
      expect(first, completes().with_length(8));
      if (taken) expect(peer, silence());
      answer(*this, two);
      if (taken) answer(*this, expect_message(opcode));
      expect(second, completes().with_length(8));
      expect(peer, message(Opcode::send, payload(20)), "rdmap.order.messages-in-submission-order");
      if (taken) expect(fenced, completes());
      expect(next, completes());
    });
  };
  waits(operation::send, Opcode::send);
  waits(operation::send_invalidate, Opcode::send_invalidate, capability::send_invalidate);
  waits(operation::write, Opcode::rdma_write);
  waits(operation::read, Opcode::read_request);
  waits(operation::immediate, Opcode::immediate, capability::immediate);
  waits(operation::fetch_add, Opcode::atomic_request, capability::atomics);
}

CONFORMANCE_CASE(writes_are_sent_in_the_order_posted, rules("rdmap.write.in-submission-order"),
                 in_both_roles) {
  see_iut_send();
  // They wait after a long one, which cannot be sent.
  peer.stall();
  const Region source = iut.register_memory(much_data().size());
  iut::PostWork command = work_on(source, operation::write);
  command.remote_stag = 0x01020304;
  std::vector<Work> writes{iut.post(command)};
  // All to one place, so that its final contents show their order.
  for (std::uint8_t i = 1; i <= 8; ++i)
    writes.push_back(iut.post_write(payload(10 + i, i), 0x01020304, 0x1000));
  peer.resume();
  expect(peer, message(Opcode::rdma_write, much_data()));
  for (std::uint8_t i = 1; i <= 8; ++i)
    expect(peer, tagged_message(Opcode::rdma_write, 0x01020304, 0x1000, payload(10 + i, i)));
  expect_in_order(writes);
}

CONFORMANCE_CASE(request_that_only_lacks_its_crc_is_not_served,
                 rules("rdmap.order.read-request-not-early",
                       "rdmap.order.zero-length-read-not-early",
                       "rdmap.order.response-starts-after-request",
                       "rdmap.read.zero-length-answered"),
                 in_both_roles) {
  const auto withhold = [&](std::uint32_t length, RuleRef rule) {
    let_iut_send();
    const Region source = iut.register_memory(64, access::remote_read);
    const Fpdu fpdu = peer.prepare(read_of(source.stag, source.base, length)).front();
    const Octets rest = peer.send_all_but_the_crc(fpdu);
    expect(peer, silence(), rule);
    peer.send_octets(rest);
    expect(peer, message(Opcode::read_response, part_of(source.contents, 0, length)),
           length > 0 ? RuleRef("rdmap.order.response-starts-after-request")
                      : RuleRef("rdmap.read.zero-length-answered"));
  };
  row("of eight octets", [&] { withhold(8, "rdmap.order.read-request-not-early"); });
  row("of no octets", [&] { withhold(0, "rdmap.order.zero-length-read-not-early"); });
}

CONFORMANCE_CASE(request_without_its_last_segment_is_not_served,
                 rules("rdmap.order.read-request-not-early",
                       "rdmap.order.response-starts-after-request"),
                 in_both_roles) {
  let_iut_send();
  const Region source = iut.register_memory(64, access::remote_read);
  // All its octets arrive with L = 0: DDP delivers it with the empty segment that has L = 1.
  const Outgoing request = read_of(source.stag, source.base, 8);
  const std::uint32_t msn = peer.next_msn(Queue::read_request);
  Outgoing end = request.with_msn(msn);
  const auto size = static_cast<std::uint32_t>(request.payload.size());
  end.payload.clear();
  peer.send(request.with_untagged([](std::size_t, wire::UntaggedHeader& header) {
    header.ddp = wire::DdpControl::make(false, false);
  }));
  expect(peer, silence(), "rdmap.order.read-request-not-early");
  peer.send(end.with_untagged(
      [=](std::size_t, wire::UntaggedHeader& header) { header.message_offset = size; }));
  // No text obliges a receiver to accept an empty last segment.
  expect(peer,
         message(Opcode::read_response, part_of(source.contents, 0, 8)) |
             advisory(silence() | any_terminate() | torn_down()),
         "rdmap.order.response-starts-after-request");
}

CONFORMANCE_CASE(response_that_only_lacks_its_crc_completes_nothing,
                 rules("rdmap.order.read-responses-delivered-after-ddp"), in_both_roles) {
  let_iut_send();
  const Work read = iut.post_read(40, 0x01020304, 0);
  const auto request = expect_message(Opcode::read_request).read_request();
  const auto segments = peer.prepare(
      read_response(request->sink_stag, request->sink_offset, payload(40)).with_segments_of(20));
  peer.send(segments.front());
  const Octets rest = peer.send_all_but_the_crc(segments.back());
  watch();
  const auto early = iut.take(completion_of(read).matches, context().loop.now());
  expect_that(!early, "no completion", early ? describe(*early) : "none");
  peer.send_octets(rest);
  expect(read, completes());
  expect(read.buffer, holds(payload(40)));
}

// RFC 5041 section 5.4: a message is delivered if and only if its last segment had the Last flag.
CONFORMANCE_CASE(response_without_its_last_segment_completes_nothing,
                 rules("rdmap.order.read-completes-after-response"), in_both_roles) {
  let_iut_send();
  const Work read = iut.post_read(40, 0x01020304, 0);
  const auto request = expect_message(Opcode::read_request).read_request();
  const Outgoing response = read_response(request->sink_stag, request->sink_offset, payload(40));
  peer.send(response.with_tagged([](std::size_t, wire::TaggedHeader& header) {
    header.ddp = wire::DdpControl::make(true, false);
  }));
  watch();  // no text obliges a receiver to wait for an empty last segment: it may give up
  const auto early = iut.take(success_of(read).matches, context().loop.now());
  expect_that(!early, "no success", early ? describe(*early) : "none");
}

CONFORMANCE_CASE(read_after_a_send_that_fails_is_not_served,
                 rules("rdmap.order.read-response-after-prior-send"), in_both_roles) {
  const Region source = iut.register_memory(64, access::remote_read);
  const Work receive = iut.post_receive(16);
  peer.send_together({send_message(payload(17)), read_of(source.stag, source.base, 8)});
  expect(peer, any_terminate() | torn_down());
  expect(receive, completes_in_error());
}

CASES_OF_FILE(rdmap, order)

}  // namespace suite::cases
