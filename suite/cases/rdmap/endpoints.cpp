// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 6.2 and RFC 5041 section 5.3 from the consumer's side: endpoints that it aborts,
// and the streams that follow on the same endpoint.
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/long_work.hpp"

namespace suite::cases {

namespace {

iut::Reply abort_endpoint(Body& body, iut::Handle endpoint) {
  return body.iut.call(iut::AbortEndpoint{endpoint}, "abort the endpoint");
}

/// A message for the endpoint's receive, or for `early`, which was posted before the endpoint was
/// reset: dat_ep_reset keeps the receives of an endpoint that is not connected, no page of verbs
/// says what a reset does to them.
void expect_receive(Body& body, Peer& fresh, iut::Handle endpoint,
                    const std::optional<Work>& early) {
  const Work receive = body.iut.post_receive(64, endpoint);
  fresh.send(send_message(payload(24)));
  const ExpectedEvent taken =
      early ? success_of(receive) | success_of(*early) : success_of(receive);
  const iut::Event event = body.expect(body.iut, taken, "rdmap.send.consumes-one-buffer");
  const std::uint32_t length = std::get<iut::CompletionEvent>(event).length;
  body.expect_that(length == 24, "24 octets", fmt::format("{} octets", length),
                   "rdmap.send.consumes-one-buffer");
}

/// What both sides send and read on a stream that has just begun.
Peer& expect_fresh_stream(Body& body, iut::Handle endpoint, const std::optional<Work>& early) {
  Peer& fresh = body.another_peer();
  body.establish(fresh, {.endpoint = endpoint, .opening = true});
  expect_receive(body, fresh, endpoint, early);
  const Region octets = body.iut.register_memory(16);
  for (int i = 0; i < 2; ++i) {
    const Work send = body.iut.post(work_on(octets, operation::send, endpoint));
    body.expect(fresh, message(Opcode::send, octets.contents),
                "rdmap.order.messages-in-submission-order");
    body.expect(send, completes(), "rdmap.order.messages-in-submission-order");
  }
  const Region sink = body.iut.register_memory(8, access::remote_write);
  const Work read = body.iut.post(work_on(sink, operation::read, endpoint));
  const Arrival request = body.expect(fresh, message(Opcode::read_request));
  const auto fields = request.message(Opcode::read_request)->read_request();
  fresh.send(read_response(fields->sink_stag, fields->sink_offset, payload(8)));
  body.expect(read, completes(), "rdmap.order.read-completes-after-response");
  return fresh;
}

/// Resets the endpoint, and begins a new stream on it.
Peer& expect_new_life(Body& body, iut::Handle endpoint, const std::optional<Work>& early = {}) {
  const iut::Reply reply = body.iut.try_call(iut::ResetEndpoint{endpoint}, "reset the endpoint");
  if (reply.outcome != iut::Outcome::ok)
    body.stop(Verdict::inconclusive, "the endpoint is not reset: " + reply.error);
  return expect_fresh_stream(body, endpoint, early);
}

/// The consumer closes its present stream, whatever has become of an earlier one.
void expect_close(Body& body, Peer& present, iut::Handle endpoint) {
  const iut::Reply reply =
      body.iut.try_call(iut::Disconnect{endpoint, false}, "disconnect the endpoint");
  body.expect_that(reply.outcome == iut::Outcome::ok, "disconnected", reply.error,
                   "ddp.close.half-closed-close-graceful");
  body.expect(present, fin() | advisory(connection_reset()),
              "ddp.close.half-closed-close-graceful");
}

/// Work that is posted when it can no longer be done: refused or, since a consumer would wait for
/// it otherwise, completed in error. Success fails.
void expect_not_done(Body& body, const iut::PostWork& command) {
  const auto [reply, work] = body.iut.try_post(command);
  body.expect_none(success_of(work), "ddp.close.outstanding-requests-fail");
  if (reply.outcome != iut::Outcome::ok) return;
  const auto ended = body.iut.take(completion_of(work).matches, body.context().loop.now());
  body.advise_that(ended.has_value(), "a completion in error", "none",
                   "ddp.close.outstanding-requests-fail");
}

}  // namespace

CONFORMANCE_CASE(aborted_endpoint_ends_its_connection_only,
                 rules("rdmap.stream.connection-torn-down", "ddp.close.outstanding-requests-fail"),
                 needs(capability::endpoint_abort), in_both_roles) {
  establish({.opening = true});
  const iut::Handle endpoint = iut.create_endpoint();
  Peer& other = another_peer();
  establish(other, {.endpoint = endpoint, .opening = true});
  const Work receive = iut.post_receive(16, endpoint);
  const Region sink = iut.register_memory(8, access::remote_write);
  const Work read = iut.post(work_on(sink, operation::read, endpoint));
  expect(other, message(Opcode::read_request));
  abort_endpoint(*this, endpoint);
  expect(other, any_terminate() | torn_down());
  other.half_close();
  expect(read, completes_in_error(), "ddp.close.outstanding-requests-fail");
  expect(receive, flushed(), "ddp.close.outstanding-requests-fail");
  expect(iut, disconnected());
  expect_not_done(*this, work_on(sink, operation::send, endpoint));
  expect_still_working("rdmap.stream.connection-torn-down");
}

CONFORMANCE_CASE(endpoint_that_is_aborted_before_it_connects_flushes,
                 rules("ddp.close.outstanding-requests-fail"), needs(capability::endpoint_abort)) {
  establish();
  const iut::Handle endpoint = iut.create_endpoint();
  const Work receive = iut.post_receive(16, endpoint);
  abort_endpoint(*this, endpoint);
  expect(receive, flushed());
  const Region octets = iut.register_memory(16);
  expect_not_done(*this, work_on(octets, operation::send, endpoint));
}

CONFORMANCE_CASE(stream_on_an_endpoint_that_was_reset_begins_anew,
                 rules("ddp.untagged.msn-starts-at-one", "rdmap.send.consumes-one-buffer",
                       "rdmap.order.messages-in-submission-order",
                       "rdmap.order.read-completes-after-response",
                       "ddp.close.outstanding-requests-fail", "rdmap.error.streams-terminated",
                       "ddp.close.half-closed-close-graceful"),
                 needs(capability::endpoint_reset), in_both_roles) {
  const auto first_life = [&](const std::function<void(Peer&)>& end) {
    const iut::Handle endpoint = iut.create_endpoint();
    Peer& first = another_peer();
    establish(first, {.endpoint = endpoint, .opening = true});
    const Work taken = iut.post_receive(16, endpoint), left = iut.post_receive(16, endpoint);
    first.send(send_message(payload(16)));
    expect(taken, completes().with_length(16), "rdmap.send.consumes-one-buffer");
    const Region sink = iut.register_memory(8, access::remote_write);
    const Work read = iut.post(work_on(sink, operation::read, endpoint));
    expect(first, message(Opcode::read_request));
    end(first);
    expect(iut, disconnected());
    expect(read, completes_in_error(), "ddp.close.outstanding-requests-fail");
    expect(left, flushed(), "ddp.close.outstanding-requests-fail");
    return endpoint;
  };
  const auto end_of = [&](Peer& first) {
    const Expected anything(
        "a message", [](const Arrival& arrival) { return arrival.as<Message>() != nullptr; });
    while (!expect(first, torn_down() | any_terminate() | anything).is_end()) {
    }
  };
  row("connection lost",
      [&] { expect_new_life(*this, first_life([](Peer& first) { first.reset(); })); });
  row("closed by the peer", [&] {
    expect_new_life(*this, first_life([&](Peer& first) {
      first.half_close();
      end_of(first);
    }));
  });
  row("ended by a Terminate", [&] {
    expect_new_life(*this, first_life([&](Peer& first) {
      first.send(terminate_message(cause::rdmap_local_catastrophic));
      first.half_close();
      end_of(first);
    }));
  });
  row("ended by an error of the peer", [&] {
    expect_new_life(*this, first_life([&](Peer& first) {
      first.send(send_message(payload(8)).with_ddp_version(2));
      expect(first, any_terminate() | torn_down(), "rdmap.error.streams-terminated");
      first.half_close();
    }));
  });
  row("aborted", [&] {
    if (!iut.can(capability::endpoint_abort))
      stop(Verdict::not_applicable, "the upper tester cannot abort an endpoint");
    const iut::Handle endpoint = iut.create_endpoint();
    Peer& first = another_peer();
    establish(first, {.endpoint = endpoint, .opening = true});
    abort_endpoint(*this, endpoint);
    expect(first, any_terminate() | torn_down());
    first.half_close();
    expect(iut, disconnected());
    expect_new_life(*this, endpoint);
  });
  row("ended by an error of a peer that does not close", [&] {
    const iut::Handle endpoint = iut.create_endpoint();
    Peer& first = another_peer();
    establish(first, {.endpoint = endpoint, .opening = true});
    first.send(send_message(payload(8)).with_ddp_version(2));
    expect(first, any_terminate() | torn_down(), "rdmap.error.streams-terminated");
    if (!iut.take(disconnected().matches, context().loop.now() + environment().quiet_window)) {
      first.half_close();  // the IUT waits for it
      expect(iut, disconnected());
    }
    expect_close(*this, expect_new_life(*this, endpoint), endpoint);
  });
}

CONFORMANCE_CASE(endpoint_that_never_was_connected_can_be_reset,
                 rules("ddp.untagged.msn-starts-at-one", "rdmap.send.consumes-one-buffer",
                       "rdmap.order.messages-in-submission-order"),
                 needs(capability::endpoint_reset)) {
  row("with a receive that no message has used", [&] {
    const iut::Handle endpoint = iut.create_endpoint();
    const Work early = iut.post_receive(64, endpoint);
    expect_new_life(*this, endpoint, early);
  });
  row("aborted before", [&] {
    if (!iut.can(capability::endpoint_abort))
      stop(Verdict::not_applicable, "the upper tester cannot abort an endpoint");
    const iut::Handle endpoint = iut.create_endpoint();
    abort_endpoint(*this, endpoint);
    expect_new_life(*this, endpoint);
  });
}

CONFORMANCE_CASE(connected_endpoint_is_not_reset, rules("rdmap.read.valid-request-answered"),
                 needs(capability::endpoint_reset), in_both_roles) {
  establish({.opening = true});
  const iut::Reply reply =
      iut.try_call(iut::ResetEndpoint{iut.endpoint()}, "reset the connected endpoint");
  advise_that(reply.outcome != iut::Outcome::ok, "refused", "it is accepted");
  if (reply.outcome != iut::Outcome::ok) expect_still_working();
}

/// The endpoint of the case's connection, of which another connection has been refused, still sends
/// and receives; and it is closed in order.
void expect_untouched(Body& body) {
  body.expect_still_working("rdmap.read.valid-request-answered");
  const Work receive = body.iut.post_receive(64);
  body.peer.send(send_message(payload(24)));
  body.expect(receive, completes().with_length(24), "rdmap.send.consumes-one-buffer");
  expect_close(body, body.peer.ready(), body.iut.endpoint());
  body.peer.half_close();
  body.expect(body.iut, disconnected(), "ddp.close.half-closed-close-graceful");
}

CONFORMANCE_CASE(endpoint_takes_no_second_connection,
                 rules("rdmap.read.valid-request-answered", "rdmap.send.consumes-one-buffer",
                       "ddp.close.half-closed-close-graceful", "ddp.close.llp-lost-indicated"),
                 in_both_roles) {
  const auto advise_refused = [&](iut::Handle endpoint) {
    Peer& next = another_peer();
    if (const auto done = next.connect(iut_address()); !done)
      stop(Verdict::inconclusive, done.error());
    next.send(mpa_request());
    const auto event = iut.take<iut::ConnectRequestEvent>(context().deadline);
    if (!event) stop(Verdict::inconclusive, "the IUT's API shows no connection request");
    const iut::Reply reply =
        iut.try_call(iut::Accept{event->request, endpoint, {}}, "accept on a used endpoint");
    advise_that(reply.outcome != iut::Outcome::ok, "refused", "it is accepted");
    return reply.outcome != iut::Outcome::ok;
  };
  row("while it is connected", [&] {
    establish();
    if (advise_refused(iut.endpoint())) expect_untouched(*this);
  });
  row("of its own, while it is connected", [&] {
    establish({.opening = true});
    const base::Address own = iut_address();
    const iut::Reply reply = iut.try_call(iut::Connect{iut.endpoint(), own.host(), own.port, {}},
                                          "connect a used endpoint");
    advise_that(reply.outcome != iut::Outcome::ok, "refused", "it is accepted");
    if (reply.outcome != iut::Outcome::ok) expect_untouched(*this);
  });
  row("after the end, without a reset", [&] {
    const iut::Handle endpoint = iut.create_endpoint();
    Peer& first = another_peer();
    establish(first, {.endpoint = endpoint});
    first.reset();
    expect(iut, disconnected(), "ddp.close.llp-lost-indicated");
    advise_refused(endpoint);
  });
}

CASES_OF_FILE(rdmap, endpoints)

}  // namespace suite::cases
