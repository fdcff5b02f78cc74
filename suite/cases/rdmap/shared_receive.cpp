// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 5.3 where several streams share the Receives (RFC 5042 section 6.4.3.1): a
// shared receive queue.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

/// Two streams of the IUT that take their Receives from one queue.
struct Shared {
  Body& body;
  iut::Handle queue, first, second;
  std::vector<Work> receives{};

  explicit Shared(Body& of)
      : body(of),
        queue(of.iut.create_shared_queue(depth)),
        first(of.iut.create_endpoint({.shared_queue = queue})),
        second(of.iut.create_endpoint({.shared_queue = queue})) {}

  iut::Reply try_post(std::uint32_t length) {
    Region buffer = body.iut.register_memory(length);
    Attempt attempt = body.iut.try_post(
        iut::PostReceive{.shared_queue = queue, .pieces = {{buffer.handle, 0, length}}});
    receives.push_back({attempt.work.id, first, std::move(buffer)});
    return std::move(attempt.reply);
  }
  void post(std::uint32_t length) {
    const iut::Reply reply = try_post(length);
    body.expect_that(reply.outcome == iut::Outcome::ok, "the receive accepted", reply.error);
  }
  /// The message completes a Receive (any one) of this endpoint, and lies in its buffer.
  iut::WorkId expect_message(iut::Handle endpoint, const Octets& data) {
    const auto event = body.iut.take<iut::CompletionEvent>(body.context().deadline);
    body.expect_that(event && event->endpoint == endpoint && event->status == "success" &&
                         event->length == data.size(),
                     fmt::format("a receive of endpoint {} with {} octets", endpoint, data.size()),
                     event ? fmt::format("{} at endpoint {}", describe(*event), event->endpoint)
                           : "no completion");
    for (const Work& receive : receives)
      if (receive.id == event->work) body.expect(receive.buffer, holds(data));
    return event->work;
  }

  iut::Reply resize(std::uint32_t wanted) const {
    return body.iut.try_call(iut::ResizeSharedQueue{queue, wanted}, "resize the shared queue");
  }

  static constexpr std::uint32_t depth = 4;
};

}  // namespace

CONFORMANCE_CASE(messages_of_two_streams_consume_one_receive_each,
                 rules("rdmap.send.consumes-one-buffer"), needs(capability::shared_receive_queue)) {
  Shared shared(*this);
  establish({.endpoint = shared.first});
  Peer& other = another_peer();
  establish(other, {.endpoint = shared.second});
  for (std::uint32_t i = 0; i < 3; ++i) shared.post(64);
  std::set<iut::WorkId> taken;
  peer.send(send_message(payload(10, 1)));
  taken.insert(shared.expect_message(shared.first, payload(10, 1)));
  other.send(send_message(payload(20, 2)));
  taken.insert(shared.expect_message(shared.second, payload(20, 2)));
  peer.send(send_message(payload(30, 3)));
  taken.insert(shared.expect_message(shared.first, payload(30, 3)));
  expect_that(taken.size() == 3, "three Receives", fmt::format("{}", taken.size()));
}

CONFORMANCE_CASE(shared_queue_accepts_its_depth_and_no_more,
                 rules("rdmap.send.consumes-one-buffer"), needs(capability::shared_receive_queue)) {
  Shared shared(*this);
  establish({.endpoint = shared.first});
  for (std::uint32_t i = 0; i < Shared::depth; ++i) shared.post(8);
  const iut::Reply beyond = shared.try_post(8);
  advise_that(beyond.outcome != iut::Outcome::ok, "one receive more refused", "it is accepted");
  for (std::uint32_t i = 0; i < Shared::depth; ++i) {
    peer.send(send_message(payload(8)));
    shared.expect_message(shared.first, payload(8));
  }
  if (beyond.outcome == iut::Outcome::ok) return;
  peer.send(send_message(payload(8)));
  // It may wait for a buffer, where the LLP lets it (docs/disputes.md D9). A Responder that has
  // received FPDUs may send a Terminate.
  expect(peer, only_terminate({cause::ddp_untagged_no_buffer}) |
                   advisory(torn_down() | any_terminate() | silence()));
}

