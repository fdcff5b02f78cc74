// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 sections 5.3 and 5.5, seen from the API: the IUT provides what it states, and promises
// no more.
//
// An API may provide more than it was asked for, so this is an advisory; depths are powers of two,
// which rounding does not change.
#include "suite/cases/framework/limits.hpp"
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

constexpr std::uint32_t depth = 16;

/// A limit of the IUT's hello, if a case can go up to it.
std::uint32_t limit_of(Body& body, const char* name, std::int64_t feasible) {
  const auto& limits = body.environment().iut.hello().limits;
  const auto found = limits.find(name);
  if (found == limits.end() || found->second < 1 || found->second > feasible)
    throw lacking_limit(name, fmt::format("the IUT states no {} to go up to", name));
  return static_cast<std::uint32_t>(found->second);
}

iut::Reply create(Body& body, iut::CreateEndpoint wanted) {
  wanted.endpoint = body.iut.new_handle();
  return body.iut.try_call(wanted, "create an endpoint");
}

/// Tries `create` with as many as the IUT states, and with half as many while it refuses: a limit
/// that an API states need not be available in full at all times, which is an advisory. `limit`:
/// its name.
std::uint32_t most_to_be_had(Body& body, std::uint32_t stated, const char* limit,
                             const std::function<iut::Reply(std::uint32_t)>& create) {
  for (std::uint32_t count = stated; count > 0; count /= 2) {
    const iut::Reply reply = create(count);
    if (count == stated)
      body.advise_that(reply.outcome == iut::Outcome::ok, fmt::format("{} {}", limit, stated),
                       reply.error);
    if (reply.outcome == iut::Outcome::ok) return count;
  }
  throw lacking_limit(limit, fmt::format("the IUT refuses even 1 of its {} {}", limit, stated));
}

/// An endpoint of the smallest depths, for as many pieces as the IUT provides.
std::pair<iut::Handle, std::uint32_t> endpoint_of_pieces(Body& body, std::uint32_t stated) {
  iut::CreateEndpoint wanted;
  const auto fitting = [&](const char* name) {
    return static_cast<std::uint32_t>(within_limit(body.iut.limits(), name, depth));
  };
  wanted.send_depth = fitting("max_send_depth");
  wanted.receive_depth = fitting("max_receive_depth");
  const std::uint32_t most = most_to_be_had(body, stated, "max_pieces", [&](std::uint32_t pieces) {
    wanted.endpoint = body.iut.new_handle();
    wanted.max_pieces = pieces;
    return body.iut.try_call(wanted, "create an endpoint");
  });
  return {wanted.endpoint, most};
}

/// This many pieces of four octets each, the last of the region first.
std::vector<iut::Piece> pieces_of(const Region& region, std::uint32_t count) {
  std::vector<iut::Piece> pieces;
  for (std::uint32_t i = 0; i < count; ++i)
    pieces.push_back({region.handle, region.length - 4 * (i + 1), 4});
  return pieces;
}

/// `data` in the order of pieces_of().
Octets by_pieces(const Octets& data) {
  Octets result;
  for (std::size_t at = data.size(); at != 0; at -= 4)
    result.insert(result.end(), data.begin() + static_cast<std::ptrdiff_t>(at - 4),
                  data.begin() + static_cast<std::ptrdiff_t>(at));
  return result;
}

void expect_taken(Body& body, const Attempt& attempt, const std::string& what) {
  body.expect_that(attempt.taken(), what, attempt.reply.error);
}

void advise_refused(Body& body, const iut::Reply& reply, const char* what) {
  body.advise_that(reply.outcome != iut::Outcome::ok, "refused",
                   fmt::format("{} is accepted", what));
}

iut::PostWork send_of(iut::Handle endpoint, std::vector<iut::Piece> pieces) {
  iut::PostWork command;
  command.endpoint = endpoint;
  command.operation = operation::send;
  command.pieces = std::move(pieces);
  return command;
}

iut::PostReceive receive_of(iut::Handle endpoint, std::vector<iut::Piece> pieces) {
  return {.endpoint = endpoint, .pieces = std::move(pieces)};
}

/// Work that cannot be sent is refused, or completes in error.
void expect_not_done(Body& body, iut::Handle endpoint) {
  const Region source = body.iut.register_memory(16);
  const Attempt send = body.iut.try_post(send_of(endpoint, {{source.handle, 0, 16}}));
  body.expect_none(success_of(send.work));
}

}  // namespace

