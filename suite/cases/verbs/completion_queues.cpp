// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// ibv_poll_cq(3) and ibv_req_notify_cq(3): completion queues that endpoints share, what is in them
// when endpoints end, and which completions wake their consumer.
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/long_work.hpp"

namespace suite::cases {

namespace {

constexpr std::uint32_t remote_stag = 0x01020304;

iut::Handle create_completion_queue(Consumer& iut, bool solicited_only = false) {
  const iut::CreateCompletionQueue command{
      .queue = iut.new_handle(), .depth = 256, .solicited_only = solicited_only};
  iut.call(command, "create a completion queue");
  return command.queue;
}

iut::Handle endpoint_on(Consumer& iut, iut::Handle completion_queue) {
  iut::CreateEndpoint wanted;
  wanted.completion_queue = completion_queue;
  return iut.create_endpoint(wanted);
}

/// The requests that are outstanding on one endpoint, in the order of each of its queues.
struct Outstanding {
  iut::Handle endpoint = 0;
  std::vector<iut::WorkId> sends{}, receives{};

  [[nodiscard]] bool has(iut::WorkId work) const {
    return has_send(work) || std::ranges::find(receives, work) != receives.end();
  }
  [[nodiscard]] bool has_send(iut::WorkId work) const {
    return std::ranges::find(sends, work) != sends.end();
  }
  [[nodiscard]] bool has_receive(iut::WorkId work) const { return has(work) && !has_send(work); }
  [[nodiscard]] std::size_t size() const { return sends.size() + receives.size(); }
};

/// Receives of which a message has begun to fill the first, and Reads and Atomics that nobody
/// answers.
Outstanding post_unanswered(Body& body, Peer& other, iut::Handle endpoint) {
  Outstanding posted{.endpoint = endpoint};
  for (int i = 0; i < 3; ++i) posted.receives.push_back(body.iut.post_receive(16, endpoint).id);
  other.send(other.prepare(send_message(payload(16)).with_segments_of(8)).front());
  body.watch(other);  // no other message may come within this one
  const auto post = [&](const char* operation, Opcode opcode) {
    const Region sink = body.iut.register_memory(8, access::remote_write);
    iut::PostWork work = work_on(sink, operation, endpoint);
    work.remote_stag = remote_stag;
    posted.sends.push_back(body.iut.post(work).id);
    // The first one has gone out; whether the others wait for it is up to the IUT.
    if (posted.sends.size() == 1) body.expect(other, message(opcode));
  };
  post(operation::read, Opcode::read_request);
  if (body.iut.can(capability::atomics)) {
    post(operation::fetch_add, Opcode::atomic_request);
    post(operation::compare_swap, Opcode::atomic_request);
  }
  post(operation::read, Opcode::read_request);
  return posted;
}

/// The next completion of work on either endpoint.
std::optional<iut::CompletionEvent> next_of(Body& body, const Outstanding& ended,
                                            const Outstanding& other) {
  const auto event = body.iut.take(
      [&](const iut::Event& candidate) {
        const auto* done = std::get_if<iut::CompletionEvent>(&candidate);
        return done != nullptr && (ended.has(done->work) || other.has(done->work));
      },
      body.context().deadline);
  if (!event) return std::nullopt;
  return std::get<iut::CompletionEvent>(*event);
}

/// All that is outstanding on `ended` completes, once, in error, in the order of each queue and
/// under the name of this endpoint; nothing of `other` does.
void expect_flushed(Body& body, const Outstanding& ended, const Outstanding& other) {
  std::vector<iut::WorkId> sends, receives;
  while (sends.size() + receives.size() < ended.size()) {
    const auto done = next_of(body, ended, other);
    body.expect_that(done.has_value(), fmt::format("{} completions", ended.size()),
                     fmt::format("{}", sends.size() + receives.size()),
                     "verbs.completion.every-flushed-request");
    body.expect_that(done->endpoint == ended.endpoint && ended.has(done->work),
                     fmt::format("work of endpoint {} under its name", ended.endpoint),
                     fmt::format("{} under endpoint {}", describe(*done), done->endpoint),
                     "verbs.completion.names-its-request");
    body.expect_that(done->status != "success", "a failure", describe(*done),
                     "verbs.completion.every-flushed-request");
    (ended.has_send(done->work) ? sends : receives).push_back(done->work);
  }
  body.expect_that(sends == ended.sends, fmt::format("{}", fmt::join(ended.sends, ", ")),
                   fmt::format("{}", fmt::join(sends, ", ")), "verbs.completion.in-posting-order");
  body.expect_that(receives == ended.receives, fmt::format("{}", fmt::join(ended.receives, ", ")),
                   fmt::format("{}", fmt::join(receives, ", ")),
                   "verbs.completion.in-posting-order");
}

}  // namespace

CONFORMANCE_CASE(requests_of_endpoints_that_share_a_queue_are_flushed_apart,
                 rules("verbs.completion.every-flushed-request",
                       "verbs.completion.names-its-request", "verbs.completion.in-posting-order"),
                 needs(capability::completion_queues), in_both_roles, deadline_of(10s)) {
  const auto ended_by = [&](const char* name, const std::function<void(iut::Handle, Peer&)>& end) {
    row(name, [&] {
      const iut::Handle queue = create_completion_queue(iut);
      const iut::Handle first = endpoint_on(iut, queue), second = endpoint_on(iut, queue);
      Peer &to_first = another_peer(), &to_second = another_peer();
      establish(to_first, {.endpoint = first, .opening = true});
      establish(to_second, {.endpoint = second, .opening = true});
      const Outstanding on_first = post_unanswered(*this, to_first, first);
      const Outstanding on_second = post_unanswered(*this, to_second, second);
      end(second, to_second);
      expect_flushed(*this, on_second, on_first);
      end(first, to_first);
      expect_flushed(*this, on_first, on_second);
    });
  };
  ended_by("connection lost", [&](iut::Handle, Peer& to) { to.reset(); });
  ended_by("aborted", [&](iut::Handle endpoint, Peer&) {
    if (!iut.can(capability::endpoint_abort))
      stop(Verdict::not_applicable, "the upper tester cannot abort an endpoint");
    iut.call(iut::AbortEndpoint{endpoint}, "abort the endpoint");
  });
}

// No page says what becomes of such work (docs/disputes.md D72).
CONFORMANCE_CASE(work_posted_after_an_abort_is_flushed_last,
                 rules("verbs.completion.later-work-flushed-last"),
                 needs(capability::completion_queues, capability::endpoint_abort), in_both_roles) {
  const iut::Handle endpoint = endpoint_on(iut, create_completion_queue(iut));
  Peer& other = another_peer();
  establish(other, {.endpoint = endpoint, .opening = true});
  const Outstanding earlier = post_unanswered(*this, other, endpoint);
  iut.call(iut::AbortEndpoint{endpoint}, "abort the endpoint");
  const auto [reply, last] =
      iut.try_post(work_on(iut.register_memory(8), operation::send, endpoint));
  advise_that(reply.outcome == iut::Outcome::ok, "accepted, to be flushed", reply.error);
  if (reply.outcome != iut::Outcome::ok) return;
  const Outstanding later{.endpoint = endpoint, .sends = {last.id}};
  std::vector<iut::WorkId> sends;
  while (sends.size() < earlier.sends.size() + 1) {
    const auto done = next_of(*this, earlier, later);
    expect_that(done.has_value(), "each request flushed", "no completion");
    if (!done) return;
    expect_that(done->status != "success", "a failure", describe(*done));
    if (!earlier.has_receive(done->work)) sends.push_back(done->work);
  }
  expect_that(sends.back() == last.id, "the request posted last is flushed last",
              fmt::format("{}", fmt::join(sends, ", ")));
}

CONFORMANCE_CASE(queue_armed_for_solicited_completions_wakes_for_no_others,
                 rules("verbs.completion.unsolicited-does-not-wake",
                       "verbs.completion.solicited-wakes"),
                 needs(capability::completion_queues)) {
  const auto woken_by = [&](const char* name, const Outgoing& solicits) {
    row(name, [&] {
      const iut::Handle endpoint = endpoint_on(iut, create_completion_queue(iut, true));
      establish({.opening = true});
      Peer& other = another_peer();
      establish(other, {.endpoint = endpoint, .opening = true});
      const Work plain = iut.post_receive(16, endpoint), solicited = iut.post_receive(16, endpoint);
      other.send(send_message(payload(8)));
      const Work send = iut.post(work_on(iut.register_memory(8), operation::send, endpoint));
      expect(other, message(Opcode::send));
      expect_none(completion_of(plain) | completion_of(send),
                  "verbs.completion.unsolicited-does-not-wake");
      other.send(solicits);
      expect(solicited, completes(), "verbs.completion.solicited-wakes");
      expect(plain, completes().with_length(8), "verbs.completion.solicited-wakes");
    });
  };
  woken_by("Send", send_solicited(payload(9)));
  if (iut.can(capability::immediate)) woken_by("Immediate Data", immediate_data(payload(8), true));
}

CONFORMANCE_CASE(queue_armed_for_solicited_completions_wakes_for_failed_ones,
                 rules("verbs.completion.failed-wakes", "ddp.close.llp-lost-indicated"),
                 needs(capability::completion_queues), in_both_roles) {
  const auto woken_by = [&](const char* name, const ExpectedCompletion& failed,
                            const std::function<Work(iut::Handle)>& post) {
    row(name, [&] {
      const iut::Handle endpoint = endpoint_on(iut, create_completion_queue(iut, true));
      Peer& other = another_peer();
      establish(other, {.endpoint = endpoint, .opening = true});
      const Work failing = post(endpoint);
      other.reset();
      expect(iut, disconnected(), "ddp.close.llp-lost-indicated");
      expect(failing, failed);
    });
  };
  woken_by("receive", flushed(),
           [&](iut::Handle endpoint) { return iut.post_receive(16, endpoint); });
  woken_by("Read", completes_in_error(), [&](iut::Handle endpoint) {
    iut::PostWork read =
        work_on(iut.register_memory(8, access::remote_write), operation::read, endpoint);
    read.remote_stag = remote_stag;
    return iut.post(read);
  });
}

CONFORMANCE_CASE(queue_that_is_armed_twice_wakes_for_both,
                 rules("verbs.completion.each-request-wakes", "verbs.completion.solicited-wakes"),
                 needs(capability::completion_queues)) {
  const auto wakes = [&](const char* name, bool first_solicited_only, bool solicited) {
    row(name, [&] {
      const iut::Handle queue = create_completion_queue(iut, first_solicited_only);
      const iut::Handle endpoint = endpoint_on(iut, queue);
      Peer& other = another_peer();
      establish(other, {.endpoint = endpoint, .opening = true});
      iut.call(iut::ArmCompletionQueue{queue, !first_solicited_only}, "arm the queue once more");
      const Work receive = iut.post_receive(16, endpoint);
      other.send(solicited ? send_solicited(payload(8)) : send_message(payload(8)));
      expect(receive, completes().with_length(8),
             solicited ? RuleRef("verbs.completion.solicited-wakes") : RuleRef{});
    });
  };
  wakes("for any, then for solicited ones", false, false);
  wakes("for solicited ones, then for any", true, false);
  wakes("for any, then for solicited ones: a solicited one", false, true);
}

CONFORMANCE_CASE(queue_that_has_woken_its_consumer_waits_to_be_armed_again,
                 rules("verbs.completion.one-wakeup-for-a-request",
                       "verbs.completion.solicited-wakes"),
                 needs(capability::completion_queues, capability::armed_once)) {
  const auto wakes_once = [&](const char* name, bool solicited_only) {
    const RuleRef wakes = solicited_only ? RuleRef("verbs.completion.solicited-wakes") : RuleRef{};
    row(name, [&] {
      const iut::CreateCompletionQueue command{.queue = iut.new_handle(),
                                               .depth = 256,
                                               .solicited_only = solicited_only,
                                               .armed_once = true};
      iut.call(command, "create a completion queue");
      const iut::Handle endpoint = endpoint_on(iut, command.queue);
      establish({.opening = true});
      Peer& other = another_peer();
      establish(other, {.endpoint = endpoint, .opening = true});
      std::vector<Work> receives;
      for (int i = 0; i < 4; ++i) receives.push_back(iut.post_receive(16, endpoint));
      const auto bring = [&] { other.send(send_solicited(payload(8))); };
      bring();
      expect(receives[0], completes().with_length(8), wakes);
      bring();
      bring();
      expect_none(completion_of(receives[1]) | completion_of(receives[2]));
      iut.call(iut::ArmCompletionQueue{command.queue, solicited_only}, "arm the queue again");
      bring();
      for (const std::size_t i : {1, 2, 3}) expect(receives[i], completes().with_length(8), wakes);
    });
  };
  wakes_once("for any completion", false);
  wakes_once("for solicited ones", true);
}

// The disconnection waits for the Read, or does not.
CONFORMANCE_CASE(endpoint_that_is_aborted_while_it_closes_is_flushed,
                 rules("verbs.completion.every-flushed-request"), needs(capability::endpoint_abort),
                 in_both_roles) {
  see_iut_send();
  const Work read = iut.post_read(8, remote_stag, 0);
  expect_message(Opcode::read_request);
  iut.disconnect();
  iut.call(iut::AbortEndpoint{iut.endpoint()}, "abort the endpoint");
  expect(read, completes_in_error());
}

CASES_OF_FILE(verbs, completion_queues)

}  // namespace suite::cases
