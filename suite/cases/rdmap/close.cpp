// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 6.2, RFC 5041 section 6.2 and RFC 5044 section 7.2: how a stream ends without an
// error, and with a lost LLP.
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/long_work.hpp"

namespace suite::cases {

namespace {

constexpr std::uint32_t some_stag = 0x01020304;

Outgoing read_all_of(const Region& source) {
  return read_request({.sink_stag = some_stag,
                       .sink_offset = 0,
                       .length = static_cast<std::uint32_t>(source.length),
                       .source_stag = source.stag,
                       .source_offset = source.base});
}

/// A FIN after a part of an FPDU is never an orderly close, even if the whole ULPDU has come.
void end_within_an_fpdu(Body& test, const Establish& options = {}) {
  constexpr std::size_t octets = 17;  // then its pad is three octets long
  constexpr std::size_t whole = rnic::wire::fpdu_size(rnic::wire::untagged_header_size + octets);
  const auto end_without = [&](std::size_t missing) {
    const Octets fpdu =
        encode(test.peer.prepare(send_message(payload(octets))).front(), test.peer.raw().sending());
    test.peer.send_octets(rnic::wire::Bytes(fpdu).first(fpdu.size() - missing));
    test.peer.half_close();
  };
  const auto lacks = [&](const char* name, std::size_t missing) {
    test.row(name, [&] {
      test.establish(options);
      const Work receive = test.iut.post_receive(64);
      end_without(missing);
      test.expect(receive, flushed());
      test.expect(test.iut, or_at_least(asynchronous("qp_fatal"), disconnected()));
    });
  };
  lacks("the last octet of the CRC field", 1);
  lacks("the CRC field", 4);
  lacks("pad and CRC field", 7);
  lacks("the last octet of the payload", 8);
  lacks("half of the payload", 16);
  lacks("all but its first three octets", whole - 3);
  lacks("all but ULPDU_Length", whole - 2);
  lacks("all but its first octet", whole - 1);
  test.row("half of the payload, while the IUT closes", [&] {
    test.establish(options);
    static_cast<void>(test.iut.post_receive(64));
    test.iut.disconnect();
    const Arrival end =
        test.expect(test.peer, fin() | advisory(connection_reset()) | advisory(silence()));
    if (end.as<lower_tester::Broken>() != nullptr) return;
    end_without(16);
    test.expect(test.iut, or_at_least(asynchronous("qp_fatal"), disconnected()));
  });
}

}  // namespace

CONFORMANCE_CASE(peer_close_is_reported_to_the_consumer,
                 rules("mpa.close.graceful-close-indicated"), in_both_roles) {
  const Work receive = iut.post_receive(64);
  peer.send(send_message(payload(4)));
  peer.half_close();
  expect(receive, completes().with_length(4));
  expect(iut, disconnected());
}

CONFORMANCE_CASE(all_that_came_with_the_fin_is_delivered,
                 rules("mpa.close.out-of-order-close-indicated",
                       "mpa.close.graceful-close-indicated"),
                 in_both_roles, over_both_families) {
  std::vector<Work> receives;
  std::vector<Outgoing> messages;
  for (std::size_t i = 0; i < 16; ++i) {
    receives.push_back(iut.post_receive(64));
    messages.push_back(send_message(payload(i)));
  }
  peer.send_together(messages);
  peer.half_close();
  expect_in_order(receives);
  expect(iut, disconnected(), "mpa.close.graceful-close-indicated");
}

CONFORMANCE_CASE(consumer_close_is_a_fin,
                 rules("ddp.close.half-closed-close-graceful",
                       "ddp.close.graceful-sends-pending-data"),
                 in_both_roles) {
  let_iut_send();
  const Work first = iut.post_send(payload(4));
  expect(peer, message(Opcode::send, payload(4)),
         "ddp.close.graceful-sends-pending-data");  // it may send from here on
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
  const auto ends_by = [&](const char* name, bool consumer_closes_first, void (CasePeer::*end)()) {
    row(name, [&] {
      let_iut_send();
      const Work read = iut.post_read(8, 0x77, 0x1000);
      expect(peer, message(Opcode::read_request));
      if (consumer_closes_first) iut.disconnect();
      (peer.*end)();
      expect(read, completes_in_error());
    });
  };
  ends_by("RST", false, &CasePeer::reset);
  ends_by("FIN", false, &CasePeer::half_close);
  ends_by("RST after the consumer's close", true, &CasePeer::reset);
  ends_by("FIN after the consumer's close", true, &CasePeer::half_close);
  // A Responder may send nothing before the Initiator's first FPDU (RFC 5044 section 7.1.2).
  const auto never_sent = [&](const char* name, void (CasePeer::*end)()) {
    row(name, [&] {
      establish();
      if (!iut_is_responder()) stop(Verdict::not_applicable, "the IUT is the Initiator");
      const Work send = iut.post_send(payload(8)), read = iut.post_read(8, some_stag, 0x1000);
      (peer.*end)();
      expect(send, completes_in_error());
      expect(read, completes_in_error());
    });
  };
  never_sent("FIN without an FPDU", &CasePeer::half_close);
  never_sent("RST without an FPDU", &CasePeer::reset);
}

CONFORMANCE_CASE(local_work_left_at_a_close_is_flushed,
                 rules("ddp.close.outstanding-requests-fail"), in_both_roles) {
  if (!iut.can(capability::local_invalidate) && !iut.can(capability::memory_windows))
    stop(Verdict::not_applicable, "the IUT has neither local invalidation nor memory windows");
  // It waits for a Read, and a Send waits behind it.
  const auto waits = [&](const char* name, const std::function<void(iut::PostWork&)>& as) {
    for (const auto& [how, end] :
         {std::pair{"RST", &CasePeer::reset}, std::pair{"FIN", &CasePeer::half_close}})
      row(fmt::format("{}, {}", name, how), [&, end = end] {
        see_iut_send();
        const Work read = iut.post_read(8, some_stag, 0x1000);
        expect(peer, message(Opcode::read_request));
        iut::PostWork local;
        as(local);
        local.fence = true;
        const Work waiting = iut.post(local), behind = iut.post_send(payload(8));
        (peer.*end)();
        expect(read, completes_in_error());
        for (const Work& work : {waiting, behind})
          expect_that(iut.take(completion_of(work).matches, context().deadline).has_value(),
                      "a completion", "none");
      });
  };
  if (iut.can(capability::local_invalidate))
    waits("an invalidation", [&](iut::PostWork& work) {
      work.operation = operation::local_invalidate;
      work.invalidate_stag = iut.register_memory(8, access::remote_read).stag;
    });
  if (iut.can(capability::memory_windows))
    waits("a bind", [&](iut::PostWork& work) {
      const Region region = iut.register_memory(64, access::under_windows);
      work.operation = operation::bind_window;
      work.window = iut.new_handle();
      iut.call(iut::AllocateWindow{work.window, 0}, "allocate a window");
      work.pieces = {{region.handle, 0, 64}};
      work.window_access = access::remote_read;
    });
}

CONFORMANCE_CASE(lost_connection_is_reported_to_the_consumer,
                 rules("ddp.close.llp-lost-indicated")) {
  row("open", [&] {
    static_cast<void>(peer.ready());
    peer.reset();
    expect(iut, or_at_least(asynchronous("qp_fatal"), disconnected()));
  });
  row("while the IUT closes", [&] {
    see_iut_send();
    iut.disconnect();
    const Arrival end = expect(peer, fin() | advisory(connection_reset()));
    if (end.as<lower_tester::Broken>() != nullptr) return;
    peer.reset();
    expect(iut, or_at_least(asynchronous("qp_fatal"), disconnected()));
  });
}

CONFORMANCE_CASE(fin_within_an_fpdu_is_a_lost_connection,
                 rules("mpa.terminate.tcp-loss-detected")) {
  end_within_an_fpdu(*this);
}

CONFORMANCE_CASE(fin_within_an_fpdu_without_crcs_is_a_lost_connection,
                 rules("mpa.terminate.tcp-loss-detected"), configured({.crc = false})) {
  end_within_an_fpdu(*this, {.request = mpa_request().with_crc(false)});
}

CONFORMANCE_CASE(abortive_disconnect_ends_the_connection,
                 rules("rdmap.stream.connection-torn-down"), in_both_roles) {
  let_iut_send();
  iut.disconnect(true);
  expect(peer, any_terminate() | torn_down());
}

CONFORMANCE_CASE(messages_queued_for_the_llp_are_sent_before_the_close,
                 rules("ddp.close.graceful-sends-pending-data",
                       "ddp.close.half-closed-close-graceful"),
                 in_both_roles, over_both_families) {
  see_iut_send();
  peer.stall();
  const Work work = post_much(iut);
  iut.disconnect();
  peer.resume();
  if (!expect_much(Opcode::send, "ddp.close.graceful-sends-pending-data")) return;
  expect(peer, fin() | advisory(connection_reset()), "ddp.close.half-closed-close-graceful");
  peer.half_close();
  expect(work, completes());
  expect(iut, disconnected());
}

CONFORMANCE_CASE(reads_that_wait_are_answered_before_the_close,
                 rules("ddp.close.graceful-sends-pending-data",
                       "ddp.close.half-closed-close-graceful"),
                 in_both_roles) {
  establish({.parameters = {.private_data = {}, .ird = 4, .ord = 4}, .opening = true});
  const Region much = iut.register_memory(much_data().size(), access::remote_read);
  const Region little = iut.register_memory(16, access::remote_read);
  peer.stall();
  peer.send(read_all_of(much));  // its Response holds up those after it
  peer.send(read_all_of(little));
  peer.send(read_all_of(little));
  watch();
  iut.disconnect();
  peer.resume();
  if (!expect_much(Opcode::read_response, "ddp.close.graceful-sends-pending-data")) return;
  for (int i = 0; i < 2; ++i)
    expect(peer, message(Opcode::read_response, little.contents),
           "ddp.close.graceful-sends-pending-data");
  expect(peer, fin() | advisory(connection_reset()), "ddp.close.half-closed-close-graceful");
}

// What an RNIC owes a peer that still asks once the consumer has closed is not laid down: the half
// of the stream that would carry the Response may be closed already, as far as its own layers know.
CONFORMANCE_CASE(read_that_is_asked_for_during_the_close_is_answered,
                 rules("rdmap.read.valid-request-answered"), in_both_roles) {
  see_iut_send();
  const Region source = iut.register_memory(16, access::remote_read);
  // The end of the stream may wait for it.
  static_cast<void>(iut.post_read(8, some_stag, 0x1000));
  expect(peer, message(Opcode::read_request));
  iut.disconnect();
  peer.send(read_all_of(source));
  expect(peer,
         message(Opcode::read_response, source.contents) | advisory(any_terminate() | torn_down()));
}

CONFORMANCE_CASE(work_posted_after_the_close_is_refused,
                 rules("ddp.close.requests-refused-after-graceful"), in_both_roles) {
  see_iut_send();
  // A Response that is still to be sent keeps the stream from ending immediately.
  peer.stall();
  peer.send(read_all_of(iut.register_memory(much_data().size(), access::remote_read)));
  watch();
  iut.disconnect();
  const Region source = iut.register_memory(16);
  iut::PostWork command;
  command.operation = operation::send;
  command.pieces = {{source.handle, 0, 16}};
  const Attempt attempt = iut.try_post(command);
  peer.resume();
  peer.half_close();
  const Expected response("a Read Response or its beginning", [](const Arrival& arrival) {
    const auto* message = arrival.as<Message>();
    return message != nullptr && message->opcode() == Opcode::read_response;
  });
  while (!expect(peer, response | torn_down() | any_terminate()).is_end()) {
  }
  expect_refused_or(attempt, completes_in_error());
}

CONFORMANCE_CASE(sending_goes_on_after_the_peers_close,
                 rules("ddp.close.half-close-still-sends", "ddp.close.half-closed-close-graceful"),
                 in_both_roles) {
  row("a Send", [&] {
    see_iut_send();
    peer.stall();
    const Work work = post_much(iut);
    peer.half_close();
    watch();  // the FIN arrives before we receive anything
    peer.resume();
    if (!expect_much(Opcode::send, "ddp.close.half-close-still-sends")) return;
    expect(peer, fin() | advisory(connection_reset()), "ddp.close.half-closed-close-graceful");
    expect(work, completes());
  });
  row("a Read Response", [&] {
    const Region source = iut.register_memory(much_data().size(), access::remote_read);
    peer.stall();
    peer.send(read_all_of(source));
    peer.half_close();
    watch();
    peer.resume();
    if (!expect_much(Opcode::read_response, "ddp.close.half-close-still-sends")) return;
    expect(peer, fin() | advisory(connection_reset()), "ddp.close.half-closed-close-graceful");
  });
}

CONFORMANCE_CASE(receiving_goes_on_after_the_consumers_close,
                 rules("ddp.close.local-half-close-still-receives",
                       "ddp.close.half-closed-close-graceful"),
                 in_both_roles) {
  const Work receive = iut.post_receive(64);
  see_iut_send();
  iut.disconnect();
  expect(peer, fin() | advisory(connection_reset()), "ddp.close.half-closed-close-graceful");
  peer.send(send_message(payload(16)));
  peer.half_close();
  const auto done = iut.take(completion_of(receive).matches, context().deadline);
  // An API that closes both halves at once has no consumer left to receive for.
  advise_that(done && completes().with_length(16).matches(std::get<iut::CompletionEvent>(*done)),
              "the message received", done ? describe(*done) : "no completion");
  expect(iut, disconnected());
}

CONFORMANCE_CASE(close_during_transfers_in_both_directions_loses_no_data,
                 rules("ddp.close.graceful-sends-pending-data",
                       "ddp.close.local-half-close-still-receives",
                       "ddp.close.half-closed-close-graceful"),
                 in_both_roles) {
  const Work receive = iut.post_receive(32768);
  see_iut_send();
  peer.stall();
  const Work work = post_much(iut);
  iut.disconnect();
  peer.send(send_message(payload(20000)));
  peer.half_close();
  watch();
  peer.resume();
  if (!expect_much(Opcode::send, "ddp.close.graceful-sends-pending-data")) return;
  expect(peer, fin() | advisory(connection_reset()), "ddp.close.half-closed-close-graceful");
  const auto done = iut.take(completion_of(receive).matches, context().deadline);
  advise_that(done && completes().with_length(20000).matches(std::get<iut::CompletionEvent>(*done)),
              "the message received", done ? describe(*done) : "no completion",
              "ddp.close.local-half-close-still-receives");
  expect(work, completes());
  expect(iut, disconnected());
}

CONFORMANCE_CASE(read_that_waits_at_the_peers_close_does_not_succeed,
                 rules("rdmap.order.read-completes-after-response"), in_both_roles) {
  // Work that waits to be sent keeps the stream from ending immediately.
  see_iut_send();
  peer.stall();
  const Work waiting = post_much(iut);
  iut::PostWork command;
  command.operation = operation::read;
  command.remote_stag = some_stag;
  const Attempt unanswered = iut.try_post(command);
  peer.half_close();
  watch();
  peer.resume();
  const Expected anything("a message",
                          [](const Arrival& arrival) { return arrival.as<Message>() != nullptr; });
  while (!expect(peer, anything | torn_down() | any_terminate()).is_end()) {
  }
  if (unanswered.taken()) expect(unanswered.work, completes_in_error());
}

CONFORMANCE_CASE(fenced_work_does_not_wait_for_a_peer_that_has_closed,
                 rules("mpa.close.graceful-close-indicated", "ddp.close.outstanding-requests-fail"),
                 in_both_roles) {
  see_iut_send();
  const Work read = iut.post_read(8, some_stag, 0x1000);
  expect(peer, message(Opcode::read_request));
  const Work fenced =
      iut.post_send(payload(16), operation::send, [](iut::PostWork& work) { work.fence = true; });
  peer.half_close();
  // No Response can arrive any more; whether the Send is still sent is left open.
  while (
      !expect(peer, message(Opcode::send, payload(16)) | torn_down() | any_terminate()).is_end()) {
  }
  expect(iut, disconnected());
  expect(read, completes_in_error(), "ddp.close.outstanding-requests-fail");
  expect_that(iut.take(completion_of(fenced).matches, context().deadline).has_value(),
              "a completion of the fenced Send", "none", "ddp.close.outstanding-requests-fail");
}

CONFORMANCE_CASE(error_after_the_consumers_close_ends_the_connection,
                 rules("rdmap.stream.connection-torn-down", "ddp.close.half-closed-close-graceful"),
                 in_both_roles) {
  see_iut_send();
  iut.disconnect();
  expect(peer, fin() | advisory(connection_reset()), "ddp.close.half-closed-close-graceful");
  peer.send(send_message(payload(8)).with_ddp_version(2));
  // No Terminate can follow the FIN. A host whose TCP is closed both ways answers with a reset.
  expect(peer, connection_reset() | advisory(silence()));
  expect(iut, disconnected());
}

CONFORMANCE_CASE(error_before_the_fin_of_a_close_is_reported,
                 rules("rdmap.error.incoming-message-terminate"), in_both_roles) {
  see_iut_send();
  peer.stall();
  const Work work = post_much(iut);
  iut.disconnect();
  peer.send(send_message(payload(8)).with_ddp_version(2));
  watch();
  peer.resume();
  // What was under way comes first, whole or in part.
  const Expected sent("a Send or its beginning", [](const Arrival& arrival) {
    const auto* message = arrival.as<Message>();
    return message != nullptr && message->opcode() == Opcode::send;
  });
  while (true) {
    const Arrival arrival = expect(peer, sent | any_terminate() | advisory(torn_down()));
    if (arrival.is_end() || arrival.terminate()) return;
  }
}

CONFORMANCE_CASE(work_queued_when_the_stream_ends_is_completed,
                 rules("rdmap.terminate.outstanding-completed-in-error"), in_both_roles) {
  const auto each_ends_once = [&](const std::function<void()>& end) {
    constexpr std::size_t count = 48;
    see_iut_send();
    peer.stall();
    const Region source = iut.register_memory(much_data().size() / 16);
    std::vector<Work> works;
    for (std::size_t i = 0; i < count; ++i)
      works.push_back(iut.post(work_on(source, operation::send)));
    const Work last = iut.post_read(8, some_stag, 0x1000);
    end();
    watch();
    peer.resume();
    if (peer.raw().is_open()) peer.half_close();
    bool failed = false;
    for (const Work& work : works) {
      const auto event = iut.take(completion_of(work).matches, context().deadline);
      expect_that(event.has_value(), "a completion of each work", "none");
      const bool good = completes().matches(std::get<iut::CompletionEvent>(*event));
      expect_that(!(failed && good), "no success after a failure", describe(*event));
      failed = failed || !good;
    }
    expect(last, completes_in_error());
  };
  row("a Terminate", [&] {
    each_ends_once([&] { peer.send(terminate_message(cause::rdmap_local_catastrophic)); });
  });
  row("a bad segment",
      [&] { each_ends_once([&] { peer.send(send_message(payload(8)).with_ddp_version(2)); }); });
  row("a lost connection", [&] { each_ends_once([&] { peer.reset(); }); });
}

CASES_OF_FILE(rdmap, close)

}  // namespace suite::cases
