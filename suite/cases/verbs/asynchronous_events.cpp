// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// ibv_get_async_event(3): each kind of event that a peer or a consumer can provoke, and the object
// that it is about. No page says which errors of a stream are told, or by which of the three events
// of a queue pair (docs/disputes.md D76).
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

constexpr iut::WorkId first_work = 1000;

bool is_stream_error(const iut::AsynchronousEvent& event) {
  return event.kind == "qp_fatal" || event.kind == "qp_access_error" ||
         event.kind == "qp_request_error";
}

std::string text_of(const iut::AsynchronousEvent& event) {
  return fmt::format("{} of endpoint {}, shared queue {}, completion queue {}", event.kind,
                     event.endpoint, event.shared_queue, event.completion_queue);
}

/// The asynchronous events that have come until now.
std::vector<iut::AsynchronousEvent> told_so_far(Body& body) {
  std::vector<iut::AsynchronousEvent> events;
  body.iut.poll();
  while (auto event = body.iut.take<iut::AsynchronousEvent>(body.context().loop.now()))
    events.push_back(std::move(*event));
  return events;
}

/// What is told of a stream that ended by an error: nothing, or errors of this endpoint.
void expect_fitting(Body& body, iut::Handle endpoint) {
  for (const iut::AsynchronousEvent& event : told_so_far(body)) {
    body.expect_that(is_stream_error(event) || event.kind == "last_buffer",
                     "an error of a queue pair", text_of(event), "verbs.async.code-fits-the-cause");
    body.expect_that(event.endpoint == endpoint, fmt::format("endpoint {}", endpoint),
                     text_of(event), "verbs.async.names-its-object");
  }
}

/// Two shared receive queues, and an endpoint on the first.
struct SharedQueues {
  iut::Handle used, other, endpoint;

  explicit SharedQueues(Consumer& iut)
      : used(iut.create_shared_queue(16)),
        other(iut.create_shared_queue(16)),
        endpoint(iut.create_endpoint({.shared_queue = used})) {
    const Region buffer = iut.register_memory(8);
    for (const iut::Handle queue : {used, other})
      for (iut::WorkId i = 0; i < 4; ++i)
        iut.call(iut::PostReceive{0, queue, first_work + 10 * queue + i, {{buffer.handle, 0, 8}}},
                 "post a shared receive");
  }
};

}  // namespace

CONFORMANCE_CASE(errors_of_a_stream_are_told_as_its_own,
                 rules("verbs.async.code-fits-the-cause", "verbs.async.names-its-object",
                       "ddp.close.llp-lost-indicated", "rdmap.error.streams-terminated"),
                 needs(capability::event_objects), in_both_roles) {
  const auto ended_by = [&](const char* name, const std::function<void(Peer&)>& end) {
    row(name, [&] {
      establish({.opening = true});
      const iut::Handle endpoint = iut.create_endpoint();
      Peer& other = another_peer();
      establish(other, {.endpoint = endpoint, .opening = true});
      end(other);
      expect(iut, disconnected(), "ddp.close.llp-lost-indicated");
      expect_still_working("verbs.async.code-fits-the-cause");
      expect_fitting(*this, endpoint);
    });
  };
  const auto wrong = [&](const Outgoing& message) {
    return [this, message](Peer& other) {
      other.send(message);
      expect(other, any_terminate() | torn_down(), "rdmap.error.streams-terminated");
      other.half_close();
    };
  };
  ended_by("connection lost", [](Peer& other) { other.reset(); });
  ended_by("Write to an STag that there is not", wrong(rdma_write(0x01020304, 0, payload(8))));
  ended_by("Send without a receive for it", wrong(send_message(payload(8)).with_msn(9)));
  ended_by("wrong DDP version", wrong(send_message(payload(8)).with_ddp_version(2)));
  ended_by("Terminate", [](Peer& other) {
    other.send(terminate_message(cause::rdmap_local_catastrophic));
    other.half_close();
  });
}

