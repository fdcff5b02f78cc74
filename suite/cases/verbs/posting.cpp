// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// ibv_post_send(3) and ibv_post_recv(3): lists of requests of which one is bad, and inline data.
#include <type_traits>

#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/long_work.hpp"

namespace suite::cases {

namespace {

constexpr iut::WorkId first_work = 1000;

/// One piece more than the IUT states that a request can have.
std::size_t too_many_pieces(Body& body) {
  constexpr std::int64_t feasible = 4096;
  const auto most = body.iut.limits().find("max_pieces");
  if (most == body.iut.limits().end() || most->second > feasible)
    throw lacking_limit("max_pieces", "the IUT states no max_pieces to go beyond");
  return static_cast<std::size_t>(most->second) + 1;
}

constexpr std::size_t in_list = 4;
/// Places of the bad request in a list: the first, one that others surround, the last.
constexpr std::size_t bad_places[] = {0, 2, in_list - 1};

/// A list of the requests that `make` gives for their numbers, of which the one at `place` is bad.
/// It is refused, and the reply names that one. An API may look at it later, so that a Send completes;
/// then the list is not what it was meant to be.
template <typename Chain, typename Make>
void expect_refused_at(Body& body, std::size_t place, const Region& region, const char* what,
                       const Make& make) {
  Chain chain;
  for (iut::WorkId i = 0; i < in_list; ++i) chain.requests.push_back(make(first_work + i));
  chain.requests[place].pieces.assign(too_many_pieces(body), {region.handle, 0, 1});
  const iut::WorkId bad = chain.requests[place].work;
  const iut::Reply reply = body.iut.try_call(chain, what);
  if (reply.outcome == iut::Outcome::ok) {
    if constexpr (std::is_same_v<Chain, iut::PostWorkChain>)
      body.expect(body.iut, completion_of(Work{bad, chain.requests[place].endpoint, {}}),
                  "verbs.post.bad-request-named");
    body.stop(Verdict::inconclusive, "the API takes a request of more pieces than it states");
  }
  body.expect_that(reply.bad_work == bad, fmt::format("request {} named", bad),
                   reply.bad_work ? fmt::format("request {}", *reply.bad_work) : "none",
                   "verbs.post.bad-request-named");
}

/// Inline work from these pieces of a region.
iut::PostWork inline_work(iut::Handle endpoint, const char* operation,
                          std::vector<iut::Piece> pieces) {
  iut::PostWork work;
  work.endpoint = endpoint;
  work.operation = operation;
  work.pieces = std::move(pieces);
  work.inline_data = true;
  return work;
}

constexpr std::uint32_t inline_room = 64;

iut::Handle endpoint_for_inline(Body& body) {
  iut::CreateEndpoint wanted;
  wanted.max_inline = inline_room;
  return body.iut.create_endpoint(wanted);
}

// ---- signaled work ----

/// A connected one, which may send.
iut::Handle endpoint_where_all_are_signaled(Body& body) {
  iut::CreateEndpoint wanted;
  wanted.signal_all = true;
  const iut::Handle endpoint = body.iut.create_endpoint(wanted);
  body.establish({.endpoint = endpoint, .opening = true});
  return endpoint;
}

iut::PostWork with_flag(iut::PostWork work, bool signaled) {
  work.signaled = signaled;
  return work;
}

void expect_once(Body& body, const Work& work, const RuleRef& rule) {
  body.expect(work, completes(), rule);
  const auto again = body.iut.take(completion_of(work).matches, body.context().loop.now());
  body.expect_that(!again.has_value(), "one completion", again ? describe(*again) : "", rule);
}

/// Work that sends nothing. It is right each time that it is made.
struct LocalWork {
  const char* name;
  std::vector<const char*> needs;
  iut::PostWork (*make)(Body&, iut::Handle endpoint);
  bool is_registration = false;
};

iut::PostWork bind_of(Body& body, iut::Handle endpoint) {
  const Region under = body.iut.register_memory(64, access::under_windows);
  iut::PostWork work = work_on(under, operation::bind_window, endpoint);
  work.window = body.iut.new_handle();
  body.iut.call(iut::AllocateWindow{work.window, 0}, "allocate a window");
  work.window_access = {.remote_read = true};
  return work;
}

/// Of what work has opened: a window or a region.
iut::PostWork invalidation_of(Body& body, iut::Handle endpoint) {
  constexpr iut::Access reads{.remote_read = true};
  iut::PostWork work;
  work.endpoint = endpoint;
  work.operation = operation::local_invalidate;
  if (body.iut.can(capability::memory_windows)) {
    const Region under = body.iut.register_memory(64, access::under_windows);
    work.invalidate_stag = body.iut.bind_window(under, 0, 64, reads, endpoint).stag;
  } else if (body.iut.can(capability::fast_registration)) {
    Region region = body.iut.allocate_region(4096, 1);
    body.iut.register_part(region, reads, 0, 4096, endpoint);
    work.invalidate_stag = region.stag;
  } else {
    body.stop(Verdict::not_applicable, "the upper tester has no work that opens memory");
  }
  return work;
}

iut::PostWork registration_at(Body& body, iut::Handle endpoint) {
  iut::PostWork work =
      registration_of(body.iut.allocate_region(4096, 1), {.remote_read = true}, 0, 4096);
  work.endpoint = endpoint;
  return work;
}

const LocalWork local_work[] = {
    {"a bind", {capability::memory_windows}, bind_of},
    {"an invalidation", {capability::local_invalidate}, invalidation_of},
    {"a registration", {capability::fast_registration}, registration_at, true},
};

void need_for(Body& body, const LocalWork& kind) {
  for (const char* capability : kind.needs)
    if (!body.iut.can(capability))
      body.stop(Verdict::not_applicable, fmt::format("the upper tester has no {}", capability));
}

}  // namespace

CONFORMANCE_CASE(list_of_sends_is_posted_up_to_its_bad_request,
                 rules("verbs.post.stops-at-the-bad-request", "verbs.post.bad-request-named"),
                 needs(capability::chains), in_both_roles) {
  const auto length_of = [](iut::WorkId id) {
    return static_cast<std::uint32_t>(id - first_work + 8);
  };
  const auto posted_up_to = [&](std::size_t place) {
    see_iut_send();
    const auto send_of = [&](iut::WorkId id) {
      iut::PostWork work =
          work_on(iut.register_octets(payload(length_of(id))), operation::send, iut.endpoint());
      work.work = id;
      return work;
    };
    const Region region = iut.register_memory(8);
    expect_refused_at<iut::PostWorkChain>(*this, place, region, "post a list of Sends", send_of);
    for (iut::WorkId id = first_work; id < first_work + place; ++id)
      expect(peer, message(Opcode::send, payload(length_of(id))),
             "verbs.post.stops-at-the-bad-request");
    for (iut::WorkId id = first_work; id < first_work + place; ++id)
      expect(Work{id, iut.endpoint(), {}}, completes(), "verbs.post.stops-at-the-bad-request");
    const Work after = iut.post_send(payload(40));
    expect(peer, message(Opcode::send, payload(40)), "verbs.post.stops-at-the-bad-request");
    expect(after, completes(), "verbs.post.stops-at-the-bad-request");
    for (iut::WorkId id = first_work + place; id < first_work + in_list; ++id)
      expect_none(completion_of(Work{id, iut.endpoint(), {}}),
                  "verbs.post.stops-at-the-bad-request");
  };
  for (const std::size_t place : bad_places)
    row(fmt::format("request {} of {}", place + 1, in_list), [&] { posted_up_to(place); });
}

CONFORMANCE_CASE(list_of_receives_is_posted_up_to_its_bad_request,
                 rules("verbs.post.stops-at-the-bad-request", "verbs.post.bad-request-named"),
                 needs(capability::chains), in_both_roles) {
  const auto posted_up_to = [&](std::size_t place) {
    establish({.opening = true});
    const Region buffer = iut.register_memory(64);
    const auto receive_of = [&](iut::WorkId id) {
      return iut::PostReceive{iut.endpoint(), 0, id, {{buffer.handle, 0, 64}}};
    };
    expect_refused_at<iut::PostReceiveChain>(*this, place, buffer, "post a list of receives",
                                             receive_of);
    const Work after = iut.post_receive(64);
    for (std::size_t i = 0; i <= place; ++i) peer.send(send_message(payload(8 + i)));
    for (std::uint32_t i = 0; i < place; ++i)
      expect(Work{first_work + i, iut.endpoint(), {}}, completes().with_length(8 + i),
             "verbs.post.stops-at-the-bad-request");
    expect(after, completes().with_length(static_cast<std::uint32_t>(8 + place)),
           "verbs.post.stops-at-the-bad-request");
  };
  for (const std::size_t place : bad_places)
    row(fmt::format("request {} of {}", place + 1, in_list), [&] { posted_up_to(place); });
}

CONFORMANCE_CASE(list_of_good_requests_is_posted_in_its_order,
                 rules("verbs.post.stops-at-the-bad-request", "rdmap.send.in-submission-order"),
                 needs(capability::chains), in_both_roles) {
  see_iut_send();
  iut::PostReceiveChain receives;
  iut::PostWorkChain sends;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Region buffer = iut.register_memory(16), source = iut.register_octets(payload(8 + i));
    receives.requests.push_back({iut.endpoint(), 0, first_work + i, {{buffer.handle, 0, 16}}});
    sends.requests.push_back(work_on(source, operation::send, iut.endpoint()));
    sends.requests.back().work = first_work + 10 + i;
  }
  const auto accepted = [&](const iut::Command& chain, const char* what) {
    const iut::Reply reply = iut.try_call(chain, what);
    expect_that(reply.outcome == iut::Outcome::ok, "accepted", reply.error);
  };
  accepted(receives, "post three receives");
  accepted(sends, "post three Sends");
  for (std::uint32_t i = 0; i < 3; ++i) peer.send(send_message(payload(1 + i)));
  for (std::uint32_t i = 0; i < 3; ++i) {
    expect(peer, message(Opcode::send, payload(8 + i)), "rdmap.send.in-submission-order");
    expect(Work{first_work + i, iut.endpoint(), {}}, completes().with_length(1 + i));
    expect(Work{first_work + 10 + i, iut.endpoint(), {}}, completes());
  }
}

