// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// ibv_get_async_event(3): each kind of event that a peer or a consumer can provoke, and the object
// that it is about. No page says which errors of a stream are reported, or by which of the three
// events of a queue pair (docs/disputes.md D76).
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/long_work.hpp"

namespace suite::cases {

namespace {

bool is_stream_error(const iut::AsynchronousEvent& event) {
  return event.kind == "qp_fatal" || event.kind == "qp_access_error" ||
         event.kind == "qp_request_error";
}

std::string text_of(const iut::AsynchronousEvent& event) {
  return fmt::format("{} of endpoint {}, shared queue {}, completion queue {}", event.kind,
                     event.endpoint, event.shared_queue, event.completion_queue);
}

/// The asynchronous events that have come until now.
std::vector<iut::AsynchronousEvent> reported_so_far(Body& body) {
  std::vector<iut::AsynchronousEvent> events;
  body.iut.poll();
  while (auto event = body.iut.take<iut::AsynchronousEvent>(body.context().loop.now()))
    events.push_back(std::move(*event));
  return events;
}

/// The next event of a kind, if it comes soon.
std::optional<iut::AsynchronousEvent> next_of(Body& body, const char* kind) {
  const auto event = body.iut.take(asynchronous(kind).matches,
                                   body.context().loop.now() + body.environment().quiet_window);
  if (!event) return std::nullopt;
  return std::get<iut::AsynchronousEvent>(*event);
}

using Kinds = std::initializer_list<std::string_view>;

/// What is reported of a stream that ended by an error: nothing, or errors of this endpoint, best of
/// these kinds.
void expect_fitting(Body& body, iut::Handle endpoint, Kinds closest) {
  for (const iut::AsynchronousEvent& event : reported_so_far(body)) {
    body.expect_that(is_stream_error(event) || event.kind == "last_buffer",
                     "an error of a queue pair", text_of(event), "verbs.async.code-fits-the-cause");
    body.expect_that(event.endpoint == endpoint, fmt::format("endpoint {}", endpoint),
                     text_of(event), "verbs.async.names-its-object");
    if (event.kind == "last_buffer") continue;
    body.expect_that(std::ranges::find(closest, event.kind) != closest.end(),
                     fmt::format("{}", fmt::join(closest, " or ")), text_of(event),
                     "verbs.async.kind-of-the-cause");
  }
}

/// Two shared receive queues, and an endpoint on the first.
struct SharedQueues {
  static constexpr std::uint32_t depth = 16;
  iut::Handle used, other, endpoint;