CONFORMANCE_CASE(receive_scatters_into_all_pieces_that_the_iut_has,
                 rules("ddp.untagged.placed-at-mo")) {
  const auto [endpoint, most] = endpoint_of_pieces(*this, limit_of(*this, "max_pieces", 4096));
  establish({.endpoint = endpoint});
  const Region buffer = iut.register_memory(std::uint64_t{4} * most);
  const Attempt receive = iut.try_post(receive_of(endpoint, pieces_of(buffer, most)));
  expect_taken(*this, receive, fmt::format("a receive of {} pieces", most));
  const Octets data = PayloadGenerator(61).octets(buffer.length);
  peer.send(send_message(data));
  expect(receive.work, completes().with_length(4 * most));
  expect(buffer, holds(by_pieces(data)));
  const Region larger = iut.register_memory(std::uint64_t{4} * most + 4);
  const Attempt beyond = iut.try_post(receive_of(endpoint, pieces_of(larger, most + 1)));
  advise_refused(*this, beyond.reply, "a receive of one piece more");
}

CONFORMANCE_CASE(shared_receive_scatters_into_all_pieces_that_the_iut_has,
                 rules("ddp.untagged.placed-at-mo"), needs(capability::shared_receive_queue)) {
  const std::uint32_t stated = limit_of(*this, "max_shared_pieces", 4096);
  const auto make_queue = [&](std::uint32_t pieces) {
    const auto fitting = within_limit(iut.limits(), "max_shared_depth", depth);
    const iut::CreateSharedQueue command{.queue = iut.new_handle(),
                                         .depth = static_cast<std::uint32_t>(fitting),
                                         .max_pieces = pieces};
    return std::pair(command.queue, iut.try_call(command, "create a shared receive queue"));
  };
  iut::Handle queue = 0;
  const std::uint32_t most =
      most_to_be_had(*this, stated, "max_shared_pieces", [&](std::uint32_t pieces) {
        auto [handle, reply] = make_queue(pieces);
        queue = handle;
        return reply;
      });
  const iut::Handle endpoint = iut.create_endpoint({.shared_queue = queue});
  establish({.endpoint = endpoint});
  const Region buffer = iut.register_memory(std::uint64_t{4} * most);
  const auto post = [&](std::vector<iut::Piece> pieces) {
    return iut.try_post(iut::PostReceive{.shared_queue = queue, .pieces = std::move(pieces)});
  };
  const Attempt receive = post(pieces_of(buffer, most));
  expect_taken(*this, receive, fmt::format("a receive of {} pieces", most));
  const Octets data = PayloadGenerator(63).octets(buffer.length);
  peer.send(send_message(data));
  expect(receive.work, completes().with_length(4 * most));
  expect(buffer, holds(by_pieces(data)));
  const Region larger = iut.register_memory(std::uint64_t{4} * most + 4);
  advise_refused(*this, post(pieces_of(larger, most + 1)).reply,
                 "a shared receive of one piece more");
  advise_refused(*this, make_queue(stated + 1).second, "a queue for one piece more");
}

CONFORMANCE_CASE(send_gathers_from_all_pieces_that_the_iut_has,
                 rules("ddp.segmentation.all-data-sent")) {
  const auto [endpoint, most] = endpoint_of_pieces(*this, limit_of(*this, "max_pieces", 4096));
  establish({.endpoint = endpoint, .opening = true});
  Region source = iut.register_memory(std::uint64_t{4} * most);
  const Octets data = PayloadGenerator(62).octets(source.length);
  iut.write_memory(source, data);
  const Attempt send = iut.try_post(send_of(endpoint, pieces_of(source, most)));
  expect_taken(*this, send, fmt::format("a Send of {} pieces", most));
  expect(peer, message(Opcode::send, by_pieces(data)));
  expect(send.work, completes());
  const Region larger = iut.register_memory(std::uint64_t{4} * most + 4);
  const Attempt beyond = iut.try_post(send_of(endpoint, pieces_of(larger, most + 1)));
  advise_refused(*this, beyond.reply, "a Send of one piece more");
}