CONFORMANCE_CASE(inline_data_is_gathered_from_all_pieces, rules("verbs.post.inline-data-gathered"),
                 needs(capability::inline_data), in_both_roles) {
  const iut::Handle endpoint = endpoint_for_inline(*this);
  establish({.endpoint = endpoint, .opening = true});
  const Octets data = PayloadGenerator(15).octets(64);
  const Region source = iut.register_octets(data);
  const auto part = [&](std::ptrdiff_t offset, std::ptrdiff_t length) {
    return Octets(data.begin() + offset, data.begin() + offset + length);
  };
  Octets wanted = part(40, 8);
  for (const Octets& more : {part(0, 8), part(17, 3)})
    wanted.insert(wanted.end(), more.begin(), more.end());
  const std::vector<iut::Piece> pieces{
      {source.handle, 40, 8}, {source.handle, 0, 8}, {source.handle, 17, 3}};
  const Work send = iut.post(inline_work(endpoint, operation::send, pieces));
  expect(peer, message(Opcode::send, wanted));
  expect(send, completes());
  iut::PostWork write = inline_work(endpoint, operation::write, pieces);
  write.remote_stag = 0x01020304;
  const Work written = iut.post(write);
  expect(peer, message(Opcode::rdma_write, wanted));
  expect(written, completes());
  const std::vector<iut::Piece> full{{source.handle, 0, inline_room}};
  const Work most = iut.post(inline_work(endpoint, operation::send, full));
  expect(peer, message(Opcode::send, data));
  expect(most, completes());
}

