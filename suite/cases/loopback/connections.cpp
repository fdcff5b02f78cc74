// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rdma_connect(3), rdma_accept(3), rdma_reject(3) and rdma_disconnect(3): what one end of a
// connection learns of the other, and what becomes of posted work when either ends it.
#include <map>

#include "suite/cases/framework/long_work.hpp"
#include "suite/cases/loopback/loopback_body.hpp"

namespace suite::cases {

namespace {

/// An API may show more octets than were given, all of them zero (rdma_get_cm_event(3)).
bool begins_with(const Octets& shown, const Octets& given) {
  if (shown.size() < given.size()) return false;
  const auto rest = shown.begin() + static_cast<std::ptrdiff_t>(given.size());
  return std::equal(given.begin(), given.end(), shown.begin()) &&
         std::all_of(rest, shown.end(), [](std::byte octet) { return octet == std::byte{0}; });
}

Octets private_data_of(Body& body, std::uint8_t seed) {
  constexpr std::int64_t usual = 40;
  const auto most = within_limit(body.iut.limits(), "max_private_data", usual);
  return payload(static_cast<std::size_t>(most), seed);
}

ExpectedEvent established_at(iut::Handle endpoint, Octets private_data) {
  return {fmt::format("endpoint {} established, with the private data", endpoint),
          [=, data = std::move(private_data)](const iut::Event& event) {
            const auto* one = std::get_if<iut::EstablishedEvent>(&event);
            return one != nullptr && one->endpoint == endpoint &&
                   begins_with(one->private_data, data);
          }};
}

/// Receives, and Reads that may or may not be answered before the end.
std::vector<Work> outstanding_receives(const End& end) {
  std::vector<Work> works;
  for (int i = 0; i < 3; ++i) works.push_back(end.receive(16));
  return works;
}

}  // namespace

LOOPBACK_CASE(private_data_reach_the_other_end, rules("verbs.connect.private-data-passed-on"),
              over_both_families) {
  const Octets asked = private_data_of(*this, 1), answered = private_data_of(*this, 2);
  const iut::Handle active = iut.create_endpoint(), passive = iut.create_endpoint();
  const auto request = request_to_itself(active, {.private_data = asked});
  expect_that(begins_with(request.private_data, asked), "the octets of the connecting end",
              fmt::format("{} octets, others", request.private_data.size()));
  iut.accept(request.request, passive, with_depths({.private_data = answered}));
  expect(iut, established_at(active, answered));
  expect(iut, established_at(passive, {}));
}

LOOPBACK_CASE(rejection_reaches_the_connecting_end, rules("verbs.connect.rejection-passed-on"),
              over_both_families) {
  const Octets why = private_data_of(*this, 3);
  const iut::Handle active = iut.create_endpoint();
  const auto request = request_to_itself(active);
  iut.reject(request.request, why);
  const iut::Event told = expect(iut, rejected());
  const auto& rejection = std::get<iut::RejectedEvent>(told);
  expect_that(rejection.endpoint == active && begins_with(rejection.private_data, why),
              "the octets of the end that rejects", describe(told));
}

LOOPBACK_CASE(both_ends_are_told_of_a_disconnection_and_flushed,
              rules("verbs.disconnect.both-ends-told", "verbs.completion.every-flushed-request"),
              deadline_of(10s)) {
  from_both_ends([&](const End& by, const End& other) {
    std::vector<Work> works = outstanding_receives(by);
    std::ranges::copy(outstanding_receives(other), std::back_inserter(works));
    end_from(by);
    expect_disconnected(other, "verbs.disconnect.both-ends-told");
    expect_disconnected(by, "verbs.disconnect.both-ends-told");
    expect_flushed(works, "verbs.completion.every-flushed-request");
  });
}

// The end whose request was refused has nothing left to do but to disconnect: on iWARP the
// connection has ended by itself, on InfiniBand only its queue pairs.
LOOPBACK_CASE(refused_request_ends_the_work_of_both_ends,
              rules("verbs.region.access-flags", "verbs.completion.every-flushed-request",
                    "verbs.disconnect.both-ends-told"),
              deadline_of(10s)) {
  from_both_ends([&](const End& by, const End& other) {
    const Region closed = iut.register_memory(64),
                 readable = iut.register_memory(8, access::remote_read);
    std::vector<Work> works = outstanding_receives(by);
    std::ranges::copy(outstanding_receives(other), std::back_inserter(works));
    const Work refused = by.write(payload(8), closed);
    expect_refused(by, closed, readable, "verbs.region.access-flags");
    end_from(by);
    expect_disconnected(other, "verbs.disconnect.both-ends-told");
    expect_disconnected(by, "verbs.disconnect.both-ends-told");
    expect_flushed(works, "verbs.completion.every-flushed-request");
  });
}

LOOPBACK_CASE(shared_queue_serves_the_endpoints_of_two_connections,
              rules("verbs.shared-receive.serves-all-endpoints"),
              needs(capability::shared_receive_queue)) {
  LoopbackTerms terms;
  terms.active.shared_queue = iut.create_shared_queue(16);
  const auto first = connect_to_itself(terms), second = connect_to_itself(terms);
  std::map<iut::WorkId, Region> posted;
  for (int i = 0; i < 6; ++i) {
    const Region buffer = iut.register_memory(64);
    const iut::PostReceive command{0, terms.active.shared_queue, 0, {{buffer.handle, 0, 64}}};
    posted.emplace(iut.post_receive(command).id, buffer);
  }
  // The queue gives its receives out in any order (docs/disputes.md D105).
  const ExpectedEvent one_of_them(
      "the completion of a receive of the queue", [&](const iut::Event& event) {
        const auto* done = std::get_if<iut::CompletionEvent>(&event);
        return done != nullptr && done->status == "success" && posted.contains(done->work);
      });
  for (std::size_t i = 0; !posted.empty(); ++i) {
    const Ends& used = i % 2 == 0 ? first : second;
    const Octets data = payload(10 + i, static_cast<std::uint8_t>(20 + i));
    const Work sent = used.passive.send(data);
    const auto done = std::get<iut::CompletionEvent>(expect(iut, one_of_them));
    const auto taken = posted.extract(done.work);
    expect_that(done.endpoint == used.active.handle(),
                fmt::format("a completion of endpoint {}", used.active.handle()),
                fmt::format("of endpoint {}", done.endpoint));
    expect_that(done.length == data.size(), fmt::format("{} octets", data.size()),
                fmt::format("{}", done.length));
    expect(taken.mapped(), holds(data));
    expect(sent, completes());
  }
}

LOOPBACK_CASE(completion_queue_of_both_ends_names_the_request,
              rules("verbs.completion.names-its-request"), needs(capability::completion_queues)) {
  const iut::CreateCompletionQueue queue{.queue = iut.new_handle(), .depth = 256};
  iut.call(queue, "create a completion queue");
  LoopbackTerms terms;
  terms.active.completion_queue = terms.passive.completion_queue = queue.queue;
  const auto ends = connect_to_itself(terms);
  for (int i = 0; i < 4; ++i)
    for (const auto& [from, to] :
         {std::pair{ends.active, ends.passive}, std::pair{ends.passive, ends.active}}) {
      const Work receive = to.receive(16);
      const Work sent = from.send(payload(8));
      for (const Work& each : {receive, sent}) {
        const auto done = expect(each, completes());
        expect_that(done.endpoint == each.endpoint,
                    fmt::format("a completion of endpoint {}", each.endpoint),
                    fmt::format("of endpoint {}", done.endpoint));
      }
    }
}

CASES_OF_FILE(loopback, connections)

}  // namespace suite::cases
