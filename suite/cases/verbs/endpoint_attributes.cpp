// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// ibv_create_qp(3), ibv_query_qp(3) and ibv_modify_qp(3): what an endpoint is asked to be, what it
// says that it is, and what the peer may do through it.
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/long_work.hpp"
#include "suite/cases/rdmap/atomic_steps.hpp"

namespace suite::cases {

namespace {

constexpr iut::Access only_reads{.remote_read = true};
constexpr iut::Access only_writes{.remote_write = true};
constexpr iut::Access reads_and_writes{.remote_read = true, .remote_write = true};
constexpr iut::Access all_remote{.remote_read = true, .remote_write = true, .remote_atomic = true};

iut::EndpointAttributes attributes_of(Body& body, iut::Handle endpoint) {
  const iut::Reply reply = body.iut.call(iut::QueryEndpoint{endpoint}, "query the endpoint");
  if (!reply.attributes) body.stop(Verdict::error, "a query without attributes");
  return *reply.attributes;
}

iut::Handle endpoint_with(Body& body, const iut::Access& access) {
  iut::CreateEndpoint wanted;
  wanted.access = access;
  return body.iut.create_endpoint(wanted);
}

std::string remote_rights(const iut::Access& access) {
  return fmt::format("{}{}{}", access.remote_read ? "read " : "",
                     access.remote_write ? "write " : "", access.remote_atomic ? "atomic " : "");
}

Outgoing read_of(const Region& region) {
  return read_request({.sink_stag = 0x01020304,
                       .length = 8,
                       .source_stag = region.stag,
                       .source_offset = region.base});
}

iut::Reply try_change(Body& body, iut::Handle endpoint, const iut::Access& access) {
  return body.iut.try_call(iut::SetEndpointAccess{endpoint, access}, "change the access");
}

/// A connected endpoint whose access changes.
struct Changing {
  Body& body;
  Region region;
  iut::Handle endpoint;