CONFORMANCE_CASE(empty_pieces_add_nothing,
                 rules("ddp.segmentation.all-data-sent", "ddp.untagged.placed-at-mo"),
                 in_both_roles) {
  const Octets data = PayloadGenerator(64).octets(48);
  const auto pieces = [](const Region& region, const char* order) {
    std::vector<iut::Piece> list;
    for (std::uint64_t at = 0; *order != '\0'; ++order) {
      const std::uint32_t length = *order == '0' ? 0 : 24;
      list.push_back({region.handle, at, length});
      at += length;
    }
    return list;
  };
  const auto taken = [&](const auto& command) {
    if (const auto excess = beyond_limits(command, iut.limits()))
      throw lacking_limit(excess->limit, excess->text);
    const Attempt attempt = iut.try_post(command);
    if (!attempt.taken())
      stop(Verdict::not_applicable, "the API takes no empty pieces: " + attempt.reply.error);
    return attempt.work;
  };
  // An empty piece (0) before, between and behind those with octets (+).
  for (const char* order : {"0++", "+0+", "++0", "0+0+"}) {
    row(order, [&] {
      see_iut_send();
      const Region source = iut.register_octets(data);
      for (const char* name : {operation::send, operation::write}) {
        iut::PostWork command = send_of(iut.endpoint(), pieces(source, order));
        command.operation = name;
        const Work work = taken(command);
        expect(peer,
               message(command.operation == operation::send ? Opcode::send : Opcode::rdma_write,
                       data));
        expect(work, completes());
      }
      const Region buffer = iut.register_memory(48);
      const Work receive = taken(receive_of(iut.endpoint(), pieces(buffer, order)));
      peer.send(send_message(data));
      expect(receive, completes().with_length(48), "ddp.untagged.placed-at-mo");
      expect(buffer, holds(data), "ddp.untagged.placed-at-mo");
    });
  }
}

CONFORMANCE_CASE(as_many_receives_as_asked_for_are_accepted,
                 rules("rdmap.send.consumes-one-buffer")) {
  iut::CreateEndpoint wanted;
  wanted.receive_depth = depth;
  const iut::Handle endpoint = iut.create_endpoint(wanted);
  establish({.endpoint = endpoint});
  const Region buffer = iut.register_memory(8);
  const auto post = [&] { return iut.try_post(receive_of(endpoint, {{buffer.handle, 0, 8}})); };
  for (std::uint32_t round = 0; round < 2; ++round) {
    std::vector<Work> receives;
    for (std::uint32_t i = 0; i < depth; ++i) {
      const Attempt attempt = post();
      expect_taken(*this, attempt, fmt::format("receive {} of {}", i + 1, depth));
      receives.push_back(attempt.work);
    }
    // The one too many must not be accepted, or the second round would find it.
    if (round == 1) advise_refused(*this, post().reply, "one receive more");
    for (std::uint32_t i = 0; i < depth; ++i) peer.send(send_message(payload(8)));
    for (const Work& receive : receives) expect(receive, completes().with_length(8));
  }
}

CONFORMANCE_CASE(as_many_sends_as_asked_for_are_accepted,
                 rules("rdmap.order.messages-in-submission-order")) {
  iut::CreateEndpoint wanted;
  wanted.send_depth = depth;
  const iut::Handle endpoint = iut.create_endpoint(wanted);
  establish({.endpoint = endpoint});
  // None of them may be sent before the Initiator's first FPDU (RFC 5044 7.1.2), so all wait.
  std::vector<Octets> sent;
  const auto post = [&](std::uint32_t i) {
    Region source = iut.register_memory(i + 1);
    sent.push_back(payload(i + 1, static_cast<std::uint8_t>(i + 1)));
    iut.write_memory(source, sent.back());
    return iut.try_post(send_of(endpoint, {{source.handle, 0, i + 1}}));
  };
  std::vector<Work> works;
  for (std::uint32_t i = 0; i < depth; ++i) {
    const Attempt attempt = post(i);
    expect_taken(*this, attempt, fmt::format("Send {} of {}", i + 1, depth));
    works.push_back(attempt.work);
  }
  const Attempt beyond = post(depth);
  advise_refused(*this, beyond.reply, "one Send more");
  if (!beyond.taken()) sent.pop_back();
  let_iut_send();
  for (const Octets& data : sent) expect(peer, message(Opcode::send, data));
  for (const Work& work : works) expect(work, completes());
  const Work again = iut.post(send_of(endpoint, {}));
  expect(peer, message(Opcode::send, Octets{}));
  expect(again, completes());
}

CONFORMANCE_CASE(offsets_of_a_long_message_have_all_their_bits,
                 rules("ddp.segmentation.mo-is-message-offset", "ddp.untagged.placed-at-mo"),
                 deadline_of(30s)) {
  // More than 24 bits can count; four pieces, as every endpoint of a case has.
  constexpr std::uint32_t piece = (4U << 20) + 4099, pieces = 4;
  row("sent", [&] {
    see_iut_send();
    const Region source = iut.register_memory(piece);
    const Work work =
        iut.post(send_of(0, std::vector<iut::Piece>(pieces, iut::Piece{source.handle, 0, piece})));
    expect(peer, message(Opcode::send, Octets(std::size_t{piece} * pieces, std::byte{0xA5})));
    expect(work, completes());
  });
  row("received", [&] {
    const Octets data = PayloadGenerator(65).octets(std::size_t{piece} * pieces);
    const Work receive = iut.post_receive(piece * pieces);
    peer.send(send_message(data));
    expect(receive, completes().with_length(piece * pieces), "ddp.untagged.placed-at-mo");
    expect(receive.buffer, holds(data), "ddp.untagged.placed-at-mo");
  });
}