CONFORMANCE_CASE(overrun_of_a_completion_queue_is_told,
                 rules("verbs.async.overrun-is-told", "verbs.async.names-its-object"),
                 needs(capability::event_objects, capability::completion_overflow),
                 deadline_of(20s)) {
  constexpr std::uint32_t asked = 4, messages = 256;  // since an RNIC may give more than asked
  establish({.opening = true});
  iut::CreateEndpoint small;
  small.receive_depth = messages;
  small.completion_depth = asked;
  const iut::Handle endpoint = iut.create_endpoint(small);
  Peer& other = another_peer();
  establish(other, {.endpoint = endpoint, .opening = true});
  const Region buffer = iut.register_memory(8);
  for (std::uint32_t i = 0; i < messages; ++i)
    iut.call(iut::PostReceive{endpoint, 0, first_work + i, {{buffer.handle, 0, 8}}},
             "post a receive");
  for (std::uint32_t i = 0; i < messages && other.is_open(); ++i)
    other.send(send_message(payload(8)));
  const auto told =
      iut.take(asynchronous("cq_error").matches, context().loop.now() + environment().quiet_window);
  if (!told && other.is_open() && iut.state(endpoint) != "error")
    stop(Verdict::inconclusive, "nothing shows that the completion queue has overrun");
  expect_that(told.has_value(), "an event \"cq_error\"", "none", "verbs.async.overrun-is-told");
  const auto& event = std::get<iut::AsynchronousEvent>(*told);
  expect_that(event.endpoint == endpoint, fmt::format("the queue of endpoint {}", endpoint),
              text_of(event), "verbs.async.names-its-object");
}

CONFORMANCE_CASE(limit_of_a_shared_queue_is_told_of_that_queue,
                 rules("verbs.async.limit-is-told", "verbs.async.names-its-object",
                       "verbs.async.code-fits-the-cause"),
                 needs(capability::event_objects, capability::shared_receive_queue)) {
  const SharedQueues queues(iut);
  establish({.endpoint = queues.endpoint});
  for (const iut::Handle queue : {queues.used, queues.other})
    iut.call(iut::ArmSharedQueueLimit{queue, 3}, "arm the limit");
  const auto take_one = [&] {
    peer.send(send_message(payload(8)));
    const auto taken = iut.take<iut::CompletionEvent>(context().deadline);
    if (!taken) stop(Verdict::inconclusive, "a message completes no shared receive");
  };
  take_one();
  iut.poll();
  expect_that(!iut.take(asynchronous("srq_limit").matches, context().loop.now()).has_value(),
              "no event \"srq_limit\" while three requests wait", "one",
              "verbs.async.code-fits-the-cause");
  take_one();
  const auto told = iut.take(asynchronous("srq_limit").matches,
                             context().loop.now() + environment().quiet_window);
  expect_that(told.has_value(), "an event \"srq_limit\", since two requests wait", "none",
              "verbs.async.limit-is-told");
  const auto& event = std::get<iut::AsynchronousEvent>(*told);
  expect_that(event.shared_queue == queues.used, fmt::format("shared queue {}", queues.used),
              text_of(event), "verbs.async.names-its-object");
}

CONFORMANCE_CASE(last_request_of_a_shared_queue_is_told,
                 rules("verbs.async.last-request-is-told", "verbs.async.names-its-object",
                       "ddp.close.llp-lost-indicated"),
                 needs(capability::event_objects, capability::shared_receive_queue)) {
  const SharedQueues queues(iut);
  establish({.endpoint = queues.endpoint, .opening = true});
  peer.reset();
  expect(iut, disconnected(), "ddp.close.llp-lost-indicated");
  const auto told = iut.take(asynchronous("last_buffer").matches,
                             context().loop.now() + environment().quiet_window);
  expect_that(told.has_value(), "an event \"last_buffer\"", "none",
              "verbs.async.last-request-is-told");
  if (!told) return;
  const auto& event = std::get<iut::AsynchronousEvent>(*told);
  expect_that(event.endpoint == queues.endpoint, fmt::format("endpoint {}", queues.endpoint),
              text_of(event), "verbs.async.names-its-object");
}

CASES_OF_FILE(verbs, asynchronous_events)

}  // namespace suite::cases