  Changing(Body& of, const iut::Access& before, const iut::Access& rights = access::remote_atomic)
      : body(of), region(of.iut.register_memory(64, rights)), endpoint(endpoint_with(of, before)) {
    body.establish({.endpoint = endpoint, .opening = true});
  }
  /// Not every device changes it in the middle of a connection.
  void change(const iut::Access& after) const {
    const iut::Reply reply = try_change(body, endpoint, after);
    if (reply.outcome != iut::Outcome::ok)
      body.stop(Verdict::not_applicable,
                "the access of a connected endpoint is not changed: " + reply.error);
  }
  void expect_read() const {
    body.peer.send(read_of(region));
    body.expect(body.peer, message(Opcode::read_response), "verbs.endpoint.access-flags-enforced");
  }
  void expect_write(std::uint8_t first) {
    const Octets data = payload(16, first);
    body.peer.send(rdma_write(region.stag, region.base, data));
    body.expect(region, holds(data), "verbs.endpoint.access-flags-enforced");
  }
  void expect_atomic() const {
    body.peer.send(fetch_add(0x0BADCAFE, region.stag, region.base, 0));
    body.expect(body.peer, message(Opcode::atomic_response),
                "verbs.endpoint.access-flags-enforced");
  }
  void expect_refused(const Outgoing& request) const {
    body.peer.send(request);
    body.expect(body.peer, any_terminate() | torn_down(), "verbs.endpoint.access-flags-enforced");
  }
};

void need_atomics(Body& body) {
  if (!body.iut.can(iut::capability::atomics))
    body.stop(Verdict::not_applicable, "the IUT has no Atomics");
}

}  // namespace

CONFORMANCE_CASE(endpoint_is_at_least_as_large_as_asked_for, rules("verbs.query.at-least-as-asked"),
                 needs(capability::endpoint_attributes)) {
  establish();
  const auto create = [&](iut::CreateEndpoint wanted) {
    const iut::EndpointAttributes reported = attributes_of(*this, iut.create_endpoint(wanted));
    const auto at_least = [&](const char* what, std::uint32_t asked, std::uint32_t has) {
      expect_that(has >= asked, fmt::format("at least {} {}", asked, what), fmt::format("{}", has));
    };
    at_least("sends", wanted.send_depth, reported.send_depth);
    at_least("receives", wanted.receive_depth, reported.receive_depth);
    at_least("pieces", wanted.max_pieces, reported.max_pieces);
    at_least("octets of inline data", wanted.max_inline, reported.max_inline);
  };
  row("small", [&] { create({.send_depth = 1, .receive_depth = 1, .max_pieces = 1}); });
  row("no powers of two",
      [&] { create({.send_depth = 23, .receive_depth = 37, .max_pieces = 3}); });
  row("with inline data", [&] {
    if (!iut.can(capability::inline_data))
      stop(Verdict::not_applicable, "the upper tester has no inline data");
    create({.send_depth = 8, .receive_depth = 8, .max_pieces = 2, .max_inline = 48});
  });
}

CONFORMANCE_CASE(query_returns_the_state_of_the_endpoint,
                 rules("verbs.query.state-of-the-endpoint", "ddp.close.llp-lost-indicated"),
                 needs(capability::endpoint_attributes)) {
  const auto expect_working = [&](iut::Handle endpoint) {
    const std::string state = iut.state(endpoint);
    expect_that(state != "error", "any but error", state, "verbs.query.state-of-the-endpoint");
  };
  row("until the connection is lost", [&] {
    const iut::Handle endpoint = iut.create_endpoint();
    Peer& other = another_peer();
    expect_working(endpoint);
    establish(other, {.endpoint = endpoint, .opening = true});
    expect_working(endpoint);
    other.reset();
    expect(iut, disconnected(), "ddp.close.llp-lost-indicated");
    // No page says when the loss shows (docs/disputes.md D73).
    const std::string state = iut.state(endpoint);
    advise_that(state == "error", "error", state, "verbs.query.state-of-the-endpoint");
  });
  row("until it is aborted", [&] {
    if (!iut.can(capability::endpoint_abort))
      stop(Verdict::not_applicable, "the upper tester cannot abort an endpoint");
    const iut::Handle endpoint = iut.create_endpoint();
    establish();
    expect_working(endpoint);
    iut.call(iut::AbortEndpoint{endpoint}, "abort the endpoint");
    const std::string state = iut.state(endpoint);
    expect_that(state == "error", "error", state, "verbs.query.state-of-the-endpoint");
  });
}

CONFORMANCE_CASE(query_returns_the_access_that_was_set, rules("verbs.query.access-as-set"),
                 needs(capability::endpoint_attributes, capability::endpoint_access)) {
  establish();
  const auto ask = [&](const char* name, const iut::Access& wanted) {
    row(name, [&] {
      const std::string reported =
          remote_rights(attributes_of(*this, endpoint_with(*this, wanted)).access);
      expect_that(reported == remote_rights(wanted), remote_rights(wanted), reported);
    });
  };
  ask("none", {});
  ask("only reads", only_reads);
  ask("only writes", only_writes);
  // A call that fails changes nothing.
  row("only writes, after only reads", [&] {
    const iut::Handle endpoint = endpoint_with(*this, only_reads);
    establish({.endpoint = endpoint});
    const bool changed = try_change(*this, endpoint, only_writes).outcome == iut::Outcome::ok;
    const std::string reported = remote_rights(attributes_of(*this, endpoint).access);
    const std::string wanted = remote_rights(changed ? only_writes : only_reads);
    expect_that(reported == wanted, wanted, reported);
  });
}

CONFORMANCE_CASE(endpoint_for_reads_refuses_writes, rules("verbs.endpoint.access-flags-enforced"),
                 needs(capability::endpoint_access), in_both_roles) {
  const Region region = iut.register_memory(64, access::remote_read_write);
  establish({.endpoint = endpoint_with(*this, only_reads), .opening = true});
  peer.send(read_of(region));
  expect(peer, message(Opcode::read_response));
  peer.send(rdma_write(region.stag, region.base, payload(16)));
  watch();
  expect(region, unchanged);
  // No page says that it is refused, nor how (docs/disputes.md D74).
  if (iut.read_memory(region) != region.contents) return;
  expect(iut, asynchronous_error() | disconnected());
}

CONFORMANCE_CASE(endpoint_for_writes_refuses_reads, rules("verbs.endpoint.access-flags-enforced"),
                 needs(capability::endpoint_access), in_both_roles) {
  Region region = iut.register_memory(64, access::remote_read_write);
  establish({.endpoint = endpoint_with(*this, only_writes), .opening = true});
  peer.send(rdma_write(region.stag, region.base, payload(16)));
  peer.send(read_of(region));
  expect(peer, any_terminate() | torn_down());
  expect(region, holds(payload(16)));
}

// The access of an endpoint is what the peer may do. The sink of a Read is the consumer's own choice.
CONFORMANCE_CASE(own_work_needs_no_access_of_its_endpoint,
                 rules("rdmap.read.response-delivered-to-ulp",
                       "rdmap.atomic.response-delivered-to-ulp"),
                 needs(capability::endpoint_access), in_both_roles) {
  Region sink;
  const auto begun = [&](const char* operation) {
    const iut::Handle endpoint = endpoint_with(*this, only_reads);
    establish({.endpoint = endpoint, .opening = true});
    sink = iut.register_memory(8, access::remote_write);
    iut::PostWork command = work_on(sink, operation, endpoint);
    command.remote_stag = 0x01020304;
    return iut.post(command);
  };
  row("Read", [&] {
    const Work read = begun(operation::read);
    const auto asked = expect_message(Opcode::read_request).read_request();
    peer.send(read_response(asked->sink_stag, asked->sink_offset, payload(8)));
    expect(read, completes().with_length(8), "rdmap.read.response-delivered-to-ulp");
    expect_that(iut.read_memory(sink) == payload(8), "the octets of the Response", "other octets",
                "rdmap.read.response-delivered-to-ulp");
  });
  row("Atomic", [&] {
    need_atomics(*this);
    const Work atomic = begun(operation::fetch_add);
    const auto asked = expect_message(Opcode::atomic_request).atomic_request();
    peer.send(atomic_response(asked->request_id, 7));
    expect(atomic, completes(), "rdmap.atomic.response-delivered-to-ulp");
  });
}

CONFORMANCE_CASE(access_that_a_connected_endpoint_is_given_holds_from_then_on,
                 rules("verbs.endpoint.access-flags-enforced"), needs(capability::endpoint_access),
                 in_both_roles) {
  row("writes", [&] {
    Changing on(*this, only_reads, access::remote_read_write);
    on.expect_read();
    on.change(reads_and_writes);
    on.expect_write(0x31);
    on.expect_read();
  });
  row("reads", [&] {
    Changing on(*this, only_writes, access::remote_read_write);
    peer.send(rdma_write(on.region.stag, on.region.base, payload(16)));
    on.change(reads_and_writes);
    on.expect_read();
    on.expect_write(0x32);
  });
  row("Atomics", [&] {
    need_atomics(*this);
    Changing on(*this, reads_and_writes);
    on.expect_write(0x33);
    on.change(all_remote);
    on.expect_atomic();
    on.expect_read();
  });
}

CONFORMANCE_CASE(access_that_a_connected_endpoint_loses_is_refused_from_then_on,
                 rules("verbs.endpoint.access-flags-enforced"), needs(capability::endpoint_access),
                 in_both_roles) {
  row("writes", [&] {
    Changing on(*this, reads_and_writes, access::remote_read_write);
    on.expect_write(0x41);
    on.change(only_reads);
    on.expect_read();
    on.expect_refused(rdma_write(on.region.stag, on.region.base, payload(16, 0x51)));
    expect(on.region, holds(payload(16, 0x41)));
  });
  row("reads", [&] {
    Changing on(*this, reads_and_writes, access::remote_read_write);
    on.expect_read();
    on.change(only_writes);
    peer.send(rdma_write(on.region.stag, on.region.base, payload(16, 0x42)));
    on.expect_refused(read_of(on.region));
    expect(on.region, holds(payload(16, 0x42)));
  });
  row("Atomics", [&] {
    need_atomics(*this);
    Changing on(*this, all_remote);
    on.expect_atomic();
    on.change(reads_and_writes);
    on.expect_write(0x43);
    on.expect_refused(fetch_add(0x0BADCAFE, on.region.stag, on.region.base, 1));
    expect(on.region, holds(payload(16, 0x43)));
  });
  row("writes, which another endpoint keeps", [&] {
    const iut::Handle kept = endpoint_with(*this, reads_and_writes);
    Peer& other = another_peer();
    establish(other, {.endpoint = kept, .opening = true});
    Changing on(*this, reads_and_writes, access::remote_read_write);
    on.expect_write(0x44);
    on.change(only_reads);
    other.send(rdma_write(on.region.stag, on.region.base, payload(16, 0x54)));
    other.send(read_of(on.region));
    expect(other, message(Opcode::read_response));
    expect(on.region, holds(payload(16, 0x54)));
  });
}

CONFORMANCE_CASE(own_receives_do_not_matter_with_a_shared_queue,
                 rules("verbs.shared-receive.own-depth-ignored"),
                 needs(capability::shared_receive_queue, capability::endpoint_attributes)) {
  constexpr std::uint32_t shared_depth = 4;
  for (const std::uint32_t own : {0U, 1U, 4 * shared_depth}) {
    row(fmt::format("{} of its own", own), [&] {
      const iut::Handle queue = iut.create_shared_queue(shared_depth);
      const iut::CreateEndpoint wanted{.endpoint = iut.new_handle(),
                                       .shared_queue = queue,
                                       .send_depth = 4,
                                       .receive_depth = own,
                                       .max_pieces = 1};
      const iut::Reply made = iut.try_call(wanted, "create an endpoint of a shared queue");
      expect_that(made.outcome == iut::Outcome::ok, "an endpoint", made.error);
      establish({.endpoint = wanted.endpoint});
      const Region buffer = iut.register_memory(64);
      std::vector<Work> receives;
      for (std::uint32_t i = 0; i < shared_depth; ++i) {
        receives.push_back(iut.post_receive(
            iut::PostReceive{.shared_queue = queue, .pieces = {{buffer.handle, 0, 64}}}));
        receives.back().endpoint = wanted.endpoint;
      }
      for (std::uint32_t i = 0; i < shared_depth; ++i) {
        peer.send(send_message(payload(8)));
        expect(iut, success_of(receives[0]) | success_of(receives[1]) | success_of(receives[2]) |
                        success_of(receives[3]));
      }
    });
  }
}

CONFORMANCE_CASE(endpoint_limits_what_windows_open, rules("verbs.endpoint.access-flags-enforced"),
                 needs(capability::endpoint_access, capability::memory_windows)) {
  const auto opened = [&](const iut::Access& allowed) {
    const iut::Handle endpoint = endpoint_with(*this, allowed);
    establish({.endpoint = endpoint, .opening = true});
    Region region = iut.register_memory(64, access::under_windows);
    const Window window = iut.bind_window(region, 0, 64, access::remote_read_write, endpoint);
    region.stag = window.stag;
    region.base = window.base;
    return region;
  };
  row("Writes, at an endpoint for Reads", [&] {
    const Region window = opened(only_reads);
    peer.send(read_of(window));
    expect(peer, message(Opcode::read_response));
    peer.send(rdma_write(window.stag, window.base, payload(16)));
    expect(peer, any_terminate() | torn_down());
    expect_that(iut.read_memory(window) == window.contents, "memory unchanged", "octets placed");
  });
  row("Reads, at an endpoint for Writes", [&] {
    const Region window = opened(only_writes);
    peer.send(rdma_write(window.stag, window.base, payload(16)));
    peer.send(read_of(window));
    expect(peer, any_terminate() | torn_down());
    expect(window, holds(payload(16)));
  });
}

CONFORMANCE_CASE(endpoint_without_atomics_refuses_them,
                 rules("verbs.endpoint.access-flags-enforced"),
                 needs(capability::endpoint_access, capability::atomics)) {
  const auto asked = [&](const iut::Access& allowed) {
    establish({.endpoint = endpoint_with(*this, allowed), .opening = true});
    const Region region = word_of(*this);
    peer.send(fetch_add(1, region.stag, region.base, 1));
    return region;
  };
  row("for all three", [&] {
    asked(access::remote_atomic);
    expect(peer, message(Opcode::atomic_response));
  });
  row("for Reads and Writes", [&] {
    const Region region = asked(access::remote_read_write);
    expect(peer, any_terminate() | torn_down());
    expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "memory changed");
  });
}