CONFORMANCE_CASE(depths_and_pieces_are_limited_as_stated, rules("rdmap.send.consumes-one-buffer")) {
  struct Limit {
    const char* name;
    std::uint32_t iut::CreateEndpoint::* member;
  };
  constexpr Limit limits[] = {{"max_send_depth", &iut::CreateEndpoint::send_depth},
                              {"max_receive_depth", &iut::CreateEndpoint::receive_depth},
                              {"max_pieces", &iut::CreateEndpoint::max_pieces}};
  for (const Limit& limit : limits) {
    row(limit.name, [&] {
      const std::uint32_t most = limit_of(*this, limit.name, 1 << 20);
      iut::CreateEndpoint wanted;
      wanted.send_depth = wanted.receive_depth = 1;
      wanted.max_pieces = 1;
      wanted.*limit.member = most;
      // Whether all of them are available is up to the API; this judges that no more are.
      most_to_be_had(*this, most, limit.name, [&](std::uint32_t count) {
        wanted.*limit.member = count;
        return create(*this, wanted);
      });
      wanted.*limit.member = most + 1;
      advise_refused(*this, create(*this, wanted), "one more");
    });
  }
}

CONFORMANCE_CASE(work_without_a_connection_is_not_done,
                 rules("rdmap.order.completion-after-ddp", "ddp.close.llp-lost-indicated")) {
  row("never connected", [&] {
    const iut::Handle endpoint = iut.create_endpoint();
    establish();
    expect_not_done(*this, endpoint);
  });
  row("connection lost", [&] {
    const iut::Handle endpoint = iut.create_endpoint();
    Peer& other = another_peer();
    establish();
    establish(other, {.endpoint = endpoint});
    other.reset();
    expect(iut, disconnected(), "ddp.close.llp-lost-indicated");
    expect_not_done(*this, endpoint);
  });
}

CONFORMANCE_CASE(receive_posted_after_the_end_is_flushed,
                 rules("ddp.close.outstanding-requests-fail", "ddp.close.llp-lost-indicated"),
                 in_both_roles) {
  static_cast<void>(peer.ready());
  peer.reset();
  expect(iut, disconnected(), "ddp.close.llp-lost-indicated");
  const Region buffer = iut.register_memory(16);
  expect_refused_or(iut.try_post(receive_of(iut.endpoint(), {{buffer.handle, 0, 16}})), flushed());
}

CONFORMANCE_CASE(more_than_the_queues_hold_is_flushed_after_the_end,
                 rules("ddp.close.outstanding-requests-fail", "ddp.close.llp-lost-indicated"),
                 in_both_roles) {
  iut::CreateEndpoint wanted;
  wanted.send_depth = wanted.receive_depth = depth;
  const iut::Handle endpoint = iut.create_endpoint(wanted);
  establish({.endpoint = endpoint, .opening = true});
  peer.reset();
  expect(iut, disconnected(), "ddp.close.llp-lost-indicated");
  const Region buffer = iut.register_memory(16);
  // Each is refused or flushed; a flushed one has given its place to the next. The IUT may not
  // report it as successful; an advisory asks for a report of its end.
  const auto each = [&](const char* what, const auto& post) {
    bool first_taken = false;
    for (std::uint32_t i = 0; i < 2 * depth; ++i) {
      const Attempt attempt = post();
      const auto& [reply, work] = attempt;
      const bool taken = attempt.taken();
      if (i == 0) first_taken = taken;
      advise_that(taken == first_taken, fmt::format("{} {} accepted as the first was", what, i + 1),
                  taken ? "taken" : reply.error);
      if (!taken) continue;
      const auto ended =
          iut.take(completion_of(work).matches, context().loop.now() + environment().quiet_window);
      advise_that(ended.has_value(), "flushed", "no completion");
      if (!ended) return;
      expect_that(!success_of(work).matches(*ended), "flushed", describe(*ended));
    }
  };
  each("Send", [&] { return iut.try_post(send_of(endpoint, {{buffer.handle, 0, 16}})); });
  each("receive", [&] { return iut.try_post(receive_of(endpoint, {{buffer.handle, 0, 16}})); });
}

CASES_OF_FILE(rdmap, limits)

}  // namespace suite::cases