// A Responder sends nothing before the first FPDU of the Initiator (RFC 5044 section 7.1.2), so the
// requests wait while their memory is overwritten.
CONFORMANCE_CASE(inline_data_is_taken_when_it_is_posted,
                 rules("verbs.post.inline-data-taken-at-once"), needs(capability::inline_data)) {
  const auto taken = [&](const char* name, const char* operation, Opcode opcode, bool fence) {
    row(name, [&] {
      const iut::Handle endpoint = endpoint_for_inline(*this);
      establish({.endpoint = endpoint});
      const Octets data = PayloadGenerator(16).octets(24);
      Region source = iut.register_octets(data);
      const auto posted = [&](std::uint64_t offset) {
        iut::PostWork work =
            inline_work(endpoint, operation, {{source.handle, offset, 8}, {source.handle, 0, 4}});
        if (opcode == Opcode::rdma_write) work.remote_stag = 0x01020304;
        work.fence = fence;
        return iut.post(work);
      };
      const Work first = posted(8);
      iut.write_memory(source, Octets(24, std::byte{0xEE}));
      const Work second = posted(16);
      iut.write_memory(source, Octets(24, std::byte{0x11}));
      let_iut_send();
      Octets wanted(data.begin() + 8, data.begin() + 16);
      wanted.insert(wanted.end(), data.begin(), data.begin() + 4);
      expect(peer, message(opcode, wanted));
      expect(peer, message(opcode, Octets(12, std::byte{0xEE})));
      expect(first, completes());
      expect(second, completes());
    });
  };
  taken("Send", operation::send, Opcode::send, false);
  taken("fenced Send", operation::send, Opcode::send, true);
  taken("Write", operation::write, Opcode::rdma_write, false);
}