namespace {

/// A queue of two endpoints is not destroyed before the last of them.
void expect_held(Body& body, const iut::Command& destroy, const iut::CreateEndpoint& wanted) {
  const iut::Handle endpoints[] = {body.iut.create_endpoint(wanted),
                                   body.iut.create_endpoint(wanted)};
  for (const iut::Handle endpoint : endpoints) {
    const iut::Reply reply = body.iut.try_call(destroy, "destroy the queue");
    body.expect_that(reply.outcome != iut::Outcome::ok, "refused", "destroyed");
    body.iut.call(iut::DestroyEndpoint{endpoint}, "destroy an endpoint");
  }
  const iut::Reply reply = body.iut.try_call(destroy, "destroy the queue");
  body.expect_that(reply.outcome == iut::Outcome::ok, "destroyed", "refused: " + reply.error);
}

}  // namespace

CONFORMANCE_CASE(completion_queue_is_held_by_its_endpoints,
                 rules("verbs.completion-queue.held-by-its-endpoints"),
                 needs(capability::completion_queues)) {
  const iut::CreateCompletionQueue command{.queue = iut.new_handle(), .depth = 256};
  iut.call(command, "create a completion queue");
  iut::CreateEndpoint wanted;
  wanted.completion_queue = command.queue;
  expect_held(*this, iut::DestroyCompletionQueue{command.queue}, wanted);
}

CONFORMANCE_CASE(shared_queue_is_held_by_its_endpoints,
                 rules("verbs.shared-receive.held-by-its-endpoints"),
                 needs(capability::shared_receive_queue)) {
  const iut::Handle queue = iut.create_shared_queue(16);
  expect_held(*this, iut::DestroySharedQueue{queue}, {.shared_queue = queue});
}

CASES_OF_FILE(verbs, endpoint_attributes)

}  // namespace suite::cases
