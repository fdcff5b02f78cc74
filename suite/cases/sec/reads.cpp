// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5042 sections 6.3.5 and 6.4.3.3: what a Read may access, and the Read Request Queue.
#include <deque>

#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/long_work.hpp"

namespace suite::cases {

namespace {

constexpr int granted = 4;

Expected response_or_part() {
  return {"a Read Response or its beginning", [](const Arrival& arrival) {
            const auto* message = arrival.as<Message>();
            return message != nullptr && message->opcode() == Opcode::read_response;
          }};
}

}  // namespace

CONFORMANCE_CASE(reading_nothing_needs_no_right, rules("sec.buffer.zero-length-read-permitted"),
                 in_both_roles) {
  const auto read_nothing = [&](std::uint32_t stag, std::uint64_t offset) {
    peer.send(read_of(stag, offset, 0));
    expect(peer, message(Opcode::read_response, Octets{}));
  };
  row("of memory for writing only", [&] {
    const Region region = iut.register_memory(16, access::remote_write);
    read_nothing(region.stag, region.base);
  });
  row("of another domain", [&] {
    const Region region = iut.register_memory(16, access::remote_read, 0xA5, iut.create_domain());
    read_nothing(region.stag, region.base);
  });
  row("of deregistered memory", [&] {
    const Region region = iut.register_memory(16, access::remote_read);
    iut.deregister(region);
    read_nothing(region.stag, region.base);
  });
  row("at the end of the address space", [&] { read_nothing(0xFFFFFFFF, ~std::uint64_t{0}); });
  row("behind a Read of something", [&] {
    const Region region = iut.register_memory(16, access::remote_read);
    establish(
        {.parameters = {.private_data = {}, .ird = granted, .ord = granted}, .opening = true});
    peer.send_together({read_of(region.stag, region.base, 16), read_of(0xFFFFFFFF, 0, 0)});
    expect(peer, message(Opcode::read_response, region.contents));
    expect(peer, message(Opcode::read_response, Octets{}));
  });
}

// The sink of a Read is opened to the Response, and to nothing else (docs/disputes.md D27).
CONFORMANCE_CASE(sink_of_a_read_is_not_readable, rules("sec.buffer.write-only-not-readable"),
                 in_both_roles) {
  const auto refused = [&](const char* name, const iut::Access& access) {
    row(name, [&] {
      see_iut_send();
      const Region sink = iut.register_memory(8, access);
      iut::PostWork command = work_on(sink, operation::read, iut.endpoint());
      command.remote_stag = 0x01020304;
      const Attempt read = iut.try_post(command);
      const Arrival arrival = peer.raw().next(context().loop.now() + environment().quiet_window);
      const auto* asked = arrival.as<Message>();
      const auto request = asked == nullptr ? std::nullopt : asked->read_request();
      if (!read.taken() || !request)
        stop(Verdict::not_applicable, "the API reads into memory for the peer's Writes only");
      peer.send(read_of(request->sink_stag, request->sink_offset, 8));
      expect(peer, any_terminate() | torn_down());
    });
  };
  refused("memory without remote rights", access::local);
  refused("memory that the peer may write", access::remote_write);
}

CONFORMANCE_CASE(memory_for_reading_and_writing_serves_both,
                 rules("sec.buffer.read-write-stag-optional"), in_both_roles) {
  iut::RegisterMemory command;
  command.region = iut.new_handle();
  command.length = 64;
  command.access = access::remote_read_write;
  const iut::Reply reply = iut.try_call(command, "register memory for reading and writing");
  if (reply.outcome != iut::Outcome::ok || !reply.stag || !reply.base)
    stop(Verdict::not_applicable, "the API registers no memory for both: " + reply.error);
  peer.send(rdma_write(*reply.stag, *reply.base, payload(64)));
  peer.send(read_of(*reply.stag, *reply.base, 64));
  expect(peer, message(Opcode::read_response, payload(64)));
}

CONFORMANCE_CASE(reads_of_one_stream_do_not_use_up_the_queue_of_others,
                 rules("sec.reads.queue-not-shared", "rdmap.security.read-queue-not-shared")) {
  const iut::ConnectParameters parameters{.private_data = {}, .ird = granted, .ord = granted};
  establish({.parameters = parameters, .opening = true});
  Peer& other = another_peer();
  establish(other, {.parameters = parameters, .endpoint = iut.create_endpoint(), .opening = true});
  const Region much = iut.register_memory(much_data().size(), access::remote_read);
  const Region little = iut.register_memory(16, access::remote_read);
  // One stream fills its queue and receives none of the Responses.
  std::vector<Outgoing> requests(granted, read_of(little.stag, little.base, 16));
  requests.front() = read_of(much.stag, much.base, static_cast<std::uint32_t>(much.length));
  peer.stall();
  peer.send_together(requests);
  for (int i = 0; i < 3 * granted; ++i) {
    other.send(read_of(little.stag, little.base, 16));
    expect(other, message(Opcode::read_response, little.contents), "sec.reads.queue-not-shared");
  }
  peer.resume();
  for (const Outgoing& request : requests) {
    static_cast<void>(request);
    expect(peer, message(Opcode::read_response), "rdmap.security.read-queue-not-shared");
  }
}

CONFORMANCE_CASE(reads_beyond_the_queue_end_that_stream_only, rules("sec.reads.excess-ends-stream"),
                 in_both_roles) {
  constexpr int excess = 60;
  establish({.parameters = {.private_data = {}, .ird = granted, .ord = granted}, .opening = true});
  const Region much = iut.register_memory(much_data().size(), access::remote_read);
  const Region bystander = iut.register_memory(64, access::remote_read_write);
  std::vector<Outgoing> requests(granted + excess, read_of(bystander.stag, bystander.base, 16));
  requests.front() = read_of(much.stag, much.base, static_cast<std::uint32_t>(much.length));
  peer.stall();
  peer.send_together(requests);
  watch();
  peer.resume();
  int answered = 0;
  while (answered < granted + excess) {
    const Arrival arrival =
        expect(peer, response_or_part() | any_terminate() | advisory(torn_down()));
    if (arrival.is_end() || arrival.message(Opcode::terminate) != nullptr) break;
    ++answered;
  }
  // An IUT may accept one Request after another, each when the one before is done.
  if (answered == granted + excess)
    stop(Verdict::inconclusive, "the IUT lets Read Requests wait in the LLP");
  expect_that(answered <= granted, fmt::format("no more than {} Responses", granted),
              fmt::format("{}", answered));
  expect_that(iut.read_memory(bystander) == bystander.contents, "memory unchanged",
              "memory changed");
}

// RFC 5042 describes it; what demands it is RFC 5040 section 6.1.
CONFORMANCE_CASE(reads_above_the_depth_are_queued,
                 rules("rdmap.resources.outbound-limit-kept",
                       "rdmap.resources.outbound-reads-provided"),
                 in_both_roles, deadline_of(20s)) {
  const auto next_request = [&] {
    return *expect_message(Opcode::read_request, "rdmap.resources.outbound-reads-provided")
                .read_request();
  };
  constexpr std::uint32_t depth = 2, reads = 6;
  establish({.parameters = {.private_data = {}, .ird = depth, .ord = depth}});
  let_iut_send();
  std::vector<Work> works;
  std::deque<ReadRequestFields> requests;
  for (std::uint32_t i = 0; i < reads; ++i) works.push_back(iut.post_read(8, 0x01020304, 8 * i));
  for (std::uint32_t i = 0; i < depth; ++i) requests.push_back(next_request());
  for (std::uint32_t answered = 0; answered < reads; ++answered) {
    expect(peer, silence());  // each Response releases one Request
    peer.send(read_response(requests.front().sink_stag, requests.front().sink_offset, payload(8)));
    requests.pop_front();
    if (answered + depth < reads) requests.push_back(next_request());
  }
  expect_in_order(works);
}

CONFORMANCE_CASE(consumer_limits_the_reads_of_its_peer,
                 rules("sec.reads.outstanding-cap", "rdmap.security.read-requests-capped"),
                 needs(capability::enhanced_startup)) {
  for (const int cap : {1, 2}) {
    row(fmt::format("IRD {}", cap), [&] {
      const Words words{.ird = 8, .ord = 8};
      establish({.request = mpa_request().with_enhanced(words),
                 .parameters = {.private_data = {}, .ird = cap, .ord = cap}});
      const auto reply = peer.raw().received_frame()->frame().enhanced();
      if (!reply) stop(Verdict::inconclusive, "a Reply without IRD and ORD");
      advise_that(reply->ird <= cap, fmt::format("an IRD of at most {}", cap),
                  fmt::format("{}", reply->ird), "sec.reads.outstanding-cap");
      advise_that(reply->ord <= cap, fmt::format("an ORD of at most {}", cap),
                  fmt::format("{}", reply->ord), "rdmap.security.read-requests-capped");
    });
  }
}

CASES_OF_FILE(sec, reads)

}  // namespace suite::cases