CONFORMANCE_CASE(resized_shared_queue_takes_its_new_depth, rules("rdmap.send.consumes-one-buffer"),
                 needs(capability::shared_receive_queue, capability::shared_queue_resize)) {
  Shared shared(*this);
  establish({.endpoint = shared.first});
  const auto take_one = [&] {
    peer.send(send_message(payload(8)));
    shared.expect_message(shared.first, payload(8));
  };
  for (std::uint32_t i = 0; i < Shared::depth; ++i) shared.post(8);
  const iut::Reply smaller = shared.resize(Shared::depth / 2);
  advise_that(smaller.outcome != iut::Outcome::ok, "no fewer than are waiting", "it is accepted");
  const iut::Reply same = shared.resize(Shared::depth);
  expect_that(same.outcome == iut::Outcome::ok, "exactly as many as are waiting", same.error);
  const iut::Reply larger = shared.resize(2 * Shared::depth);
  expect_that(larger.outcome == iut::Outcome::ok, "twice as many", larger.error);
  for (std::uint32_t i = 0; i < Shared::depth; ++i) shared.post(8);
  const iut::Reply beyond = shared.try_post(8);
  advise_that(beyond.outcome != iut::Outcome::ok, "one receive more refused", "it is accepted");
  for (std::uint32_t i = 0; i < 2 * Shared::depth; ++i) take_one();
  const iut::Reply back = shared.resize(Shared::depth);
  expect_that(back.outcome == iut::Outcome::ok, "half of them, with none waiting", back.error);
  shared.post(8);
  take_one();
}

CONFORMANCE_CASE(low_shared_queue_is_reported_once,
                 rules("sec.resources.shared-receive-overuse-detected"),
                 needs(capability::shared_receive_queue)) {
  Shared shared(*this);
  establish({.endpoint = shared.first});
  for (std::uint32_t i = 0; i < 4; ++i) shared.post(8);
  iut.call(iut::ArmSharedQueueLimit{shared.queue, 3}, "arm the limit");
  const auto told = [&] {
    iut.poll();
    return iut.take(asynchronous("srq_limit").matches, context().loop.now()).has_value();
  };
  const auto take_one = [&] {
    peer.send(send_message(payload(8)));
    shared.expect_message(shared.first, payload(8));
  };
  take_one();
  expect_that(!told(), "no event while three Receives wait", "one");
  take_one();
  // A limit is one means of several (RFC 5042 section 6.4.3.1), so its absence does not fail.
  advise_that(told(), "an event, for two Receives wait", "none");
  take_one();
  expect_that(!told(), "no second event", "one");
}

CONFORMANCE_CASE(last_shared_receive_is_reported_for_its_stream_only,
                 rules("mpa.close.graceful-close-indicated"),
                 needs(capability::shared_receive_queue)) {
  const auto last = [&](iut::Handle endpoint) {
    return [endpoint](const iut::Event& event) {
      const auto* raised = std::get_if<iut::AsynchronousEvent>(&event);
      return raised != nullptr && raised->kind == "last_buffer" && raised->endpoint == endpoint;
    };
  };
  Shared shared(*this);
  establish({.endpoint = shared.first});
  const iut::Handle alone = iut.create_endpoint();
  Peer& other = another_peer();
  establish(other, {.endpoint = alone});
  other.half_close();
  expect(iut, disconnected());
  peer.half_close();
  expect(iut, disconnected());
  iut.poll();
  expect_that(!iut.take(last(alone), context().loop.now()).has_value(),
              "no such event of a stream with a queue of its own", "one");
  advise_that(iut.take(last(shared.first), context().loop.now()).has_value(),
              "an event \"last_buffer\"", "none");
}

CASES_OF_FILE(rdmap, shared_receive)

}  // namespace suite::cases