CONFORMANCE_CASE(each_request_completes_where_all_are_signaled,
                 rules("verbs.completion.each-of-all-signaled"), needs(capability::signal_all),
                 in_both_roles) {
  row("messages", [&] {
    const iut::Handle endpoint = endpoint_where_all_are_signaled(*this);
    for (const bool signaled : {false, true}) {
      const Region octets = iut.register_octets(payload(16));
      const Work send = iut.post(with_flag(work_on(octets, operation::send, endpoint), signaled));
      expect(peer, message(Opcode::send, payload(16)));
      expect_once(*this, send, "verbs.completion.each-of-all-signaled");
      const Work write = iut.post(with_flag(work_on(octets, operation::write, endpoint), signaled));
      expect(peer, message(Opcode::rdma_write, payload(16)));
      expect_once(*this, write, "verbs.completion.each-of-all-signaled");
      const Region sink = iut.register_memory(8, access::remote_write);
      const Work read = iut.post(with_flag(work_on(sink, operation::read, endpoint), signaled));
      const auto asked = expect_message(Opcode::read_request).read_request();
      peer.send(read_response(asked->sink_stag, asked->sink_offset, payload(8)));
      expect_once(*this, read, "verbs.completion.each-of-all-signaled");
    }
  });
  for (const LocalWork& kind : local_work) {
    row(kind.name, [&] {
      need_for(*this, kind);
      const iut::Handle endpoint = endpoint_where_all_are_signaled(*this);
      for (const bool signaled : {false, true})
        expect_once(*this, iut.post(with_flag(kind.make(*this, endpoint), signaled)),
                    "verbs.completion.each-of-all-signaled");
    });
  }
}

CONFORMANCE_CASE(unsignaled_local_work_gives_no_completion,
                 rules("verbs.completion.none-of-unsignaled"), in_both_roles) {
  for (const LocalWork& kind : local_work) {
    // Of a registration the driver for the kernel's verbs has to know the end.
    if (kind.is_registration) continue;
    row(kind.name, [&] {
      need_for(*this, kind);
      see_iut_send();
      const Work silent = iut.post(with_flag(kind.make(*this, iut.endpoint()), false));
      const Work last = iut.post_send(payload(4));
      expect(peer, message(Opcode::send, payload(4)));
      expect(last, completes());
      const auto event = iut.take(completion_of(silent).matches, context().loop.now());
      advise_that(!event.has_value(), "no completion of unsignaled work",
                  event ? describe(*event) : "none");
    });
  }
}

CASES_OF_FILE(verbs, posting)

}  // namespace suite::cases