  explicit SharedQueues(Consumer& iut, iut::WorkId waiting = 4)
      : used(iut.create_shared_queue(depth)),
        other(iut.create_shared_queue(depth)),
        endpoint(iut.create_endpoint({.shared_queue = used})) {
    const Region buffer = iut.register_memory(8);
    for (const iut::Handle queue : {used, other})
      for (iut::WorkId i = 0; i < waiting; ++i)
        static_cast<void>(
            iut.post_receive({.shared_queue = queue, .pieces = {{buffer.handle, 0, 8}}}));
  }
};

}  // namespace

CONFORMANCE_CASE(errors_of_a_stream_are_reported_as_its_own,
                 rules("verbs.async.code-fits-the-cause", "verbs.async.names-its-object",
                       "verbs.async.kind-of-the-cause", "ddp.close.llp-lost-indicated",
                       "rdmap.error.streams-terminated"),
                 needs(capability::event_objects), in_both_roles) {
  const auto ended_by = [&](const char* name, Kinds closest,
                            const std::function<void(Peer&)>& end) {
    row(name, [&] {
      establish({.opening = true});
      const iut::Handle endpoint = iut.create_endpoint();
      Peer& other = another_peer();
      establish(other, {.endpoint = endpoint, .opening = true});
      end(other);
      expect(iut, disconnected(), "ddp.close.llp-lost-indicated");
      expect_still_working("verbs.async.code-fits-the-cause");
      expect_fitting(*this, endpoint, closest);
    });
  };
  const auto wrong = [&](const Outgoing& message) {
    return [this, message](Peer& other) {
      other.send(message);
      expect(other, any_terminate() | torn_down(), "rdmap.error.streams-terminated");
      other.half_close();
    };
  };
  ended_by("connection lost", {"qp_fatal"}, [](Peer& other) { other.reset(); });
  ended_by("Write to an STag that there is not", {"qp_fatal", "qp_access_error"},
           wrong(rdma_write(0x01020304, 0, payload(8))));
  ended_by("Send without a receive for it", {"qp_fatal", "qp_request_error"},
           wrong(send_message(payload(8)).with_msn(9)));
  ended_by("wrong DDP version", {"qp_fatal", "qp_request_error"},
           wrong(send_message(payload(8)).with_ddp_version(2)));
  ended_by("Terminate", {"qp_fatal"}, [](Peer& other) {
    other.send(terminate_message(cause::rdmap_local_catastrophic));
    other.half_close();
  });
}

CONFORMANCE_CASE(overrun_of_a_completion_queue_is_reported,
                 rules("verbs.async.overrun-is-reported", "verbs.async.names-its-object"),
                 needs(capability::event_objects, capability::completion_overflow),
                 deadline_of(20s)) {
  establish({.opening = true});
  Peer& other = another_peer();
  const iut::Handle endpoint = overflow_completion_queue(*this, other);
  const auto event = next_of(*this, "cq_error");
  if (!event && other.is_open() && iut.state(endpoint) != "error")
    stop(Verdict::inconclusive, "nothing shows that the completion queue has overrun");
  expect_that(event.has_value(), "an event \"cq_error\"", "none",
              "verbs.async.overrun-is-reported");
  expect_that(event->endpoint == endpoint, fmt::format("the queue of endpoint {}", endpoint),
              text_of(*event), "verbs.async.names-its-object");
}

CONFORMANCE_CASE(overrun_by_work_that_is_flushed_is_reported,
                 rules("verbs.async.overrun-is-reported", "verbs.async.names-its-object"),
                 needs(capability::event_objects, capability::completion_overflow),
                 deadline_of(20s)) {
  const iut::Handle earlier = overflow_completion_queue(*this, another_peer());
  if (!next_of(*this, "cq_error"))
    stop(Verdict::inconclusive, "nothing shows that such a completion queue can overrun");
  Peer& other = another_peer();
  const iut::Handle endpoint = endpoint_with_a_small_completion_queue(*this, other);
  other.reset();
  auto event = next_of(*this, "cq_error");
  // Each completion that has found no room may be reported.
  while (event && event->endpoint == earlier) event = next_of(*this, "cq_error");
  expect_that(event.has_value(), "an event \"cq_error\"", "none",
              "verbs.async.overrun-is-reported");
  if (!event) return;
  expect_that(event->endpoint == endpoint, fmt::format("the queue of endpoint {}", endpoint),
              text_of(*event), "verbs.async.names-its-object");
}

CONFORMANCE_CASE(limit_of_a_shared_queue_is_reported_for_that_queue,
                 rules("verbs.async.limit-is-reported", "verbs.async.names-its-object",
                       "verbs.async.code-fits-the-cause"),
                 needs(capability::event_objects, capability::shared_receive_queue)) {
  const auto reported = [&](const char* name, iut::WorkId waiting, std::uint32_t limit) {
    row(name, [&] {
      const SharedQueues queues(iut, waiting);
      establish({.endpoint = queues.endpoint});
      for (const iut::Handle queue : {queues.used, queues.other})
        iut.call(iut::ArmSharedQueueLimit{queue, limit}, "arm the limit");
      const auto take_one = [&] {
        peer.send(send_message(payload(8)));
        const auto taken = iut.take<iut::CompletionEvent>(context().deadline);
        if (!taken) stop(Verdict::inconclusive, "a message completes no shared receive");
      };
      for (iut::WorkId left = waiting - 1; left >= limit; --left) take_one();
      iut.poll();
      expect_that(!iut.take(asynchronous("srq_limit").matches, context().loop.now()).has_value(),
                  "no event \"srq_limit\" while as many requests wait as the limit says", "one",
                  "verbs.async.code-fits-the-cause");
      take_one();
      const auto event = next_of(*this, "srq_limit");
      expect_that(event.has_value(), "an event \"srq_limit\", since fewer requests wait", "none",
                  "verbs.async.limit-is-reported");
      expect_that(event->shared_queue == queues.used, fmt::format("shared queue {}", queues.used),
                  text_of(*event), "verbs.async.names-its-object");
    });
  };
  reported("a limit of three", 4, 3);
  reported("a limit of one", 2, 1);
  reported("a limit of the whole queue", SharedQueues::depth, SharedQueues::depth);
}

CONFORMANCE_CASE(limit_that_is_armed_again_takes_the_place_of_the_former_one,
                 rules("verbs.async.limit-is-reported", "verbs.async.code-fits-the-cause"),
                 needs(capability::event_objects, capability::shared_receive_queue)) {
  const auto armed = [&](const char* name, const auto& steps) {
    row(name, [&] {
      const SharedQueues queues(iut, 4);
      establish({.endpoint = queues.endpoint});
      const auto arm = [&](std::uint32_t limit) {
        iut.call(iut::ArmSharedQueueLimit{queues.used, limit}, "arm the limit");
      };
      const auto take_one = [&](bool due) {
        peer.send(send_message(payload(8)));
        if (!iut.take<iut::CompletionEvent>(context().deadline))
          stop(Verdict::inconclusive, "a message completes no shared receive");
        if (due) {
          expect_that(next_of(*this, "srq_limit").has_value(), "an event \"srq_limit\"", "none",
                      "verbs.async.limit-is-reported");
          return;
        }
        iut.poll();
        expect_that(!iut.take(asynchronous("srq_limit").matches, context().loop.now()),
                    "no event \"srq_limit\", since the limit that was set last says so", "one",
                    "verbs.async.code-fits-the-cause");
      };
      steps(arm, take_one);
    });
  };
  armed("a lower limit in place of the first", [](const auto& arm, const auto& take_one) {
    arm(4);
    arm(2);
    take_one(false);
    take_one(false);
    take_one(true);
  });
  armed("a higher limit in place of the first", [](const auto& arm, const auto& take_one) {
    arm(1);
    arm(4);
    take_one(true);
  });
  armed("no limit any more", [](const auto& arm, const auto& take_one) {
    arm(4);
    arm(0);
    take_one(false);
    take_one(false);
  });
  armed("armed anew after each event", [](const auto& arm, const auto& take_one) {
    arm(4);
    take_one(true);
    arm(3);
    take_one(true);
    arm(2);
    take_one(true);
  });
}

CONFORMANCE_CASE(last_request_of_a_shared_queue_is_reported,
                 rules("verbs.async.last-request-is-reported", "verbs.async.names-its-object",
                       "ddp.close.llp-lost-indicated"),
                 needs(capability::event_objects, capability::shared_receive_queue)) {
  const SharedQueues queues(iut);
  establish({.endpoint = queues.endpoint, .opening = true});
  peer.reset();
  expect(iut, disconnected(), "ddp.close.llp-lost-indicated");
  const auto event = next_of(*this, "last_buffer");
  expect_that(event.has_value(), "an event \"last_buffer\"", "none",
              "verbs.async.last-request-is-reported");
  if (!event) return;
  expect_that(event->endpoint == queues.endpoint, fmt::format("endpoint {}", queues.endpoint),
              text_of(*event), "verbs.async.names-its-object");
}

CASES_OF_FILE(verbs, asynchronous_events)

}  // namespace suite::cases
